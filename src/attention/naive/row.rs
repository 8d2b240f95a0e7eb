//! One row, from dot products to output.

use super::jacobian::norm_of_row;
use super::prepare::Prepared;
use super::sums::{CarefulDot, accumulate, max, sum};
use super::{hold, overflowed, row_gradient};
use crate::masks::Coverage;
use crate::math::{exp, ln, tanh};
use crate::shape::{KeyIdx, QueryIdx};
use crate::spec::{AttentionSpec, Hidden};

/// The stages of one row. Made once, used for many rows.
#[derive(Clone, Debug, PartialEq)]
pub struct RowBuffers {
    /// q·k `[n_k]`.
    pub dot: Vec<f64>,
    /// Times the scale `[n_k]`.
    pub scaled: Vec<f64>,
    /// After the soft cap `[n_k]`.
    pub capped: Vec<f64>,
    /// With the bias of distance: the logits before the mask `[n_k]`.
    pub biased: Vec<f64>,
    /// Whether the masks show the key `[n_k]`.
    pub visible: Vec<bool>,
    /// The logits after the mask, −∞ where it hides a key `[n_k]`; all else in these buffers is finite.
    pub masked: Vec<f64>,
    /// The softmax `[n_k]`.
    pub weights: Vec<f64>,
    /// The mean of the values under the weights `[d_v]`.
    pub out: Vec<f64>,
}

impl RowBuffers {
    /// Buffers for the rows of `spec`, filled with zeros.
    #[must_use]
    pub fn new(spec: &AttentionSpec) -> Self {
        let shape = spec.shape();
        let row = vec![0.0; shape.n_k];
        Self {
            dot: row.clone(),
            scaled: row.clone(),
            capped: row.clone(),
            biased: row.clone(),
            visible: vec![true; shape.n_k],
            masked: row.clone(),
            weights: row,
            out: vec![0.0; shape.d_v],
        }
    }
}

/// Whether a row's numbers are what they seem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowStatus {
    /// They are.
    Ordinary,
    /// No key is visible: weights and output are 0 by rule.
    SeesNothing,
    /// A score is beyond float64 and held at its end: where several are at the upper end, they tie by rule.
    Overflowed,
}

/// A row in a few numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowSummary {
    /// Whether the others are what they seem.
    pub status: RowStatus,
    /// ln Σ exp(masked), sink included; −∞ where the row sees nothing and has no sink.
    pub lse: f64,
    /// The largest logit, sink aside; −∞ where the row sees nothing.
    pub max: f64,
    /// −Σ a ln a over the keys, in nats.
    pub entropy: f64,
    /// Σ a over the keys.
    pub row_sum: f64,
    /// The first key of largest weight, with its weight; `None` where the row sees nothing.
    pub largest: Option<(KeyIdx, f64)>,
    /// How many keys the masks show.
    pub visible: usize,
    /// How many keys take part in the softmax and have a weight too small for float64, hence 0.
    pub underflowed: usize,
    /// The Frobenius norm of diag(a) − aaᵀ, the Jacobian of the softmax.
    pub jacobian_norm: f64,
    /// The weight of the sink; 0 without one.
    pub sink_weight: f64,
}

/// What a cell of a matrix means, beyond its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellState {
    /// A number as it is.
    Ordinary,
    /// Exactly zero.
    Zero,
    /// Hidden by the mask.
    Masked,
    /// Hidden, in a row in which everything is.
    RowSeesNothing,
    /// A weight too small for float64, hence 0.
    Underflowed,
    /// Beyond float64, or the weight of a score that is.
    Overflowed,
}

impl CellState {
    /// The state of a weight, from its logit before the mask, whether the masks show its key, and its row.
    ///
    /// A hidden key that has weight all the same, because its score got a finite constant in place of −∞, is
    /// ordinary: it takes part.
    #[must_use]
    pub fn of_weight(weight: f64, score: f64, visible: bool, row: RowStatus) -> Self {
        if !visible && weight == 0.0 {
            return if row == RowStatus::SeesNothing {
                Self::RowSeesNothing
            } else {
                Self::Masked
            };
        }
        if overflowed(score) {
            Self::Overflowed
        } else if weight == 0.0 {
            Self::Underflowed
        } else {
            Self::Ordinary
        }
    }

    /// The state of a logit after the mask.
    #[must_use]
    pub fn of_score(score: f64, visible: bool) -> Self {
        if visible {
            Self::of_value(score)
        } else {
            Self::Masked
        }
    }

    /// The state of any other number.
    #[must_use]
    pub fn of_value(value: f64) -> Self {
        if overflowed(value) {
            Self::Overflowed
        } else if value == 0.0 {
            Self::Zero
        } else {
            Self::Ordinary
        }
    }
}

impl Prepared {
    /// Computes row `q` into `row`: O(n_k·(d_k + d_v)).
    ///
    /// Panics where `q` is not below the spec's n_q, or `row` was made for another spec.
    pub fn row(&self, q: QueryIdx, row: &mut RowBuffers) -> RowSummary {
        self.scores(q, row);
        let visible = self.mask(q, row);
        self.normalise(row, visible)
    }

