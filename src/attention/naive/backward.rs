//! Gradients by the chain rule, written out.
//!
//! dV = Aᵀ dO; dA = dO Vᵀ; dS = A ∘ (dA − rowsum(A ∘ dA)); then back through bias, soft cap and scale to
//! dQ′ = dS K′ and dK′ = dSᵀ Q′, and through rotation and norm. The golden data's gradients come from automatic
//! differentiation and know nothing of these formulas.

use super::element::{Element, Inputs, check};
use super::forward::Forward;
use super::hold;
use super::prepare::Prepared;
use super::row::RowBuffers;
use super::sums::dot;
use crate::error::InputError;
use crate::math::tanh_slope;
use crate::prepare::{Places, Side};
use crate::shape::{HeadIdx, KvHeadIdx, QueryIdx};
use crate::spec::AttentionSpec;

/// Gradients of a scalar loss, row-major. A number beyond float64 is held at its end.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// At the queries, before norm and rotation `[heads, n_q, d_k]`.
    pub d_q: Vec<f64>,
    /// At the keys, before norm and rotation `[kv_heads, n_k, d_k]`: the sum over the heads that read them. At those of a
    /// [`Cache`](crate::Cache) as they lie in it.
    pub d_k: Vec<f64>,
    /// At the values `[kv_heads, n_k, d_v]`.
    pub d_v: Vec<f64>,
    /// At the logits, [`Forward::scores`] `[heads, n_q, n_k]`.
    pub d_scores: Vec<f64>,
    /// At the sink logits `[heads]`.
    pub d_sink: Option<Vec<f64>>,
}

/// Gradients from `d_out` `[heads, n_q, d_v]`, the gradient at the output. `f` has to be what
/// [`forward`](super::forward()) gave for this spec and these inputs.
///
/// Fails where `d_out` has another length or a cell that is not finite. Panics where `f` is of another shape.
pub fn backward<T: Element>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, T>,
    f: &Forward,
    d_out: &[f64],
) -> Result<Gradients, InputError> {
    let shape = spec.shape();
    check("d_out", d_out, &[shape.heads, shape.n_q, shape.d_v])?;
    let mut g = Gradients::zero(spec);
    g.d_scores.reserve_exact(shape.scores_len());
    for head in shape.head_indices() {
        let kv = shape.kv_head(head);
        let k_rows = kv.0 * shape.n_k..(kv.0 + 1) * shape.n_k;
        let values: Vec<f64> = inputs.v(kv).iter().map(|x| x.wide()).collect();
        for q in shape.queries() {
            let cells = shape.scores_row(head, q);
            let row = Row {
                weights: &f.weights[cells.clone()],
                scaled: &f.scaled[cells],
                sink_weight: f.summaries[shape.row(head, q)].sink_weight,
                query: &f.q_pos[shape.q_row(head, q)],
                keys: &f.k_pos[k_rows.start * shape.d_k..k_rows.end * shape.d_k],
                values: &values,
            };
            let d_scores = g.add_row(spec, head, q, &row, &d_out[shape.out_row(head, q)]);
            g.d_scores.extend_from_slice(&d_scores);
        }
    }
    g.turn_back(spec, inputs);
    Ok(g)
}

/// The same gradients without anything of the size n_q × n_k: each row is computed anew and let go. `d_scores` stays
/// empty. `go_on` is asked before each row; `None` where it said no.
pub(crate) fn backward_by_rows<T: Element>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, T>,
    d_out: &[f64],
    go_on: impl Fn() -> bool,
) -> Option<Gradients> {
    let shape = spec.shape();
    let mut g = Gradients::zero(spec);
    let mut row = RowBuffers::new(spec);
    for head in shape.head_indices() {
        let prepared = Prepared::new(spec, inputs, head);
        for q in shape.queries() {
            if !go_on() {
                return None;
            }
            let summary = prepared.row(q, &mut row);
            let of = Row {
                weights: &row.weights,
                scaled: &row.scaled,
                sink_weight: summary.sink_weight,
                query: prepared.query(q),
                keys: prepared.k_pos(),
                values: prepared.v(),
            };
            g.add_row(spec, head, q, &of, &d_out[shape.out_row(head, q)]);
        }
    }
    g.turn_back(spec, inputs);
    Some(g)
}

/// What the gradients of a row are made of.
struct Row<'a> {
    /// `[n_k]`
    weights: &'a [f64],
    /// `[n_k]`
    scaled: &'a [f64],
    sink_weight: f64,
    /// After norm and rotation `[d_k]`.
    query: &'a [f64],
    /// After norm and rotation `[n_k, d_k]`.
    keys: &'a [f64],
    /// `[n_k, d_v]`
    values: &'a [f64],
}

impl Gradients {
    fn zero(spec: &AttentionSpec) -> Self {
        let shape = spec.shape();
        Self {
            d_q: vec![0.0; shape.q_len()],
            d_k: vec![0.0; shape.k_len()],
            d_v: vec![0.0; shape.v_len()],
            d_scores: Vec::new(),
            d_sink: spec.config().sink.as_ref().map(|s| vec![0.0; s.len()]),
        }
    }

