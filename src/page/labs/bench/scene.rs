//! The pipeline as a picture: pure functions from a trace and a layout to marks.

mod heats;
mod labels;
mod titles;

#[cfg(test)]
mod tests;

pub use heats::Heats;

use super::layout::{BRACKET, Layout, Matrix, Place};
use crate::{
    canvas::scene::{Anchor, Ink, Mark, Rect, Scene, Type},
    format,
    text::{t, tf},
};
use protocol::Trace;
use std::sync::Arc;

/// Everything that the picture shows beside its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// Labels of the queries; empty for q₀, q₁, …
    pub queries: Arc<[String]>,
    /// Labels of the keys; empty for k₀, k₁, …
    pub keys: Arc<[String]>,
    /// The band: query and key.
    pub band: (usize, usize),
    /// Whether the band is pinned (a thick frame) or follows the pointer (a thin one).
    pub pinned: bool,
    /// The cell under the keyboard's cursor, with focus.
    pub cursor: Option<(Matrix, usize, usize)>,
    /// The cell under the pointer.
    pub pointed: Option<(Matrix, usize, usize)>,
    /// Words for the mask's title: "none, all 0".
    pub mask_words: String,
    /// What hidden scores become: −∞, or a finite number.
    pub hidden: f64,
    /// Cells that the masks leave visible, `[n_q, n_k]`; empty where all are.
    pub visible: Arc<Vec<bool>>,
    /// Cells hidden by hand, `[n_q, n_k]`, true where hidden; empty where none is.
    pub by_hand: Arc<Vec<bool>>,
    /// Colours of weights by their square root.
    pub root_weights: bool,
    /// Q and K as the scores use them.
    pub as_used: bool,
    /// What makes S more than scaled products, for its title.
    pub score_words: Vec<&'static str>,
    /// Whether the numbers of Q, K and V were typed (printed as typed) or computed.
    pub typed: bool,
    /// The numbers are the last ones; new ones are on their way or could not be had.
    pub stale: bool,
}

/// Bracket and text colour of a matrix.
pub fn hue(matrix: Matrix) -> (Ink, Ink) {
    match matrix {
        Matrix::Q | Matrix::Wq => (Ink::Q, Ink::QText),
        Matrix::K | Matrix::Wk => (Ink::K, Ink::KText),
        Matrix::V | Matrix::Wv => (Ink::V, Ink::VText),
        Matrix::A => (Ink::A, Ink::AText),
        Matrix::S | Matrix::M => (Ink::Ink3, Ink::Ink),
        Matrix::O | Matrix::X => (Ink::Ink, Ink::Ink),
    }
}

/// The picture.
pub fn pipeline(layout: &Layout, trace: &Trace, heats: &Heats, show: &Show) -> Scene {
    let mut art = Art {
        scene: Scene::new(layout.width, layout.height),
        layout,
        trace,
        heats,
        show,
    };
    art.bands();
    for (matrix, place) in &layout.places {
        art.matrix(*matrix, place);
    }
    art.row_labels();
    art.col_labels();
    if layout.narrow.is_none() {
        art.sums();
        art.arrows();
        art.value_label();
    } else {
        art.stage_sums();
        art.stage_arrow();
    }
    art.frames();
    art.scene
}

struct Art<'a> {
    scene: Scene,
    layout: &'a Layout,
    trace: &'a Trace,
    heats: &'a Heats,
    show: &'a Show,
}

