//! One cell written out: the components of q and k, their products adding up, and what becomes of the sum.

use crate::{
    canvas::{
        chart::{Bar, Chart},
        heat::{Heat, Look, Print, Scale},
        scene::{Anchor, Ink, Mark, Rect, Scene, Type},
    },
    format,
    labs::bench::{
        inspector::{digits::brief, facts::Shown},
        names::fit,
    },
    text::{t, tf},
};
use std::sync::Arc;

/// A picture in two layers: bars and lines below, words and cells above.
#[derive(Clone, Debug, PartialEq)]
pub struct Drawn {
    /// For `plotters`.
    pub chart: Chart,
    /// On top of it, of the same size.
    pub scene: Scene,
}

/// From so few components on, products stand there as numbers.
pub const FEW: usize = 6;

/// One line of what becomes of the sum.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Before the number.
    pub words: String,
    /// The number; empty where the words say all.
    pub number: String,
    /// After it.
    pub after: String,
    /// Hue of the words.
    pub ink: Ink,
    /// The number is a result, not an operand.
    pub result: bool,
}

fn step(words: impl Into<String>, number: String, after: impl Into<String>, result: bool) -> Step {
    Step {
        words: words.into(),
        number,
        after: after.into(),
        ink: Ink::Ink2,
        result,
    }
}

/// What is done to the dot product, line by line: scale, soft cap, bias, mask, weight. Steps not in force are left out.
pub fn steps(shown: &Shown) -> Vec<Step> {
    let c = &shown.looked().cell;
    let line = shown.line(shown.key());
    let mut steps = vec![step("", brief(c.dot), "", true)];
    steps.push(step("×", brief(shown.trace().scale), "", false));
    let (capped, biased) = (shown.setting.soft_cap().is_some(), shown.setting.biased());
    let in_s = t("waterfall-in-s");
    steps.push(step(
        "=",
        brief(c.scaled),
        if capped || biased { "" } else { in_s },
        true,
    ));
    if let Some(cap) = shown.setting.soft_cap() {
        let words = tf("waterfall-cap", &[("cap", &brief(cap))]);
        steps.push(step(
            words,
            brief(c.capped),
            if biased { "" } else { in_s },
            true,
        ));
    }
    if biased {
        steps.push(step(t("waterfall-bias"), signed(c.bias), "", false));
        steps.push(step("=", brief(c.score), in_s, true));
    }
    if !c.visible {
        let mask = match shown.setting.hidden() {
            attention::Hidden::NegInfinity => "−∞".to_owned(),
            attention::Hidden::Finite(x) => brief(x),
        };
        steps.push(step(t("waterfall-mask"), mask, "", false));
        if line.logit.is_finite() {
            steps.push(step("=", brief(line.logit), "", true));
        }
    }
    let after = match line.look {
        Look::Underflow => t("inspector-underflow"),
        Look::Masked | Look::MaskedByHand | Look::Empty => t("inspector-hidden"),
        Look::Plain | Look::Overflow => "",
    };
    steps.push(Step {
        ink: Ink::AText,
        ..step("A", format::fixed(c.weight, 3), after, true)
    });
    steps
}

fn signed(x: f64) -> String {
    if x > 0.0 {
        format!("+{}", brief(x))
    } else {
        brief(x)
    }
}

/// A product beside its bar: one decimal, as many digits as tell it from 0.
fn product(x: f64) -> String {
    let text = match x.abs() {
        a if a >= 99_999.5 => format!("{x:.0e}").replace('-', "−"),
        a if a >= 99.95 => format::fixed(x, 0),
        a if a >= 0.095 || a == 0.0 => format::fixed(x, 1),
        a if a >= 0.005 => format::fixed(x, 2),
        _ => format!("{x:.0e}").replace('-', "−"),
    };
    if x > 0.0 { format!("+{text}") } else { text }
}

/// Sums so far, from 0 to the dot product; numbers beyond float64 are held at its end.
pub fn sums(terms: &[f64]) -> Vec<f64> {
    let hold = |x: f64| {
        if x.is_nan() {
            0.0
        } else {
            x.clamp(f64::MIN, f64::MAX)
        }
    };
    std::iter::once(0.0)
        .chain(terms.iter().scan(0.0, |sum, x| {
            *sum = hold(*sum + hold(*x));
            Some(*sum)
        }))
        .collect()
}

