//! The three formulas of a cell, with its numbers: score, weight, output row.

use super::mathml::{self as m, Hue, Math, at, exp, frac, id, number, op, root, row, sub, sum};
use crate::{
    canvas::heat::Look,
    format,
    labs::bench::inspector::{digits::brief, facts::Shown, names::Name},
    text::{t, tf},
};
use attention::Hidden;

/// One formula and the words above it.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    /// Key of the words above; `{ $query }`, `{ $key }` and others stand for names.
    pub caption: Vec<Word>,
    /// The formula as MathML, or a sentence.
    pub body: Body,
    /// A quieter remark below.
    pub note: Option<String>,
}

/// A formula or a sentence in its place.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// MathML.
    Math(String),
    /// Words; `{ $alpha }` in them was replaced already.
    Words(String),
}

/// Words, or the name of a token in bold.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// Plain.
    Plain(String),
    /// A name.
    Name(Name),
}

/// Splits the words of a key where its `{ $slots }` are.
pub fn caption(key: &'static str, slots: &[(&str, Word)]) -> Vec<Word> {
    let mut rest = t(key);
    let mut out = Vec::new();
    while let Some((before, after)) = rest.split_once("{ $") {
        let Some((slot, after)) = after.split_once(" }") else {
            break;
        };
        if !before.is_empty() {
            out.push(Word::Plain(before.to_owned()));
        }
        match slots.iter().find(|(name, _)| *name == slot) {
            Some((_, word)) => out.push(word.clone()),
            None => out.push(Word::Plain(slot.to_owned())),
        }
        rest = after;
    }
    if !rest.is_empty() {
        out.push(Word::Plain(rest.to_owned()));
    }
    out
}

/// The most components whose products are written out.
pub const FEW: usize = 4;
/// The most characters of their factors.
const MOST_DIGITS: usize = 30;
/// The most terms of the output row that are written.
const TERMS: usize = 4;

fn n(x: f64) -> Math {
    number(&brief(x))
}

/// A factor: negative ones in brackets.
fn factor(x: f64) -> Math {
    in_brackets(x < 0.0, number(&typed(x)))
}

fn in_brackets(they_are_needed: bool, inside: Math) -> Math {
    if they_are_needed {
        row([op("("), inside, op(")")])
    } else {
        inside
    }
}

/// A typed number as typed where that is short.
fn typed(x: f64) -> String {
    let all = format::exact(x);
    if all.chars().count() <= 7 {
        all
    } else {
        brief(x)
    }
}

/// A sum or a difference of a number: "+ 2" or "− 2".
fn plus(x: f64) -> [Math; 2] {
    if x < 0.0 {
        [op("−"), n(-x)]
    } else {
        [op("+"), n(x)]
    }
}

/// The three formulas.
pub fn formulas(shown: &Shown) -> [Formula; 3] {
    [score(shown), weight(shown), output(shown)]
}

fn index(i: usize) -> Word {
    Word::Plain(i.to_string())
}

fn score(shown: &Shown) -> Formula {
    let (i, j, c) = (shown.query(), shown.key(), &shown.looked().cell);
    let names = &shown.setting.names;
    let (query, key) = (names.query(i), names.key(j));
    let caption = match (&query, &key) {
        (Name::Index(..), Name::Index(..)) => caption(
            "formula-score-index",
            &[("query", index(i)), ("key", index(j))],
        ),
        _ => caption(
            "formula-score",
            &[("query", Word::Name(query)), ("key", Word::Name(key))],
        ),
    };
    let mut line = vec![at("s", i, j), op("=")];
    let (dot, scale) = (c.dot, shown.trace().scale);
    let d_k = shown.trace().shape.d_k;
    let steps = [
        shown.setting.soft_cap().is_some(),
        shown.setting.biased(),
        !c.visible,
    ];
    let steps = steps.into_iter().filter(|s| *s).count();
    // What follows the scaled score needs the room that the products would take.
    let few = d_k <= FEW && steps == 0 && products_are_short(shown);
    let product = if few {
        products(shown)
    } else {
        row([
            sub(id("q"), number(&i.to_string())).hue(Hue::Q),
            op("·"),
            sub(id("k"), number(&j.to_string())).hue(Hue::K),
        ])
    };
    let by_root = (scale * (d_k as f64).sqrt() - 1.0).abs() < 1e-12;
    if scale == 1.0 {
        line.push(product);
    } else if by_root {
        let divisor = (d_k as f64).sqrt();
        let below = if few {
            n(divisor)
        } else {
            root(sub(id("d"), id("k")))
        };
        line.push(frac(product, below));
        // Where several steps follow, their room is worth more than the quotient's.
        if steps < 2 {
            line.extend([op("="), frac(n(dot), n(divisor))]);
        }
    } else {
        let times = || in_brackets(scale < 0.0, n(scale));
        line.extend([
            in_brackets(few, product),
            op("×"),
            times(),
            op("="),
            n(dot),
            op("×"),
            times(),
        ]);
    }
    line.extend([op("="), n(c.scaled)]);
    let formula = m::formula(later(shown, line));
    let note = match shown.setting.changed() {
        (true, true) => Some(t("formula-normed-turned").to_owned()),
        (true, false) => Some(t("formula-normed").to_owned()),
        (false, true) => Some(t("formula-turned").to_owned()),
        (false, false) => None,
    };
    Formula {
        caption,
        body: Body::Math(formula),
        note,
    }
}

