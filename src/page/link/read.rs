//! Text → what it asks for, and sentences about what could not be read.

use super::{EMBED, LONGEST, TENSORS, VERSION};
use crate::{ctx::ViewOptions, session::Tensor, source::Stream, text::tf};
use protocol::options::{self, Property};
use std::str::FromStr;

/// Values of one key that may come often: more are of no use to anyone.
const OFTEN: usize = 8;
/// Sentences that are said about one link; what else is wrong is counted.
const SENTENCES: usize = 6;

/// Where a link takes its numbers from.
#[derive(Clone, Debug, PartialEq)]
pub enum Origin {
    /// Sentence and layer.
    Example(String, usize),
    /// Seed and σ.
    Random(u32, f64),
    /// Seed and d_model.
    Tokens(u32, usize),
    /// The link itself.
    Typed,
}

/// What a link asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wanted {
    /// Where its numbers come from, if it says so.
    pub origin: Option<Origin>,
    /// Sizes and options, in the order in which they stand.
    pub options: Vec<(&'static Property, String)>,
    /// The shown head.
    pub head: Option<usize>,
    /// The pinned cell.
    pub pin: Option<(usize, usize)>,
    /// A typed gradient at the output.
    pub d_out: Option<Vec<f64>>,
    /// All numbers of a tensor.
    pub tensors: Vec<(Tensor, Vec<f64>)>,
    /// Cells: tensor, place, value.
    pub edits: Vec<(Tensor, usize, f64)>,
    /// Names on the axes.
    pub words: Vec<String>,
    /// How views are drawn.
    pub view: ViewOptions,
    /// Whether it said that its numbers were too many to travel in it.
    pub numbers_missing: bool,
    /// What could not be read.
    pub notes: Notes,
}

/// Sentences about a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    said: Vec<String>,
    more: usize,
}

impl Notes {
    /// One more thing that is wrong.
    pub fn push(&mut self, sentence: String) {
        if self.said.len() < SENTENCES {
            self.said.push(sentence);
        } else {
            self.more += 1;
        }
    }

    /// All sentences.
    pub fn sentences(self) -> Vec<String> {
        let mut said = self.said;
        if self.more > 0 {
            said.push(tf("link-more", &[("n", &self.more)]));
        }
        said
    }
}

/// Reads a fragment, with or without its `#`. What an address had to escape may be escaped.
pub fn read(text: &str) -> Wanted {
    let mut wanted = Wanted::default();
    let text = text.strip_prefix('#').unwrap_or(text);
    let text = match text.get(..LONGEST.min(text.len())) {
        Some(all) if all.len() == text.len() => all,
        cut => {
            wanted.notes.push(tf(
                "link-too-long",
                &[("most", &LONGEST), ("got", &text.len())],
            ));
            // What is cut through is no longer what it was.
            cut.and_then(|c| c.rsplit_once('&'))
                .map_or("", |(whole, _)| whole)
        }
    };
    let mut seen: Vec<&str> = Vec::new();
    for pair in text.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        // A link that was copied out of the source of a page: `&amp;`.
        let key = key.strip_prefix("amp;").unwrap_or(key);
        let often = options::by_key(key).is_some_and(Property::is_list);
        let times = seen.iter().filter(|k| **k == key).count();
        if times > 0 && (!often || times >= OFTEN) {
            wanted.notes.push(tf("link-twice", &[("key", &short(key))]));
            continue;
        }
        seen.push(key);
        wanted.take(key, value);
    }
    wanted
}

impl Wanted {
    fn take(&mut self, key: &str, raw: &str) {
        let value = match key {
            // Its commas part the words; those in a word are escaped.
            "words" => raw.to_owned(),
            _ => unescaped(raw),
        };
        let taken = match key {
            "v" => version(&value),
            "lab" => lab(&value),
            "src" => origin(&value).map(|o| self.origin = Some(o)),
            "head" => whole(&value).map(|h| self.head = Some(h)),
            "pin" => pair(&value).map(|p| self.pin = Some(p)),
            "dout" => numbers(&value).map(|d| self.d_out = Some(d)),
            "root" => flag(&value).map(|on| self.view.root_weights = on),
            "used" => flag(&value).map(|on| self.view.as_used = on),
            "edit" => self.take_edits(&value),
            "words" => {
                self.words = value.split(',').map(|w| clean(&unescaped(w))).collect();
                Ok(())
            }
            "Q" if value.is_empty() => {
                self.numbers_missing = true;
                Ok(())
            }
            _ if EMBED.contains(&key) => Ok(()),
            _ => match (tensor(key), options::by_key(key)) {
                (Some(tensor), _) => numbers(&value).map(|n| self.tensors.push((tensor, n))),
                (None, Some(property)) => {
                    self.options.push((property, value.clone()));
                    Ok(())
                }
                (None, None) => {
                    self.notes.push(tf("link-unknown", &[("key", &short(key))]));
                    return;
                }
            },
        };
        if let Err(expected) = taken {
            let with: [(&str, &dyn std::fmt::Display); 3] = [
                ("key", &key),
                ("expected", &expected),
                ("got", &short(&value)),
            ];
            self.notes.push(match key {
                "v" => tf("link-newer", &with),
                _ => tf("link-value", &with),
            });
        }
    }

