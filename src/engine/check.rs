//! The float32 path on the numbers of a view, held against its float64 output.

use crate::limits::{self, MAX_CHECK_PRODUCTS};
use crate::numbers::hold;
use attention::naive::Inputs;
use attention::rows::RowRunner;
use attention::{AttentionSpec, Config, HeadIdx, KeyIdx, QueryIdx, Shape, lanes, tiled};
use protocol::{CheckJob, FastCheck};

/// Runs it in one piece. `None` where a number is beyond float32, where it would keep newer messages waiting, and where
/// the runner stops.
pub fn check(job: &CheckJob, runner: &impl RowRunner) -> Option<FastCheck> {
    let spec = AttentionSpec::new(job.config.clone()).ok()?;
    let (spec, head) = alone(&spec, HeadIdx(job.head))?;
    let shape = spec.shape();
    if limits::products(shape) > MAX_CHECK_PRODUCTS {
        return None;
    }
    let kv = shape.kv_head(head);
    let q = place(&job.q, shape.q_row(head, QueryIdx(0)).start, shape.q_len())?;
    let k = place(&job.k, shape.k_row(kv, KeyIdx(0)).start, shape.k_len())?;
    let v = place(&job.v, shape.v_row(kv, KeyIdx(0)).start, shape.v_len())?;
    let inputs = Inputs::new(&spec, &q, &k, &v).ok()?;
    let fast = tiled::forward::<lanes::Best, _>(&spec, &inputs, runner).ok()?;
    let out = fast
        .out
        .get(shape.out_row(head, QueryIdx(0)).start..)
        .unwrap_or(&[]);
    let error = |(fast, out): (&f32, &f64)| (f64::from(*fast) - out).abs();
    Some(FastCheck {
        max_error: hold(out.iter().zip(&job.out).map(error).fold(0.0, f64::max)),
        max_value: job.v.iter().fold(0.0, |most: f64, x| most.max(x.abs())),
        overflowed: job.overflowed,
    })
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
    for (narrow, &cell) in all.get_mut(at..)?.iter_mut().zip(cells) {
        *narrow = cell as f32;
    }
    all.iter().all(|x| x.is_finite()).then_some(all)
}
