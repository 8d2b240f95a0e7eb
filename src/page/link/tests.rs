use super::*;
use crate::{
    ctx::ViewOptions,
    session::{Action, CellRef, Session, Size},
    source::ExampleLayer,
};
use attention::{Hidden, MaskUse, PositionUse, Scale};
use proptest::prelude::*;

fn layer() -> Arc<ExampleLayer> {
    let numbers = |seed| {
        Session::random(
            Shape {
                heads: 2,
                kv_heads: 2,
                ..Shape::square(5, 4)
            },
            seed,
            1.0,
        )
    };
    let array = |seed, tensor| numbers(seed).data.array(tensor).unwrap().clone();
    Arc::new(ExampleLayer {
        sentence: "coreference".into(),
        layer: 3,
        heads: 2,
        tokens: ["the", "animal", "“", "a&b=c,d", "é"]
            .map(String::from)
            .into(),
        d: 4,
        only: None,
        q: array(1, Tensor::Q),
        k: array(2, Tensor::K),
        v: array(3, Tensor::V),
    })
}

/// Writes and reads back.
fn there_and_back(session: &Session, view: ViewOptions) -> Opened {
    let written = write(session, view, ROOM);
    assert_eq!(written.left_out, None);
    let wanted = read(&format!("#{}", written.text));
    let layer = match &session.source {
        crate::source::Source::Example(layer) => Some((layer, 0)),
        _ => None,
    };
    assert_eq!(wanted.example().is_some(), layer.is_some());
    wanted.open(layer)
}

fn same(opened: &Opened, session: &Session) {
    assert_eq!(opened.notes, Vec::<String>::new());
    let edited = opened.session.edited;
    // In full it would be pages of numbers.
    let text = |s: &Session| write(s, ViewOptions::default(), usize::MAX).text;
    assert!(
        opened.session
            == Session {
                edited,
                ..session.clone()
            },
        "{} is not {}",
        text(&opened.session),
        text(session)
    );
}

#[test]
fn every_kind_of_session_comes_back_to_the_bit() {
    let mut typed = Session::plain(Shape {
        n_k: 5,
        d_v: 3,
        ..Shape::square(3, 2)
    });
    for (at, x) in typed
        .data
        .array_mut(Tensor::Q)
        .unwrap()
        .iter_mut()
        .enumerate()
    {
        *x = (at as f64 + 0.1).sin() * 1e-7;
    }
    let mut random = Session::random(
        Shape {
            heads: 4,
            kv_heads: 2,
            ..Shape::square(8, 6)
        },
        99,
        0.25,
    );
    let cell = CellRef {
        tensor: Tensor::K,
        row: 2,
        col: 1,
    };
    random = random
        .after(&Action::Write(cell, vec![vec![-0.3, 1e300]]))
        .unwrap();
    random = random.after(&Action::SetHead(3)).unwrap();
    random.pin = Some((7, 0));
    let mut tokens = Session::small_example();
    tokens.positions = vec![PositionUse::new("sinusoidal", &[]).unwrap()];
    tokens.d_out = Some(vec![1.0, -2.0, 0.5, 0.0]);
    let mut example = Session::example(layer(), 1);
    example.scale = Scale::Custom(1.0);
    example.masks = vec![MaskUse::new("causal", &[]).unwrap()];
    example.hidden = Hidden::Finite(-1e9);
    example = example
        .after(&Action::PaintMask(vec![(1, 0, false)]))
        .unwrap();
    example = example
        .after(&Action::Write(
            CellRef {
                tensor: Tensor::V,
                row: 0,
                col: 0,
            },
            vec![vec![4.5]],
        ))
        .unwrap();
    for session in [typed, random, tokens, example.clone()] {
        let view = ViewOptions {
            root_weights: true,
            as_used: false,
        };
        let opened = there_and_back(&session, view);
        same(&opened, &session);
        assert_eq!(opened.view, view);
    }
    // The head of an example taken as typed numbers keeps its tokens.
    let typed = example
        .after(&Action::SetSource(crate::source::SourceKind::Typed))
        .unwrap();
    assert_eq!(typed.q_labels.len(), 5);
    same(&there_and_back(&typed, ViewOptions::default()), &typed);
}

