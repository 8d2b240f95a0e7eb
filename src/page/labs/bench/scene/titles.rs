//! What stands above and below a matrix: its name and sizes, its colour scale, how many cells that clips.

use super::{Art, hue};
use crate::{
    canvas::{
        heat::{Heat, Scale},
        scene::{Anchor, Ink, Mark, Run, Type},
    },
    format,
    labs::bench::layout::{BRACKET, Matrix, Place},
};
use std::sync::Arc;

impl Art<'_> {
    pub(super) fn title(&mut self, matrix: Matrix, place: &Place) {
        let text = hue(matrix).1;
        let (rows, cols) = (place.rows, place.cols);
        let mut runs = vec![Run::new(matrix.symbol(), Type::TITLE, text)];
        let quiet = |s: String| Run::new(s, Type::LABEL, Ink::Ink2);
        let loud = |s: &str, ink: Ink| Run::new(s, Type::LABEL, ink);
        match matrix {
            Matrix::S => {
                runs.push(loud(" = ", Ink::Ink));
                runs.push(loud("Q", Ink::QText));
                runs.push(loud("Kᵀ", Ink::KText));
                runs.push(Run::new(
                    format!(" × {}", trim(&format::short(self.trace.scale))),
                    Type::LABEL,
                    Ink::Ink,
                ));
                if !self.show.score_words.is_empty() {
                    runs.push(Run::new(
                        format!(", {}", self.show.score_words),
                        Type::LABEL,
                        Ink::Ink,
                    ));
                }
            }
            Matrix::A => {
                let words = if place.rect.w > 150.0 {
                    " = softmax of each row"
                } else {
                    " = softmax"
                };
                runs.push(loud(words, Ink::Ink));
            }
            Matrix::O => {
                runs.push(loud(" = ", Ink::Ink));
                runs.push(loud("A", Ink::AText));
                runs.push(loud("V", Ink::VText));
            }
            Matrix::M => runs.push(quiet(format!(" {}", self.show.mask_words))),
            Matrix::Q | Matrix::K if self.show.as_used => runs.push(loud(" as used", Ink::Ink)),
            _ => {}
        }
        if matrix != Matrix::M {
            runs.push(quiet(format!(" {rows} × {cols}")));
        }
        let clipped = self.heats.get(matrix).map_or(0, |s| s.clipped);
        if matrix == Matrix::K && clipped > 0 && self.layout.narrow.is_none() {
            runs.push(quiet(format!(", {clipped} clipped")));
        }
        let above =
            matches!(matrix, Matrix::K | Matrix::M | Matrix::V) && self.layout.narrow.is_none();
        let y = if above {
            place.rect.y - BRACKET - 11.0
        } else {
            place.rect.bottom() + BRACKET + 15.0
        };
        let width: f64 = runs.iter().map(|r| r.font.width(&r.text)).sum();
        // A title wider than its matrix loses its sizes rather than run into its neighbour.
        let room = match matrix {
            Matrix::Q => place.rect.w + 40.0,
            Matrix::O | Matrix::V => self.layout.width - place.rect.x + 8.0,
            Matrix::M => place.rect.w.max(150.0) + 30.0,
            _ => place.rect.w + 56.0,
        };
        if width > room && matrix != Matrix::M {
            runs.retain(|r| !r.text.contains('×') || r.text.starts_with(" × "));
        }
        self.scene.runs(place.rect.x - BRACKET, y, runs);
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
        if matrix == Matrix::M && source.values.iter().all(|x| *x == 0.0) {
            return;
        }
        let y = place.rect.bottom() + BRACKET + 28.0;
        let width: f64 = 96.0;
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
            if !words.is_empty() {
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
            let half = trim(&format::short(max / 2.0));
            self.scene.text(
                at - if root { 4.0 } else { 0.0 },
                y + 15.0,
                half,
                Type::LABEL,
                Ink::Ink2,
                Anchor::Middle,
            );
        }
        let room = match matrix {
            Matrix::Q if !beside => 0.0,
            Matrix::O if !beside => self.layout.width - x - width,
            _ => place.rect.w.max(230.0) - width,
        };
        let shared = match matrix {
            // V has no scale of its own: the one below O serves both.
            Matrix::O if !beside => {
                source.clipped + self.heats.get(Matrix::V).map_or(0, |s| s.clipped)
            }
            _ => source.clipped,
        };
        let root = matches!(source.scale, Scale::Weights { root: true, .. });
        let words = if root {
            format!("{shared} clipped, √ scale")
        } else {
            format!("{shared} clipped")
        };
        if room >= Type::LABEL.width(&words) + 8.0 {
            self.scene.text(
                x + width + 8.0,
                y + 2.0,
                words,
                Type::LABEL,
                Ink::Ink2,
                Anchor::Start,
            );
        } else if shared > 0 {
            self.scene
                .text(x, y + 29.0, words, Type::LABEL, Ink::Ink2, Anchor::Start);
        }
    }
}

fn trim(number: &str) -> String {
    if number.contains('.') && !number.contains('e') {
        number
            .trim_end_matches('0')
            .trim_end_matches('.')
            .to_owned()
    } else {
        number.to_owned()
    }
}
