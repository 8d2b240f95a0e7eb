//! The inner loops: products of small tiles whose sums stay in registers.
//!
//! Four rows by eight columns are eight sums of a lane each, with two lanes of the right side and one of the left: eleven
//! of the fifteen registers that a browser has to give, and more than the six chains that two adders of three cycles
//! need. After each step stands a way out: a compiler that sees several steps at once adds them up row by row, holds all
//! their operands, and spills.

use crate::lanes::{Lane, WIDTH};

/// Rows of a tile.
pub(super) const ROWS: usize = 4;
/// Columns of a tile: two lanes.
pub(super) const WIDE: usize = 2 * WIDTH;
/// Keys of a block: half of a first-level cache at a width of 64, and long enough that what is done once for each block
/// does not count.
pub(super) const KEYS: usize = 128;
/// Strips of a block.
pub(super) const STRIPS: usize = KEYS / WIDTH;

/// Eight numbers side by side.
pub(super) type Eight = [[f32; WIDTH]; 2];
/// Four neighbouring keys of each of four rows: `[row][key]`.
pub(super) type Strip = [[f32; WIDTH]; ROWS];
/// The scores, or exponentials, of four rows and a block of keys.
pub(super) type Scores = [Strip; STRIPS];
/// Four rows of eight columns.
pub(super) type Tile = [Eight; ROWS];
/// A tile in registers.
pub(super) type Sums<L> = [[L; 2]; ROWS];

#[inline(always)]
fn step<L: Lane>(sums: &mut Sums<L>, left: [L; ROWS], right: &Eight) {
    let right = [L::load(&right[0]), L::load(&right[1])];
    for (sums, left) in sums.iter_mut().zip(left) {
        sums[0] = sums[0].add(left.mul(right[0]));
        sums[1] = sums[1].add(left.mul(right[1]));
    }
}

/// Each of the four in a lane of its own.
#[inline(always)]
fn splats<L: Lane>(x: &[f32; ROWS]) -> [L; ROWS] {
    [0, 1, 2, 3].map(|r| L::splat_at(&x[r]))
}

/// Number `at` of each of four rows.
#[inline(always)]
fn column<L: Lane>(x: &Strip, at: usize) -> [L; ROWS] {
    [0, 1, 2, 3].map(|r| L::splat_at(&x[r][at]))
}

/// Dot products of four rows `[width][4]` with eight keys `[width][8]`, as two strips.
#[inline(never)]
pub(super) fn dot<L: Lane>(rows: &[[f32; ROWS]], keys: &[Eight], to: &mut [Strip; 2]) {
    let mut sums = [[L::splat(0.0); 2]; ROWS];
    let mut steps = rows.iter().zip(keys);
    macro_rules! next {
        () => {
            let Some((row, key)) = steps.next() else {
                break;
            };
            step(&mut sums, splats(row), key);
        };
    }
    while let Some((row, key)) = steps.next() {
        step(&mut sums, splats(row), key);
        next!();
        next!();
        next!();
        next!();
        next!();
        next!();
        next!();
    }
    for (r, sums) in sums.into_iter().enumerate() {
        sums[0].store(&mut to[0][r]);
        sums[1].store(&mut to[1][r]);
    }
}

/// to ← to · `factor` (one for each row) + Σ over keys of weight × eight columns of a value. The weights of four rows are
/// strips; as many keys are taken as `values` has.
#[inline(never)]
pub(super) fn mix<L: Lane>(
    weights: &[Strip],
    values: &[Eight],
    factor: &[f32; ROWS],
    to: &mut Tile,
) {
    let sums = summed(weights.iter(), values, column::<L>);
    for (r, sums) in sums.into_iter().enumerate() {
        let factor = L::splat(factor[r]);
        for (x, sum) in to[r].iter_mut().zip(sums) {
            L::load(x).mul(factor).add(sum).store(x);
        }
    }
}

/// to ← to + Σ over rows of weight × eight columns of the row: four keys by eight columns. `weights` has a strip of those
/// keys for each four rows; as many rows are taken as `rows` has.
#[inline(always)]
pub(super) fn mix_across<'a, L: Lane>(
    weights: impl Iterator<Item = &'a Strip>,
    rows: &[Eight],
    to: &mut Tile,
) {
    let sums = summed(weights, rows, |strip, at| splats::<L>(&strip[at]));
    for (x, sums) in to.iter_mut().zip(sums) {
        for (x, sum) in x.iter_mut().zip(sums) {
            L::load(x).add(sum).store(x);
        }
    }
}

/// Σ over `right` of four numbers × eight columns, where `left` takes the four from a strip; as many are taken as `right`
/// has.
#[inline(always)]
fn summed<'a, L: Lane>(
    mut strips: impl Iterator<Item = &'a Strip>,
    right: &[Eight],
    left: impl Fn(&Strip, usize) -> [L; ROWS],
) -> Sums<L> {
    let mut sums = [[L::splat(0.0); 2]; ROWS];
    let mut right = right.iter();
    macro_rules! next {
        ($strip:ident, $at:literal) => {
            let Some(eight) = right.next() else { break };
            step(&mut sums, left($strip, $at), eight);
        };
    }
    while let Some(strip) = strips.next() {
        next!(strip, 0);
        next!(strip, 1);
        next!(strip, 2);
        next!(strip, 3);
        let Some(strip) = strips.next() else { break };
        next!(strip, 0);
        next!(strip, 1);
        next!(strip, 2);
        next!(strip, 3);
    }
    sums
}
