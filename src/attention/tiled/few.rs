//! A few queries against many keys, as in decoding: straight over keys and values as they lie.
//!
//! Each key is read once for all queries of all heads that share it, so with one query the speed is that of memory. Keys
//! are cut into parts of a fixed length, each with a softmax of its own, which are put together in their order: so one
//! head can be shared out too, and the bits do not depend on how.
//!
//! The times of reading and of computing add up, since the loops find in a cache what was read just before. The loops do
//! 38 GFLOP/s in a browser: one query, half a flop for each byte, hardly counts; four that share a key are two flops, and
//! those alone would hold the speed at 19 GB/s. Reading piece by piece between the loops is slower.

mod part;

use super::block::{State, fit};
use super::logits::Logits;
use super::pack::size;
use super::shared::{Shared, Sources};
use super::tile::ROWS;
use crate::lanes::{Lane, WIDTH, exp2};
use crate::math::narrow;
use crate::naive::Inputs;
use crate::rows::RowRunner;
use crate::shape::{KvHeadIdx, Shape};
use crate::spec::AttentionSpec;
use part::part;
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
                    match rows(shape) {
                        1 => part::<L, 1, 8>(spec, shared, sources, sizes, task),
                        2 => part::<L, 2, 4>(spec, shared, sources, sizes, task),
                        _ => part::<L, ROWS, 2>(spec, shared, sources, sizes, task),
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
                let factor = Logits::new(spec, shared).factor();
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
