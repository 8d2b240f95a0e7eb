//! Broken links by the million: `FUZZ=10000000 cargo test -p page --release link::fuzz -- --nocapture`. Without the
//! variable it runs long enough to notice a blunder.
//!
//! Inputs are valid links of every kind, cut, spliced, doubled, and with letters and whole values exchanged. Every one
//! has to open to a session that the core accepts, with few sentences, in memory bounded by the bench's limits.

use super::*;
use crate::source::Stream;

const SEEDS: &[&str] = &[
    "v=1&lab=bench&src=example(coreference,4)&head=5&pin=9,0",
    "v=1&lab=bench&src=random(7,1)&h=2&g=1&nq=3&nk=4&dk=2&dv=2&scale=0.5&cap=5&mask=causal(align=bottom_right,prefix=1)&pin=1,2",
    "v=1&src=tokens(7,4)&h=1&g=1&nq=3&nk=3&dk=2&dv=2&pos=sinusoidal&norm=1e-6&sink=0.5&edit=X:3:1.5,WQ:0:-2",
    "v=1&src=typed&h=1&g=1&nq=2&nk=3&dk=2&dv=2&Q=1,2,-0.5,1e-7&K=1,0,0,1,1,1&V=3,4,5,6,7,8&dout=1,-0.5&words=a,b",
    "src=random(1,0)&nq=2&nk=2&dk=4&dv=1&mask=drawn(bits=2x2.8)&mask=window(window=2,keep_first=1)&hidden=-1e9&pos=rope(layout=half,base=100)&pos=alibi&root=1&used=1",
    "embed=1&show=stage&controls=scale&fixed=mask&lock=1&theme=dark&title=%E2%80%A6&src=random(3,2)&nq=1&nk=1&dk=1&dv=1",
];
const BITS: &[&str] = &[
    "&",
    "=",
    "(",
    ")",
    ",",
    ":",
    "%",
    "%00",
    "%F0%9F",
    "amp;",
    "1e999",
    "-0",
    "NaN",
    "4294967296",
    "99999999999999999999",
    "-1",
    "",
    "example(",
    "random(",
    "src=",
    "mask=",
    "pos=",
    "edit=",
    "Q=",
    "\u{202e}",
    "é",
    "🜁",
    "v=2",
    "bits=9x9.AAAA",
    "e",
    ".",
    "512",
    "0",
];

struct Dice(Stream);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        ((self.0.uniform() * n as f64) as usize).min(n.saturating_sub(1))
    }

    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }

    fn change(&mut self, text: &str) -> String {
        let (a, b) = (self.place(text), self.place(text));
        let (a, b) = (a.min(b), a.max(b));
        match self.below(6) {
            0 => text[..a].to_owned(),
            1 => format!("{}{}", &text[..a], &text[b..]),
            2 => format!(
                "{}{}{}",
                &text[..a],
                BITS[self.below(BITS.len())],
                &text[a..]
            ),
            3 => format!(
                "{}{}{}",
                &text[..a],
                BITS[self.below(BITS.len())],
                &text[b..]
            ),
            4 => {
                let other = SEEDS[self.below(SEEDS.len())];
                format!("{}{}", &text[..a], &other[self.place(other)..])
            }
            _ => format!("{}&{}", text, &text[a..b]),
        }
    }
}

#[test]
fn no_link_breaks_the_reader() {
    let runs: usize = std::env::var("FUZZ")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(5_000);
    let mut dice = Dice(Stream::new(20_26));
    let (mut noted, mut longest) = (0usize, 0usize);
    for run in 0..runs {
        let mut text = SEEDS[dice.below(SEEDS.len())].to_owned();
        for _ in 0..=dice.below(4) {
            text = dice.change(&text);
        }
        longest = longest.max(text.len());
        let mut wanted = read(&text);
        // What takes time is drawing large tensors, which is not read from the link: small ones stand for them.
        for (property, value) in &mut wanted.options {
            let small = value.parse::<usize>().is_ok_and(|n| n <= 6);
            if property.is_size() && !small && dice.below(1000) > 0 {
                "3".clone_into(value);
            }
        }
        if wanted.example().is_some() {
            wanted.origin = Some(Origin::Typed);
        }
        let opened = wanted.open(None);
        assert!(opened.session.check().is_ok(), "{run}: {text}");
        assert!(opened.notes.len() <= 7, "{run}: {text}");
        noted += usize::from(!opened.notes.is_empty());
        let s = opened.session.shape;
        let most = crate::session::limits::CELLS;
        assert!(
            s.q_len().max(s.k_len()).max(s.v_len()) <= most,
            "{run}: {text}"
        );
        // What was opened can be written and opens as the same.
        if run % 8 == 0 {
            let again = write(&opened.session, opened.view, usize::MAX).text;
            let second = read(&again).open(None);
            let edited = second.session.edited;
            assert!(
                second.notes.is_empty(),
                "{run}: {again}: {:?}",
                second.notes
            );
            assert!(
                second.session
                    == Session {
                        edited,
                        ..opened.session
                    },
                "{run}: {text} → {again}"
            );
        }
    }
    println!("{runs} links, the longest of {longest} letters; {noted} had something to say.");
    assert!(noted * 10 > runs, "the inputs are too tame");
}
