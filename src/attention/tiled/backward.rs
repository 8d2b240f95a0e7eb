//! Gradients with recomputation: from the saved log-sum-exp every weight is one power away, so nothing of the size
//! n_q × n_k is kept (Dao et al. 2022, appendix B.2; with the order of loops of Dao 2023).
//!
//! With D = rowsum(dO ∘ O), P = exp(S − lse) and dS = P ∘ (dO Vᵀ − D):
//! dV = Pᵀ dO, dK = scale · dSᵀ Q, dQ = scale · dS K, and d_sink = −Σ exp(sink − lse) · D.
//!
//! A task is a range of keys of a key/value head against all queries of all heads that read it: it owns the gradients
//! at those keys and values. What it has to say to the queries goes to a sum of its own; these sums are put together in
//! their order. How many ranges there are depends on the shape only, so the bits do not depend on the threads.

mod tiles;

use super::block::fit;
use super::cut::with_one_of;
use super::shared::{SAFE, Shared, Sources};
use super::tile::{Eight, KEYS, ROWS, STRIPS, Scores, Tile, WIDE};
use crate::lanes::{Lane, WIDTH};
use crate::math::{self, narrow};
use crate::naive::Inputs;
use crate::prepare::{Places, Side};
use crate::rows::RowRunner;
use crate::shape::{HeadIdx, KvHeadIdx, Shape};
use crate::spec::{AttentionSpec, Hidden};
use std::f64::consts::LOG2_E;
use std::ops::Range;
use std::sync::Mutex;
use tiles::Scratch;

/// Groups of four queries that go through a block of keys together.
const GROUPS: usize = 16;
/// Their queries.
const QUERIES: usize = GROUPS * ROWS;
/// At least so many tasks, where there are so many blocks of keys.
const TASKS: usize = 4;

/// Scores stay below this, as exponents of 2: a log-sum-exp of that size is rounded to a hundredth, and the weights that
/// are worked out from it are right to as much. Beyond, the oracle is asked.
const EXPONENT: f64 = 131_072.0;

const NO_TILE: Tile = [[[0.0; WIDTH]; 2]; ROWS];

/// Sizes that follow from a shape.
#[derive(Clone, Copy)]
struct Cut {
    shape: Shape,
    /// Ranges of keys of a head.
    ranges: usize,
    /// Keys of a range, a multiple of a block.
    keys: usize,
    /// Groups of four queries of a head.
    groups: usize,
    /// Panels of eight columns of a query.
    k_columns: usize,
    /// Panels of eight columns of a value.
    v_columns: usize,
}

impl Cut {
    fn of(shape: Shape) -> Self {
        let blocks = shape.n_k.div_ceil(KEYS);
        let keys = blocks.div_ceil(TASKS.div_ceil(shape.kv_heads)) * KEYS;
        Self {
            shape,
            ranges: shape.n_k.div_ceil(keys),
            keys,
            groups: shape.n_q.div_ceil(ROWS),
            k_columns: shape.d_k.div_ceil(WIDE),
            v_columns: shape.d_v.div_ceil(WIDE),
        }
    }

    /// Heads that share keys.
    fn sharing(self) -> usize {
        self.shape.heads / self.shape.kv_heads
    }

    /// Tiles of the gradients at the queries of all heads of a task.
    fn query_tiles(self) -> usize {
        self.sharing() * self.groups * self.k_columns
    }
}

/// Working memory, kept between calls.
#[derive(Debug, Default)]
pub(super) struct BackwardScratch {
    /// D of each row `[heads, n_q]`.
    deltas: Vec<f32>,
    /// Log-sum-exps as exponents of 2 `[heads, n_q]`; +∞ where a row sees nothing, which makes its weights 0.
    lse: Vec<f32>,
    /// Sums at the queries `[kv_heads][ranges][heads that share][groups][k_columns]`, in tiles.
    d_q: Vec<Tile>,
    threads: Vec<Mutex<Scratch>>,
}

