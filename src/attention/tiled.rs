//! The fast path: float32, online softmax over blocks of keys, memory linear in the lengths.
//!
//! A row keeps a running maximum m, a running sum l of exp(s − m) and an unfinished output o. A block of keys whose
//! maximum is larger rescales l and o by exp(m_old − m_new); at the end out = o/l and lse = ln l + m. The result is
//! that of the softmax over the whole row (Milakov & Gimelshein 2018; with blocks of values, Dao et al. 2022). Scores
//! are kept as exponents of 2, so that a power is one shift and one polynomial.
//!
//! # How it is cut
//!
//! A task is up to 256 rows of a head, or, where a head has fewer, of all heads that share its keys. For each block of 128 keys that any of its rows sees, the task packs keys and
//! values as the inner loops read them, and sends its rows through in tiles of 4 × 8 whose sums stay in registers. A
//! task holds all that it writes, so nothing is shared but inputs, and memory beside inputs and outputs does not grow
//! with the lengths: [`scratch_bytes`]. Only where queries and keys are normed or turned, their copies are as long as
//! they are. One to three queries against many keys, as in decoding, go straight over the keys as they lie: packing them
//! would cost more than it gains.
//!
//! # Same bits everywhere
//!
//! Blocks of keys have a fixed size and their order is fixed; a [`RowRunner`] only says which thread takes which rows.
//! Lanes give the same bits by their contract. So do one thread and many, and WebAssembly and native code.
//!
//! # How exact
//!
//! Norm, rotation and scale are done in float64 and rounded once. |out − exact| stays within 2e-6 · max|v| while the
//! scores are of ordinary size; a score of size s carries an error of about s · 1e-7, and the weights follow it.
//!
//! # Huge numbers
//!
//! Where a bound says that a float32 could overflow on the way, the row is computed by the oracle in float64, where
//! products of float32 never overflow, and rounded. So no result is NaN, and those rows are right, only slower.
//! [`Output::overflowed_rows`] counts them.

mod backward;
mod bias;
mod block;
mod call;
mod cut;
mod few;
mod logits;
mod pack;
mod shared;
mod tile;

use crate::lanes::Lane;
use crate::math::narrow;
use crate::naive::{self, Inputs, Prepared, RowBuffers};
use crate::rows::RowRunner;
use crate::shape::HeadIdx;
use crate::spec::AttentionSpec;
use backward::{BackwardScratch, Saved, Targets};
use block::Scratch;
pub use call::CallError;
use cut::{Cut, Tasks, Watch, at_least, with_one_of};
use few::FewScratch;
use shared::Shared;
use std::sync::Mutex;

/// What the fast path computes.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The output `[heads, n_q, d_v]`.
    pub out: Vec<f32>,
    /// Log-sum-exp of each row, sink included `[heads, n_q]`; −∞ where a row sees nothing and has no sink. Held at the
    /// ends of float32 where it is beyond.
    pub lse: Vec<f32>,
    /// Rows whose scores or sums could leave float32, and which the oracle computed in its place.
    pub overflowed_rows: usize,
}

/// Working memory, kept from call to call: a call of the size of the last one allocates nothing.
#[derive(Debug, Default)]
pub struct Workspace {
    shared: Shared,
    /// One for each thread that may be at work at the same time.
    scratches: Vec<Mutex<Scratch>>,
    few: FewScratch,
    backward: BackwardScratch,
}

impl Workspace {
    /// Empty; grows to what a call needs ([`scratch_bytes`]).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

/// Attention in float32 on the lanes `L`, rows shared out by `runner`.
///
/// Fails where the runner says to stop, or `inputs` were checked for another shape.
///
/// ```
/// use attention::{AttentionSpec, Config, Inputs, Shape, lanes, rows, tiled};
/// let spec = AttentionSpec::new(Config::new(Shape::square(2, 1)))?;
/// let inputs = Inputs::new(&spec, &[0.0_f32, 0.0], &[1.0, 1.0], &[2.0, 4.0])?;
/// let result = tiled::forward::<lanes::Best, _>(&spec, &inputs, &rows::Serial)?;
/// assert_eq!(result.out, [3.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward<L: Lane, R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    runner: &R,
) -> Result<Output, CallError> {
    let shape = spec.shape();
    let (mut out, mut lse) = (vec![0.0; shape.out_len()], vec![0.0; shape.rows()]);
    let mut workspace = Workspace::new();
    let overflowed_rows =
        forward_into::<L, R>(spec, inputs, runner, &mut workspace, &mut out, &mut lse)?;
    Ok(Output {
        out,
        lse,
        overflowed_rows,
    })
}

