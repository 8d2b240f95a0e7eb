//! Where things stand: the textbook layout of a matrix product. Q left of S, Kᵀ above S, V above O, so that row i is
//! one straight band through Q, S, A and O, and column j falls from Kᵀ into S.

use crate::{
    canvas::scene::{Rect, Type},
    session::{CellRef, Tensor},
};
use attention::Shape;

/// A matrix of the picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Matrix {
    /// Queries, rows are queries.
    Q,
    /// Keys, transposed: columns are keys.
    K,
    /// Scores.
    S,
    /// Mask (and bias) that is added.
    M,
    /// Weights.
    A,
    /// Values, rows are keys.
    V,
    /// Outputs, rows are queries.
    O,
    /// Tokens, rows are tokens.
    X,
    /// Query projection.
    Wq,
    /// Key projection.
    Wk,
    /// Value projection.
    Wv,
}

impl Matrix {
    /// The pipeline, in the order of the computation.
    pub const PIPELINE: [Matrix; 7] = [
        Matrix::Q,
        Matrix::K,
        Matrix::S,
        Matrix::M,
        Matrix::A,
        Matrix::V,
        Matrix::O,
    ];

    /// Its symbol.
    pub fn symbol(self) -> &'static str {
        match self {
            Matrix::Q => "Q",
            Matrix::K => "Kᵀ",
            Matrix::S => "S",
            Matrix::M => "M",
            Matrix::A => "A",
            Matrix::V => "V",
            Matrix::O => "O",
            Matrix::X => "X",
            Matrix::Wq => "W_Q",
            Matrix::Wk => "W_K",
            Matrix::Wv => "W_V",
        }
    }

    /// Rows and columns on the screen.
    pub fn size(self, s: Shape) -> (usize, usize) {
        match self {
            Matrix::Q => (s.n_q, s.d_k),
            Matrix::K => (s.d_k, s.n_k),
            Matrix::S | Matrix::M | Matrix::A => (s.n_q, s.n_k),
            Matrix::V => (s.n_k, s.d_v),
            Matrix::O => (s.n_q, s.d_v),
            // Their second size is the width of a token, which only the session knows.
            Matrix::X | Matrix::Wq | Matrix::Wk | Matrix::Wv => (0, 0),
        }
    }

    /// The query and the key of a cell, where it has them.
    pub fn meaning(self, row: usize, col: usize) -> (Option<usize>, Option<usize>) {
        match self {
            Matrix::Q | Matrix::O | Matrix::X => (Some(row), None),
            Matrix::K => (None, Some(col)),
            Matrix::V => (None, Some(row)),
            Matrix::S | Matrix::M | Matrix::A => (Some(row), Some(col)),
            Matrix::Wq | Matrix::Wk | Matrix::Wv => (None, None),
        }
    }

    /// The tensor that a reader edits here, where there is one.
    pub fn tensor(self) -> Option<Tensor> {
        match self {
            Matrix::Q => Some(Tensor::Q),
            Matrix::K => Some(Tensor::K),
            Matrix::V => Some(Tensor::V),
            Matrix::X => Some(Tensor::X),
            Matrix::Wq => Some(Tensor::Wq),
            Matrix::Wk => Some(Tensor::Wk),
            Matrix::Wv => Some(Tensor::Wv),
            Matrix::S | Matrix::M | Matrix::A | Matrix::O => None,
        }
    }

    /// The cell of the tensor under a cell of the screen: Kᵀ stands transposed.
    pub fn cell(self, row: usize, col: usize) -> Option<CellRef> {
        let tensor = self.tensor()?;
        Some(if self == Matrix::K {
            CellRef {
                tensor,
                row: col,
                col: row,
            }
        } else {
            CellRef { tensor, row, col }
        })
    }
}

/// Where a matrix stands and how large its cells are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its cells.
    pub rect: Rect,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
}

