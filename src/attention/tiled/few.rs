//! A few queries against many keys, as in decoding: straight over keys and values as they lie.
//!
//! Each key is read once for all queries of all heads that share it, so with one query the speed is that of memory. Keys
//! are cut into parts of a fixed length, each with a softmax of its own, which are put together in their order: so one
//! head can be shared out too, and the bits do not depend on how.

use super::block::{State, fit};
use super::logits::Logits;
use super::pack::{four, size};
use super::shared::{Shared, Sources};
use super::tile::{KEYS, ROWS, STRIPS, Scores, Strip};
use crate::lanes::{Lane, WIDTH, exp2};
use crate::masks::Coverage;
use crate::math::narrow;
use crate::naive::Inputs;
use crate::rows::RowRunner;
use crate::shape::{HeadIdx, KvHeadIdx, QueryIdx, Shape};
use crate::spec::{AttentionSpec, Hidden};
use std::ops::Range;

/// Keys of a part.
const PART: usize = 1024;

/// Whether a call is better off here.
pub(super) fn suits(shape: Shape) -> bool {
    shape.n_q < ROWS
}

/// Rows of a key/value head: all queries of all heads that share it.
fn rows(shape: Shape) -> usize {
    shape.heads / shape.kv_heads * shape.n_q
}

/// Lanes in a row of a matrix of that width.
fn lanes(width: usize) -> usize {
    width.div_ceil(WIDTH)
}

/// What a part of the keys gives: for each four rows their softmax, and their unfinished outputs `[4][⌈d_v / 4⌉]`.
#[derive(Debug, Default)]
pub(super) struct FewScratch {
    /// Queries times their factor `[kv_heads][rows, filled up to fours][⌈d_k / 4⌉]`.
    q: Vec<[f32; WIDTH]>,
    /// `[kv_heads][parts][rows / 4]`
    states: Vec<State>,
    /// `[kv_heads][parts][rows / 4][4][⌈d_v / 4⌉]`
    out: Vec<[f32; WIDTH]>,
}

/// The sizes behind a call.
#[derive(Clone, Copy)]
struct Sizes {
    groups: usize,
    parts: usize,
    q_row: usize,
    v_row: usize,
}

impl Sizes {
    fn of(shape: Shape) -> Self {
        Self {
            groups: rows(shape).div_ceil(ROWS),
            parts: shape.n_k.div_ceil(PART),
            q_row: lanes(shape.d_k),
            v_row: lanes(shape.d_v),
        }
    }
}

/// How many steps a call asks for.
pub(super) fn steps(shape: Shape) -> usize {
    shape.kv_heads * Sizes::of(shape).parts
}

/// Bytes that a [`FewScratch`] takes.
pub(super) fn bytes(shape: Shape) -> usize {
    let sizes = Sizes::of(shape);
    let groups = shape.kv_heads * sizes.groups;
    let lane = size_of::<[f32; WIDTH]>();
    groups * ROWS * sizes.q_row * lane
        + groups * sizes.parts * (size_of::<State>() + ROWS * sizes.v_row * lane)
}

/// A part of the keys of a head.
struct Task<'a> {
    kv: KvHeadIdx,
    keys: Range<usize>,
    q: &'a [[f32; WIDTH]],
    states: &'a mut [State],
    out: &'a mut [[f32; WIDTH]],
}

impl FewScratch {
    #[allow(clippy::too_many_arguments)]
    pub(super) fn run<L: Lane, R: RowRunner>(
        &mut self,
        spec: &AttentionSpec,
        shared: &Shared,
        inputs: &Inputs<'_, f32>,
        runner: &R,
        out: &mut [f32],
        lse: &mut [f32],
    ) {
        let shape = spec.shape();
        let sizes = Sizes::of(shape);
        let sources = shared.sources(shape, inputs);
        let all = shape.kv_heads * sizes.groups;
        let v_cells = ROWS * sizes.v_row;
        fit(&mut self.q, all * ROWS * sizes.q_row, [0.0; WIDTH]);
        fit(&mut self.states, all * sizes.parts, State::new(None));
        fit(&mut self.out, all * sizes.parts * v_cells, [0.0; WIDTH]);
        self.pack_queries::<L>(spec, shared, sources, lse);

        let q_of_kv = sizes.groups * ROWS * sizes.q_row;
        let states = self.states[..all * sizes.parts].chunks_exact_mut(sizes.groups);
        let outs = self.out[..all * sizes.parts * v_cells].chunks_exact_mut(sizes.groups * v_cells);
        let q = &self.q;
        let tasks = states.zip(outs).enumerate().map(|(at, (states, out))| {
            let (kv, part) = (at / sizes.parts, at % sizes.parts);
            Task {
                kv: KvHeadIdx(kv),
                keys: part * PART..((part + 1) * PART).min(shape.n_k),
                q: &q[kv * q_of_kv..(kv + 1) * q_of_kv],
                states,
                out,
            }
        });
        runner.for_each(
            tasks,
            || (),
            |(), task| {
                if runner.keep_going() {
                    if rows(shape) == 1 {
                        part::<L, 1, 4, 4>(spec, shared, sources, sizes, task);
                    } else {
                        part::<L, ROWS, 2, 2>(spec, shared, sources, sizes, task);
                    }
                }
            },
        );
        self.together(shape, sizes, out, lse);
    }