    /// Adds what a row gives, at queries and keys after norm and rotation; the gradient at its logits.
    fn add_row(
        &mut self,
        spec: &AttentionSpec,
        head: HeadIdx,
        q: QueryIdx,
        row: &Row<'_>,
        d_out: &[f64],
    ) -> Vec<f64> {
        let shape = spec.shape();
        let kv = shape.kv_head(head);
        let gradient = RowGradient::new(row.weights, row.sink_weight, row.values, d_out);
        if let Some(d_sink) = &mut self.d_sink {
            d_sink[head.0] = hold(d_sink[head.0] - hold(row.sink_weight * gradient.mean()));
        }
        for (k, &weight) in shape.keys().zip(row.weights) {
            add_scaled(&mut self.d_v[shape.v_row(kv, k)], weight, d_out);
        }
        let d_q = &mut self.d_q[shape.q_row(head, q)];
        let keys = row.keys.chunks_exact(shape.d_k);
        for (((k, key), &d_score), &scaled) in shape
            .keys()
            .zip(keys)
            .zip(&gradient.d_scores)
            .zip(row.scaled)
        {
            let slope = spec.soft_cap().map_or(1.0, |cap| tanh_slope(scaled / cap));
            let d_dot = hold(d_score * slope * spec.scale());
            if d_dot != 0.0 {
                add_scaled(d_q, d_dot, key);
                add_scaled(&mut self.d_k[shape.k_row(kv, k)], d_dot, row.query);
            }
        }
        gradient.d_scores
    }

    /// Back through rotation and norm: from gradients at the turned queries and keys to those at the given ones.
    fn turn_back<T: Element>(&mut self, spec: &AttentionSpec, inputs: &Inputs<'_, T>) {
        let shape = spec.shape();
        let wide = |row: &[T]| -> Vec<f64> { row.iter().map(|x| x.wide()).collect() };
        let places = Places::new(spec, Side::Queries);
        for head in shape.head_indices() {
            for q in shape.queries() {
                let at = shape.q_row(head, q);
                places.apply_backward(&mut self.d_q[at.clone()], &wide(&inputs.q()[at]), q.0);
            }
        }
        if inputs.keys_are_placed() {
            return;
        }
        let places = Places::new(spec, Side::Keys);
        for kv in (0..shape.kv_heads).map(KvHeadIdx) {
            let keys = inputs.k(kv).chunks_exact(shape.d_k);
            for (k, key) in shape.keys().zip(keys) {
                let at = shape.k_row(kv, k);
                places.apply_backward(&mut self.d_k[at], &wide(key), k.0);
            }
        }
    }
}

/// The gradient at the logits `[n_k]` of one row, from its `weights` `[n_k]`, the `values` `[n_k, d_v]` and `d_out` `[d_v]`,
/// the gradient at its output. `sink_weight` is what the row's sink takes, 0 without one.
///
/// Exact for saturated rows too: differences are taken to the key of largest weight, so nothing cancels.
///
/// ```
/// use attention::naive::row_gradient;
/// let d_scores = row_gradient(&[0.25, 0.75], 0.0, &[1.0, 0.0], &[1.0]);
/// assert_eq!(d_scores, [0.1875, -0.1875]);
/// ```
#[must_use]
pub fn row_gradient(weights: &[f64], sink_weight: f64, values: &[f64], d_out: &[f64]) -> Vec<f64> {
    RowGradient::new(weights, sink_weight, values, d_out).d_scores
}

struct RowGradient {
    d_scores: Vec<f64>,
    /// dA of the heaviest key, to which the others are measured.
    reference: f64,
    /// Σ a (dA − reference).
    excess: f64,
    row_sum: f64,
}

impl RowGradient {
    fn new(weights: &[f64], sink_weight: f64, values: &[f64], d_out: &[f64]) -> Self {
        let d_v = d_out.len().max(1);
        let mut d_weights: Vec<f64> = values
            .chunks_exact(d_v)
            .take(weights.len())
            .map(|v| dot(v, d_out))
            .collect();
        d_weights.resize(weights.len(), 0.0);
        let mut heaviest = 0;
        for (j, &a) in weights.iter().enumerate() {
            if a > weights[heaviest] {
                heaviest = j;
            }
        }
        let reference = d_weights.get(heaviest).copied().unwrap_or(0.0);
        let (mut excess, mut row_sum) = (0.0, 0.0);
        for (d, &a) in d_weights.iter_mut().zip(weights) {
            *d = hold(*d - reference);
            excess = hold(excess + a * *d);
            row_sum += a;
        }
        // dA_j − Σ a dA, where Σ a dA = excess + (1 − sink_weight) · reference.
        let d_scores = d_weights
            .iter()
            .zip(weights)
            .map(|(d, a)| a * hold(hold(d - excess) + sink_weight * reference))
            .collect();
        Self {
            d_scores,
            reference,
            excess,
            row_sum,
        }
    }

    /// Σ a dA.
    fn mean(&self) -> f64 {
        hold(self.excess + self.row_sum * self.reference)
    }
}

/// Adds `factor` · `row` to `acc`; neither products nor sums leave float64.
fn add_scaled(acc: &mut [f64], factor: f64, row: &[f64]) {
    for (a, x) in acc.iter_mut().zip(row) {
        *a = hold(*a + hold(factor * x));
    }
}
