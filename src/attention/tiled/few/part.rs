//! A part of the keys for a few rows.
//!
//! Keys and values are multiplied as they lie, and each is used only a few times: the loops wait for memory. So a block
//! is first read from end to end, a number of each line, a step before it is needed: memory is quickest so, three times as
//! quick as in the order of the loops, which find it in a cache then.

use super::{Sizes, Task, lanes, rows};
use crate::lanes::{Lane, WIDTH};
use crate::masks::Coverage;
use crate::shape::HeadIdx;
use crate::spec::{AttentionSpec, Hidden};
use crate::tiled::block::State;
use crate::tiled::logits::Logits;
use crate::tiled::pack::four;
use crate::tiled::shared::{Shared, Sources};
use crate::tiled::tile::{KEYS, ROWS, STRIPS, Scores, Strip};

/// Keys whose values are taken together: they stay in a first-level cache while all columns are.
const SOME: usize = 16;
/// Numbers of a line of the caches.
const LINE: usize = 16;

/// A part of the keys for all rows of a key/value head: `N` rows at a time, and `C` lanes of columns.
#[inline(never)]
pub(super) fn part<L: Lane, const N: usize, const C: usize>(
    spec: &AttentionSpec,
    shared: &Shared,
    sources: Sources<'_>,
    sizes: Sizes,
    task: Task<'_>,
) {
    let shape = spec.shape();
    let (k, v) = (sources.k.of(task.kv), sources.v.of(task.kv));
    let logits = Logits::new(spec, shared);
    // Row `r` of the key/value head, counted through all heads.
    let row_of = |r: usize| task.kv.0 * rows(shape) + r.min(rows(shape) - 1);
    for (g, state) in task.states.iter_mut().enumerate() {
        for r in 0..ROWS {
            // A sink comes before the first key.
            let sink = spec
                .sink(HeadIdx(row_of(g * ROWS + r) / shape.n_q))
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
        let next = keys.end..(keys.end + KEYS).min(task.keys.end);
        let next = &k[next.start * shape.d_k..next.end * shape.d_k];
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
            if g == 0 {
                touch::<L>(v);
            }
            dots::<L, N>(q, sizes.q_row, k, shape.d_k, scores);
            for r in 0..N {
                let row = row_of(g * ROWS + r);
                let reach = logits.reach_of(row);
                logits.row::<L>(row, r, keys.start, keys.end, reach.as_ref(), scores);
            }
            let rescale = state.take::<L, N>(scores);
            if g == 0 {
                touch::<L>(next);
            }
            mix::<L, N, C>(scores, v, shape.d_v, &rescale, out);
        }
    }
}

/// Reads a number of each line, so that all of them are near when they are needed. In one go, so that many are on their way
/// at the same time.
#[inline(always)]
fn touch<L: Lane>(cells: &[f32]) {
    for line in cells.chunks(LINE) {
        if let Some(x) = line.first() {
            L::touch(x);
        }
    }
}

/// Dot products of `N` queries `[N][q_row]` with the keys of a block `[keys][width]`.
#[inline(never)]
fn dots<L: Lane, const N: usize>(
    q: &[[f32; WIDTH]],
    q_row: usize,
    keys: &[f32],
    width: usize,
    scores: &mut [Strip],
) {
    let queries: [&[[f32; WIDTH]]; N] = std::array::from_fn(|r| &q[r * q_row..(r + 1) * q_row]);
    for (strip, keys) in scores.iter_mut().zip(keys.chunks(WIDTH * width)) {
        let row = |j: usize| keys.get(j * width..(j + 1) * width).unwrap_or(&[]);
        let [a, b, c, d] = [row(0), row(1), row(2), row(3)];
        // Written out: an array that is filled piece by piece would lie in memory.
        let sums: [[L; WIDTH]; N] = if keys.len() < WIDTH * width {
            let [a, b, c] = [a, b, c].map(|row| match row.len() {
                0 => [[L::splat(0.0)]; N],
                _ => dot::<L, N, 1>(queries, [row], width),
            });
            std::array::from_fn(|r| [a[r][0], b[r][0], c[r][0], L::splat(0.0)])
        } else if N <= 2 {
            dot::<L, N, WIDTH>(queries, [a, b, c, d], width)
        } else {
            let left = dot::<L, N, 2>(queries, [a, b], width);
            let right = dot::<L, N, 2>(queries, [c, d], width);
            std::array::from_fn(|r| [left[r][0], left[r][1], right[r][0], right[r][1]])
        };
        for (x, sums) in strip.iter_mut().zip(sums) {
            let [a, b, c, d] = L::transpose(sums);
            a.add(b).add(c.add(d)).store(x);
        }
    }
}

