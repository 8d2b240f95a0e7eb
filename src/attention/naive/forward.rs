//! Everything at once.

use super::element::{Element, Inputs};
use super::prepare::Prepared;
use super::row::{RowBuffers, RowSummary};
use crate::shape::KvHeadIdx;
use crate::spec::AttentionSpec;

/// Every stage of a call in float64, row-major.
///
/// Holds six arrays of heads · n_q · n_k numbers, half a gigabyte for 12 heads of 1000 tokens: for long sequences
/// compute row by row instead.
#[derive(Clone, Debug, PartialEq)]
pub struct Forward {
    /// Queries after norm and rotation `[heads, n_q, d_k]`.
    pub q_pos: Vec<f64>,
    /// Keys after norm and rotation `[kv_heads, n_k, d_k]`.
    pub k_pos: Vec<f64>,
    /// Dot products `[heads, n_q, n_k]`.
    pub dot: Vec<f64>,
    /// Times the scale `[heads, n_q, n_k]`.
    pub scaled: Vec<f64>,
    /// After the soft cap `[heads, n_q, n_k]`.
    pub capped: Vec<f64>,
    /// With the bias of distance, before the mask `[heads, n_q, n_k]`.
    pub scores: Vec<f64>,
    /// After the mask, −∞ where a key is hidden `[heads, n_q, n_k]`.
    pub masked: Vec<f64>,
    /// The softmax of each row `[heads, n_q, n_k]`.
    pub weights: Vec<f64>,
    /// Log-sum-exp of each row, sink included `[heads, n_q]`.
    pub lse: Vec<f64>,
    /// Entropy of each row in nats `[heads, n_q]`.
    pub entropy: Vec<f64>,
    /// Sum of each row's weights `[heads, n_q]`.
    pub row_sum: Vec<f64>,
    /// Output `[heads, n_q, d_v]`.
    pub out: Vec<f64>,
    /// The rest of what is known of each row `[heads, n_q]`.
    pub summaries: Vec<RowSummary>,
}

/// Computes every stage.
#[must_use]
pub fn forward<T: Element>(spec: &AttentionSpec, inputs: &Inputs<'_, T>) -> Forward {
    let shape = spec.shape();
    let cells = || Vec::with_capacity(shape.scores_len());
    let mut f = Forward {
        q_pos: Vec::with_capacity(shape.q_len()),
        k_pos: Vec::with_capacity(shape.k_len()),
        dot: cells(),
        scaled: cells(),
        capped: cells(),
        scores: cells(),
        masked: cells(),
        weights: cells(),
        lse: Vec::with_capacity(shape.rows()),
        entropy: Vec::with_capacity(shape.rows()),
        row_sum: Vec::with_capacity(shape.rows()),
        out: Vec::with_capacity(shape.out_len()),
        summaries: Vec::with_capacity(shape.rows()),
    };
    let mut row = RowBuffers::new(spec);
    let mut next_kv = KvHeadIdx(0);
    for head in shape.head_indices() {
        let prepared = Prepared::new(spec, inputs, head);
        f.q_pos.extend_from_slice(prepared.q_pos());
        if shape.kv_head(head) == next_kv {
            f.k_pos.extend_from_slice(prepared.k_pos());
            next_kv.0 += 1;
        }
        for q in shape.queries() {
            let summary = prepared.row(q, &mut row);
            f.dot.extend_from_slice(&row.dot);
            f.scaled.extend_from_slice(&row.scaled);
            f.capped.extend_from_slice(&row.capped);
            f.scores.extend_from_slice(&row.biased);
            f.masked.extend_from_slice(&row.masked);
            f.weights.extend_from_slice(&row.weights);
            f.out.extend_from_slice(&row.out);
            f.lse.push(summary.lse);
            f.entropy.push(summary.entropy);
            f.row_sum.push(summary.row_sum);
            f.summaries.push(summary);
        }
    }
    f
}
