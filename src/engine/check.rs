//! The float32 path on the numbers of a view, held against its float64 output.

use crate::limits::{self, MAX_CHECK_PRODUCTS};
use crate::look::hold;
use attention::naive::{CellState, Inputs};
use attention::rows::RowRunner;
use attention::{AttentionSpec, Config, HeadIdx, KeyIdx, KvHeadIdx, QueryIdx, Shape, lanes, tiled};
use protocol::{FastCheck, Trace, cell_number};

/// The shown head's numbers in float32, and the call in which it stands.
pub struct Check {
    spec: AttentionSpec,
    head: HeadIdx,
    q: Vec<f32>,
    k: Vec<f32>,
    v: Vec<f32>,
}

impl Check {
    /// `None` where a number is beyond float32, or the check would keep newer messages waiting.
    pub fn new(spec: &AttentionSpec, head: HeadIdx, trace: &Trace) -> Option<Check> {
        let (spec, head) = alone(spec, head)?;
        let shape = spec.shape();
        if limits::products(shape) > MAX_CHECK_PRODUCTS {
            return None;
        }
        let KvHeadIdx(kv) = shape.kv_head(head);
        let (first_q, first_k) = (QueryIdx(0), KeyIdx(0));
        let q_at = shape.q_row(head, first_q).start;
        let k_at = shape.k_row(KvHeadIdx(kv), first_k).start;
        let v_at = shape.v_row(KvHeadIdx(kv), first_k).start;
        Some(Check {
            q: place(&trace.q, q_at, shape.q_len())?,
            k: place(&trace.k, k_at, shape.k_len())?,
            v: place(&trace.v, v_at, shape.v_len())?,
            spec,
            head,
        })
    }

    /// Runs it in one piece. `None` where the runner stops.
    pub fn run(&self, trace: &Trace, runner: &impl RowRunner) -> Option<FastCheck> {
        let inputs = Inputs::new(&self.spec, &self.q, &self.k, &self.v).ok()?;
        let fast = tiled::forward::<lanes::Best, _>(&self.spec, &inputs, runner).ok()?;
        let out = &fast.out[self.spec.shape().out_row(self.head, QueryIdx(0)).start..];
        let error = |(fast, out): (&f32, &f64)| (f64::from(*fast) - out).abs();
        let hidden = [CellState::Masked, CellState::RowSeesNothing].map(cell_number);
        let beyond = |(score, state): &(&f64, &f64)| {
            score.abs() > f64::from(f32::MAX) && !hidden.contains(state)
        };
        Some(FastCheck {
            max_error: hold(out.iter().zip(&trace.out).map(error).fold(0.0, f64::max)),
            max_value: trace.v.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
            overflowed: trace
                .scores
                .iter()
                .zip(&trace.states)
                .filter(beyond)
                .count(),
        })
    }
}

/// The head as a call of its own. Where a scheme's bias depends on the number of heads (ALiBi) it stays in its place
/// among them, and the others' numbers are 0.
fn alone(spec: &AttentionSpec, head: HeadIdx) -> Option<(AttentionSpec, HeadIdx)> {
    if spec.has_bias() || spec.shape().heads == 1 {
        return Some((spec.clone(), head));
    }
    let config = Config {
        shape: Shape {
            heads: 1,
            kv_heads: 1,
            ..spec.shape()
        },
        sink: spec.sink(head).map(|logit| vec![logit]),
        ..spec.config().clone()
    };
    Some((AttentionSpec::new(config).ok()?, HeadIdx(0)))
}

/// `cells` in float32 at `at` among `len` numbers, else 0.
fn place(cells: &[f64], at: usize, len: usize) -> Option<Vec<f32>> {
    let mut all = vec![0.0; len];
    for (narrow, &cell) in all[at..].iter_mut().zip(cells) {
        *narrow = cell as f32;
    }
    all.iter().all(|x| x.is_finite()).then_some(all)
}