/// Products of `N` queries with `K` keys of that width, each sum in four parts.
#[inline(always)]
fn dot<L: Lane, const N: usize, const K: usize>(
    queries: [&[[f32; WIDTH]]; N],
    rows: [&[f32]; K],
    width: usize,
) -> [[L; K]; N] {
    let mut sums = [[L::splat(0.0); K]; N];
    let whole = width / WIDTH;
    let mut add = |queries: [L; N], keys: [L; K]| {
        for (sums, query) in sums.iter_mut().zip(queries) {
            for (sum, key) in sums.iter_mut().zip(keys) {
                *sum = sum.add(query.mul(key));
            }
        }
    };
    let lanes = rows.map(|row| &row.as_chunks::<WIDTH>().0[..whole]);
    let heads = queries.map(|query| &query[..whole]);
    for at in 0..whole {
        add(
            heads.map(|query| L::load(&query[at])),
            lanes.map(|row| L::load(&row[at])),
        );
    }
    if whole * WIDTH < width {
        add(
            queries.map(|query| L::load(&query[whole])),
            rows.map(|row| four::<L>(row, whole * WIDTH)),
        );
    }
    sums
}

/// out ← out · `rescale` + Σ over keys of weight × value, for `N` rows and all columns, `C` lanes of them at a time.
///
#[inline(never)]
fn mix<L: Lane, const N: usize, const C: usize>(
    weights: &[Strip],
    values: &[f32],
    width: usize,
    rescale: &[f32; ROWS],
    out: &mut [[f32; WIDTH]],
) {
    let row = lanes(width);
    let whole = width / WIDTH;
    let full = whole / C * C;
    let mut rescale = rescale;
    let parts = weights.chunks(SOME / WIDTH);
    for (weights, values) in parts.zip(values.chunks(SOME * width)) {
        let mut outs = out.chunks_exact_mut(row);
        let mut outs: [&mut [[f32; WIDTH]]; N] =
            std::array::from_fn(|_| outs.next().unwrap_or(&mut []));
        for at in (0..full).step_by(C) {
            let sums = some::<L, N, C>(weights, &values[at * WIDTH..], width);
            add(sums, rescale, &mut outs, at);
        }
        for at in full..whole {
            let sums = some::<L, N, 1>(weights, &values[at * WIDTH..], width);
            add(sums, rescale, &mut outs, at);
        }
        if whole < row {
            let sums = last::<L, N>(weights, values, width);
            add(sums, rescale, &mut outs, whole);
        }
        rescale = &[1.0; ROWS];
    }
}

/// Σ over keys of weight × value, for the first `C` lanes of each `width` of `values`.
#[inline(always)]
fn some<L: Lane, const N: usize, const C: usize>(
    weights: &[Strip],
    values: &[f32],
    width: usize,
) -> [[L; C]; N] {
    let mut sums = [[L::splat(0.0); C]; N];
    let mut values = values.chunks(width);
    macro_rules! next {
        ($strip:ident, $j:literal) => {
            let Some(value) = values.next() else { break };
            let Some(value) = value.as_chunks::<WIDTH>().0.first_chunk::<C>() else {
                break;
            };
            let weights: [L; N] = std::array::from_fn(|r| L::splat_at(&$strip[r][$j]));
            for (c, value) in value.iter().enumerate() {
                let value = L::load(value);
                for (sums, weight) in sums.iter_mut().zip(weights) {
                    sums[c] = sums[c].add(weight.mul(value));
                }
            }
        };
    }
    for strip in weights {
        next!(strip, 0);
        next!(strip, 1);
        next!(strip, 2);
        next!(strip, 3);
    }
    sums
}

/// The same for the last columns of each row, which do not fill a lane.
#[inline(always)]
fn last<L: Lane, const N: usize>(weights: &[Strip], values: &[f32], width: usize) -> [[L; 1]; N] {
    let mut sums = [[L::splat(0.0)]; N];
    for (j, value) in values.chunks_exact(width).enumerate() {
        let value = four::<L>(value, width / WIDTH * WIDTH);
        for (r, sums) in sums.iter_mut().enumerate() {
            let weight = L::splat_at(&weights[j / WIDTH][r][j % WIDTH]);
            sums[0] = sums[0].add(weight.mul(value));
        }
    }
    sums
}

/// out ← out · `rescale` + `sums`, from lane `at` of each row on.
#[inline(always)]
fn add<L: Lane, const N: usize, const C: usize>(
    sums: [[L; C]; N],
    rescale: &[f32; ROWS],
    outs: &mut [&mut [[f32; WIDTH]]; N],
    at: usize,
) {
    for ((sums, out), &factor) in sums.into_iter().zip(outs).zip(rescale) {
        let factor = L::splat(factor);
        for (x, sum) in out[at..][..C].iter_mut().zip(sums) {
            L::load(x).mul(factor).add(sum).store(x);
        }
    }
}