/// Bytes that a [`BackwardScratch`] takes.
pub(super) fn bytes(spec: &AttentionSpec, threads: usize) -> usize {
    let shape = spec.shape();
    let cut = Cut::of(shape);
    let panels = KEYS / WIDE * (shape.d_k + shape.d_v) + cut.k_columns * KEYS;
    let columns = (cut.k_columns + cut.v_columns) * QUERIES;
    let scores = if spec.soft_cap().is_some() { 3 } else { 2 };
    let thread = size_of::<Mutex<Scratch>>()
        + (panels + columns) * size_of::<Eight>()
        + GROUPS * (shape.d_k + shape.d_v) * size_of::<[f32; ROWS]>()
        + scores * GROUPS * size_of::<Scores>()
        + STRIPS * (cut.k_columns + cut.v_columns) * size_of::<Tile>();
    2 * shape.rows() * size_of::<f32>()
        + shape.kv_heads * cut.ranges * cut.query_tiles() * size_of::<Tile>()
        + threads * thread
}

/// How many steps a call asks for, norm and rotation aside.
pub(super) fn steps(spec: &AttentionSpec) -> usize {
    let shape = spec.shape();
    let cut = Cut::of(shape);
    let blocks = (0..shape.n_k)
        .step_by(KEYS)
        .map(|start| start..(start + KEYS).min(shape.n_k));
    let of_block = |keys: Range<usize>| {
        let starts = (0..shape.n_q).step_by(QUERIES);
        starts
            .filter(|&first| meets(spec, &queries(shape, first), &keys))
            .count()
    };
    cut.sharing() * shape.kv_heads * blocks.map(of_block).sum::<usize>()
}

/// Queries from `first` on that go through together.
fn queries(shape: Shape, first: usize) -> Range<usize> {
    first..(first + QUERIES).min(shape.n_q)
}

/// Whether any of `queries` may see any of `keys`.
fn meets(spec: &AttentionSpec, queries: &Range<usize>, keys: &Range<usize>) -> bool {
    spec.config().masks.is_empty()
        || spec.hidden() != Hidden::NegInfinity
        || spec.reach_of(queries.clone()).meets(keys)
}

/// Where the gradients go.
pub(super) struct Targets<'a> {
    pub(super) d_q: &'a mut [f32],
    pub(super) d_k: &'a mut [f32],
    pub(super) d_v: &'a mut [f32],
    pub(super) d_sink: Option<&'a mut [f32]>,
}

/// What comes from the forward pass, and the gradient at its output.
#[derive(Clone, Copy)]
pub(super) struct Saved<'a> {
    pub(super) out: &'a [f32],
    pub(super) lse: &'a [f32],
    pub(super) d_out: &'a [f32],
}

/// Whether everything is sure to stay in float32.
/// `d_out` is the largest size of a gradient at the output.
pub(super) fn fits(spec: &AttentionSpec, shared: &Shared, d_out: f64) -> bool {
    let shape = spec.shape();
    let sizes = shared.sizes();
    // |dP − D| ≤ 2 · d_v · max|dO| · max|v|, and the weights of a row sum to at most 1.
    let d_score = 2.0 * shape.d_v as f64 * d_out * sizes.v.max(1.0) * spec.scale().abs().max(1.0);
    let rows = (Cut::of(shape).sharing() * shape.n_q) as f64;
    let largest = (d_score * sizes.k.max(1.0)).max(rows * d_score * sizes.q.max(1.0));
    sizes.q <= shared.largest_query(spec)
        && exponent(spec, shared, sizes.q * sizes.k) < EXPONENT
        && largest < SAFE
        && rows * d_out < SAFE
}

/// How large a score, or the log-sum-exp of a row, can be as an exponent of 2; `product` bounds a product of two cells.
fn exponent(spec: &AttentionSpec, shared: &Shared, product: f64) -> f64 {
    let score = product * spec.shape().d_k as f64 * spec.scale().abs();
    let score = spec.soft_cap().map_or(score, |cap| score.min(cap));
    let constant = match spec.hidden() {
        Hidden::NegInfinity => 0.0,
        Hidden::Finite(constant) => constant.abs(),
    };
    let sinks = spec.config().sink.iter().flatten();
    let sink = sinks.fold(0.0, |m: f64, x| m.max(x.abs()));
    (score + constant + sink) * LOG2_E + shared.largest_bias()
}

