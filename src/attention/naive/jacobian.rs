//! The Jacobian of a softmax row, ∂a_i/∂s_j = a_i(δ_ij − a_j).
//!
//! 1 − a_i is taken as the sum of the other weights where a_i is large: subtracting from 1 would leave nothing of a
//! saturated row.

use super::sums::sum;

/// diag(a) − aaᵀ `[n, n]`, row-major, for the `weights` `[n]` of one row.
///
/// `sink_weight` is what the row's sink takes, 0 without one: weights and sink sum to 1.
///
/// ```
/// let j = attention::naive::jacobian(&[0.25, 0.75], 0.0);
/// assert_eq!(j, [0.1875, -0.1875, -0.1875, 0.1875]);
/// ```
#[must_use]
pub fn jacobian(weights: &[f64], sink_weight: f64) -> Vec<f64> {
    let n = weights.len();
    let (at, others) = largest(weights, sink_weight);
    let mut j = vec![0.0; n * n];
    for (row, (i, &a)) in j.chunks_exact_mut(n.max(1)).zip(weights.iter().enumerate()) {
        for (cell, b) in row.iter_mut().zip(weights) {
            *cell = -a * b;
        }
        row[i] = a * if i == at { others } else { 1.0 - a };
    }
    j
}

/// The Frobenius norm of [`jacobian`], in O(n) and without forming it.
///
/// ‖J‖² = Σ a_i²(1 − a_i)² + Σ_{i≠j} a_i² a_j²; every term is positive, so nothing cancels.
#[must_use]
pub fn jacobian_norm(weights: &[f64], sink_weight: f64) -> f64 {
    let (at, others) = largest(weights, sink_weight);
    norm_of_row(weights, at, others)
}

/// The norm, where the largest weight is number `at` and everything else (sink included) weighs `others`.
pub(super) fn norm_of_row(weights: &[f64], at: usize, others: f64) -> f64 {
    let (mut diagonal, mut pairs, mut before) = (0.0, 0.0, 0.0);
    for (i, &a) in weights.iter().enumerate() {
        let square = a * a;
        let rest = if i == at { others } else { 1.0 - a };
        diagonal += square * (rest * rest);
        pairs += square * before;
        before += square;
    }
    (diagonal + 2.0 * pairs).sqrt()
}

/// The place of the largest weight, and the sum of all others.
fn largest(weights: &[f64], sink_weight: f64) -> (usize, f64) {
    let mut at = 0;
    for (i, &a) in weights.iter().enumerate() {
        if a > weights[at] {
            at = i;
        }
    }
    let mut others = weights.to_vec();
    if let Some(a) = others.get_mut(at) {
        *a = 0.0;
    }
    (at, sum(&others) + sink_weight)
}
