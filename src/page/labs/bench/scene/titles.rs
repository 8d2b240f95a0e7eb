//! What stands above and below a matrix: its name and sizes, its colour scale, how many cells that clips.

use super::{Art, hue};
use crate::{
    canvas::{
        heat::{Heat, Scale},
        scene::{Anchor, Ink, Mark, Run, Type},
    },
    format,
    labs::bench::layout::{BRACKET, Matrix, Place},
    text::{t, tf},
};
use std::sync::Arc;

impl Art<'_> {
    pub(super) fn title(&mut self, matrix: Matrix, place: &Place) {
        let above =
            matches!(matrix, Matrix::K | Matrix::M | Matrix::V) && self.layout.narrow.is_none();
        let y = if above {
            place.rect.y - BRACKET - 11.0
        } else {
            place.rect.bottom() + BRACKET + 15.0
        };
        let room = self.layout.reach(matrix);
        let width = |runs: &[Run]| -> f64 { runs.iter().map(|r| r.font.width(&r.text)).sum() };
        let mut wordings = self.wordings(matrix, (place.rows, place.cols));
        let fits = wordings
            .iter()
            .position(|runs| width(runs) <= room)
            .unwrap_or(wordings.len() - 1);
        self.scene
            .runs(place.rect.x - BRACKET, y, wordings.swap_remove(fits));
    }

    /// The title of a matrix in fewer and fewer words; there is always one.
    fn wordings(&self, matrix: Matrix, (rows, cols): (usize, usize)) -> Vec<Vec<Run>> {
        let text = hue(matrix).1;
        let name = || Run::new(matrix.symbol(), Type::TITLE, text);
        // Apart from what stands before it, so that it is not read as a factor.
        let size = || Run::new(format!("\u{2003}{rows} × {cols}"), Type::LABEL, Ink::Ink3);
        let loud = |s: &str, ink: Ink| Run::new(s, Type::LABEL, ink);
        let scale = format!(" × {}", trim(&format::short(self.trace.scale)));
        let product = || {
            vec![
                name(),
                loud(" = ", Ink::Ink),
                loud("Q", Ink::QText),
                loud("Kᵀ", Ink::KText),
            ]
        };
        let with = |mut runs: Vec<Run>, more: Vec<Run>| {
            runs.extend(more);
            runs
        };
        let mut all = match matrix {
            Matrix::S => {
                let words = &self.show.score_words;
                let mut scaled = with(product(), vec![loud(&scale, Ink::Ink)]);
                if !words.is_empty() {
                    scaled.push(loud(&format!(", {}", words.join(", ")), Ink::Ink));
                }
                let mut all = vec![with(scaled.clone(), vec![size()]), scaled];
                // Where there is no room for all of it, what the product leaves out comes before the scale.
                if !words.is_empty() {
                    let all_words = format!(", {}", words.join(", "));
                    all.push(with(product(), vec![loud(&all_words, Ink::Ink)]));
                }
                for kept in (1..=words.len()).rev() {
                    let more = if kept < words.len() { ", …" } else { "" };
                    let some = format!(": {}{more}", words[..kept].join(", "));
                    all.push(vec![name(), loud(&some, Ink::Ink)]);
                }
                all.push(product());
                all
            }
            Matrix::A => {
                let words = |w: &str| vec![name(), loud(&format!(" = {w}"), Ink::Ink)];
                let (long, short) = (t("title-softmax-rows"), t("arrow-softmax"));
                vec![
                    with(words(long), vec![size()]),
                    words(long),
                    with(words(short), vec![size()]),
                    words(short),
                ]
            }
            Matrix::O => {
                let product = vec![
                    name(),
                    loud(" = ", Ink::Ink),
                    loud("A", Ink::AText),
                    loud("V", Ink::VText),
                ];
                vec![with(product.clone(), vec![size()]), product]
            }
            Matrix::M => {
                let words =
                    |w: &str| vec![name(), Run::new(format!(" {w}"), Type::LABEL, Ink::Ink2)];
                let short = self
                    .show
                    .mask_words
                    .split([',', ':', '.'])
                    .next()
                    .unwrap_or_default();
                let sentence = self.show.mask_words.split('.').next().unwrap_or_default();
                let mut all = vec![words(sentence), words(short)];
                // A finger that drags pages to the next matrix: below M stands what it can do.
                if self.layout.narrow.is_none() {
                    all.insert(0, words(&self.show.mask_words));
                }
                all
            }
            Matrix::Q | Matrix::K if self.show.as_used => {
                let words = || loud(&format!(" {}", t("title-as-used")), Ink::Ink);
                vec![vec![name(), words(), size()], vec![name(), words()]]
            }
            _ => Vec::new(),
        };
        let clipped = self.heats.get(matrix).map_or(0, |s| s.clipped);
        if matrix == Matrix::K && clipped > 0 && self.layout.narrow.is_none() {
            all.push(vec![
                name(),
                size(),
                Run::new(
                    format!(", {}", tf("title-clipped", &[("n", &clipped)])),
                    Type::LABEL,
                    Ink::Ink2,
                ),
            ]);
        }
        all.push(vec![name(), size()]);
        all.push(vec![name()]);
        all
    }

    /// The scale under the matrices that have one below them, and how many cells it clips.
    pub(super) fn scale_bar(&mut self, matrix: Matrix, place: &Place) {
        let beside = self.layout.narrow.is_some();
        if !beside && !matches!(matrix, Matrix::Q | Matrix::S | Matrix::A | Matrix::O) {
            return;
        }
        let Some(source) = self.heats.get(matrix) else {
            return;
        };
        let y = place.rect.bottom() + BRACKET + 28.0;
        if matrix == Matrix::M && source.values.iter().all(|x| *x == 0.0) {
            // A scale of nothing but 0 says nothing; what a finger can do here does.
            if beside && self.show.visible.is_empty() {
                self.scene.text(
                    place.rect.x - BRACKET,
                    y + 5.0,
                    t("mask-tap"),
                    Type::LABEL,
                    Ink::Ink2,
                    Anchor::Start,
                );
            }
            return;
        }
        let width = 96.0_f64.min(self.layout.reach(matrix) - 8.0).max(24.0);
        let x = place.rect.x;
        let steps = 48;
        let (low, ends) = match source.scale {
            Scale::Weights { max, .. } => (
                0.0,
                [
                    (0.0, "0".to_owned()),
                    (0.5, String::new()),
                    (1.0, trim(&format::short(max))),
                ],
            ),
            Scale::Signed { max } => {
                let end = trim(&format::short(max));
                (
                    -1.0,
                    [(0.0, format!("−{end}")), (0.5, "0".into()), (1.0, end)],
                )
            }
        };
        // By the scale itself, so that a square root shows in where the half stands.
        let values: Vec<f64> = (0..steps)
            .map(|i| {
                let t = low + (1.0 - low) * (f64::from(i) + 0.5) / f64::from(steps);
                match source.scale {
                    Scale::Weights { max, root } => {
                        if root {
                            t * t * max
                        } else {
                            t * max
                        }
                    }
                    Scale::Signed { max } => t * max,
                }
            })
            .collect();
        self.scene.marks.push(Mark::Heat(Box::new(Heat {
            x,
            y,
            cell_w: width / f64::from(steps),
            cell_h: 5.0,
            rows: 1,
            cols: steps as usize,
            values: Arc::new(values),
            transposed: false,
            looks: Arc::default(),
            scale: source.scale,
            print: None,
            stale: false,
        })));
        // Long ends would run into each other: one text says both.
        let ends = match &ends[2] {
            (_, end) if low < 0.0 && 2.0 * Type::LABEL.width(end) + 22.0 > width => [
                (0.0, String::new()),
                (0.5, format!("±{end}")),
                (1.0, String::new()),
            ],
            _ => ends,
        };
        for (t, words) in ends {
            let at = x + t * width;
            self.scene.line(
                &[
                    (at.min(x + width - 0.5), y + 5.0),
                    (at.min(x + width - 0.5), y + 8.0),
                ],
                Ink::Ink3,
                1.0,
            );
            // A short scale has no room for its middle.
            if !words.is_empty() && (t != 0.5 || width >= 76.0 || words.starts_with('±')) {
                let anchor = if t == 0.0 {
                    Anchor::Start
                } else if t == 1.0 {
                    Anchor::End
                } else {
                    Anchor::Middle
                };
                self.scene
                    .text(at, y + 15.0, words, Type::LABEL, Ink::Ink2, anchor);
            }
        }
        if let Scale::Weights { root, max } = source.scale {
            let at = x + width * if root { 0.5f64.sqrt() } else { 0.5 };
            let half = if width < 76.0 {
                String::new()
            } else {
                trim(&format::short(max / 2.0))
            };
            self.scene.text(
                at - if root { 4.0 } else { 0.0 },
                y + 15.0,
                half,
                Type::LABEL,
                Ink::Ink2,
                Anchor::Middle,
            );
        }
        let room = self.layout.reach(matrix) - width;
        let shared = match matrix {
            // V has no scale of its own: the one below O serves both.
            Matrix::O if !beside => {
                source.clipped + self.heats.get(Matrix::V).map_or(0, |s| s.clipped)
            }
            _ => source.clipped,
        };
        let root = matches!(source.scale, Scale::Weights { root: true, .. });
        let words = if root {
            tf("title-clipped-root", &[("n", &shared)])
        } else {
            tf("title-clipped", &[("n", &shared)])
        };
        if room >= Type::LABEL.width(&words) + 14.0 {
            self.scene.text(
                x + width + 14.0,
                y + 15.0,
                words,
                Type::LABEL,
                Ink::Ink2,
                Anchor::Start,
            );
        } else if shared > 0 && room + width >= Type::LABEL.width(&words) {
            self.scene
                .text(x, y + 29.0, words, Type::LABEL, Ink::Ink2, Anchor::Start);
        }
    }
}

/// Without zeros that say nothing: 0.5, 1e12.
fn trim(number: &str) -> String {
    let (digits, power) = number
        .find('e')
        .map_or((number, ""), |e| number.split_at(e));
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    format!("{digits}{power}")
}