/// [`forward`] into memory that is there: `out` `[heads, n_q, d_v]` and `lse` `[heads, n_q]`, as in [`Output`], with
/// working memory from `workspace`. Gives [`Output::overflowed_rows`]. Where it is stopped, both hold no result.
///
/// Fails as [`forward`] does, and where `out` or `lse` is of another length.
///
/// ```
/// use attention::{AttentionSpec, Config, Inputs, Shape, lanes, rows, tiled};
/// let spec = AttentionSpec::new(Config::new(Shape::square(2, 1)))?;
/// let mut workspace = tiled::Workspace::new();
/// let (mut out, mut lse) = ([0.0; 2], [0.0; 2]);
/// for v in [[2.0_f32, 4.0], [6.0, 8.0]] {
///     let inputs = Inputs::new(&spec, &[0.0, 0.0], &[1.0, 1.0], &v)?;
///     tiled::forward_into::<lanes::Best, _>(
///         &spec, &inputs, &rows::Serial, &mut workspace, &mut out, &mut lse,
///     )?;
/// }
/// assert_eq!(out, [7.0, 7.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward_into<L: Lane, R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    runner: &R,
    workspace: &mut Workspace,
    out: &mut [f32],
    lse: &mut [f32],
) -> Result<usize, CallError> {
    let shape = spec.shape();
    inputs.check_shape(spec)?;
    inputs.check_places(spec)?;
    call::check_length("out", out, shape.out_len())?;
    call::check_length("lse", lse, shape.rows())?;
    let watch = Watch::new(runner);
    workspace.shared.prepare::<L, _>(spec, inputs, &watch);
    if few::suits(shape) {
        let Workspace { shared, few, .. } = workspace;
        few.run::<L, _>(spec, shared, inputs, &watch, out, lse);
    } else {
        let threads = runner.threads().max(1);
        let Workspace {
            shared, scratches, ..
        } = workspace;
        at_least(scratches, threads);
        let cut = Cut::new(spec, threads);
        let sources = shared.sources(shape, inputs);
        lse.fill(0.0);
        watch.for_each(
            Tasks::new(shape, cut, out, lse),
            || (),
            |(), block| {
                if watch.keep_going_so_far() {
                    with_one_of(scratches, |scratch| {
                        scratch.run::<L>(spec, shared, sources, cut, block, || watch.keep_going());
                    });
                }
            },
        );
    }
    if watch.stopped() {
        return Err(CallError::Stopped);
    }
    let overflowed_rows = lse.iter().filter(|x| x.is_nan()).count();
    if overflowed_rows > 0 {
        redo(spec, inputs, runner, out, lse)?;
    }
    Ok(overflowed_rows)
}

/// How many bytes [`forward_into`] takes beside inputs and outputs, on so many threads: what its [`Workspace`] grows to.
/// Rows that the oracle computes, because their numbers are huge, take a few rows of float64 more.
///
/// ```
/// use attention::{AttentionSpec, Config, Shape, tiled};
/// let bytes = |n| AttentionSpec::new(Config::new(Shape::square(n, 64))).map(|s| tiled::scratch_bytes(&s, 1));
/// assert_eq!(bytes(1_000)?, bytes(60_000)?);
/// # Ok::<(), attention::SpecError>(())
/// ```
#[must_use]
pub fn scratch_bytes(spec: &AttentionSpec, threads: usize) -> usize {
    scratch(spec, threads, false)
}

/// [`scratch_bytes`] of a call whose keys and values lie in a [`Cache`](crate::Cache).
#[must_use]
pub fn cached_scratch_bytes(spec: &AttentionSpec, threads: usize) -> usize {
    scratch(spec, threads, true)
}

fn scratch(spec: &AttentionSpec, threads: usize, placed: bool) -> usize {
    let shape = spec.shape();
    shared::bytes(spec, placed)
        + if few::suits(shape) {
            few::bytes(shape)
        } else {
            let threads = threads.max(1);
            let each = size_of::<Mutex<Scratch>>() + block::bytes(spec, Cut::new(spec, threads));
            threads * each
        }
}

