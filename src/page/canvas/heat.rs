//! A matrix of coloured cells, and the pixels it is made of.

use super::scene::Rect;
use std::sync::Arc;

/// What a cell says beside its number. Each looks different, in colour and without.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Look {
    /// A number.
    #[default]
    Plain,
    /// Hidden by the mask: a single hatch.
    Masked,
    /// Hidden by hand: hatch and a dot.
    MaskedByHand,
    /// In a row that sees nothing: a cross hatch.
    Empty,
    /// Not zero in real numbers, zero in floating point: a dotted frame and a small ▾.
    Underflow,
    /// Beyond the range of floating point: end colour and cut corners on both sides.
    Overflow,
}

/// Which colours a matrix has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// From ground at 0 to the end colour at `max`, of weights. With `root`, by the square root.
    Weights {
        /// Value at the end.
        max: f64,
        /// Whether colours follow the square root.
        root: bool,
    },
    /// From −max over ground at 0 to +max.
    Signed {
        /// Size at the ends.
        max: f64,
    },
}

/// A matrix to draw.
#[derive(Clone, Debug, PartialEq)]
pub struct Heat {
    /// Top left corner and pitch of the cells; a gap of 1 px is part of the pitch where it is 7 or more.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width of a column.
    pub cell_w: f64,
    /// Height of a row.
    pub cell_h: f64,
    /// Rows on the screen.
    pub rows: usize,
    /// Columns on the screen.
    pub cols: usize,
    /// Rows × columns, or columns × rows where `transposed`.
    pub values: Arc<Vec<f64>>,
    /// Whether row r, column c of the screen is column r, row c of the values.
    pub transposed: bool,
    /// One per value; empty where all are plain.
    pub looks: Arc<Vec<Look>>,
    /// Colours.
    pub scale: Scale,
    /// Numbers printed in the cells.
    pub print: Option<Print>,
    /// Drawn faded: these are the last numbers, and newer ones are on their way.
    pub stale: bool,
}

/// How numbers are printed in cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Print {
    /// As typed: every digit that fits.
    Typed,
    /// Computed: two decimals, an exact zero as 0.
    Computed,
    /// A derivative below 1: three decimals, an exact zero as 0, nothing where the mask hides.
    Fine,
    /// A mask: 0 and −∞.
    Mask,
}

impl Heat {
    /// The rectangle of a cell, gap left out.
    pub fn cell(&self, row: usize, col: usize) -> Rect {
        let gap = |pitch: f64| if pitch >= 7.0 { 1.0 } else { 0.0 };
        Rect::new(
            self.x + col as f64 * self.cell_w,
            self.y + row as f64 * self.cell_h,
            self.cell_w - gap(self.cell_w),
            self.cell_h - gap(self.cell_h),
        )
    }

    /// The whole matrix.
    pub fn rect(&self) -> Rect {
        Rect::new(
            self.x,
            self.y,
            self.cols as f64 * self.cell_w,
            self.rows as f64 * self.cell_h,
        )
    }

    /// Index of a cell of the screen among the values.
    pub fn index(&self, row: usize, col: usize) -> usize {
        if self.transposed {
            col * self.rows + row
        } else {
            row * self.cols + col
        }
    }

    /// The value in a cell; 0 outside.
    pub fn value(&self, row: usize, col: usize) -> f64 {
        self.values
            .get(self.index(row, col))
            .copied()
            .unwrap_or(0.0)
    }

    /// How a cell looks.
    pub fn look(&self, row: usize, col: usize) -> Look {
        self.looks
            .get(self.index(row, col))
            .copied()
            .unwrap_or_default()
    }

    /// How many numbers are beyond the ends of the scale.
    pub fn clipped(&self) -> usize {
        let plain = |i: usize| {
            matches!(
                self.looks.get(i).copied().unwrap_or_default(),
                Look::Plain | Look::Overflow
            )
        };
        self.values
            .iter()
            .enumerate()
            .filter(|(i, x)| plain(*i) && self.scale.clips(**x))
            .count()
    }
}

impl Scale {
    /// Whether a number is beyond the ends.
    pub fn clips(self, x: f64) -> bool {
        match self {
            Scale::Weights { max, .. } | Scale::Signed { max } => x.abs() > max * (1.0 + 1e-12),
        }
    }

    /// Where a number stands on the scale, −1 to 1.
    pub fn place(self, x: f64) -> f64 {
        if x.is_nan() {
            return 0.0;
        }
        match self {
            Scale::Weights { max, root } => {
                let t = (x / max).clamp(0.0, 1.0);
                if root { t.sqrt() } else { t }
            }
            Scale::Signed { max } => (x / max).clamp(-1.0, 1.0),
        }
    }

    /// A scale for signed numbers that shows most of them well: its end is a round number, the largest size or three
    /// times the size that four fifths stay below, whichever is less. What is beyond is clipped, and counted.
    pub fn signed_for<'a>(values: impl IntoIterator<Item = &'a f64>) -> Scale {
        let mut sizes: Vec<f64> = values
            .into_iter()
            .map(|x| x.abs())
            .filter(|x| x.is_finite())
            .collect();
        let largest = sizes.iter().copied().fold(0.0_f64, f64::max);
        // Of many numbers an even sample says where four fifths lie.
        let stride = sizes.len() / 8192;
        if stride > 1 {
            sizes = sizes.iter().copied().step_by(stride).collect();
        }
        let usual = if sizes.is_empty() {
            0.0
        } else {
            let at = (sizes.len() * 4 / 5).min(sizes.len() - 1);
            *sizes.select_nth_unstable_by(at, f64::total_cmp).1
        };
        Scale::Signed {
            max: round_up(if usual > 0.0 {
                largest.min(3.0 * usual)
            } else {
                largest
            }),
        }
    }
}

/// The next of 1, 1.5, 2, 2.5, 3, 4, 5, 6, 8 times a power of ten; 1 for 0.
pub fn round_up(x: f64) -> f64 {
    if !(x > 0.0 && x.is_finite()) {
        return 1.0;
    }
    let ten = 10f64.powf(x.log10().floor());
    let steps = [1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0];
    steps
        .iter()
        .map(|s| s * ten)
        .find(|s| *s >= x * (1.0 - 1e-12))
        .unwrap_or(10.0 * ten)
}
