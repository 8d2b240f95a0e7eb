//! Where things stand: the textbook layout of a matrix product. Q left of S, Kᵀ above S, V above O, so that row i is
//! one straight band through Q, S, A and O, and column j falls from Kᵀ into S.

use crate::{
    canvas::scene::{Rect, Type},
    session::{CellRef, Tensor},
};
use attention::Shape;

mod narrow;
mod wide;

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
const TITLE: f64 = 26.0;
const FOOT: f64 = 70.0;
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

    /// How far a matrix's title and scale may reach: to the next matrix of its line, or to the picture's edge.
    pub fn reach(&self, matrix: Matrix) -> f64 {
        const LINES: [&[Matrix]; 2] = [
            &[Matrix::K, Matrix::M, Matrix::V],
            &[Matrix::Q, Matrix::S, Matrix::A, Matrix::O],
        ];
        let Some(here) = self.place(matrix) else {
            return 0.0;
        };
        let next = LINES
            .iter()
            .find(|line| line.contains(&matrix))
            .and_then(|line| line.iter().skip_while(|m| **m != matrix).nth(1))
            .filter(|_| self.narrow.is_none())
            .and_then(|m| self.place(*m));
        match next {
            // With numbers every row of V has its name left of it.
            Some(next) if self.numbers && matrix == Matrix::M => next.rect.x - here.rect.x - 40.0,
            Some(next) => next.rect.x - here.rect.x - 8.0,
            None => self.width - here.rect.x,
        }
    }
}

#[cfg(test)]
mod tests;