/// A range of keys of a head, and where its gradients go.
struct Task<'a> {
    kv: KvHeadIdx,
    keys: Range<usize>,
    d_k: &'a mut [f32],
    d_v: &'a mut [f32],
    d_q: &'a mut [Tile],
}

/// What all tasks read.
struct Call<'a> {
    spec: &'a AttentionSpec,
    shared: &'a Shared,
    sources: Sources<'a>,
    saved: Saved<'a>,
    deltas: &'a [f32],
    lse: &'a [f32],
    cut: Cut,
}

impl BackwardScratch {
    /// Computes all gradients. Where the runner says to stop, `to` holds no result.
    pub(super) fn run<L: Lane, R: RowRunner>(
        &mut self,
        spec: &AttentionSpec,
        shared: &Shared,
        inputs: &Inputs<'_, f32>,
        saved: Saved<'_>,
        runner: &R,
        to: Targets<'_>,
    ) {
        let shape = spec.shape();
        let cut = Cut::of(shape);
        self.prepare(spec, saved);
        if let Some(d_sink) = to.d_sink {
            self.sinks(spec, saved.lse, d_sink);
        }
        let tiles = cut.query_tiles();
        let tasks = shape.kv_heads * cut.ranges;
        fit(&mut self.d_q, tasks * tiles, NO_TILE);
        super::cut::at_least(&mut self.threads, runner.threads().max(1));
        let Self {
            deltas,
            lse,
            d_q,
            threads,
        } = self;
        let call = Call {
            spec,
            shared,
            sources: shared.sources(shape, inputs),
            saved,
            deltas,
            lse,
            cut,
        };
        // Ranges never reach over the end of a head, so each head is cut by itself.
        let heads = to.d_k.chunks_mut(shape.n_k * shape.d_k);
        let heads = heads.zip(to.d_v.chunks_mut(shape.n_k * shape.d_v));
        let mut list: Vec<Task<'_>> = Vec::with_capacity(tasks);
        let mut sums = d_q.chunks_exact_mut(tiles);
        for (kv, (d_k, d_v)) in heads.enumerate() {
            let parts = d_k
                .chunks_mut(cut.keys * shape.d_k)
                .zip(d_v.chunks_mut(cut.keys * shape.d_v));
            for ((range, (d_k, d_v)), d_q) in parts.enumerate().zip(sums.by_ref()) {
                let first = range * cut.keys;
                list.push(Task {
                    kv: KvHeadIdx(kv),
                    keys: first..(first + cut.keys).min(shape.n_k),
                    d_k,
                    d_v,
                    d_q,
                });
            }
        }
        runner.for_each(
            list.into_iter(),
            || (),
            |(), task| with_one_of(threads, |scratch| scratch.run::<L>(&call, task, runner)),
        );
        self.queries::<L>(spec, cut, to.d_q);
        let queries = |head: usize| &inputs.q()[head * shape.n_q * shape.d_k..];
        turn_back(spec, Side::Queries, queries, to.d_q, runner);
        if !inputs.keys_are_placed() {
            let keys = |head: usize| inputs.k(KvHeadIdx(head));
            turn_back(spec, Side::Keys, keys, to.d_k, runner);
        }
    }

    /// D and the log-sum-exps of all rows.
    fn prepare(&mut self, spec: &AttentionSpec, saved: Saved<'_>) {
        let shape = spec.shape();
        self.deltas.clear();
        self.deltas.reserve_exact(shape.rows());
        self.lse.clear();
        self.lse.reserve_exact(shape.rows());
        let rows = saved
            .out
            .chunks_exact(shape.d_v)
            .zip(saved.d_out.chunks_exact(shape.d_v));
        for ((out, d_out), &lse) in rows.zip(saved.lse) {
            let delta: f64 = out
                .iter()
                .zip(d_out)
                .map(|(&o, &d)| f64::from(o) * f64::from(d))
                .sum();
            self.deltas.push(narrow(delta));
            self.lse.push(if lse == f32::NEG_INFINITY {
                f32::INFINITY
            } else {
                narrow(f64::from(lse) * LOG2_E)
            });
        }
    }