    /// Cells that can be read are taken, whatever the others are.
    fn take_edits(&mut self, text: &str) -> Result<(), String> {
        let mut all_well = true;
        for cell in text.split(',') {
            match edit(cell) {
                Some(edit) => self.edits.push(edit),
                None => all_well = false,
            }
        }
        all_well
            .then_some(())
            .ok_or_else(|| crate::text::t("link-edit").to_owned())
    }
}

fn edit(text: &str) -> Option<(Tensor, usize, f64)> {
    let mut parts = text.split(':');
    let edit = (
        tensor(parts.next()?)?,
        parts.next()?.parse().ok()?,
        number(parts.next()?)?,
    );
    parts.next().is_none().then_some(edit)
}

fn tensor(name: &str) -> Option<Tensor> {
    TENSORS.iter().find(|(n, _)| *n == name).map(|(_, t)| *t)
}

fn version(text: &str) -> Result<(), String> {
    match text.parse::<u32>() {
        Ok(1..=VERSION) => Ok(()),
        _ => Err(VERSION.to_string()),
    }
}

fn lab(text: &str) -> Result<(), String> {
    let labs: Vec<&str> = crate::labs::ALL.iter().map(|lab| lab.id).collect();
    labs.contains(&text)
        .then_some(())
        .ok_or_else(|| labs.join(", "))
}

fn origin(text: &str) -> Result<Origin, String> {
    let expected = || crate::text::t("link-src").to_owned();
    let (kind, inside) = text.split_once('(').unwrap_or((text, ")"));
    let inside = inside.strip_suffix(')').ok_or_else(expected)?;
    let (first, second) = inside.split_once(',').unwrap_or((inside, ""));
    fn or<T: FromStr>(text: &str, default: T) -> Option<T> {
        if text.is_empty() {
            Some(default)
        } else {
            text.parse().ok()
        }
    }
    let seed = || or(first, 7).filter(|seed| Stream::SEEDS.contains(seed));
    let origin = match kind {
        "typed" if inside.is_empty() => Some(Origin::Typed),
        "example" => or(second, usize::MAX).map(|layer| Origin::Example(short(first), layer)),
        "random" => seed().and_then(|seed| {
            let sigma = if second.is_empty() {
                Some(1.0)
            } else {
                number(second)
            };
            let sigma = sigma.filter(|s| (0.0..=1e6).contains(s))?;
            Some(Origin::Random(seed, sigma))
        }),
        "tokens" => seed().and_then(|seed| Some(Origin::Tokens(seed, or(second, 8)?))),
        _ => None,
    };
    origin.ok_or_else(expected)
}

fn whole(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| crate::text::t("link-whole").to_owned())
}

fn pair(text: &str) -> Result<(usize, usize), String> {
    let two = text
        .split_once(',')
        .and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    two.ok_or_else(|| crate::text::t("link-pin").to_owned())
}

fn flag(text: &str) -> Result<bool, String> {
    match text {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => Err("0, 1".to_owned()),
    }
}

fn number(text: &str) -> Option<f64> {
    formats::decimal::parse(text).filter(|x| x.is_finite())
}

fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let numbers: Option<Vec<f64>> = text.split(',').map(number).collect();
    numbers.ok_or_else(|| crate::text::t("link-numbers").to_owned())
}

/// A text of a stranger, as much of it as a sentence bears.
pub(super) fn short(text: &str) -> String {
    let mut short: String = clean(text).chars().take(40).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

/// Without letters that would not be seen or would turn the text around.
fn clean(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control()
            || ('\u{200b}'..='\u{200f}').contains(&c)
            || ('\u{202a}'..='\u{202e}').contains(&c)
            || ('\u{2066}'..='\u{2069}').contains(&c)
    };
    text.chars().filter(|c| !hidden(*c)).take(64).collect()
}

/// `%28` → `(`; a percent sign that begins no byte stays.
pub fn unescaped(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let bytes = text.as_bytes();
    let digit = |at: usize| bytes.get(at).and_then(|b| char::from(*b).to_digit(16));
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out)
        .unwrap_or_else(|broken| String::from_utf8_lossy(broken.as_bytes()).into_owned())
}
