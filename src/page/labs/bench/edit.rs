//! Editing without a browser: where the cursor goes, what a cell is called, how a pasted block is meant.

use super::{layout::Matrix, names};
use crate::{
    canvas::heat::Look,
    format,
    session::{CellRef, Session, Tensor},
    text::{t, tf},
};

/// Where a key takes the cursor of a matrix; `None` for keys that do not move it.
pub fn step(
    key: &str,
    jump: bool,
    at: (usize, usize),
    size: (usize, usize),
) -> Option<(usize, usize)> {
    let ((row, col), (rows, cols)) = (at, size);
    let (last_row, last_col) = (rows.checked_sub(1)?, cols.checked_sub(1)?);
    let by = if jump { 8 } else { 1 };
    Some(match key {
        "ArrowUp" => (row.saturating_sub(by), col),
        "ArrowDown" => ((row + by).min(last_row), col),
        "ArrowLeft" => (row, col.saturating_sub(by)),
        "ArrowRight" => (row, (col + by).min(last_col)),
        "Home" if jump => (0, 0),
        "End" if jump => (last_row, last_col),
        "Home" => (row, 0),
        "End" => (row, last_col),
        "PageUp" => (row.saturating_sub(16), col),
        "PageDown" => ((row + 16).min(last_row), col),
        _ => return None,
    })
}

/// A cell in words: "S, query was, key tired".
pub fn cell_name(session: &Session, matrix: Matrix, row: usize, col: usize) -> String {
    let token = |name: String| names::label(&name).text;
    let query = |i: usize| token(session.query_name(i));
    let key = |j: usize| token(session.key_name(j));
    let (symbol, r, c) = (matrix.symbol(), row, col);
    match matrix {
        Matrix::Q => tf("cell-q", &[("row", &r), ("col", &c), ("name", &query(r))]),
        Matrix::K => tf("cell-k", &[("row", &r), ("col", &c), ("name", &key(c))]),
        Matrix::V => tf("cell-v", &[("row", &r), ("col", &c), ("name", &key(r))]),
        Matrix::O => tf("cell-o", &[("row", &r), ("col", &c), ("name", &query(r))]),
        Matrix::S | Matrix::M | Matrix::A => tf(
            "cell-of-two",
            &[
                ("matrix", &symbol),
                ("row", &r),
                ("col", &c),
                ("query", &query(r)),
                ("key", &key(c)),
            ],
        ),
        Matrix::X => tf("cell-x", &[("row", &r), ("col", &c)]),
        Matrix::Wq | Matrix::Wk | Matrix::Wv => {
            tf("cell-w", &[("matrix", &symbol), ("row", &r), ("col", &c)])
        }
    }
}

/// What a cell holds, in words: its number, and its state where that is not plain.
pub fn cell_words(matrix: Matrix, value: f64, look: Look) -> String {
    let state = match look {
        Look::Plain => return format::short(value),
        Look::Masked => t("state-masked"),
        Look::MaskedByHand => t("state-by-hand"),
        Look::Empty => t("state-empty"),
        Look::Underflow => t("state-underflow"),
        Look::Overflow => t("state-overflow"),
    };
    let number = match (matrix, look) {
        (Matrix::M, Look::Masked | Look::MaskedByHand) => "−∞".to_owned(),
        _ => format::short(value),
    };
    tf("cell-state", &[("number", &number), ("state", &state)])
}

/// Where a pasted block goes and in which orientation. On the screen K stands transposed: a block that fits as it is
/// shown is taken as shown; one that has K's own shape (a row for each key) and does not fit as shown is turned.
pub fn paste(
    session: &Session,
    matrix: Matrix,
    at: (usize, usize),
    (height, width): (usize, usize),
    values: &[f64],
) -> Option<(CellRef, Vec<Vec<f64>>)> {
    let rows: Vec<Vec<f64>> = values.chunks(width.max(1)).map(<[f64]>::to_vec).collect();
    if matrix != Matrix::K {
        return Some((matrix.cell(at.0, at.1)?, rows));
    }
    let (n_k, d_k) = session.size_of(Tensor::K)?;
    let fits_as_shown = at.0 + height <= d_k && at.1 + width <= n_k;
    let is_k_itself = (height, width) == (n_k, d_k);
    if !fits_as_shown && is_k_itself {
        return Some((
            CellRef {
                tensor: Tensor::K,
                row: 0,
                col: 0,
            },
            rows,
        ));
    }
    let turned = (0..width)
        .map(|c| rows.iter().filter_map(|r| r.get(c).copied()).collect())
        .collect();
    Some((matrix.cell(at.0, at.1)?, turned))
}

/// The number that a drag of `dy` px upwards makes of `start`: as fine as the numbers around, finer with Shift.
pub fn dragged(start: f64, dy: f64, scale: f64, fine: bool) -> f64 {
    let unit = 10f64.powf((scale.max(1e-12) / 100.0).log10().round());
    let unit = if fine { unit / 10.0 } else { unit };
    // Whole steps of the unit, so that the number stays short.
    let steps = (start / unit + dy.round()).round();
    let value = steps * unit;
    // 0.30000000000000004 is no number that a hand meant.
    formats::decimal::parse(&format!("{value:.12e}")).unwrap_or(value)
}

/// A matrix as tab-separated text, as a spreadsheet takes it.
pub fn to_tsv(rows: usize, cols: usize, value: impl Fn(usize, usize) -> f64) -> String {
    (0..rows)
        .map(|r| {
            (0..cols)
                .map(|c| format!("{}", value(r, c)))
                .collect::<Vec<_>>()
                .join("\t")
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::Shape;

    #[test]
    fn keys_move_the_cursor_and_stop_at_the_edges() {
        assert_eq!(step("ArrowUp", false, (0, 3), (4, 5)), Some((0, 3)));
        assert_eq!(step("ArrowRight", true, (0, 0), (4, 5)), Some((0, 4)));
        assert_eq!(step("End", true, (0, 0), (4, 5)), Some((3, 4)));
        assert_eq!(step("x", false, (0, 0), (4, 5)), None);
        assert_eq!(step("ArrowUp", false, (0, 0), (0, 0)), None);
    }

    #[test]
    fn a_block_for_k_is_taken_as_shown_or_as_k_itself() {
        let session = Session::plain(Shape {
            n_k: 3,
            ..Shape::square(2, 5)
        });
        let shown = formats::table::parse("1\t2\t3").unwrap();
        let (at, block) = paste(
            &session,
            Matrix::K,
            (4, 0),
            (shown.rows, shown.cols),
            &shown.values,
        )
        .unwrap();
        assert_eq!(
            (at.row, at.col, block),
            (0, 4, vec![vec![1.0], vec![2.0], vec![3.0]])
        );
        let own =
            formats::table::parse("1\t2\t3\t4\t5\n6\t7\t8\t9\t10\n11\t12\t13\t14\t15").unwrap();
        let (at, block) = paste(
            &session,
            Matrix::K,
            (0, 0),
            (own.rows, own.cols),
            &own.values,
        )
        .unwrap();
        assert_eq!((at.row, at.col, block.len(), block[0].len()), (0, 0, 3, 5));
    }

    #[test]
    fn a_drag_gives_short_numbers() {
        assert_eq!(dragged(0.1, 2.0, 1.0, false), 0.12);
        assert_eq!(dragged(0.12, -20.0, 1.0, false), -0.08);
        assert_eq!(dragged(0.1, 1.0, 1.0, true), 0.101);
        assert_eq!(dragged(0.0, 1.0, 300.0, false), 1.0);
    }
}