/// Whether the products can stand there in a row: typed numbers mostly, drawn ones hardly.
fn products_are_short(shown: &Shown) -> bool {
    let (q, k) = vectors(shown);
    let long = |x: &f64| typed(*x).chars().count() + if *x < 0.0 { 2 } else { 0 };
    let digits: usize = q.iter().chain(k).map(long).sum();
    digits <= MOST_DIGITS
}

/// The query's and the key's components, as the score uses them.
fn vectors(shown: &Shown) -> (&[f64], &[f64]) {
    let trace = shown.trace();
    let d = trace.shape.d_k;
    (
        &trace.q_pos[shown.query() * d..(shown.query() + 1) * d],
        &trace.k_pos[shown.key() * d..(shown.key() + 1) * d],
    )
}

/// The products of all components.
fn products(shown: &Shown) -> Math {
    let (q, k) = vectors(shown);
    let mut pieces = Vec::new();
    for (a, b) in q.iter().zip(k) {
        if !pieces.is_empty() {
            pieces.push(op("+"));
        }
        pieces.extend([factor(*a).hue(Hue::Q), op("·"), factor(*b).hue(Hue::K)]);
    }
    row(pieces)
}

/// What follows the scaled score: cap, bias, mask.
fn later(shown: &Shown, mut line: Vec<Math>) -> Vec<Math> {
    let c = &shown.looked().cell;
    if let Some(cap) = shown.setting.soft_cap() {
        // The arrow: a new step, not an equation.
        line.extend([
            op("→"),
            n(cap),
            m::space(),
            id("tanh"),
            m::space(),
            frac(n(c.scaled), n(cap)),
            op("="),
            n(c.capped),
        ]);
    }
    if shown.setting.biased() {
        line.extend([op("→"), n(c.capped)]);
        line.extend(plus(c.bias));
        line.extend([op("="), n(c.score)]);
    }
    if !c.visible {
        line.extend([op("→"), n(c.score)]);
        match shown.setting.hidden() {
            Hidden::NegInfinity => line.extend([op("−"), number("∞"), op("="), number("−∞")]),
            Hidden::Finite(x) => {
                line.extend(plus(x));
                line.extend([op("="), n(shown.line(shown.key()).logit)]);
            }
        }
    }
    line
}