    /// Gradients at the sink logits.
    fn sinks(&self, spec: &AttentionSpec, lse: &[f32], d_sink: &mut [f32]) {
        let shape = spec.shape();
        for (head, to) in d_sink.iter_mut().enumerate() {
            let sink = spec.sink(HeadIdx(head)).unwrap_or(0.0);
            let rows = head * shape.n_q..(head + 1) * shape.n_q;
            let rows = lse[rows.clone()].iter().zip(&self.deltas[rows]);
            let sum: f64 = rows
                .map(|(&lse, &delta)| math::exp(sink - f64::from(lse)) * f64::from(delta))
                .sum();
            *to = narrow(-sum);
        }
    }

    /// Puts the sums of all ranges together into `[heads, n_q, d_k]`, times the scale.
    fn queries<L: Lane>(&self, spec: &AttentionSpec, cut: Cut, d_q: &mut [f32]) {
        let shape = cut.shape;
        let of_head = cut.groups * cut.k_columns;
        for (head, d_q) in d_q.chunks_exact_mut(shape.n_q * shape.d_k).enumerate() {
            let (kv, at) = (head / cut.sharing(), head % cut.sharing());
            for (g, rows) in d_q.chunks_mut(ROWS * shape.d_k).enumerate() {
                let tiles = |range: usize| {
                    let sums = (kv * cut.ranges + range) * cut.query_tiles();
                    &self.d_q[sums + at * of_head + g * cut.k_columns..][..cut.k_columns]
                };
                spread(tiles(0), shape.d_k, rows, |_, x| x);
                for range in 1..cut.ranges {
                    spread(tiles(range), shape.d_k, rows, |sum, x| sum + x);
                }
                scale::<L>(rows, spec.scale());
            }
        }
    }
}

/// to ← `with`(to, cell) for the cells of tiles `[⌈width / 8⌉]`, as rows `[rows][width]`.
fn spread(tiles: &[Tile], width: usize, rows: &mut [f32], with: impl Fn(f32, f32) -> f32) {
    for (r, row) in rows.chunks_exact_mut(width).enumerate() {
        for (to, tile) in row.chunks_mut(WIDE).zip(tiles) {
            for (to, &x) in to.iter_mut().zip(tile[r].as_flattened()) {
                *to = with(*to, x);
            }
        }
    }
}

/// Multiplies in float64 and rounds once.
fn scale<L: Lane>(cells: &mut [f32], factor: f64) {
    let (fours, rest) = cells.as_chunks_mut::<WIDTH>();
    for x in fours {
        L::load(x).scale(factor).store(x);
    }
    for x in rest {
        *x = narrow(f64::from(*x) * factor);
    }
}

/// Back through rotation and norm, in float64; `rows_of` a head are what went through them.
fn turn_back<'a, R: RowRunner>(
    spec: &AttentionSpec,
    side: Side,
    rows_of: impl Fn(usize) -> &'a [f32] + Sync + Send,
    gradients: &mut [f32],
    runner: &R,
) {
    super::shared::by_places(
        spec,
        side,
        gradients,
        runner,
        |head, places: &Places, first, rows| {
            let width = spec.shape().d_k;
            let (mut wide, mut input) = (vec![0.0; width], vec![0.0; width]);
            for (at, row) in rows.chunks_exact_mut(width).enumerate() {
                let from = &rows_of(head)[(first + at) * width..][..width];
                for ((wide, input), (&x, &from)) in
                    wide.iter_mut().zip(&mut input).zip(row.iter().zip(from))
                {
                    (*wide, *input) = (f64::from(x), f64::from(from));
                }
                places.apply_backward(&mut wide, &input, at);
                for (x, &wide) in row.iter_mut().zip(&wide) {
                    *x = narrow(wide);
                }
            }
        },
    );
}
