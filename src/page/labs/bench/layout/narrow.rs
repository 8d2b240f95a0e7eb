//! The layouts of narrow screens and of tokens.

use super::{BRACKET, FOOT, Layout, Matrix, NUMBER, Place, Room, TITLE};
use attention::Shape;

impl Layout {
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
    /// Tokens and their projections, X W_Q W_K W_V: side by side, or two by two where that leaves them too little room.
    pub fn tokens(shape: Shape, d_model: usize, room: &Room) -> Layout {
        let sizes = [
            (Matrix::X, (shape.n_q, d_model)),
            (Matrix::Wq, (d_model, shape.d_k)),
            (Matrix::Wk, (d_model, shape.d_k)),
            (Matrix::Wv, (d_model, shape.d_v)),
        ];
        let label = 22.0;
        let gap = 24.0;
        let in_line = if room.width < 560.0 { 2 } else { 4 };
        let lines = || sizes.chunks(in_line);
        let across = lines()
            .map(|line| line.iter().map(|(_, (_, c))| c).sum::<usize>())
            .fold(1, usize::max) as f64;
        let down = sizes.iter().map(|(_, (r, _))| *r).fold(1, usize::max) as f64;
        let between = (in_line - 1) as f64 * gap + 2.0 * in_line as f64 * BRACKET;
        let cells = (room.width - label - 6.0 - between).max(120.0);
        let number_w = (cells / across).floor().min(38.0);
        let numbers = number_w >= NUMBER.0 && room.height / down >= 20.0;
        let whole = |p: f64| if p >= 1.0 { p.floor() } else { p };
        // Two by two is for fingers.
        let most = if in_line == 2 { 24.0 } else { 14.0 };
        let w = if numbers {
            number_w
        } else {
            whole((cells / across).min(most))
        };
        let h = whole((room.height / down).min(if numbers { 26.0 } else { most }));
        let mut places = Vec::new();
        let (mut width, mut end) = (room.width, 0.0);
        for line in lines() {
            let (mut x, y) = (label + 6.0 + BRACKET, end + TITLE + BRACKET);
            for (at, (matrix, size)) in line.iter().enumerate() {
                let place = Place::new(x, y, w, h, *size);
                let after = &line[at + 1..];
                let cols: usize = after.iter().map(|(_, (_, c))| c).sum();
                let needed = cols as f64 * w + after.len() as f64 * (2.0 * BRACKET + gap) - gap;
                // A thin one leaves room for its title, where there is some.
                let title = (place.rect.x + 84.0).min(room.width - needed);
                x = (place.rect.right() + 2.0 * BRACKET + gap).max(title);
                end = place.rect.bottom().max(end);
                width = width.max(place.rect.right() + BRACKET);
                places.push((*matrix, place));
            }
            end += BRACKET + 6.0;
        }
        Layout {
            width,
            height: end,
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