impl Place {
    fn new(x: f64, y: f64, w: f64, h: f64, (rows, cols): (usize, usize)) -> Place {
        Place {
            rect: Rect::new(x, y, w * cols as f64, h * rows as f64),
            rows,
            cols,
        }
    }

    /// Width of a column.
    pub fn cell_w(&self) -> f64 {
        self.rect.w / self.cols.max(1) as f64
    }

    /// Height of a row.
    pub fn cell_h(&self) -> f64 {
        self.rect.h / self.rows.max(1) as f64
    }

    /// The rectangle of a cell with its gap.
    pub fn cell(&self, row: usize, col: usize) -> Rect {
        let (w, h) = (self.cell_w(), self.cell_h());
        Rect::new(
            self.rect.x + col as f64 * w,
            self.rect.y + row as f64 * h,
            w,
            h,
        )
    }

    /// The rectangle of a row.
    pub fn row(&self, row: usize) -> Rect {
        let h = self.cell_h();
        Rect::new(self.rect.x, self.rect.y + row as f64 * h, self.rect.w, h)
    }

    /// The rectangle of a column.
    pub fn col(&self, col: usize) -> Rect {
        let w = self.cell_w();
        Rect::new(self.rect.x + col as f64 * w, self.rect.y, w, self.rect.h)
    }

    /// The cell at a point; points up to `slack` outside count as the nearest cell.
    pub fn at(&self, x: f64, y: f64, slack: f64) -> Option<(usize, usize)> {
        if !self.rect.grown(slack).contains(x, y) || self.rows == 0 || self.cols == 0 {
            return None;
        }
        let row = ((y - self.rect.y) / self.cell_h())
            .floor()
            .clamp(0.0, (self.rows - 1) as f64) as usize;
        let col = ((x - self.rect.x) / self.cell_w())
            .floor()
            .clamp(0.0, (self.cols - 1) as f64) as usize;
        Some((row, col))
    }
}

/// What the layout has to work with.
#[derive(Clone, Debug, PartialEq)]
pub struct Room {
    /// Width in px.
    pub width: f64,
    /// Height that should suffice; more is taken where cells would become too small to hit.
    pub height: f64,
    /// Width of the widest label of a query, of a key, in px.
    pub labels: (f64, f64),
    /// Whether the labels are words (and columns' labels stand upright).
    pub words: bool,
}

impl Room {
    /// Room with labels measured.
    pub fn new(width: f64, height: f64, queries: &[String], keys: &[String]) -> Room {
        let widest = |labels: &[String]| {
            labels
                .iter()
                .map(|l| Type::STRONG.width(l))
                .fold(0.0, f64::max)
        };
        let words = !queries.is_empty() || !keys.is_empty();
        let labels = if words {
            (widest(queries).max(22.0), widest(keys).max(22.0))
        } else {
            (22.0, 22.0)
        };
        Room {
            width,
            height,
            labels,
            words,
        }
    }
}

/// All places of the picture.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// Size of the picture.
    pub width: f64,
    /// Size of the picture.
    pub height: f64,
    /// Matrices that stand on it.
    pub places: Vec<(Matrix, Place)>,
    /// Whether numbers are printed in the cells.
    pub numbers: bool,
    /// Where the labels of rows end.
    pub row_labels: f64,
    /// Width that the labels of rows may take.
    pub row_label_room: f64,
    /// Height that the labels of columns may take, above S and A.
    pub col_label_room: f64,
    /// Whether the labels of columns stand upright.
    pub upright: bool,
    /// Where the row sums stand, centred.
    pub sums: f64,
    /// One stage at a time.
    pub narrow: Option<Matrix>,
}

/// Bracket and the air inside it.
pub const BRACKET: f64 = 4.0;
const TITLE: f64 = 24.0;
const FOOT: f64 = 52.0;
/// Least width and height of a cell with a number in it.
const NUMBER: (f64, f64) = (34.0, 24.0);

impl Layout {
    /// The place of a matrix, if it stands on this picture.
    pub fn place(&self, matrix: Matrix) -> Option<&Place> {
        self.places
            .iter()
            .find(|(m, _)| *m == matrix)
            .map(|(_, p)| p)
    }