/// How many times [`forward_into`] asks [`RowRunner::keep_going`] on so many threads: what progress is measured by. Rows
/// that the oracle computes ask once more each; keys of a [`Cache`](crate::Cache), which need no rotation, fewer.
#[must_use]
pub fn steps(spec: &AttentionSpec, threads: usize) -> usize {
    let shape = spec.shape();
    let blocks = if few::suits(shape) {
        few::steps(shape)
    } else {
        let cut = Cut::new(spec, threads.max(1));
        let of_unit: usize = cut
            .of_unit()
            .map(|rows| {
                let queries = cut::queries(shape, &rows);
                let reach = spec.reach_of(queries.clone());
                block::blocks(spec, queries, &reach).count()
            })
            .sum();
        shape.rows() / cut.unit * of_unit
    };
    shared::steps(spec) + blocks
}

/// Gradients of a scalar loss in float32, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradients {
    /// At the queries, before norm and rotation `[heads, n_q, d_k]`.
    pub d_q: Vec<f32>,
    /// At the keys, before norm and rotation `[kv_heads, n_k, d_k]`: the sum over the heads that read them. At those of a
    /// [`Cache`](crate::Cache) as they lie in it.
    pub d_k: Vec<f32>,
    /// At the values `[kv_heads, n_k, d_v]`.
    pub d_v: Vec<f32>,
    /// At the sink logits `[heads]`.
    pub d_sink: Option<Vec<f32>>,
}

impl Gradients {
    /// Zeros, of the lengths of a call.
    #[must_use]
    pub fn zero(spec: &AttentionSpec) -> Self {
        let shape = spec.shape();
        Self {
            d_q: vec![0.0; shape.q_len()],
            d_k: vec![0.0; shape.k_len()],
            d_v: vec![0.0; shape.v_len()],
            d_sink: spec.config().sink.as_ref().map(|s| vec![0.0; s.len()]),
        }
    }
}

/// Gradients from `d_out` `[heads, n_q, d_v]`, the gradient at the output; `output` is what [`forward`] gave for this
/// call. Every weight is computed anew from its row's log-sum-exp, so memory stays linear in the lengths.
///
/// Each gradient is within 1e-5 of the largest of its tensor while scores are of ordinary size: it is a difference of
/// numbers of the size of `d_out` · v. Where a number could leave float32 on the way, the oracle computes all of them.
///
/// Fails where `d_out` is of another length or not finite, `output` of another length, or the runner says to stop.
///
/// ```
/// use attention::{AttentionSpec, Config, Inputs, Shape, lanes::Best, rows::Serial, tiled};
/// let spec = AttentionSpec::new(Config::new(Shape::square(2, 1)))?;
/// let inputs = Inputs::new(&spec, &[0.0_f32, 0.0], &[1.0, 1.0], &[2.0, 4.0])?;
/// let output = tiled::forward::<Best, _>(&spec, &inputs, &Serial)?;
/// let gradients = tiled::backward::<Best, _>(&spec, &inputs, &output, &[1.0, 0.0], &Serial)?;
/// assert_eq!(gradients.d_v, [0.5, 0.5]);
/// assert_eq!(gradients.d_q, [0.0, 0.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn backward<L: Lane, R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    output: &Output,
    d_out: &[f32],
    runner: &R,
) -> Result<Gradients, CallError> {
    let (mut to, mut workspace) = (Gradients::zero(spec), Workspace::new());
    let saved = (&*output.out, &*output.lse);
    backward_into::<L, R>(spec, inputs, saved, d_out, runner, &mut workspace, &mut to)?;
    Ok(to)
}

