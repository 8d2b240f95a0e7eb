//! The words on the axes.

use super::Art;
use crate::{
    canvas::scene::{Anchor, Ink, Mark, Rect, Type},
    labs::bench::{
        layout::{BRACKET, Matrix},
        names::{self, Label},
    },
};

impl Art<'_> {
    pub(super) fn label(&self, labels: &[String], letter: &str, index: usize) -> Label {
        match labels.get(index) {
            Some(token) => names::label(token),
            None => Label {
                text: format!("{letter}{}", crate::session::subscript(index)),
                mark: false,
            },
        }
    }

    pub(super) fn row_labels(&mut self) {
        let (matrix, letter) = match self.layout.narrow {
            None => (Matrix::S, "q"),
            Some(Matrix::V) => (Matrix::V, "v"),
            Some(Matrix::K) => (Matrix::K, ""),
            Some(stage) => (stage, "q"),
        };
        let Some(place) = self.place(matrix) else {
            return;
        };
        let (query, key) = self.show.band;
        let labels = if matrix == Matrix::V {
            self.show.keys.clone()
        } else {
            self.show.queries.clone()
        };
        let here = match matrix {
            Matrix::V => Some(key),
            Matrix::K => None,
            _ => Some(query),
        };
        let step = names::step(place.cell_h(), 13.0);
        for row in 0..place.rows {
            let near =
                here.is_some_and(|h| h != row && (h.abs_diff(row) as f64 * place.cell_h()) < 13.0);
            if (row % step != 0 && here != Some(row)) || near {
                continue;
            }
            let strong = here == Some(row);
            let label = if matrix == Matrix::K {
                Label {
                    text: row.to_string(),
                    mark: false,
                }
            } else {
                self.label(&labels, letter, row)
            };
            let variable = matrix != Matrix::K && labels.is_empty();
            let font = if variable {
                Type {
                    bold: strong,
                    ..Type::VARIABLE
                }
            } else {
                Type {
                    bold: strong,
                    italic: label.mark,
                    ..Type::LABEL
                }
            };
            let ink = match (variable, matrix) {
                (true, Matrix::V) => Ink::VText,
                (true, _) => Ink::QText,
                _ if strong => Ink::Ink,
                _ if matrix == Matrix::V => Ink::VText,
                _ => Ink::Ink2,
            };
            let text = names::fit(&label.text, font, self.layout.row_label_room);
            let middle = place.row(row).y + (place.cell_h() - 1.0).max(0.0) / 2.0;
            self.scene
                .text(self.layout.row_labels, middle, text, font, ink, Anchor::End);
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
        let labels = self.show.keys.clone();
        for matrix in targets {
            let Some(place) = self.place(*matrix) else {
                continue;
            };
            let need = if self.layout.upright { 13.0 } else { 22.0 };
            let step = names::step(place.cell_w(), need);
            for col in 0..place.cols {
                let near = key != col && (key.abs_diff(col) as f64 * place.cell_w()) < need;
                if (col % step != 0 && col != key) || near {
                    continue;
                }
                let strong = col == key;
                let label = self.label(&labels, "k", col);
                let variable = labels.is_empty();
                let font = if variable {
                    Type {
                        bold: strong,
                        ..Type::VARIABLE
                    }
                } else {
                    Type {
                        bold: strong,
                        italic: label.mark,
                        ..Type::LABEL
                    }
                };
                let ink = if variable {
                    Ink::KText
                } else if strong {
                    Ink::Ink
                } else {
                    Ink::Ink2
                };
                let text = names::fit(&label.text, font, self.layout.col_label_room - 2.0);
                let middle = place.col(col).x + (place.cell_w() - 1.0).max(0.0) / 2.0;
                let y = place.rect.y - BRACKET - 5.0;
                if self.layout.upright {
                    self.scene.marks.push(Mark::Text {
                        x: middle,
                        y,
                        text,
                        font,
                        ink,
                        anchor: Anchor::Start,
                        up: true,
                    });
                } else {
                    self.scene
                        .text(middle, y - 7.0, text, font, ink, Anchor::Middle);
                }
            }
        }
    }

    /// The looked-at key at its value's row, left of V.
    pub(super) fn value_label(&mut self) {
        let (Some(v), Some(a)) = (self.place(Matrix::V), self.place(Matrix::A)) else {
            return;
        };
        let key = self.show.band.1;
        if key >= v.rows {
            return;
        }
        let label = self.label(&self.show.keys.clone(), "v", key);
        let variable = self.show.keys.is_empty();
        let font = if variable {
            Type {
                bold: true,
                ..Type::VARIABLE
            }
        } else {
            Type {
                bold: true,
                italic: label.mark,
                ..Type::LABEL
            }
        };
        let room = v.rect.x - a.rect.right() - 20.0;
        let text = names::fit(&label.text, font, room.clamp(20.0, 76.0));
        let middle = v.row(key).y + v.cell_h() / 2.0;
        let right = v.rect.x - BRACKET - 6.0;
        let w = font.width(&text);
        if self.layout.numbers {
            // Every value has room for its label here.
            for row in (0..v.rows).filter(|r| *r != key) {
                let label = self.label(&self.show.keys.clone(), "v", row);
                let font = if variable {
                    Type::VARIABLE
                } else {
                    Type {
                        italic: label.mark,
                        ..Type::LABEL
                    }
                };
                let text = names::fit(&label.text, font, room.clamp(20.0, 76.0));
                let y = v.row(row).y + v.cell_h() / 2.0;
                self.scene
                    .text(right, y, text, font, Ink::VText, Anchor::End);
            }
        }
        self.scene.fill(
            Rect::new(right - w - 6.0, middle - 8.0, w + 8.0, 16.0),
            Ink::Band,
        );
        self.scene.text(
            right,
            middle,
            text,
            font,
            if variable { Ink::VText } else { Ink::Ink },
            Anchor::End,
        );
    }
}