/// Draws the cell in a picture of this width.
pub fn draw(shown: &Shown, width: f64) -> Drawn {
    let narrow = width < 560.0;
    let terms = &shown.looked().cell.terms;
    let d = terms.len();
    let few = d <= FEW;
    let left = if narrow { 24.0 } else { 62.0 };
    let results = if narrow { 112.0 } else { 168.0 };
    let room = (width - left - results).max(d as f64 / 4.0);
    let pitch = (room / d as f64).min(if few { 104.0 } else { 40.0 });
    // Whole pixels where there are enough of them: cells and bars then have the same edges.
    let pitch = if pitch >= 2.0 { pitch.floor() } else { pitch };
    let strip = if few { 22.0 } else { 15.0 };
    let strips = if narrow && !few { 0.0 } else { 2.0 * strip };
    let height = if narrow {
        strips + 112.0
    } else {
        strips + 118.0
    };
    let plot = Rect::new(
        left,
        strips + 22.0,
        pitch * d as f64,
        height - strips - 22.0 - 22.0,
    );
    let mut scene = Scene::new(width, height);
    if strips > 0.0 {
        vectors(&mut scene, shown, (left, pitch, strip), few);
    }
    let sums = in_units(&sums(terms));
    let chart = chart(&sums, plot, (width, height));
    let level = |v: f64| place(v, &chart);
    let zero = level(0.0);
    scene.text(left - 8.0, zero, "0", Type::LABEL, Ink::Ink2, Anchor::End);
    if !narrow {
        // Two words below each other, clear of the 0.
        let words = [t("waterfall-sum"), t("waterfall-so-far")];
        let first = if zero - plot.y > 44.0 {
            zero - 42.0
        } else {
            zero + 16.0
        };
        for (i, word) in words.into_iter().enumerate() {
            scene.text(
                left - 8.0,
                first + 14.0 * i as f64,
                word,
                Type::LABEL,
                Ink::Ink2,
                Anchor::End,
            );
        }
    }
    let foot = height - 8.0;
    if d > 1 {
        scene.text(
            left + pitch / 2.0,
            foot,
            "0",
            Type::LABEL,
            Ink::Ink2,
            Anchor::Middle,
        );
        scene.text(
            plot.right() - pitch / 2.0,
            foot,
            (d - 1).to_string(),
            Type::LABEL,
            Ink::Ink2,
            Anchor::Middle,
        );
    }
    if plot.w > 160.0 {
        scene.text(
            left + plot.w / 2.0,
            foot,
            t("waterfall-component"),
            Type::LABEL,
            Ink::Ink2,
            Anchor::Middle,
        );
    }
    labels(&mut scene, terms, &sums, plot, pitch, &level);
    outcome(
        &mut scene,
        shown,
        plot,
        level(sums.last().copied().unwrap_or(0.0)),
    );
    Drawn { chart, scene }
}

/// The strips of q and k. Both are as the scores use them: after norm and rotation.
fn vectors(scene: &mut Scene, shown: &Shown, (left, pitch, strip): (f64, f64, f64), print: bool) {
    let trace = shown.trace();
    let d = trace.shape.d_k;
    // The scale of the pipeline, when it shows Q and K as they are used.
    let scale = Scale::signed_for(trace.q_pos.iter().chain(&trace.k_pos));
    let rows = [
        ("q", Ink::QText, &trace.q_pos, shown.query()),
        ("k", Ink::KText, &trace.k_pos, shown.key()),
    ];
    for (i, (letter, ink, values, row)) in rows.into_iter().enumerate() {
        let y = strip * i as f64;
        scene.text(
            left - 8.0,
            y + strip / 2.0 - 1.0,
            letter,
            Type::VARIABLE,
            ink,
            Anchor::End,
        );
        scene.marks.push(Mark::Heat(Box::new(Heat {
            x: left,
            y,
            cell_w: pitch,
            cell_h: strip,
            rows: 1,
            cols: d,
            values: Arc::new(values.get(row * d..(row + 1) * d).unwrap_or(&[]).to_vec()),
            transposed: false,
            looks: Arc::new(Vec::new()),
            scale,
            print: (print && pitch >= 40.0).then_some(Print::Typed),
            stale: false,
        })));
    }
}

/// The sums in units of the largest, so that differences of numbers near the end of float64 stay within it.
fn in_units(sums: &[f64]) -> Vec<f64> {
    let largest = sums.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    sums.iter()
        .map(|x| if largest > 0.0 { x / largest } else { 0.0 })
        .collect()
}

fn chart(sums: &[f64], plot: Rect, size: (f64, f64)) -> Chart {
    let lo = sums.iter().copied().fold(0.0, f64::min);
    let hi = sums.iter().copied().fold(0.0, f64::max);
    let (lo, hi) = if lo == hi { (0.0, 1.0) } else { (lo, hi) };
    let steps = || {
        sums.windows(2)
            .enumerate()
            .map(|(i, w)| (i as f64, w[0], w[1], sign(w[1] - w[0])))
    };
    let bars = steps()
        .map(|(x, from, to, ink)| Bar {
            x: (x, x + 1.0),
            y: (from, to),
            ink,
        })
        .collect();
    // A step too small to be seen as a bar is seen as a line.
    let seen = (hi - lo) / plot.h;
    let mut ticks: Vec<(f64, f64, f64, Ink)> = steps()
        .filter(|(_, from, to, _)| (to - from).abs() < seen)
        .map(|(x, _, to, ink)| (x, x + 1.0, to, ink))
        .collect();
    // From the end of the last step to the sum beside it, 8 px outside of the plot.
    let n = sums.len().saturating_sub(1) as f64;
    ticks.push((
        n,
        n + 8.0 * n / plot.w.max(1.0),
        sums.last().copied().unwrap_or(0.0),
        Ink::Ink,
    ));
    Chart {
        size,
        at: plot,
        x: (0.0, n),
        y: (lo, hi),
        levels: vec![0.0],
        bars,
        ticks,
    }
}