    /// Queries times their factor; marks in `lse` those whose numbers are too large.
    fn pack_queries<L: Lane>(
        &mut self,
        spec: &AttentionSpec,
        shared: &Shared,
        sources: Sources<'_>,
        lse: &mut [f32],
    ) {
        let shape = spec.shape();
        let sizes = Sizes::of(shape);
        let filled = sizes.groups * ROWS;
        for kv in 0..shape.kv_heads {
            for r in 0..rows(shape) {
                // Heads of a group and their queries follow each other in Q as here.
                let row = kv * rows(shape) + r;
                let query = &sources.q[row * shape.d_k..][..shape.d_k];
                let head = HeadIdx(row / shape.n_q);
                let factor = Logits::new(spec, shared, head).factor();
                let packed = &mut self.q[(kv * filled + r) * sizes.q_row..][..sizes.q_row];
                packed.fill([0.0; WIDTH]);
                for (to, &x) in packed.as_flattened_mut().iter_mut().zip(query) {
                    *to = narrow(f64::from(x) * factor);
                }
                let largest = shared.largest_query(spec);
                let fits = f64::from(size::<L>(query)) <= largest;
                lse[row] = if fits { 0.0 } else { f32::NAN };
            }
        }
    }

    /// Puts the parts of each row together, divides, and writes the results.
    fn together(&self, shape: Shape, sizes: Sizes, out: &mut [f32], lse: &mut [f32]) {
        let per_kv = rows(shape);
        let rows = out.chunks_exact_mut(shape.d_v).zip(lse).enumerate();
        for (row, (out, lse)) in rows {
            let (kv, r) = (row / per_kv, row % per_kv);
            let group = |part: usize| (kv * sizes.parts + part) * sizes.groups + r / ROWS;
            let r = r % ROWS;
            let max = (0..sizes.parts)
                .map(|p| self.states[group(p)].max[r])
                .fold(f32::MIN, f32::max);
            let weight = |part: usize| {
                exp2(crate::lanes::Scalar::splat(
                    self.states[group(part)].max[r] - max,
                ))
                .to_array()[0]
            };
            let sum: f32 = (0..sizes.parts)
                .map(|p| self.states[group(p)].sums()[r] * weight(p))
                .sum();
            out.fill(0.0);
            if sum > 0.0 {
                for part in 0..sizes.parts {
                    let from = &self.out[(group(part) * ROWS + r) * sizes.v_row..][..sizes.v_row];
                    let weight = weight(part);
                    for (out, &x) in out.iter_mut().zip(from.as_flattened()) {
                        *out += x * weight;
                    }
                }
                for out in out.iter_mut() {
                    *out /= sum;
                }
            }
            if !lse.is_nan() {
                let mut whole = self.states[group(0)];
                whole.max[r] = max;
                *lse = whole.lse(r, sum);
            }
        }
    }
}

/// A part of the keys for all rows of a key/value head: `N` rows at a time, with `K` keys and with `C` lanes of columns.
#[inline(never)]
fn part<L: Lane, const N: usize, const K: usize, const C: usize>(
    spec: &AttentionSpec,
    shared: &Shared,
    sources: Sources<'_>,
    sizes: Sizes,
    task: Task<'_>,
) {
    let shape = spec.shape();
    let (k, v) = (sources.k.of(task.kv), sources.v.of(task.kv));
    // Row `r` of the key/value head: which head and query.
    let place = |r: usize| {
        let row = task.kv.0 * rows(shape) + r.min(rows(shape) - 1);
        (HeadIdx(row / shape.n_q), QueryIdx(row % shape.n_q))
    };
    for (g, state) in task.states.iter_mut().enumerate() {
        for r in 0..ROWS {
            // A sink comes before the first key.
            let sink = spec
                .sink(place(g * ROWS + r).0)
                .filter(|_| task.keys.start == 0);
            state.set_row(r, &State::new(sink));
        }
    }
    task.out.fill([0.0; WIDTH]);
    let mut scores: Scores = [[[f32::NEG_INFINITY; WIDTH]; ROWS]; STRIPS];
    for start in task.keys.clone().step_by(KEYS) {
        let keys = start..(start + KEYS).min(task.keys.end);
        if spec.hidden() == Hidden::NegInfinity
            && spec.coverage(0..shape.n_q, keys.clone()) == Coverage::Empty
        {
            continue;
        }
        let k = &k[keys.start * shape.d_k..keys.end * shape.d_k];
        let v = &v[keys.start * shape.d_v..keys.end * shape.d_v];
        let strips = keys.len().div_ceil(WIDTH);
        let groups = task
            .q
            .chunks_exact(ROWS * sizes.q_row)
            .zip(task.states.iter_mut());
        let outs = task.out.chunks_exact_mut(ROWS * sizes.v_row);
        for (g, ((q, state), out)) in groups.zip(outs).enumerate() {
            let scores = &mut scores[..strips];
            dots::<L, N, K>(q, sizes.q_row, k, shape.d_k, scores);
            for r in 0..N {
                let (head, query) = place(g * ROWS + r);
                let logits = Logits::new(spec, shared, head);
                let reach = logits.reach(query.0..query.0 + 1).next();
                logits.row::<L>(query, r, keys.start, keys.end, reach.as_ref(), scores);
            }
            let rescale = state.take::<L>(scores);
            let row = sizes.v_row;
            let full = shape.d_v / (C * WIDTH) * C;
            for at in (0..full).step_by(C) {
                mix::<L, N, C>(scores, v, shape.d_v, at, row, &rescale, out);
            }
            for at in full..row {
                mix::<L, N, 1>(scores, v, shape.d_v, at, row, &rescale, out);
            }
        }
    }
}

