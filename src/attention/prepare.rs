//! What happens to each query and key before the dot product: QK-norm, then rotation by the place.
//!
//! Always in float64, for the oracle and the fast path alike.

use crate::math::{narrow, sin_cos};
use crate::naive::hold;
use crate::spec::AttentionSpec;
use std::ops::Range;

/// Whose rows are prepared: queries and keys may start at different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Queries,
    Keys,
}

/// Whether keys go through the same in both: norm, and rotation by the place.
pub(crate) fn same_keys(a: &AttentionSpec, b: &AttentionSpec) -> bool {
    let turns = a.turns().iter().zip(b.turns());
    a.qk_norm() == b.qk_norm()
        && a.turns().len() == b.turns().len()
        && turns.fold(true, |same, (a, b)| {
            same && a.k_offset == b.k_offset && a.pairs == b.pairs && a.frequencies == b.frequencies
        })
}

/// Tables for all places of one side; the same for every head.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    epsilon: Option<f64>,
    turns: Vec<TurnTable>,
}

#[derive(Clone, Debug)]
struct TurnTable {
    pairs: Vec<(usize, usize)>,
    /// (sine, cosine), `[place, pair]`.
    waves: Vec<(f64, f64)>,
}

impl Places {
    /// Tables for every place of a side.
    pub(crate) fn new(spec: &AttentionSpec, side: Side) -> Self {
        let shape = spec.shape();
        let n = match side {
            Side::Queries => shape.n_q,
            Side::Keys => shape.n_k,
        };
        Self::of(spec, side, 0..n)
    }

    /// Tables for the rows `rows` of a side, which are counted from 0 here.
    pub(crate) fn of(spec: &AttentionSpec, side: Side, rows: Range<usize>) -> Self {
        let turns = spec.turns().iter().map(|turn| {
            let offset = match side {
                Side::Queries => turn.q_offset,
                Side::Keys => turn.k_offset,
            };
            let waves = (offset + rows.start..offset + rows.end)
                .flat_map(|place| {
                    turn.frequencies
                        .iter()
                        .map(move |f| sin_cos(place as f64 * f))
                })
                .collect();
            TurnTable {
                pairs: turn.pairs.clone(),
                waves,
            }
        });
        Self {
            epsilon: spec.qk_norm(),
            turns: turns.collect(),
        }
    }

    /// Norms and turns row `index` in place.
    pub(crate) fn apply(&self, row: &mut [f64], index: usize) {
        if let Some(epsilon) = self.epsilon {
            let size = size(row, epsilon);
            for x in row.iter_mut() {
                *x = if size > 0.0 { *x / size } else { 0.0 };
            }
        }
        for table in &self.turns {
            table.turn(row, index, 1.0);
        }
    }

    /// Whether there is a norm or a rotation at all.
    pub(crate) fn change_something(&self) -> bool {
        self.epsilon.is_some() || !self.turns.is_empty()
    }

    /// Norms and turns float32 rows of that width in place, the first of these places on: in float64, and rounds once.
    pub(crate) fn apply_all(&self, rows: &mut [f32], width: usize) {
        let mut wide = vec![0.0; width];
        for (at, row) in rows.chunks_exact_mut(width).enumerate() {
            for (wide, &x) in wide.iter_mut().zip(row.iter()) {
                *wide = f64::from(x);
            }
            self.apply(&mut wide, at);
            for (x, &wide) in row.iter_mut().zip(&wide) {
                *x = narrow(wide);
            }
        }
    }

    /// The gradient at `row`, the input of [`Places::apply`], from the gradient at its output; in place.
    pub(crate) fn apply_backward(&self, gradient: &mut [f64], row: &[f64], index: usize) {
        for table in self.turns.iter().rev() {
            table.turn(gradient, index, -1.0);
        }
        let Some(epsilon) = self.epsilon else { return };
        let size = size(row, epsilon);
        if size == 0.0 {
            gradient.fill(0.0);
            return;
        }
        // y = x / size, so dx = (dy − y · mean(y · dy)) / size.
        let mut mean = 0.0;
        for (&x, &dy) in row.iter().zip(gradient.iter()) {
            mean = hold(mean + hold(x / size * dy));
        }
        mean /= row.len() as f64;
        for (dx, &x) in gradient.iter_mut().zip(row) {
            *dx = hold(hold(*dx - hold(x / size * mean)) / size);
        }
    }
}

impl TurnTable {
    /// Turns the pairs of `row` forwards (`sign` 1) or back (−1).
    fn turn(&self, row: &mut [f64], index: usize, sign: f64) {
        let waves = &self.waves[index * self.pairs.len()..][..self.pairs.len()];
        for (&(a, b), &(sin, cos)) in self.pairs.iter().zip(waves) {
            let (x, y, sin) = (row[a], row[b], sign * sin);
            row[a] = hold(x * cos - y * sin);
            row[b] = hold(x * sin + y * cos);
        }
    }
}

/// √(mean(x²) + ε), without overflow or underflow on the way.
fn size(row: &[f64], epsilon: f64) -> f64 {
    let largest = row.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
    let unit = if (1e-150..1e150).contains(&largest) || largest == 0.0 {
        1.0
    } else {
        largest
    };
    let mut sum = 0.0;
    for x in row {
        let x = x / unit;
        sum += x * x;
    }
    unit * (sum / row.len() as f64 + epsilon / unit / unit).sqrt()
}