    /// The matrix and the cell at a point.
    pub fn hit(&self, x: f64, y: f64) -> Option<(Matrix, usize, usize)> {
        self.places
            .iter()
            .find_map(|(m, p)| p.at(x, y, 1.0).map(|(r, c)| (*m, r, c)))
    }

    /// The whole pipeline in one picture.
    pub fn wide(shape: Shape, room: &Room) -> Layout {
        let compact = room.width < 700.0;
        let label = room.labels.0.clamp(22.0, if compact { 48.0 } else { 56.0 });
        let (gap_qs, gap_sa, gap_sigma, gap_o) = if compact {
            (24.0, 40.0, 42.0, 14.0)
        } else {
            (32.0, 56.0, 40.0, 16.0)
        };
        let fixed = label + 8.0 * BRACKET + gap_qs + gap_sa + gap_sigma + gap_o;
        let cells = (room.width - fixed).max(120.0);
        let (n_q, n_k, d_k, d_v) = (
            shape.n_q as f64,
            shape.n_k as f64,
            shape.d_k as f64,
            shape.d_v as f64,
        );
        let across = d_k + 2.0 * n_k + d_v;
        let top = d_k.max(n_k).max(n_q);

        // Numbers in the cells, where all of them fit.
        let word_rise = room.labels.1.clamp(22.0, 60.0) + 6.0;
        // With numbers the gaps are a little tighter: the cells need every pixel.
        let tight = if compact { 0.0 } else { 20.0 };
        let number_w = ((cells + tight) / across).floor().min(38.0);
        let number_h = ((room.height - TITLE - FOOT - 30.0 - 8.0) / (top + n_q))
            .floor()
            .min(34.0);
        let numbers = number_w >= NUMBER.0 && number_h >= NUMBER.1;
        let upright = room.words && !(numbers && room.labels.1 <= number_w - 2.0);
        let rise = if upright { word_rise } else { 24.0 };

        let (cell, vector, rows, top_rows, value_rows, mask_rows);
        if numbers {
            (cell, vector, rows) = (number_w, number_w, number_h);
            (top_rows, value_rows, mask_rows) = (number_h, number_h, number_h);
        } else {
            // Vectors get about a sixth of the width each, scores the rest.
            let budget = |d: f64| {
                if d <= 32.0 {
                    (0.15 * cells).max(96.0) / d
                } else {
                    (0.2 * cells).max(64.0) / d
                }
            };
            let whole = |p: f64| if p >= 1.0 { p.floor() } else { p };
            let v = whole(budget(d_k).min(budget(d_v)).min(16.0));
            let mut c = ((cells - (d_k + d_v) * v) / (2.0 * n_k)).min(if n_k <= 12.0 {
                28.0
            } else {
                22.0
            });
            let above = TITLE + (d_k * v).clamp(72.0, 160.0) + rise + FOOT;
            c = c.min(((room.height - above) / n_q).max(160.0 / n_q).max(1.0));
            // Square cells on whole pixels, or fractions of one where there are more cells than pixels.
            c = whole(c).max(120.0 / n_k.max(n_q).max(120.0));
            // What is left goes to the vectors, in whole pixels.
            let spare = ((cells - 2.0 * n_k * c) / (d_k + d_v))
                .min(16.0)
                .min(1.6 * v);
            let v = if spare > v { whole(spare) } else { v };
            (cell, vector, rows) = (c, v, c);
            top_rows = (160.0 / d_k).min(v.max(96.0 / d_k)).min(16.0);
            let block = (d_k * top_rows).clamp(72.0, 160.0);
            value_rows = if n_k <= block {
                (block / n_k).floor().min(16.0)
            } else {
                block / n_k
            };
            // Cells of the mask are painted by hand: large enough to be told apart where that is to be had.
            let mask_block = if n_q * 7.0 <= 128.0 {
                block.max(n_q * 7.0)
            } else {
                block
            };
            mask_rows = if n_q <= mask_block {
                (mask_block / n_q).floor().min(16.0)
            } else {
                mask_block / n_q
            };
        }
        let above = (d_k * top_rows).max(n_k * value_rows).max(n_q * mask_rows);
        let (gap_qs, gap_sa) = if numbers {
            (gap_qs - 0.4 * tight, gap_sa - 0.6 * tight)
        } else {
            (gap_qs, gap_sa)
        };
        let base = TITLE + above;
        let y = base + rise + 2.0 * BRACKET;
        let x_q = label + 6.0 + BRACKET;
        let x_s = x_q + d_k * vector + 2.0 * BRACKET + gap_qs;
        let x_a = x_s + n_k * cell + 2.0 * BRACKET + gap_sa;
        let sums = x_a + n_k * cell + BRACKET + gap_sigma / 2.0 + 2.0;
        let x_o = x_a + n_k * cell + 2.0 * BRACKET + gap_sigma + gap_o;
        let at =
            |m: Matrix, x: f64, y: f64, w: f64, h: f64| (m, Place::new(x, y, w, h, m.size(shape)));
        let places = vec![
            at(Matrix::Q, x_q, y, vector, rows),
            at(Matrix::K, x_s, base - d_k * top_rows, cell, top_rows),
            at(Matrix::S, x_s, y, cell, rows),
            at(Matrix::M, x_a, base - n_q * mask_rows, cell, mask_rows),
            at(Matrix::A, x_a, y, cell, rows),
            at(Matrix::V, x_o, base - n_k * value_rows, vector, value_rows),
            at(Matrix::O, x_o, y, vector, rows),
        ];
        let width = x_o + d_v * vector + BRACKET + 2.0;
        Layout {
            width: width.max(room.width.min(width + 40.0)),
            height: y + n_q * rows + FOOT,
            places,
            numbers,
            row_labels: x_q - BRACKET - 5.0,
            row_label_room: label,
            col_label_room: rise - 4.0,
            upright,
            sums,
            narrow: None,
        }
    }

