//! Scores and weights of a row as bars, with their numbers.

use super::{
    facts::{Line, Shown},
    shapes,
};
use crate::{
    canvas::{
        heat::{self, Look},
        scene::{Anchor, Ink, Rect, Scene, Type},
    },
    format,
    text::t,
};

/// Where the columns stand.
struct Columns {
    /// Right edge of the names.
    names: f64,
    /// Zero of the scores, and how far their bars reach at the end of the scale.
    score: f64,
    reach: f64,
    /// Right edge of the scores' numbers.
    score_number: f64,
    /// Zero of the weights, and the length of a bar at the end of the scale.
    weight: f64,
    long: f64,
    /// Right edge of the weights' numbers, and of the picture.
    right: f64,
}

impl Columns {
    fn new(width: f64, tokens: bool, n_k: usize) -> Columns {
        let names = match (tokens, n_k) {
            (true, _) if width >= 320.0 => 66.0,
            (true, _) => 52.0,
            (false, ..=10) => 24.0,
            (false, ..=100) => 31.0,
            (false, _) => 38.0,
        };
        let weight = (width * 0.61).round();
        let score_number = weight - 11.0;
        let (left, room) = (names + 6.0, score_number - 36.0 - names);
        let reach = (room / 2.0).floor().min(34.0);
        let score = if tokens {
            left + room - reach
        } else {
            left + reach + 6.0
        };
        Columns {
            names,
            score,
            reach,
            score_number,
            weight,
            long: width - weight - 44.0,
            right: width,
        }
    }
}

/// Distance between two lines.
pub fn pitch(width: f64, lines: usize) -> f64 {
    match lines {
        _ if width >= 320.0 => 18.0,
        ..=8 => 20.0,
        _ => 14.0,
    }
}

/// The bars. `score_end` is the end of the scale of the scores, as their matrix has it; longer bars are cut to a point.
pub fn scene(shown: &Shown, lines: &[Line], width: f64, score_end: f64) -> Scene {
    let c = Columns::new(width, shown.setting.names.tokens(), shown.n_k());
    let pitch = pitch(width, lines.len());
    let top = 18.0;
    let mut scene = Scene::new(width, top + pitch * lines.len() as f64 + 1.0);
    scene.text(
        c.score,
        7.0,
        t("inspector-score"),
        Type::LABEL,
        Ink::Ink2,
        Anchor::Middle,
    );
    scene.text(
        c.weight,
        7.0,
        t("inspector-weight"),
        Type::LABEL,
        Ink::AText,
        Anchor::Start,
    );
    let largest = lines.iter().map(|l| l.weight).fold(0.0, f64::max);
    // The same for all rows of a picture with few keys, so that a bar that grows is a weight that grows; only where
    // there are many keys, and so small weights, does the scale follow the largest one.
    let fair = (16.0 / shown.n_k().max(1) as f64).min(1.0);
    let weight_end = heat::round_up(largest).max(fair).min(1.0);
    let thick = (pitch * 0.62).round();
    for (i, line) in lines.iter().enumerate() {
        let y = top + pitch * i as f64;
        if line.key == shown.key() {
            scene.fill(Rect::new(0.0, y, width, pitch), Ink::Band);
        }
        // Keys between this one and the last are left out: a hairline says so.
        if i > 0 && lines[i - 1].key + 1 < line.key {
            scene.fill(Rect::new(0.0, y - 0.5, width, 1.0), Ink::Rule);
        }
        let bar = Rect::new(0.0, y + ((pitch - thick) / 2.0).floor(), 0.0, thick);
        score(&mut scene, &c, line, bar, score_end);
        if line.weight > 0.0 {
            let w = (c.long * line.weight / weight_end).max(0.75);
            scene.fill(
                Rect {
                    x: c.weight,
                    w,
                    ..bar
                },
                Ink::A,
            );
        }
    }
    for x in [c.score, c.weight] {
        scene.line(
            &[(x, top), (x, top + pitch * lines.len() as f64)],
            Ink::Ink3,
            1.0,
        );
    }
    for (i, line) in lines.iter().enumerate() {
        let y = top + pitch * (i as f64 + 0.5);
        numbers(&mut scene, &c, shown, line, y);
    }
    scene
}

fn score(scene: &mut Scene, c: &Columns, line: &Line, bar: Rect, end: f64) {
    if matches!(line.look, Look::Masked | Look::Empty) || line.leaks {
        let at = Rect {
            x: c.score - c.reach,
            w: 2.0 * c.reach,
            ..bar
        };
        scene.marks.push(shapes::hatch(
            at,
            if line.look == Look::Empty {
                Look::Empty
            } else {
                Look::Masked
            },
        ));
        if !line.leaks {
            return;
        }
    }
    let (sign, ink) = if line.logit < 0.0 {
        (-1.0, Ink::Minus)
    } else {
        (1.0, Ink::Plus)
    };
    // The number must stay readable beside a long bar.
    let number = c.score_number - Type::LABEL.width(&format::in_cell(line.logit)) - 3.0;
    let room = if sign > 0.0 {
        c.reach.min(number - c.score)
    } else {
        c.reach
    };
    let share = (line.logit.abs() / end).min(1.0);
    let clipped = line.logit.abs() > end || c.reach * share > room;
    let long = (c.reach * share).min(room);
    if line.logit == 0.0 {
        return;
    }
    let body = if clipped {
        (long - 4.0).max(1.0)
    } else {
        long.max(0.75)
    };
    let rect = |from: f64, to: f64, inset: f64| {
        let (a, b) = (c.score + sign * from, c.score + sign * to);
        Rect::new(
            a.min(b),
            bar.y + inset,
            (b - a).abs(),
            (bar.h - 2.0 * inset).max(1.0),
        )
    };
    scene.fill(rect(0.0, body, 0.0), ink);
    if clipped {
        for step in 0..4 {
            let from = body + f64::from(step);
            scene.fill(
                rect(from, from + 1.0, f64::from(step + 1) * bar.h / 9.0),
                ink,
            );
        }
    }
}

fn numbers(scene: &mut Scene, c: &Columns, shown: &Shown, line: &Line, y: f64) {
    let here = line.key == shown.key();
    let name = shown.setting.names.key(line.key);
    let ink = match name {
        super::names::Name::Index(..) => Ink::KText,
        super::names::Name::Token { .. } if here => Ink::Ink,
        super::names::Name::Token { .. } => Ink::Ink2,
    };
    name.draw(scene, (c.names, y), Anchor::End, ink, here, c.names - 2.0);
    let quiet = if here { Ink::Ink } else { Ink::Ink2 };
    scene.text(
        c.score_number,
        y,
        format::in_cell(line.logit),
        Type::LABEL,
        quiet,
        Anchor::End,
    );
    let font = if here { Type::STRONG } else { Type::LABEL };
    scene.text(
        c.right - 2.0,
        y,
        format::fixed(line.weight, 3),
        font,
        quiet,
        Anchor::End,
    );
    let word = match line.look {
        Look::Masked | Look::MaskedByHand | Look::Empty => t("inspector-hidden"),
        Look::Underflow => t("inspector-underflow"),
        Look::Plain | Look::Overflow => return,
    };
    scene.text(
        c.weight + 6.0,
        y,
        word,
        Type::LABEL,
        Ink::Ink2,
        Anchor::Start,
    );
}