fn sign(x: f64) -> Ink {
    if x < 0.0 { Ink::Minus } else { Ink::Plus }
}

/// Where a value is on the picture.
fn place(value: f64, chart: &Chart) -> f64 {
    let (lo, hi) = chart.y;
    chart.at.bottom() - ((value - lo) / (hi - lo)).clamp(0.0, 1.0) * chart.at.h
}

/// The largest products at their bars, as many as there is room for.
fn labels(
    scene: &mut Scene,
    terms: &[f64],
    sums: &[f64],
    plot: Rect,
    pitch: f64,
    level: &dyn Fn(f64) -> f64,
) {
    let most = if terms.len() <= FEW { FEW } else { 6 };
    let mut order: Vec<usize> = (0..terms.len()).filter(|i| terms[*i] != 0.0).collect();
    crate::order::sort(&mut order, &|a, b| {
        terms[b].abs().total_cmp(&terms[a].abs())
    });
    let smallest = if terms.len() <= FEW {
        0.0
    } else {
        order.first().map_or(0.0, |i| terms[*i].abs() / 3.0)
    };
    let tops: Vec<f64> = sums
        .windows(2)
        .map(|w| level(w[0]).min(level(w[1])))
        .collect();
    let mut taken: Vec<Rect> = Vec::new();
    for &i in order
        .iter()
        .take(most)
        .filter(|i| terms[**i].abs() >= smallest)
    {
        let text = product(terms[i]);
        let w = Type::LABEL.width(&text);
        let x = (plot.x + (i as f64 + 0.5) * pitch).clamp(
            plot.x + w / 2.0,
            (plot.right() + 4.0 - w / 2.0).max(plot.x + w / 2.0),
        );
        // Above every bar that it would cover.
        let (from, to) = (
            (x - w / 2.0 - plot.x) / pitch,
            (x + w / 2.0 - plot.x) / pitch,
        );
        let over = (from.floor().max(0.0) as usize)..(to.ceil().max(0.0) as usize).min(tops.len());
        let top = tops
            .get(over)
            .unwrap_or(&[])
            .iter()
            .copied()
            .fold(f64::INFINITY, f64::min);
        let own = tops.get(i).copied().unwrap_or(top);
        let y = top.min(own) - 9.0;
        let at = Rect::new(x - w / 2.0 - 2.0, y - 7.0, w + 4.0, 14.0);
        // Far from its own bar it would be taken for another's.
        let stray = own - y > 24.0;
        if stray && terms.len() > FEW || taken.iter().any(|t| t.overlaps(at)) || y < plot.y - 18.0 {
            continue;
        }
        scene.text(x, y, text, Type::LABEL, Ink::Ink2, Anchor::Middle);
        taken.push(at);
    }
}

/// What becomes of the sum, to the right of where it ends.
fn outcome(scene: &mut Scene, shown: &Shown, plot: Rect, end: f64) {
    let steps = steps(shown);
    let pitch = 17.0;
    let x = plot.right() + 16.0;
    let lowest = scene.height - 8.0 - pitch * (steps.len() - 1) as f64;
    let top = end.clamp(8.0, lowest.max(8.0));
    if (top - end).abs() > 1.0 {
        // The line that leads from the last bar to its number.
        scene.line(
            &[
                (plot.right() + 8.0, end),
                (plot.right() + 8.0, top),
                (plot.right() + 12.0, top),
            ],
            Ink::Ink,
            1.0,
        );
    }
    for (i, s) in steps.iter().enumerate() {
        let y = top + pitch * i as f64;
        let words = if s.ink == Ink::AText {
            Type::STRONG
        } else {
            Type::LABEL
        };
        let mut at = x;
        let room = scene.width - x;
        let (font, ink) = if s.result {
            (Type::STRONG, Ink::Ink)
        } else {
            (Type::LABEL, Ink::Ink2)
        };
        if !s.words.is_empty() {
            let short = fit(&s.words, words, room - 4.0 - font.width(&s.number));
            at += scene.text(at, y, short, words, s.ink, Anchor::Start) + 4.0;
        }
        at += scene.text(at, y, s.number.clone(), font, ink, Anchor::Start) + 4.0;
        if !s.after.is_empty() && at + Type::LABEL.width(&s.after) <= x + room {
            scene.text(
                at,
                y,
                s.after.clone(),
                Type::LABEL,
                Ink::Ink2,
                Anchor::Start,
            );
        }
    }
}
