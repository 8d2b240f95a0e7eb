//! The whole pipeline in one picture.

use super::{BRACKET, FOOT, Layout, Matrix, NUMBER, Place, Room, TITLE};
use attention::Shape;

/// Space between the columns of the picture.
#[derive(Clone, Copy)]
struct Gaps {
    /// Between Q and S.
    qs: f64,
    /// Between S and A.
    sa: f64,
    /// For the row sums.
    sums: f64,
    /// Between the row sums and O.
    o: f64,
}

impl Gaps {
    fn sum(self) -> f64 {
        self.qs + self.sa + self.sums + self.o
    }
}

/// Sizes of cells.
struct Cells {
    /// Width of a column of S, M, A, and of Kᵀ.
    cell: f64,
    /// Width of a component in Q, V and O.
    vector: f64,
    /// Height of a row of Q, S, A and O.
    row: f64,
    /// Height of a row of Kᵀ.
    k_row: f64,
    /// Height of a row of V.
    v_row: f64,
    /// Height of a row of M.
    m_row: f64,
}

/// Whole pixels; fractions of one where there are more cells than pixels.
fn whole(pitch: f64) -> f64 {
    if pitch >= 1.0 { pitch.floor() } else { pitch }
}

/// Rows of a block of about that height: whole pixels up to 16, or as many cells to a pixel as it takes.
fn rows_in(block: f64, count: f64) -> f64 {
    if count <= block {
        (block / count).floor().min(16.0)
    } else {
        block / count
    }
}

