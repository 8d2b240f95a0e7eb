use super::build::{Body, Formula, Word, formulas};
use crate::{
    labs::bench::inspector::fixture::{hostile, random, sentence, shown, small_numbers},
    session::{Action, Session},
};

/// The words of a formula, MathML tags left out.
fn plain(formula: &Formula) -> String {
    match &formula.body {
        Body::Words(words) => words.clone(),
        Body::Math(math) => {
            let mut text = String::new();
            let mut inside = false;
            for c in math.chars() {
                match c {
                    '<' => inside = true,
                    '>' => inside = false,
                    c if !inside => text.push(c),
                    _ => {}
                }
            }
            text
        }
    }
}

fn above(formula: &Formula) -> String {
    formula
        .caption
        .iter()
        .map(|w| match w {
            Word::Plain(text) => text.clone(),
            Word::Name(name) => name.to_string(),
        })
        .collect()
}

fn of(session: &Session, query: usize, key: usize) -> [String; 3] {
    formulas(&shown(session, query, key)).each_ref().map(plain)
}

#[test]
fn the_small_example_reads_as_in_its_picture() {
    let all = formulas(&shown(&small_numbers(), 2, 1));
    assert_eq!(
        all.each_ref().map(above),
        [
            "Score of query 2 for key 1",
            "Its weight, with the row maximum 2.125 subtracted first",
            "In real numbers"
        ]
    );
    let [score, weight, output] = all.each_ref().map(plain);
    assert!(
        score.starts_with("s2,1=1.5·0.5+(−40)·38+0.5·0.4+1·12"),
        "{score}"
    );
    assert!(score.ends_with("=−759.025"), "{score}");
    assert!(weight.starts_with("α2,1=e−759.025−2.1251.116"), "{weight}");
    assert!(weight.ends_with("=0"), "{weight}");
    assert_eq!(
        output,
        "ln *α* = −761.26: positive, and too small for any float64."
    );
}

#[test]
fn long_vectors_are_not_written_out() {
    let all = formulas(&shown(&sentence(32), 11, 13));
    assert_eq!(above(&all[0]), "Score of was for tired");
    assert!(
        plain(&all[0]).starts_with("s11,13=q11·k13dk="),
        "{}",
        plain(&all[0])
    );
    assert_eq!(above(&all[1]), "Its weight, after the softmax over 16 keys");
    assert_eq!(
        above(&all[2]),
        "The output row, 12 smaller terms not written"
    );
    assert!(plain(&all[2]).ends_with("+…"), "{}", plain(&all[2]));
}

#[test]
fn a_row_that_sees_nothing_is_0_by_rule() {
    let all = formulas(&shown(&small_numbers(), 0, 0));
    assert_eq!(plain(&all[1]), "α0,0=00→0");
    assert_eq!(all[1].note.as_deref(), Some("0/0, set to 0 by rule"));
    assert_eq!(plain(&all[2]), "o0=0");
}

#[test]
fn every_option_leaves_its_mark() {
    let base = random(6, 8);
    let with = |action: Action| base.after(&action).unwrap();
    assert!(of(&with(Action::SetSoftCap(Some(2.0))), 0, 1)[0].contains("tanh"));
    assert!(of(&with(Action::SetPositionPreset("alibi")), 1, 0)[0].contains('→'));
    assert!(of(&with(Action::SetMaskPreset("causal")), 0, 4)[0].ends_with("−∞=−∞"));
    assert!(of(&with(Action::SetSink(Some(1.0))), 0, 1)[1].contains("ssink"));
    let note = |session: &Session| {
        formulas(&shown(session, 0, 1))[0]
            .note
            .clone()
            .unwrap_or_default()
    };
    assert!(note(&with(Action::SetPositionPreset("rope"))).contains("rotation"));
    assert!(note(&with(Action::SetQkNorm(Some(1e-6)))).contains("QK-norm"));
    let finite = with(Action::SetMaskPreset("causal"))
        .after(&Action::SetHidden(attention::Hidden::Finite(-1.0)))
        .unwrap();
    let all = formulas(&shown(&finite, 0, 4));
    assert!(plain(&all[0]).contains("−1="), "{}", plain(&all[0]));
    assert!(
        all[1]
            .note
            .as_deref()
            .is_some_and(|n| n.contains("hidden key has weight")),
        "{:?}",
        all[1].note
    );
    assert!(of(&with(Action::SetScale(attention::Scale::Custom(0.5))), 0, 1)[0].contains("×0.5="));
    let none = of(&with(Action::SetScale(attention::Scale::Custom(1.0))), 0, 1);
    assert!(!none[0].contains('×'), "{}", none[0]);
}

#[test]
fn no_formula_says_nan() {
    for (what, session) in hostile() {
        let s = session.shape;
        for query in 0..s.n_q.min(3) {
            for key in 0..s.n_k.min(6) {
                for formula in formulas(&shown(&session, query, key)) {
                    let text = plain(&formula);
                    assert!(
                        !text.contains("NaN") && !text.contains("inf"),
                        "{what}, cell {query}, {key}: {text}"
                    );
                }
            }
        }
    }
}