    /// One stage at a time, for a phone: the matrix as large as the width allows, its labels frozen at the left, the
    /// next matrix peeking in at the right edge.
    pub fn stage(shape: Shape, room: &Room, stage: Matrix) -> Layout {
        let label = room.labels.0.clamp(22.0, 76.0);
        let peek = 22.0;
        let x = label + 8.0 + BRACKET;
        let between = 30.0;
        let cells = (room.width - x - 2.0 * BRACKET - between - peek).max(120.0);
        let (rows, cols) = stage.size(shape);
        let (n_rows, n_cols) = (rows as f64, cols as f64);
        // Phones have two or three device pixels to one of these: halves are sharp.
        let whole = |p: f64| if p >= 1.0 { (2.0 * p).floor() / 2.0 } else { p };
        let numbers = cells / n_cols >= NUMBER.0 && (room.height / n_rows) >= NUMBER.1;
        let w = whole((cells / n_cols).min(if numbers { 44.0 } else { 28.0 }));
        let mut h = if numbers { 34.0 } else { w.clamp(15.0, 28.0) };
        h = whole(
            h.min(((room.height - 130.0) / n_rows).max(if n_rows > 40.0 { 1.0 } else { 12.0 })),
        );
        if rows > 200 {
            h = h.min(400.0 / n_rows);
        }
        let upright = room.words && matches!(stage, Matrix::K | Matrix::S | Matrix::M | Matrix::A);
        let rise = if upright {
            room.labels.1.clamp(22.0, 72.0) + 6.0
        } else {
            24.0
        };
        let y = rise + BRACKET + 4.0;
        let mut places = vec![(stage, Place::new(x, y, w, h, (rows, cols)))];
        if let Some(next) = next_beside(stage) {
            let (r, c) = next.size(shape);
            let width = if matches!(next, Matrix::S | Matrix::M | Matrix::A) {
                w.min(28.0)
            } else {
                w.clamp(3.0, 8.0)
            };
            let x = x + n_cols * w + BRACKET + between + BRACKET;
            places.push((next, Place::new(x, y, width, h * n_rows / r as f64, (r, c))));
        }
        Layout {
            width: room.width,
            height: y + n_rows * h + FOOT,
            places,
            numbers,
            row_labels: x - BRACKET - 5.0,
            row_label_room: label,
            col_label_room: rise - 4.0,
            upright,
            sums: 0.0,
            narrow: Some(stage),
        }
    }
}