#[test]
fn what_a_page_or_a_course_system_does_to_an_address_does_no_harm() {
    let session = Session::random(Shape::square(4, 4), 5, 1.0);
    let session = session.after(&Action::SetMaskPreset("causal")).unwrap();
    let text = write(&session, ViewOptions::default(), ROOM).text;
    let plain = read(&text).open(None);
    let escaped: String = text
        .replace('(', "%28")
        .replace(')', "%29")
        .replace(',', "%2C")
        .replace(':', "%3a");
    assert_ne!(escaped, text);
    assert_eq!(read(&escaped).open(None), plain);
    assert_eq!(read(&text.replace('&', "&amp;")).open(None), plain);
    assert_eq!(
        read(&format!(
            "embed=1&show=stage&controls=scale&theme=dark&lock=1&{text}"
        ))
        .open(None),
        plain
    );
}

/// A link, the one sentence about it, and a part of the session that is there all the same.
#[test]
fn what_is_wrong_is_said_and_the_rest_is_used() {
    let cases = [
        ("v=2&src=random(7,1)&nq=4&nk=4&dk=2&dv=2", "version 2", 4),
        (
            "v=1&src=random(7,1)&nq=9000&nk=5&dk=2&dv=2",
            "nq: expected 1–512, got “9000”",
            16,
        ),
        ("src=random(7,1)&nq=0&nk=5", "nq: expected 1–512", 16),
        ("src=random(7,1)&nq=-1", "nq: expected a whole number", 16),
        (
            "src=random(0,1)&nq=3&nk=3&dk=2&dv=2",
            "src: expected example(",
            3,
        ),
        ("src=random(7,nan)&nq=3&nk=3&dk=2&dv=2", "src: expected", 3),
        ("src=random(7,1)&nq=3&nk=3&dk=3&dv=2&pos=rope", "even", 3),
        (
            "src=random(7,1)&nq=3&mask=nonsense",
            "mask: expected one of the masks",
            3,
        ),
        ("src=random(7,1)&nq=3&mask=window(window=0)", "0", 3),
        (
            "src=random(7,1)&nq=3&scale=abc",
            "scale: expected a number",
            3,
        ),
        (
            "src=random(7,1)&nq=3&head=9",
            "head: expected 0–0, got “9”",
            3,
        ),
        ("src=random(7,1)&nq=3&pin=3,0", "pin: expected 0–2, 0–15", 3),
        (
            "src=random(7,1)&nq=3&frobnicate=1",
            "“frobnicate” is not known",
            3,
        ),
        ("src=random(7,1)&nq=3&nq=4", "nq: expected it once", 3),
        (
            "src=random(7,1)&nq=3&edit=K:99999:1",
            "there is no cell 99999 of K",
            3,
        ),
        (
            "src=random(7,1)&nq=3&edit=K:1:x",
            "edit: expected tensor:cell:number",
            3,
        ),
        ("src=random(7,1)&nq=3&Q=1,2", "Q: expected src=typed", 3),
        (
            "src=random(7,1)&nq=3&dout=1",
            "dout: expected 64 values, got 1",
            3,
        ),
        (
            "src=random(7,1)&nq=3&pos=sinusoidal",
            "sinusoidal positions are added to tokens",
            3,
        ),
        (
            "src=tokens(7,8)&nq=3&nk=4&dk=2&dv=2",
            "as many keys as queries",
            3,
        ),
        (
            "src=tokens(7,9999)&nq=3&nk=3&dk=2&dv=2",
            "d_model 1–256, got “9999”",
            3,
        ),
        (
            "src=typed&nq=3&nk=2&dk=2&dv=2&Q=1,2,3",
            "Q: expected 6 values, got 3",
            3,
        ),
        (
            "src=typed&nq=3&nk=2&dk=2&dv=2&Q=1,inf",
            "Q: expected numbers",
            3,
        ),
        ("src=typed&nq=3&nk=2&dk=2&dv=2&Q=", "too many to travel", 3),
        (
            "src=random(7,1)&h=32&nq=512&nk=512&dk=256&dv=256",
            "numbers in a tensor",
            16,
        ),
        ("src=random(7,1)&h=3&g=2&nq=4", "left out", 16),
        (
            "lab=kitchen&src=random(7,1)&nq=3",
            "lab: expected bench, got “kitchen”",
            3,
        ),
    ];
    for (text, sentence, n_q) in cases {
        let opened = read(text).open(None);
        assert_eq!(opened.session.check(), Ok(()), "{text}");
        let [note] = opened.notes.as_slice() else {
            panic!("{text}: {:?}", opened.notes);
        };
        assert!(note.contains(sentence), "{text}: {note}");
        assert_eq!(opened.session.shape.n_q, n_q, "{text}");
    }
}