fn weight(shown: &Shown) -> Formula {
    let (i, j, c) = (shown.query(), shown.key(), &shown.looked().cell);
    let line = shown.line(j);
    let left = || at("α", i, j).hue(Hue::A);
    let facts = shown.facts();
    if shown.sees_nothing() {
        let math = row([
            left(),
            op("="),
            frac(number("0"), number("0")),
            op("→"),
            number("0").hue(Hue::A),
        ]);
        return Formula {
            caption: caption("formula-nothing", &[("query", index(i))]),
            body: Body::Math(math.formula()),
            note: Some(t("formula-nothing-note").to_owned()),
        };
    }
    let sink = shown.sink();
    let visible = Word::Plain(facts.visible.to_string());
    // e^s as it is, where the numbers stay of a size that one can read; otherwise with the row's maximum taken out.
    let plain =
        c.max.abs() <= 12.0 && (line.logit.abs() <= 12.0 || line.logit == f64::NEG_INFINITY);
    let result = [op("="), number(&result(c.weight)).hue(Hue::A)];
    let exponent = at("s", i, j);
    let mut below = vec![
        sum("j"),
        exp(sub(
            id("s"),
            row([number(&i.to_string()), op(","), id("j")]),
        )),
    ];
    if sink.is_some() {
        below.extend([op("+"), exp(sub(id("s"), m::words(t("formula-sink"))))]);
    }
    let mut pieces = vec![left(), op("=")];
    let caption = if plain {
        let denominator = c.denominator * c.max.exp();
        let above = if line.logit == f64::NEG_INFINITY {
            number("0")
        } else {
            n(line.logit.exp())
        };
        pieces.extend([
            frac(exp(exponent), row(below)),
            op("="),
            frac(exp(n(line.logit)), denominator_of(denominator, sink)),
            op("="),
        ]);
        pieces.push(frac(above, n(denominator)));
        match sink {
            Some(s) => caption(
                "formula-weight-sink",
                &[("n", visible), ("sink", Word::Plain(brief(s)))],
            ),
            None if facts.visible == 1 => caption("formula-weight-one", &[]),
            None => caption("formula-weight", &[("n", visible)]),
        }
    } else {
        let away = line.logit - c.max;
        let away_text = if away.is_nan() || away == f64::NEG_INFINITY {
            number("−∞")
        } else {
            n(away)
        };
        let shifted = if c.max < 0.0 {
            row([n(line.logit), op("+"), n(-c.max)])
        } else {
            row([n(line.logit), op("−"), n(c.max)])
        };
        pieces.extend([
            frac(exp(shifted), n(c.denominator)),
            op("="),
            frac(exp(away_text), n(c.denominator)),
        ]);
        caption("formula-weight-max", &[("max", Word::Plain(brief(c.max)))])
    };
    pieces.extend(result);
    let note = match line.look {
        Look::Masked | Look::MaskedByHand if shown.setting.hidden() == Hidden::NegInfinity => {
            Some(t("formula-hidden-note").to_owned())
        }
        Look::Masked | Look::MaskedByHand => Some(t("formula-finite-zero-note").to_owned()),
        _ if line.leaks => Some(t("formula-leak-note").to_owned()),
        _ if facts.overflowed => Some(t("formula-overflow-note").to_owned()),
        _ => None,
    };
    Formula {
        caption,
        body: Body::Math(m::formula(pieces)),
        note,
    }
}

/// The denominator as one number, or with the sink's part written out.
fn denominator_of(all: f64, sink: Option<f64>) -> Math {
    match sink.map(|s| (s, s.exp())) {
        Some((s, part)) if part.is_finite() && part <= all => {
            row([n(all - part), op("+"), exp(n(s))])
        }
        _ => n(all),
    }
}

/// A weight, with three decimals where that says something.
fn result(weight: f64) -> String {
    if weight != 0.0 && weight < 0.0005 {
        brief(weight)
    } else {
        format::fixed(weight, 3)
    }
}

fn output(shown: &Shown) -> Formula {
    let (i, j, c) = (shown.query(), shown.key(), &shown.looked().cell);
    let line = shown.line(j);
    if line.look == Look::Underflow && line.logit.is_finite() && c.max.is_finite() {
        let ln = line.logit - c.max - c.denominator.ln();
        return Formula {
            caption: caption("formula-real", &[]),
            body: Body::Words(tf("formula-real-body", &[("ln", &format::fixed(ln, 2))])),
            note: None,
        };
    }
    let left = sub(id("o"), number(&i.to_string()));
    if shown.sees_nothing() {
        return Formula {
            caption: caption("formula-output-nothing", &[]),
            body: Body::Math(row([left, op("="), number("0")]).formula()),
            note: None,
        };
    }
    let heaviest = shown.heaviest(shown.n_k());
    let written = if heaviest.len() <= TERMS + 1 {
        heaviest.len()
    } else {
        TERMS
    };
    let mut pieces = vec![
        left,
        op("="),
        sum("j"),
        sub(id("α"), row([number(&i.to_string()), op(","), id("j")])).hue(Hue::A),
        sub(id("v"), id("j")).hue(Hue::V),
        op("="),
    ];
    for (t, (key, weight)) in heaviest.iter().take(written).enumerate() {
        if t > 0 {
            pieces.push(op("+"));
        }
        let name = shown.setting.names.value(*key);
        pieces.extend([
            number(&result(*weight)).hue(Hue::A),
            m::named("v", &name).hue(Hue::V),
        ]);
    }
    let smaller = heaviest.len() - written;
    let caption = if smaller > 0 {
        pieces.push(m::and_so_on());
        caption(
            "formula-output-more",
            &[("n", Word::Plain(smaller.to_string()))],
        )
    } else {
        caption("formula-output", &[])
    };
    if smaller == 0 && shown.trace().shape.d_v <= FEW {
        pieces.push(op("="));
        pieces.push(vector(shown.out()));
    }
    Formula {
        caption,
        body: Body::Math(m::formula(pieces)),
        note: None,
    }
}

fn vector(values: &[f64]) -> Math {
    let mut pieces = vec![op("(")];
    for (k, x) in values.iter().enumerate() {
        if k > 0 {
            pieces.push(op(","));
        }
        pieces.push(number(&format::in_cell(*x)));
    }
    pieces.push(op(")"));
    row(pieces)
}
