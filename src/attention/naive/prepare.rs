//! What all rows of a head share.

use super::element::{Element, Inputs};
use crate::prepare::{Places, Side};
use crate::shape::{HeadIdx, KeyIdx, QueryIdx};
use crate::spec::AttentionSpec;

/// One head, ready for its rows: queries and keys normed and turned, and what the scores gain by distance.
///
/// Owns everything it needs, so it can be kept between the steps of a computation that is done in pieces.
#[derive(Clone, Debug)]
pub struct Prepared {
    pub(super) spec: AttentionSpec,
    pub(super) head: HeadIdx,
    pub(super) q_pos: Vec<f64>,
    pub(super) k_pos: Vec<f64>,
    /// `k_pos` transposed, `[d_k, n_k]`: a row of scores is then a sum of rows of it.
    pub(super) k_columns: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// The bias at j − i + n_q − 1; empty where there is none.
    pub(super) bias: Vec<f64>,
}

impl Prepared {
    /// Prepares `head` in O(n·d).
    ///
    /// Panics where `head` is not below the spec's heads, or `inputs` were checked for another spec.
    #[must_use]
    pub fn new<T: Element>(spec: &AttentionSpec, inputs: &Inputs<'_, T>, head: HeadIdx) -> Self {
        let shape = spec.shape();
        let kv = shape.kv_head(head);
        let wide = |cells: &[T]| -> Vec<f64> { cells.iter().map(|c| c.wide()).collect() };
        let of_head = shape.n_q * shape.d_k;
        let mut q_pos = wide(&inputs.q()[head.0 * of_head..][..of_head]);
        let places = Places::new(spec, Side::Queries);
        for (i, row) in q_pos.chunks_exact_mut(shape.d_k).enumerate() {
            places.apply(row, i);
        }
        let mut k_pos = wide(inputs.k(kv));
        if !inputs.keys_are_placed() {
            let places = Places::new(spec, Side::Keys);
            for (j, row) in k_pos.chunks_exact_mut(shape.d_k).enumerate() {
                places.apply(row, j);
            }
        }
        let mut k_columns = vec![0.0; k_pos.len()];
        for (j, row) in k_pos.chunks_exact(shape.d_k).enumerate() {
            for (c, &x) in row.iter().enumerate() {
                k_columns[c * shape.n_k + j] = x;
            }
        }
        let bias = if spec.has_bias() {
            let first = shape.n_q as isize - 1;
            let offsets = (0..shape.n_q + shape.n_k - 1).map(|at| first - at as isize);
            offsets
                .map(|offset| spec.relative_bias(head, offset))
                .collect()
        } else {
            Vec::new()
        };
        let v = wide(inputs.v(kv));
        Self {
            spec: spec.clone(),
            head,
            q_pos,
            k_pos,
            k_columns,
            v,
            bias,
        }
    }

    /// What is computed.
    #[must_use]
    pub fn spec(&self) -> &AttentionSpec {
        &self.spec
    }

    /// Which head this is.
    #[must_use]
    pub fn head(&self) -> HeadIdx {
        self.head
    }

    /// Queries of the head after norm and rotation `[n_q, d_k]`.
    #[must_use]
    pub fn q_pos(&self) -> &[f64] {
        &self.q_pos
    }

    /// Keys that the head reads after norm and rotation `[n_k, d_k]`.
    #[must_use]
    pub fn k_pos(&self) -> &[f64] {
        &self.k_pos
    }

    /// Values that the head reads `[n_k, d_v]`.
    #[must_use]
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    pub(super) fn query(&self, q: QueryIdx) -> &[f64] {
        let d_k = self.spec.shape().d_k;
        &self.q_pos[q.0 * d_k..][..d_k]
    }

    pub(super) fn key(&self, k: KeyIdx) -> &[f64] {
        let d_k = self.spec.shape().d_k;
        &self.k_pos[k.0 * d_k..][..d_k]
    }

    /// What `q`'s scores gain by distance `[n_k]`; empty where there is no such bias.
    pub(super) fn bias_row(&self, q: QueryIdx) -> &[f64] {
        let shape = self.spec.shape();
        if self.bias.is_empty() {
            &[]
        } else {
            &self.bias[shape.n_q - 1 - q.0..][..shape.n_k]
        }
    }
}
