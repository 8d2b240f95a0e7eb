//! Rows of a matrix in the order in which the tiles read them.

use super::tile::{Eight, ROWS, Tile, WIDE};
use crate::lanes::{self, Lane, WIDTH};

/// Four of `row` from `at` on; zeros behind its end.
#[inline(always)]
pub(super) fn four<L: Lane>(row: &[f32], at: usize) -> L {
    match row.get(at..).and_then(|x| x.first_chunk()) {
        Some(x) => L::load(x),
        None => {
            let mut x = [0.0; WIDTH];
            for (x, &cell) in x.iter_mut().zip(row.get(at..).unwrap_or(&[])) {
                *x = cell;
            }
            L::load(&x)
        }
    }
}

/// Row `r` of `matrix` `[rows][width]`; empty behind its end.
#[inline(always)]
fn row(matrix: &[f32], r: usize, width: usize) -> &[f32] {
    matrix.get(r * width..(r + 1) * width).unwrap_or(&[])
}

/// `matrix` `[rows][width]` as panels of eight rows side by side, `[rows / 8][width][8]`, filled up with zeros.
pub(super) fn beside<L: Lane>(matrix: &[f32], width: usize, panels: &mut [Eight]) {
    for (panel, eight) in panels
        .chunks_exact_mut(width)
        .zip(matrix.chunks(WIDE * width))
    {
        for half in 0..2 {
            let rows = [0, 1, 2, 3].map(|r| row(eight, half * WIDTH + r, width));
            for (at, columns) in panel.chunks_mut(WIDTH).enumerate() {
                let turned = L::transpose(rows.map(|row| four::<L>(row, at * WIDTH)));
                for (column, turned) in columns.iter_mut().zip(turned) {
                    turned.store(&mut column[half]);
                }
            }
        }
    }
}

/// `matrix` `[rows][width]` as panels of eight columns, `[⌈width / 8⌉][stride][8]`, filled up with zeros to the right;
/// rows behind its end are left as they are.
pub(super) fn columns<L: Lane>(matrix: &[f32], width: usize, stride: usize, panels: &mut [Eight]) {
    for (c, panel) in panels.chunks_exact_mut(stride).enumerate() {
        for (to, row) in panel.iter_mut().zip(matrix.chunks_exact(width)) {
            four::<L>(row, c * WIDE).store(&mut to[0]);
            four::<L>(row, c * WIDE + WIDTH).store(&mut to[1]);
        }
    }
}

/// `matrix` `[rows][width]` times `factor` as groups of four rows side by side, `[⌈rows / 4⌉][width][4]`, filled up with
/// zeros. Multiplies in float64 and rounds once.
pub(super) fn groups<L: Lane>(
    matrix: &[f32],
    width: usize,
    factor: f64,
    groups: &mut [[f32; ROWS]],
) {
    let fours = matrix.chunks(ROWS * width);
    for (group, rows) in groups.chunks_exact_mut(width).zip(fours) {
        let rows = [0, 1, 2, 3].map(|r| row(rows, r, width));
        for (at, columns) in group.chunks_mut(WIDTH).enumerate() {
            let turned = L::transpose(rows.map(|row| four::<L>(row, at * WIDTH).scale(factor)));
            for (column, turned) in columns.iter_mut().zip(turned) {
                turned.store(column);
            }
        }
    }
}

/// The largest size of a cell.
pub(super) fn size<L: Lane>(cells: &[f32]) -> f32 {
    let (fours, rest) = cells.as_chunks::<WIDTH>();
    let mut largest = [L::splat(0.0); 4];
    let (sixteens, fours) = fours.as_chunks::<4>();
    for x in sixteens {
        for (largest, x) in largest.iter_mut().zip(x) {
            *largest = largest.max(L::load(x).abs());
        }
    }
    for x in fours {
        largest[0] = largest[0].max(L::load(x).abs());
    }
    let [a, b, c, d] = largest;
    let all = lanes::max(a.max(b).max(c.max(d)));
    rest.iter().fold(all, |m, x| m.max(x.abs()))
}

/// Copies rows of tiles `[⌈width / 8⌉][4][8]` into `rows` `[rows][width]`, each cell divided by the divisor of its row, or
/// 0 where that is 0.
pub(super) fn unpack<L: Lane>(
    tiles: &[Tile],
    divisors: [f32; ROWS],
    width: usize,
    rows: &mut [f32],
) {
    for ((r, row), divisor) in rows.chunks_exact_mut(width).enumerate().zip(divisors) {
        if divisor == 0.0 {
            row.fill(0.0);
            continue;
        }
        let lane = L::splat(divisor);
        for (to, tile) in row.chunks_mut(WIDE).zip(tiles) {
            for (to, from) in to.chunks_mut(WIDTH).zip(&tile[r]) {
                let quotient = L::load(from).div(lane);
                match to.first_chunk_mut() {
                    Some(to) => quotient.store(to),
                    None => to.copy_from_slice(&quotient.to_array()[..to.len()]),
                }
            }
        }
    }
}