/// [`backward`] into memory that is there, with working memory from `workspace`. `saved` are out and lse of the forward
/// pass. Where it is stopped, `gradients` hold no result.
///
/// Fails as [`backward`] does, and where `gradients` are of another shape.
pub fn backward_into<L: Lane, R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    saved: (&[f32], &[f32]),
    d_out: &[f32],
    runner: &R,
    workspace: &mut Workspace,
    gradients: &mut Gradients,
) -> Result<(), CallError> {
    let shape = spec.shape();
    let (out, lse) = saved;
    naive::check("out", out, &[shape.heads, shape.n_q, shape.d_v])?;
    let d_out_size = naive::check("d_out", d_out, &[shape.heads, shape.n_q, shape.d_v])?;
    inputs.check_shape(spec)?;
    inputs.check_places(spec)?;
    call::check_length("lse", lse, shape.rows())?;
    call::check_length("d_q", &gradients.d_q, shape.q_len())?;
    call::check_length("d_k", &gradients.d_k, shape.k_len())?;
    call::check_length("d_v", &gradients.d_v, shape.v_len())?;
    if let Some(sinks) = &spec.config().sink {
        let d_sink = gradients.d_sink.as_deref().unwrap_or(&[]);
        call::check_length("d_sink", d_sink, sinks.len())?;
    }
    let watch = Watch::new(runner);
    let Workspace {
        shared, backward, ..
    } = workspace;
    shared.prepare::<L, _>(spec, inputs, &watch);
    if watch.stopped() {
        return Err(CallError::Stopped);
    }
    if !backward::fits(spec, shared, d_out_size) {
        return by_oracle(spec, inputs, d_out, runner, gradients);
    }
    let to = Targets {
        d_q: &mut gradients.d_q,
        d_k: &mut gradients.d_k,
        d_v: &mut gradients.d_v,
        d_sink: gradients.d_sink.as_deref_mut(),
    };
    let saved = Saved { out, lse, d_out };
    backward.run::<L, _>(spec, shared, inputs, saved, &watch, to);
    if watch.stopped() {
        return Err(CallError::Stopped);
    }
    Ok(())
}

/// The oracle's gradients, rounded.
fn by_oracle<R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    d_out: &[f32],
    runner: &R,
    gradients: &mut Gradients,
) -> Result<(), CallError> {
    let wide: Vec<f64> = d_out.iter().map(|&x| f64::from(x)).collect();
    let Some(g) = naive::backward_by_rows(spec, inputs, &wide, || runner.keep_going()) else {
        return Err(CallError::Stopped);
    };
    let round = |from: Vec<f64>| from.into_iter().map(narrow).collect();
    *gradients = Gradients {
        d_q: round(g.d_q),
        d_k: round(g.d_k),
        d_v: round(g.d_v),
        d_sink: g.d_sink.map(round),
    };
    Ok(())
}

/// How many bytes [`backward_into`] takes beside inputs, outputs and gradients, on so many threads: a few hundred
/// thousand for each thread, and one to four times the gradients at the queries.
#[must_use]
pub fn backward_scratch_bytes(spec: &AttentionSpec, threads: usize) -> usize {
    shared::bytes(spec, false) + backward::bytes(spec, threads.max(1))
}

/// How many times [`backward_into`] asks [`RowRunner::keep_going`].
#[must_use]
pub fn backward_steps(spec: &AttentionSpec) -> usize {
    2 * shared::steps(spec) + backward::steps(spec)
}

/// Computes the rows whose log-sum-exp is NaN by the oracle.
fn redo<R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    runner: &R,
    out: &mut [f32],
    lse: &mut [f32],
) -> Result<(), CallError> {
    let shape = spec.shape();
    let mut row = RowBuffers::new(spec);
    for (head, lse) in lse.chunks_mut(shape.n_q).enumerate() {
        if !lse.iter().any(|x| x.is_nan()) {
            continue;
        }
        let head = HeadIdx(head);
        let prepared = Prepared::new(spec, inputs, head);
        for q in shape
            .queries()
            .filter(|q| lse[q.0].is_nan())
            .collect::<Vec<_>>()
        {
            if !runner.keep_going() {
                return Err(CallError::Stopped);
            }
            let summary = prepared.row(q, &mut row);
            for (cell, &x) in out[shape.out_row(head, q)].iter_mut().zip(&row.out) {
                *cell = narrow(x);
            }
            lse[q.0] = match summary.lse {
                f64::NEG_INFINITY => f32::NEG_INFINITY,
                lse => narrow(lse),
            };
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Scalar;
    use crate::rows::Serial;
    use crate::{Config, Shape};

    #[test]
    fn query_index_is_the_row() {
        // Guards the cutting into blocks: each row's output is its own value.
        let n = 300;
        let config = Config {
            masks: vec![crate::MaskUse::drawn(crate::BitMatrix::from_fn(
                n,
                n,
                |q, k| q.0 == k.0,
            ))],
            ..Config::new(Shape {
                d_v: 1,
                ..Shape::square(n, 2)
            })
        };
        let spec = AttentionSpec::new(config).unwrap();
        let x = vec![0.25_f32; 2 * n];
        let v: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let inputs = Inputs::new(&spec, &x, &x, &v).unwrap();
        let output = forward::<Scalar, _>(&spec, &inputs, &Serial).unwrap();
        assert_eq!(output.out, v);
    }
}