impl Art<'_> {
    fn place(&self, matrix: Matrix) -> Option<Place> {
        self.layout.place(matrix).copied()
    }

    /// The marker's bands lie behind labels and between matrices; no number is tinted by them.
    fn bands(&mut self) {
        let (row, col) = self.show.band;
        let lead = self.layout.narrow.and_then(|m| self.place(m));
        if let Some(place) = self
            .place(Matrix::S)
            .filter(|_| self.layout.narrow.is_none())
            .or(lead)
        {
            let rows_are_queries = self
                .layout
                .narrow
                .is_none_or(|m| !matches!(m, Matrix::K | Matrix::V));
            let row = if rows_are_queries {
                row
            } else if self.layout.narrow == Some(Matrix::V) {
                col
            } else {
                usize::MAX
            };
            if row < place.rows {
                let band = place.row(row);
                // It ends where the row does.
                let end = match self.place(Matrix::O) {
                    Some(o) if self.layout.narrow.is_none() => {
                        (o.rect.right() + BRACKET + 10.0).min(self.layout.width)
                    }
                    _ => self.layout.width,
                };
                let h = band.h.max(16.0);
                let y = band.y + band.h / 2.0 - h / 2.0;
                self.scene.fill(Rect::new(0.0, y, end, h), Ink::Band);
            }
        }
        for matrix in [Matrix::S, Matrix::A, Matrix::K, Matrix::M] {
            let narrow = self.layout.narrow;
            let shows = match narrow {
                None => matrix == Matrix::S,
                Some(stage) => matrix == stage,
            };
            if let Some(place) = self.place(matrix).filter(|p| shows && col < p.cols) {
                let column = place.col(col);
                let w = column.w.max(14.0);
                let x = column.x + column.w / 2.0 - w / 2.0;
                let y = place.rect.y - 2.0 * BRACKET - self.layout.col_label_room;
                self.scene.fill(
                    Rect::new(x, y, w, self.layout.col_label_room + BRACKET),
                    Ink::Band,
                );
            }
        }
    }

    fn matrix(&mut self, matrix: Matrix, place: &Place) {
        let peeking = self.layout.narrow.is_some_and(|stage| stage != matrix);
        // Nothing of the band may shine through the gaps between cells.
        self.scene.fill(place.rect, Ink::Paper);
        if let Some(heat) = self.heats.heat(
            matrix,
            place,
            self.layout.numbers && !peeking,
            self.show.stale,
        ) {
            self.scene.marks.push(Mark::Heat(Box::new(heat)));
        }
        self.bracket(place.rect, hue(matrix).0);
        if !peeking {
            self.title(matrix, place);
            self.scale_bar(matrix, place);
        }
    }

    fn bracket(&mut self, rect: Rect, ink: Ink) {
        let r = rect.grown(BRACKET);
        let tick = 5.0;
        for (x, inward) in [(r.x, tick), (r.right(), -tick)] {
            self.scene.line(
                &[
                    (x + inward, r.y),
                    (x, r.y),
                    (x, r.bottom()),
                    (x + inward, r.bottom()),
                ],
                ink,
                1.5,
            );
        }
    }

    fn sum_text(&self, row: usize) -> String {
        match self.trace.rows.get(row) {
            Some(r) if r.row_sum == 0.0 => "0".into(),
            Some(r) => format::fixed(r.row_sum, 3),
            None => String::new(),
        }
    }

    fn sums(&mut self) {
        let Some(place) = self.place(Matrix::A) else {
            return;
        };
        let row = self.show.band.0;
        let all = place.cell_h() >= 11.5;
        self.scene.text(
            self.layout.sums,
            place.rect.y - BRACKET - 11.0,
            "Σ",
            Type::LABEL,
            Ink::AText,
            Anchor::Middle,
        );
        for r in 0..place.rows {
            if all || r == row {
                let middle = place.row(r).y + (place.cell_h() - 1.0).max(0.0) / 2.0;
                let (font, ink) = if r == row {
                    (Type::STRONG, Ink::Ink)
                } else {
                    (Type::LABEL, Ink::Ink2)
                };
                self.scene.text(
                    self.layout.sums,
                    middle,
                    self.sum_text(r),
                    font,
                    ink,
                    Anchor::Middle,
                );
            }
        }
    }

    fn stage_sums(&mut self) {
        let Some(place) = self
            .place(Matrix::A)
            .filter(|_| self.layout.narrow == Some(Matrix::A))
        else {
            return;
        };
        let same = self
            .trace
            .rows
            .iter()
            .all(|r| (r.row_sum - 1.0).abs() < 5e-4);
        let words = if same {
            tf("row-sums", &[("sum", &format::fixed(1.0, 3))])
        } else {
            tf("row-sum", &[("sum", &self.sum_text(self.show.band.0))])
        };
        let y = place.rect.bottom() + BRACKET + 15.0;
        let x = self.layout.width - 2.0;
        if x - place.rect.x > 210.0 + Type::LABEL.width(&words) {
            self.scene
                .text(x, y, words, Type::LABEL, Ink::Ink2, Anchor::End);
        }
    }

    /// On a phone the band leads to the matrix that peeks in.
    fn stage_arrow(&mut self) {
        let [(stage, here), (_, next)] = self.layout.places[..] else {
            return;
        };
        let row = self.show.band.0;
        if row >= here.rows {
            return;
        }
        let y = here.row(row).y + (here.cell_h() - 1.0).max(0.0) / 2.0;
        let (from, to) = (
            here.rect.right() + BRACKET + 2.0,
            next.rect.x - BRACKET - 2.0,
        );
        self.scene.arrow(&[(from, y), (to, y)], Ink::Ink, 1.5);
        let words = match stage {
            Matrix::Q => "· Kᵀ",
            Matrix::S => "+ M",
            Matrix::A => "× V",
            _ => return,
        };
        let above = if row == 0 { y + 16.0 } else { y - 14.0 };
        self.scene.text(
            (from + to) / 2.0,
            above,
            words,
            Type::LABEL,
            Ink::Ink2,
            Anchor::Middle,
        );
    }

    fn arrows(&mut self) {
        let get = |m| self.layout.place(m).copied();
        let (Some(q), Some(s), Some(m), Some(a), Some(v), Some(o)) = (
            get(Matrix::Q),
            get(Matrix::S),
            get(Matrix::M),
            get(Matrix::A),
            get(Matrix::V),
            get(Matrix::O),
        ) else {
            return;
        };
        let row = self.show.band.0.min(s.rows.saturating_sub(1));
        let y = s.row(row).y + (s.cell_h() - 1.0).max(0.0) / 2.0;
        let clear = 3.0;
        self.scene.arrow(
            &[
                (q.rect.right() + BRACKET + clear, y),
                (s.rect.x - BRACKET - clear, y),
            ],
            Ink::Ink,
            1.5,
        );
        self.scene.arrow(
            &[
                (s.rect.right() + BRACKET + clear, y),
                (a.rect.x - BRACKET - clear, y),
            ],
            Ink::Ink,
            1.5,
        );
        let after_sum = self.layout.sums + 19.0;
        self.scene.arrow(
            &[(after_sum, y), (o.rect.x - BRACKET - clear, y)],
            Ink::Ink,
            1.5,
        );
        // softmax stands below the arrow, above it in the last rows.
        let x_mid = (s.rect.right() + a.rect.x) / 2.0;
        let below = y + 15.0 < s.rect.bottom() + BRACKET;
        if a.rect.x - s.rect.right() > 54.0 {
            let at = if below { y + 15.0 } else { y - 15.0 };
            self.scene.text(
                x_mid,
                at,
                t("arrow-softmax"),
                Type::LABEL,
                Ink::Ink2,
                Anchor::Middle,
            );
        }
        // K falls into S, V into O.
        let fall = |scene: &mut Scene, x: f64, from: f64, to: f64| {
            if to - from > 10.0 {
                scene.arrow(&[(x, from), (x, to)], Ink::Ink3, 1.0);
            }
        };
        fall(
            &mut self.scene,
            v.rect.x + v.rect.w / 2.0,
            v.rect.bottom() + BRACKET + 4.0,
            o.rect.y - BRACKET - 4.0,
        );
        if v.rect.x - a.rect.x > 260.0 || !self.layout.upright {
            // Room beside the labels of A's columns.
            let words_x = v.rect.x + v.rect.w / 2.0 - 8.0;
            let y = (v.rect.bottom() + o.rect.y) / 2.0;
            if self.layout.upright && words_x - 98.0 > a.rect.right() {
                self.scene.text(
                    words_x,
                    y,
                    t("arrow-values"),
                    Type::LABEL,
                    Ink::Ink2,
                    Anchor::End,
                );
            }
        }
        // The mask comes down to the arrow between S and A.
        let (x, top) = (x_mid, m.rect.y + m.rect.h / 2.0);
        let end = if below { y - 5.0 } else { y - 24.0 };
        let label = (s.rect.y + (s.rect.y + y) / 2.0) / 2.0 + 4.0;
        let label = label.max(s.rect.y + 4.0).min(end - 14.0);
        self.scene.line(
            &[(m.rect.x - BRACKET - 4.0, top), (x, top), (x, label - 9.0)],
            Ink::Ink3,
            1.0,
        );
        self.scene
            .text(x, label, "+ M", Type::LABEL, Ink::Ink2, Anchor::Middle);
        if end - label > 16.0 {
            self.scene
                .arrow(&[(x, label + 9.0), (x, end)], Ink::Ink3, 1.0);
        }
    }

    fn frames(&mut self) {
        let (row, col) = self.show.band;
        let layout = self.layout;
        for (matrix, place) in &layout.places {
            let thin = |rect: Rect| {
                let r = Rect::new(rect.x - 0.5, rect.y - 0.5, rect.w, rect.h).grown(0.5);
                Rect::new(r.x, r.y, r.w.max(3.0), r.h.max(3.0))
            };
            let (rows, cols) = (row < place.rows, col < place.cols);
            match matrix {
                Matrix::Q | Matrix::O if rows => {
                    self.scene.frame(thin(place.row(row)), Ink::Cursor, 1.0)
                }
                Matrix::K if cols => self.scene.frame(thin(place.col(col)), Ink::Cursor, 1.0),
                Matrix::V if col < place.rows => {
                    self.scene.frame(thin(place.row(col)), Ink::Cursor, 1.0)
                }
                Matrix::S | Matrix::M | Matrix::A => {
                    if rows {
                        self.scene.frame(thin(place.row(row)), Ink::Cursor, 1.0);
                    }
                    if cols && (*matrix == Matrix::S || layout.narrow == Some(*matrix)) {
                        self.scene.frame(thin(place.col(col)), Ink::Cursor, 1.0);
                    }
                    if rows && cols && *matrix != Matrix::M {
                        let width = if self.show.pinned { 2.5 } else { 1.0 };
                        self.scene
                            .frame(thin(place.cell(row, col)).grown(1.0), Ink::Cursor, width);
                    }
                }
                _ => {}
            }
        }
        for (cursor, focus) in [(self.show.pointed, false), (self.show.cursor, true)] {
            if let Some((matrix, r, c)) = cursor
                && let Some(place) = self.place(matrix).filter(|p| r < p.rows && c < p.cols)
            {
                let cell = place.cell(r, c);
                let (w, h) = (cell.w.max(5.0), cell.h.max(5.0));
                let frame = Rect::new(
                    cell.x + (cell.w - w) / 2.0,
                    cell.y + (cell.h - h) / 2.0,
                    w,
                    h,
                )
                .grown(1.0);
                if focus {
                    self.scene.frame(frame.grown(3.0), Ink::Accent, 2.0);
                    self.scene.frame(frame.grown(1.0), Ink::Ink, 2.0);
                } else {
                    self.scene.frame(frame, Ink::Cursor, 1.0);
                }
            }
        }
    }
}
