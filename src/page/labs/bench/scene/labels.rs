//! The words on the axes.

use super::Art;
use crate::{
    canvas::scene::{Anchor, Ink, Mark, Rect, Run, Type},
    labs::bench::{
        layout::{BRACKET, Matrix},
        names,
    },
};

/// Size of an index beside its letter.
const INDEX: Type = Type {
    size: 12.0,
    bold: false,
    variable: false,
    italic: false,
};

/// A name on an axis: a word of the sentence, or a letter with its index, as wide as `room` at most.
fn name(words: &[String], letter: &str, at: usize, strong: bool, ink: Ink, room: f64) -> Vec<Run> {
    match words.get(at) {
        Some(token) => {
            let label = names::label(token);
            let font = Type {
                bold: strong,
                italic: label.mark,
                ..Type::LABEL
            };
            // A word keeps its letters when it becomes bold.
            let widest = Type { bold: true, ..font };
            vec![Run::new(names::fit(&label.text, widest, room), font, ink)]
        }
        None => {
            let mut index = Run::new(
                at.to_string(),
                Type {
                    bold: strong,
                    ..INDEX
                },
                ink,
            );
            index.drop = 3.0;
            vec![
                Run::new(
                    letter,
                    Type {
                        bold: strong,
                        ..Type::VARIABLE
                    },
                    ink,
                ),
                index,
            ]
        }
    }
}

fn width(runs: &[Run]) -> f64 {
    runs.iter().map(|run| run.font.width(&run.text)).sum()
}

/// Words take the colour of text, letters that of their tensor.
fn ink(words: &[String], strong: bool, tensor: Ink) -> Ink {
    match (words.is_empty(), strong) {
        (true, _) => tensor,
        (false, true) => Ink::Ink,
        (false, false) => Ink::Ink2,
    }
}

impl Art<'_> {
    pub(super) fn row_labels(&mut self) {
        let (query, key) = self.show.band;
        let (matrix, letter, words, here, tensor) = match self.layout.narrow {
            None => (
                Matrix::S,
                "q",
                self.show.queries.clone(),
                Some(query),
                Ink::QText,
            ),
            Some(Matrix::V) => (
                Matrix::V,
                "v",
                self.show.keys.clone(),
                Some(key),
                Ink::VText,
            ),
            Some(Matrix::K) => (Matrix::K, "", self.show.keys.clone(), None, Ink::Ink2),
            Some(stage) => (
                stage,
                "q",
                self.show.queries.clone(),
                Some(query),
                Ink::QText,
            ),
        };
        let Some(place) = self.place(matrix) else {
            return;
        };
        let pitch = place.cell_h();
        let step = names::step(pitch, 12.0);
        for row in 0..place.rows {
            let near = here.is_some_and(|h| h != row && h.abs_diff(row) as f64 * pitch < 12.0);
            if (row % step != 0 && here != Some(row)) || near {
                continue;
            }
            let strong = here == Some(row);
            let middle = place.row(row).y + (pitch - 1.0).max(0.0) / 2.0;
            let runs = if matrix == Matrix::K {
                vec![Run::new(row.to_string(), Type::LABEL, Ink::Ink2)]
            } else {
                let room = self.layout.row_label_room;
                name(
                    &words,
                    letter,
                    row,
                    strong,
                    ink(&words, strong, tensor),
                    room,
                )
            };
            self.scene
                .runs_at(self.layout.row_labels, middle, runs, Anchor::End);
        }
    }

    pub(super) fn col_labels(&mut self) {
        let targets: &[Matrix] = match self.layout.narrow {
            None => &[Matrix::S, Matrix::A],
            Some(Matrix::S) => &[Matrix::S],
            Some(Matrix::M) => &[Matrix::M],
            Some(Matrix::A) => &[Matrix::A],
            Some(Matrix::K) => &[Matrix::K],
            _ => &[],
        };
        let key = self.show.band.1;
        let words = self.show.keys.clone();
        for matrix in targets {
            let Some(place) = self.place(*matrix) else {
                continue;
            };
            // A letter, its digits, and air between two names.
            let digits = place.cols.to_string().len() as f64;
            let need = if self.layout.upright {
                12.0
            } else {
                14.0 + 9.0 * digits
            };
            let pitch = place.cell_w();
            let step = names::step(pitch, need);
            for col in 0..place.cols {
                let near = key != col && key.abs_diff(col) as f64 * pitch < need;
                if (col % step != 0 && col != key) || near {
                    continue;
                }
                let strong = col == key;
                let room = if self.layout.upright {
                    self.layout.col_label_room - 2.0
                } else {
                    pitch.max(need)
                };
                let runs = name(
                    &words,
                    "k",
                    col,
                    strong,
                    ink(&words, strong, Ink::KText),
                    room,
                );
                let middle = place.col(col).x + (pitch - 1.0).max(0.0) / 2.0;
                let y = place.rect.y - BRACKET - 5.0;
                match (self.layout.upright, runs.first()) {
                    (true, Some(run)) => self.scene.marks.push(Mark::Text {
                        x: middle,
                        y,
                        text: run.text.clone(),
                        font: run.font,
                        ink: run.ink,
                        anchor: Anchor::Start,
                        up: true,
                    }),
                    _ => self.scene.runs_at(middle, y - 8.0, runs, Anchor::Middle),
                }
            }
        }
    }

    /// The looked-at key at its value's row, left of V; every value's name where there is room.
    pub(super) fn value_label(&mut self) {
        let (Some(v), Some(a)) = (self.place(Matrix::V), self.place(Matrix::A)) else {
            return;
        };
        let key = self.show.band.1;
        let words = self.show.keys.clone();
        let room = (v.rect.x - a.rect.right() - 6.0).clamp(20.0, 76.0);
        let right = v.rect.x - BRACKET - 6.0;
        for row in 0..v.rows {
            let strong = row == key;
            if !strong && !self.layout.numbers {
                continue;
            }
            let middle = v.row(row).y + (v.cell_h() - 1.0).max(0.0) / 2.0;
            let runs = name(
                &words,
                "v",
                row,
                strong,
                ink(&words, strong, Ink::VText),
                room,
            );
            if strong {
                let w = width(&runs);
                self.scene.fill(
                    Rect::new(right - w - 6.0, middle - 8.0, w + 8.0, 16.0),
                    Ink::Band,
                );
            }
            self.scene.runs_at(right, middle, runs, Anchor::End);
        }
    }
}