/// Dot products of `N` queries `[N][q_row]` with the keys of a block `[keys][width]`, `K` of them at a time.
#[inline(never)]
fn dots<L: Lane, const N: usize, const K: usize>(
    q: &[[f32; WIDTH]],
    q_row: usize,
    keys: &[f32],
    width: usize,
    scores: &mut [Strip],
) {
    for (strip, keys) in scores.iter_mut().zip(keys.chunks(WIDTH * width)) {
        let row = |j: usize| keys.get(j * width..(j + 1) * width).unwrap_or(&[]);
        let mut sums = [[L::splat(0.0); WIDTH]; N];
        for first in (0..WIDTH).step_by(K) {
            let rows: [&[f32]; K] = std::array::from_fn(|j| row(first + j));
            let some = dot::<L, N, K>(q, q_row, rows, width);
            for (sums, some) in sums.iter_mut().zip(some) {
                sums[first..first + K].copy_from_slice(&some);
            }
        }
        for (x, sums) in strip.iter_mut().zip(sums) {
            let [a, b, c, d] = L::transpose(sums);
            a.add(b).add(c.add(d)).store(x);
        }
    }
}

/// Products of `N` queries with `K` keys, each sum in four parts.
#[inline(always)]
fn dot<L: Lane, const N: usize, const K: usize>(
    q: &[[f32; WIDTH]],
    q_row: usize,
    rows: [&[f32]; K],
    width: usize,
) -> [[L; K]; N] {
    let mut sums = [[L::splat(0.0); K]; N];
    let queries: [&[[f32; WIDTH]]; N] = std::array::from_fn(|r| &q[r * q_row..(r + 1) * q_row]);
    let mut add = |at: usize, keys: [L; K]| {
        for (sums, query) in sums.iter_mut().zip(queries) {
            let query = L::load(&query[at]);
            for (sum, key) in sums.iter_mut().zip(keys) {
                *sum = sum.add(query.mul(key));
            }
        }
    };
    let mut whole = 0;
    if rows.iter().all(|row| row.len() == width) {
        whole = width / WIDTH;
        let lanes = rows.map(|row| &row.as_chunks::<WIDTH>().0[..whole]);
        for at in 0..whole {
            add(at, lanes.map(|row| L::load(&row[at])));
        }
    }
    for at in whole..q_row {
        add(at, rows.map(|row| four::<L>(row, at * WIDTH)));
    }
    sums
}

/// out ← out · `rescale` + Σ over keys of weight × value, for `N` rows and `C` lanes of columns from lane `at` on.
#[inline(never)]
fn mix<L: Lane, const N: usize, const C: usize>(
    weights: &[Strip],
    values: &[f32],
    width: usize,
    at: usize,
    row: usize,
    rescale: &[f32; ROWS],
    out: &mut [[f32; WIDTH]],
) {
    let mut sums = [[L::splat(0.0); C]; N];
    for (j, value) in values.chunks_exact(width).enumerate() {
        let lanes: [L; C] = match value.get(at * WIDTH..(at + C) * WIDTH) {
            Some(whole) => {
                let whole = whole.as_chunks::<WIDTH>().0;
                std::array::from_fn(|c| L::load(&whole[c]))
            }
            None => std::array::from_fn(|c| four::<L>(value, (at + c) * WIDTH)),
        };
        let strip = &weights[j / WIDTH];
        for (r, sums) in sums.iter_mut().enumerate() {
            let weight = L::splat_at(&strip[r][j % WIDTH]);
            for (sum, lane) in sums.iter_mut().zip(lanes) {
                *sum = sum.add(weight.mul(lane));
            }
        }
    }
    for (r, sums) in sums.into_iter().enumerate() {
        let factor = L::splat(rescale[r]);
        for (x, sum) in out[r * row + at..][..C].iter_mut().zip(sums) {
            L::load(x).mul(factor).add(sum).store(x);
        }
    }
}