    /// The gradient at the logits `[n_k]` of a row computed by [`Prepared::row`], from `d_out` `[d_v]`, the gradient at
    /// its output; `sink_weight` is in the row's summary. A `d_out` of another length counts as far as it goes.
    #[must_use]
    pub fn row_gradient(&self, row: &RowBuffers, sink_weight: f64, d_out: &[f64]) -> Vec<f64> {
        row_gradient(&row.weights, sink_weight, &self.v, d_out)
    }

    /// dot, scaled, capped and biased.
    fn scores(&self, q: QueryIdx, row: &mut RowBuffers) {
        let (query, scale) = (self.query(q), self.spec.scale());
        row.dot.fill(0.0);
        accumulate(&mut row.dot, query, &self.k_columns);
        for (scaled, dot) in row.scaled.iter_mut().zip(&row.dot) {
            *scaled = hold(dot * scale);
        }
        if !row.dot.iter().all(|x| x.is_finite()) {
            for (j, (dot, scaled)) in row.dot.iter_mut().zip(&mut row.scaled).enumerate() {
                if !dot.is_finite() {
                    let careful = CarefulDot::new(query, self.key(KeyIdx(j)));
                    (*dot, *scaled) = (careful.times(1.0), careful.times(scale));
                }
            }
        }
        match self.spec.soft_cap() {
            Some(cap) => {
                for (capped, scaled) in row.capped.iter_mut().zip(&row.scaled) {
                    *capped = cap * tanh(scaled / cap);
                }
            }
            None => row.capped.copy_from_slice(&row.scaled),
        }
        row.biased.copy_from_slice(&row.capped);
        for (biased, bias) in row.biased.iter_mut().zip(self.bias_row(q)) {
            *biased = hold(*biased + bias);
        }
    }

    /// visible and masked; how many keys are visible.
    fn mask(&self, q: QueryIdx, row: &mut RowBuffers) -> usize {
        let n_k = row.visible.len();
        match self.spec.coverage(q.0..q.0 + 1, 0..n_k) {
            Coverage::Whole => row.visible.fill(true),
            Coverage::Empty => row.visible.fill(false),
            Coverage::Mixed => {
                for (j, visible) in row.visible.iter_mut().enumerate() {
                    *visible = self.spec.visible(q, KeyIdx(j));
                }
            }
        }
        for ((masked, &biased), &visible) in
            row.masked.iter_mut().zip(&row.biased).zip(&row.visible)
        {
            *masked = match self.spec.hidden() {
                _ if visible => biased,
                Hidden::NegInfinity => f64::NEG_INFINITY,
                Hidden::Finite(constant) => hold(biased + constant),
            };
        }
        row.visible.iter().filter(|v| **v).count()
    }

    /// weights and out.
    fn normalise(&self, row: &mut RowBuffers, visible: usize) -> RowSummary {
        let sink = self.spec.sink(self.head);
        let largest_logit = max(&row.masked);
        if largest_logit == f64::NEG_INFINITY {
            row.weights.fill(0.0);
            row.out.fill(0.0);
            return RowSummary {
                status: RowStatus::SeesNothing,
                lse: sink.unwrap_or(f64::NEG_INFINITY),
                max: f64::NEG_INFINITY,
                entropy: 0.0,
                row_sum: 0.0,
                largest: None,
                visible,
                underflowed: 0,
                jacobian_norm: 0.0,
                sink_weight: if sink.is_some() { 1.0 } else { 0.0 },
            };
        }
        let top = sink.map_or(largest_logit, |s| largest_logit.max(s));
        for (weight, masked) in row.weights.iter_mut().zip(&row.masked) {
            *weight = exp(masked - top);
        }
        // The largest term apart, so that what the others have together is known exactly even where it is tiny.
        let at = row
            .masked
            .iter()
            .position(|&m| m == largest_logit)
            .unwrap_or(0);
        let largest_term = std::mem::replace(&mut row.weights[at], 0.0);
        let sink_term = sink.map_or(0.0, |s| exp(s - top));
        let others = sum(&row.weights) + sink_term;
        row.weights[at] = largest_term;
        let total = others + largest_term;
        let log_total = ln(total);
        for weight in &mut row.weights {
            *weight /= total;
        }
        let mut entropy = 0.0;
        let (mut underflowed, mut overflow) = (0, false);
        for (&weight, &masked) in row.weights.iter().zip(&row.masked) {
            if weight > 0.0 {
                entropy += weight * (log_total - (masked - top));
            } else if masked > f64::NEG_INFINITY {
                underflowed += 1;
            }
            overflow |= overflowed(masked);
        }
        row.out.fill(0.0);
        accumulate(&mut row.out, &row.weights, &self.v);
        for x in &mut row.out {
            *x = hold(*x);
        }
        RowSummary {
            status: if overflow {
                RowStatus::Overflowed
            } else {
                RowStatus::Ordinary
            },
            lse: hold(log_total + top),
            max: largest_logit,
            entropy,
            row_sum: sum(&row.weights),
            largest: Some((KeyIdx(at), row.weights[at])),
            visible,
            underflowed,
            jacobian_norm: norm_of_row(&row.weights, at, others / total),
            sink_weight: sink_term / total,
        }
    }
}