impl Layout {
    /// The whole pipeline in one picture. Numbers stand in the cells where all of them fit; otherwise S and A come
    /// first and vectors take what is left.
    pub fn wide(shape: Shape, room: &Room) -> Layout {
        let compact = room.width < 700.0;
        let label = room.labels.0.clamp(22.0, if compact { 54.0 } else { 60.0 });
        let mut gaps = if compact {
            Gaps {
                qs: 24.0,
                sa: 40.0,
                sums: 42.0,
                o: 14.0,
            }
        } else {
            Gaps {
                qs: 32.0,
                sa: 52.0,
                sums: 38.0,
                o: 14.0,
            }
        };
        let fixed = label + 8.0 + 8.0 * BRACKET;
        let (n_q, n_k, d_k, d_v) = (
            shape.n_q as f64,
            shape.n_k as f64,
            shape.d_k as f64,
            shape.d_v as f64,
        );
        let word_rise = room.labels.1.clamp(22.0, 60.0) + 6.0;

        // With numbers the gaps are a little tighter: the cells need every pixel.
        let tight = if compact {
            gaps
        } else {
            Gaps {
                qs: 22.0,
                sa: 40.0,
                sums: 34.0,
                o: 12.0,
            }
        };
        let number_w = ((room.width - fixed - tight.sum()) / (d_k + 2.0 * n_k + d_v))
            .floor()
            .min(38.0);
        let top = d_k.max(n_k).max(n_q);
        let number_h = ((room.height - TITLE - FOOT - 38.0) / (top + n_q))
            .floor()
            .min(34.0);
        let numbers = number_w >= NUMBER.0 && number_h >= NUMBER.1;
        let upright = room.words && !(numbers && room.labels.1 <= number_w - 2.0);
        let rise = if upright { word_rise } else { 24.0 };

        let cells = if numbers {
            gaps = tight;
            Cells {
                cell: number_w,
                vector: number_w,
                row: number_h,
                k_row: number_h,
                v_row: number_h,
                m_row: number_h,
            }
        } else {
            let across = (room.width - fixed - gaps.sum()).max(120.0);
            Cells::plain(shape, across, room.height - TITLE - rise - FOOT)
        };
        // Narrow matrices stand further apart, so that their titles and scales have room.
        if !numbers {
            let used = fixed + gaps.sum() + (d_k + d_v) * cells.vector + 2.0 * n_k * cells.cell;
            let mut spare = (room.width - used).max(0.0);
            let mut widen = |gap: &mut f64, have: f64, need: f64| {
                let more = (need - have).clamp(0.0, spare);
                *gap += more;
                spare -= more;
            };
            let between = 2.0 * BRACKET;
            let (q, s, a) = (
                d_k * cells.vector + between,
                n_k * cells.cell + between,
                n_k * cells.cell + between,
            );
            let have = (q + gaps.qs, s + gaps.sa, a + gaps.sums + gaps.o);
            widen(&mut gaps.sa, have.1, 178.0);
            widen(&mut gaps.o, have.2, 178.0);
            widen(&mut gaps.qs, have.0, 116.0);
        }

        let above = (d_k * cells.k_row)
            .max(n_k * cells.v_row)
            .max(n_q * cells.m_row);
        let base = TITLE + above;
        let y = base + rise + 2.0 * BRACKET;
        let x_q = label + 6.0 + BRACKET;
        let x_s = x_q + d_k * cells.vector + 2.0 * BRACKET + gaps.qs;
        let x_a = x_s + n_k * cells.cell + 2.0 * BRACKET + gaps.sa;
        let sums = x_a + n_k * cells.cell + BRACKET + gaps.sums / 2.0 + 2.0;
        let x_o = x_a + n_k * cells.cell + 2.0 * BRACKET + gaps.sums + gaps.o;
        let at =
            |m: Matrix, x: f64, y: f64, w: f64, h: f64| (m, Place::new(x, y, w, h, m.size(shape)));
        let places = vec![
            at(Matrix::Q, x_q, y, cells.vector, cells.row),
            at(
                Matrix::K,
                x_s,
                base - d_k * cells.k_row,
                cells.cell,
                cells.k_row,
            ),
            at(Matrix::S, x_s, y, cells.cell, cells.row),
            at(
                Matrix::M,
                x_a,
                base - n_q * cells.m_row,
                cells.cell,
                cells.m_row,
            ),
            at(Matrix::A, x_a, y, cells.cell, cells.row),
            at(
                Matrix::V,
                x_o,
                base - n_k * cells.v_row,
                cells.vector,
                cells.v_row,
            ),
            at(Matrix::O, x_o, y, cells.vector, cells.row),
        ];
        let end = x_o + d_v * cells.vector + BRACKET + 2.0;
        Layout {
            width: end.max(room.width),
            height: y + n_q * cells.row + FOOT,
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
}

impl Cells {
    /// Cells without numbers, in `across` px for Q, S, A and O together and `down` px for all rows.
    fn plain(shape: Shape, across: f64, down: f64) -> Cells {
        let (n_q, n_k, d_k, d_v) = (
            shape.n_q as f64,
            shape.n_k as f64,
            shape.d_k as f64,
            shape.d_v as f64,
        );
        let wanted = |d: f64| {
            if d <= 32.0 {
                (0.15 * across).max(96.0) / d
            } else {
                (0.2 * across).max(64.0) / d
            }
        };
        let score = |vector: f64| (across - (d_k + d_v) * vector) / (2.0 * n_k);
        // Vectors shrink until S and A have cells of 12 px or more than a third of the width each.
        let mut vector = whole(wanted(d_k).min(wanted(d_v)).min(16.0));
        while vector > 1.0 && score(vector) < 12.0 && score(vector) * n_k < 0.36 * across {
            vector -= 1.0;
        }
        if score(vector) * n_k < 0.25 * across {
            vector = vector.min(0.5 * across / (d_k + d_v));
        }
        let block = (d_k * vector).clamp(72.0, 160.0);
        let down = down - block;
        let mut cell = score(vector).min(if n_k <= 12.0 { 28.0 } else { 22.0 });
        cell = cell.min((down / n_q).max(160.0 / n_q).max(1.0).max(12.0));
        cell = whole(cell.max(120.0 / n_k.max(120.0)));
        // Few or narrow cells: rows high enough to be read, labelled and hit, though they are no squares then.
        let row = if cell < 13.0 {
            cell.max(whole((down / n_q).min(13.0)).min(224.0))
        } else {
            cell
        };
        let row = if n_q * row < 96.0 {
            whole((96.0 / n_q).min(28.0)).max(row)
        } else {
            row
        };
        let row = if n_q * row > 480.0 {
            whole(480.0 / n_q).max(120.0 / n_q)
        } else {
            row
        };
        // What is left goes to the vectors, in whole pixels.
        let spare = ((across - 2.0 * n_k * cell) / (d_k + d_v))
            .min(16.0)
            .min(1.6 * vector);
        let vector = if spare > vector { whole(spare) } else { vector };
        let k_row = whole((160.0 / d_k).min(vector.max(96.0 / d_k)).min(16.0));
        let block = (d_k * k_row).clamp(72.0, 160.0);
        // Cells of the mask are painted by hand: large enough to be told apart where that is to be had.
        let mask_block = if n_q * 7.0 <= 112.0 {
            block.max(n_q * 7.0)
        } else {
            block
        };
        Cells {
            cell,
            vector,
            row,
            k_row,
            v_row: rows_in(block, n_k),
            m_row: rows_in(mask_block, n_q),
        }
    }
}