#[test]
fn numbers_that_take_too_much_room_stay_behind_and_that_is_said() {
    let typed = Session {
        source: crate::source::Source::Typed,
        ..Session::random(Shape::square(64, 64), 3, 1.0)
    };
    let written = write(&typed, ViewOptions::default(), ROOM);
    assert!(
        written
            .left_out
            .is_some_and(|words| words.contains("hand the numbers over"))
    );
    assert!(written.text.len() < 200, "{}", written.text);
    let opened = read(&written.text).open(None);
    assert!(
        opened
            .notes
            .iter()
            .any(|n| n.contains("too many to travel")),
        "{:?}",
        opened.notes
    );
    assert_eq!(opened.session.shape, typed.shape);
}

#[test]
fn a_link_that_is_much_too_long_is_cut_at_a_whole_value() {
    let text = format!("src=random(7,1)&nq=3&words={}&nk=4", "a,".repeat(LONGEST));
    let opened = read(&text).open(None);
    assert_eq!(
        (opened.session.shape.n_q, opened.session.shape.n_k),
        (3, 16)
    );
    assert!(
        opened.notes.iter().any(|n| n.contains("letters")),
        "{:?}",
        opened.notes
    );
}

#[test]
fn many_faults_are_counted_and_not_listed() {
    let text: Vec<String> = (0..500).map(|i| format!("unknown{i}=1")).collect();
    let opened = read(&format!("src=typed&{}", text.join("&"))).open(None);
    assert_eq!(opened.notes.len(), 7);
    assert!(opened.notes[6].contains("494 more"));
}

#[test]
fn a_change_by_link_leaves_the_rest_alone() {
    let session = Session::random(Shape::square(4, 4), 5, 1.0);
    let session = session.after(&Action::SetMaskPreset("causal")).unwrap();
    let session = session.after(&Action::SetSize(Size::Heads, 2)).unwrap();
    let now = write(&session, ViewOptions::default(), usize::MAX).text;
    let set = |new: &str| read(&merged(&now, new)).open(None).session;
    assert_eq!(
        set("scale=2"),
        Session {
            scale: Scale::Custom(2.0),
            ..session.clone()
        }
    );
    assert_eq!(set("#mask=causal(align=bottom_right)").masks.len(), 1);
    assert_eq!(set("src=random(6,1)").shape, Shape::square(16, 64));
    assert_eq!(set("src=random(6,1)").masks, session.masks);
    assert_eq!(set(""), session);
    assert!(set("mask=").masks.is_empty());
    assert_eq!(set("mask=&scale=").shape, session.shape);
    assert_eq!(readable("#mask=&frob=").0, "mask=");
    let (change, notes) = readable("#scale=abc&head=1&mask=nonsense&frob=1");
    assert_eq!(change, "head=1");
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(set(&change).masks == session.masks);
}

#[test]
fn a_rotation_of_all_components_says_how_many_they_are() {
    let opened = read("src=random(7,1)&dk=6&pos=rope").open(None);
    assert_eq!(opened.notes, Vec::<String>::new());
    assert_eq!(opened.session.positions[0].value("dims"), Some(6.0));
}

#[test]
fn every_scheme_of_the_registries_travels() {
    let shape = Shape {
        heads: 2,
        kv_heads: 2,
        ..Shape::square(6, 8)
    };
    for scheme in attention::masks::ALL {
        for mask in (scheme.examples)(shape) {
            let mut session = Session::random(shape, 1, 1.0);
            let mut config = session.config();
            config.masks = vec![mask];
            session.configure(config);
            same(&there_and_back(&session, ViewOptions::default()), &session);
        }
    }
    for scheme in attention::positions::ALL {
        for position in (scheme.examples)(shape) {
            let mut session = Session::tokens(shape, 1, 8);
            let mut config = session.config();
            config.positions = vec![position];
            session.configure(config);
            same(&there_and_back(&session, ViewOptions::default()), &session);
        }
    }
}

proptest! {
    #[test]
    fn anything_is_read_without_a_panic(text in "(v|src|nq|Q|edit|mask|pos|pin|head|%2|&|=|\\(|\\)|,|:|[0-9]{1,3}|[a-z]{1,5}|\\PC){0,60}") {
        let opened = read(&text).open(None);
        prop_assert_eq!(opened.session.check(), Ok(()));
    }

    #[test]
    fn what_is_cut_off_anywhere_still_opens(cut in 0usize..200) {
        let text = "v=1&lab=bench&src=random(5,1)&h=2&g=2&nq=4&nk=4&dk=4&dv=4&mask=causal(align=bottom_right)&pin=1,2&edit=K:1:0.5";
        let opened = read(&text[..cut.min(text.len())]).open(None);
        prop_assert_eq!(opened.session.check(), Ok(()));
    }
}