/// The matrix that peeks in beside a stage: the one that the same row goes on in.
fn next_beside(stage: Matrix) -> Option<Matrix> {
    match stage {
        Matrix::Q => Some(Matrix::S),
        Matrix::S => Some(Matrix::M),
        Matrix::M => Some(Matrix::A),
        Matrix::A => Some(Matrix::O),
        _ => None,
    }
}

impl Layout {
    /// Tokens and their projections, side by side: X W_Q W_K W_V.
    pub fn tokens(shape: Shape, d_model: usize, room: &Room) -> Layout {
        let sizes = [
            (Matrix::X, (shape.n_q, d_model)),
            (Matrix::Wq, (d_model, shape.d_k)),
            (Matrix::Wk, (d_model, shape.d_k)),
            (Matrix::Wv, (d_model, shape.d_v)),
        ];
        let label = 22.0;
        let gap = 24.0;
        let across: usize = sizes.iter().map(|(_, (_, c))| c).sum();
        let down = sizes.iter().map(|(_, (r, _))| *r).max().unwrap_or(1).max(1);
        let cells = (room.width - label - 3.0 * gap - 8.0 * BRACKET).max(120.0);
        let number_w = (cells / across.max(1) as f64).floor().min(38.0);
        let numbers = number_w >= NUMBER.0 && room.height / down as f64 >= 20.0;
        let whole = |p: f64| if p >= 1.0 { p.floor() } else { p };
        let w = if numbers {
            number_w
        } else {
            whole((cells / across.max(1) as f64).min(14.0))
        };
        let h = whole((room.height / down as f64).min(if numbers { 26.0 } else { 14.0 }));
        let (mut x, y) = (label + 6.0 + BRACKET, TITLE + BRACKET);
        let mut places = Vec::new();
        for (matrix, size) in sizes {
            let place = Place::new(x, y, w, h, size);
            x = place.rect.right() + 2.0 * BRACKET + gap;
            places.push((matrix, place));
        }
        Layout {
            width: room.width.max(x - gap),
            height: y + down as f64 * h + BRACKET + 6.0,
            places,
            numbers,
            row_labels: label,
            row_label_room: label,
            col_label_room: 0.0,
            upright: false,
            sums: 0.0,
            narrow: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(n: usize) -> Vec<String> {
        ["[CLS]", "the", "animal", "didn", "because", "street"]
            .iter()
            .cycle()
            .take(n)
            .map(|s| s.to_string())
            .collect()
    }

    fn shapes() -> Vec<Shape> {
        let mut shapes = vec![];
        for n in [1, 2, 6, 16, 33, 64, 128, 512] {
            for d in [1, 4, 8, 32, 64, 128, 256] {
                shapes.push(Shape::square(n, d));
            }
        }
        shapes.push(Shape {
            n_k: 5,
            ..Shape::square(3, 4)
        });
        shapes.push(Shape {
            n_k: 512,
            ..Shape::square(1, 64)
        });
        shapes.push(Shape {
            n_k: 1,
            ..Shape::square(512, 64)
        });
        shapes.push(Shape {
            d_v: 256,
            ..Shape::square(16, 2)
        });
        shapes
    }

    #[test]
    fn rows_run_straight_and_columns_fall() {
        for shape in shapes() {
            let layout = Layout::wide(shape, &Room::new(872.0, 500.0, &[], &[]));
            let place = |m| *layout.place(m).unwrap();
            let (q, k, s, a, v, o) = (
                place(Matrix::Q),
                place(Matrix::K),
                place(Matrix::S),
                place(Matrix::A),
                place(Matrix::V),
                place(Matrix::O),
            );
            for p in [q, a, o] {
                assert_eq!((p.rect.y, p.rect.h), (s.rect.y, s.rect.h), "{shape:?}");
            }
            assert_eq!((k.rect.x, k.rect.w), (s.rect.x, s.rect.w));
            assert_eq!((v.rect.x, v.rect.w), (o.rect.x, o.rect.w));
        }
    }

    #[test]
    fn nothing_overlaps_and_all_stays_inside() {
        for shape in shapes() {
            for (w, h) in [
                (872.0, 500.0),
                (1200.0, 700.0),
                (640.0, 500.0),
                (430.0, 600.0),
            ] {
                for labels in [vec![], words(shape.n_q.max(shape.n_k))] {
                    let layout = Layout::wide(shape, &Room::new(w, h, &labels, &labels));
                    for (i, (m, a)) in layout.places.iter().enumerate() {
                        assert!(a.rect.x >= 0.0 && a.rect.y >= 0.0, "{m:?} of {shape:?}");
                        for (other, b) in &layout.places[i + 1..] {
                            let apart = !a.rect.grown(BRACKET).overlaps(b.rect.grown(BRACKET));
                            assert!(
                                apart,
                                "{m:?} and {other:?} of {shape:?} at {w}: {:?} {:?}",
                                a.rect, b.rect
                            );
                        }
                    }
                    assert!(
                        layout.width <= w + 1.0 || shape.d_k + shape.d_v + 2 * shape.n_k > 120,
                        "{shape:?} at {w}: {}",
                        layout.width
                    );
                }
            }
        }
    }

    #[test]
    fn the_opening_picture_has_the_measures_of_the_design() {
        let labels = words(16);
        let layout = Layout::wide(
            Shape::square(16, 32),
            &Room::new(872.0, 500.0, &labels, &labels),
        );
        assert_eq!(layout.place(Matrix::S).unwrap().cell_w(), 14.0);
        assert_eq!(layout.place(Matrix::Q).unwrap().cell_w(), 3.0);
        assert!(layout.width <= 872.0, "{}", layout.width);
        assert!(layout.height <= 500.0, "{}", layout.height);
    }

    #[test]
    fn small_matrices_have_numbers_in_their_cells() {
        let layout = Layout::wide(
            Shape {
                n_k: 5,
                ..Shape::square(3, 4)
            },
            &Room::new(872.0, 500.0, &[], &[]),
        );
        assert!(layout.numbers);
        assert!(
            Layout::wide(Shape::square(6, 4), &Room::new(872.0, 500.0, &[], &[])).numbers,
            "the small example too"
        );
        assert!(!Layout::wide(Shape::square(16, 32), &Room::new(872.0, 500.0, &[], &[])).numbers);
    }

    #[test]
    fn a_point_finds_its_cell() {
        let layout = Layout::wide(Shape::square(16, 32), &Room::new(872.0, 500.0, &[], &[]));
        for (m, p) in &layout.places {
            let cell = p.cell(p.rows - 1, p.cols / 2);
            assert_eq!(
                layout.hit(cell.x + cell.w / 2.0, cell.y + cell.h / 2.0),
                Some((*m, p.rows - 1, p.cols / 2))
            );
        }
        assert_eq!(layout.hit(-20.0, -20.0), None);
    }

    #[test]
    fn phone_stages_fit_the_width() {
        for stage in Matrix::PIPELINE {
            let labels = words(16);
            let layout = Layout::stage(
                Shape::square(16, 32),
                &Room::new(358.0, 420.0, &labels, &labels),
                stage,
            );
            let p = layout.place(stage).unwrap();
            assert!(p.rect.right() + BRACKET <= 358.0, "{stage:?}: {:?}", p.rect);
        }
    }
}
