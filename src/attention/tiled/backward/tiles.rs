//! A range of keys against all queries.

use super::{Call, Cut, GROUPS, QUERIES, Task, meets, queries, scale, spread};
use crate::lanes::{Lane, WIDTH, exp, exp2};
use crate::masks::Reach;
use crate::rows::RowRunner;
use crate::shape::HeadIdx;
use crate::tiled::block::{fit, four};
use crate::tiled::logits::Logits;
use crate::tiled::pack;
use crate::tiled::tile::{self, Eight, KEYS, ROWS, STRIPS, Scores, Strip, Tile, WIDE};
use std::ops::Range;

const NO_EIGHT: Eight = [[0.0; WIDTH]; 2];
const NO_STRIP: Strip = [[0.0; WIDTH]; ROWS];

/// Working memory of a thread.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// A block of keys, eight side by side `[KEYS / 8][d_k]`, and by columns `[k_columns][KEYS]`.
    k: Vec<Eight>,
    k_columns: Vec<Eight>,
    /// A block of values, eight side by side `[KEYS / 8][d_v]`.
    v: Vec<Eight>,
    /// Some queries times their factor, four side by side `[GROUPS][d_k]`, and as they are by columns
    /// `[k_columns][QUERIES]`.
    q: Vec<[f32; ROWS]>,
    q_columns: Vec<Eight>,
    /// Their gradients at the output, likewise `[GROUPS][d_v]`, `[v_columns][QUERIES]`.
    d_out: Vec<[f32; ROWS]>,
    d_out_columns: Vec<Eight>,
    /// Weights, and gradients at the scores `[GROUPS]`.
    weights: Vec<Scores>,
    d_scores: Vec<Scores>,
    /// Slopes of the soft cap `[GROUPS]`; empty without one.
    slopes: Vec<Scores>,
    /// Sums at the block's keys `[STRIPS][k_columns]` and values `[STRIPS][v_columns]`.
    d_k: Vec<Tile>,
    d_v: Vec<Tile>,
}

impl Scratch {
    fn fit(&mut self, cut: Cut, cap: bool) {
        let shape = cut.shape;
        let scores = [NO_STRIP; STRIPS];
        fit(&mut self.k, KEYS / WIDE * shape.d_k, NO_EIGHT);
        fit(&mut self.k_columns, cut.k_columns * KEYS, NO_EIGHT);
        fit(&mut self.v, KEYS / WIDE * shape.d_v, NO_EIGHT);
        fit(&mut self.q, GROUPS * shape.d_k, [0.0; ROWS]);
        fit(&mut self.q_columns, cut.k_columns * QUERIES, NO_EIGHT);
        fit(&mut self.d_out, GROUPS * shape.d_v, [0.0; ROWS]);
        fit(&mut self.d_out_columns, cut.v_columns * QUERIES, NO_EIGHT);
        fit(&mut self.weights, GROUPS, scores);
        fit(&mut self.d_scores, GROUPS, scores);
        if cap {
            fit(&mut self.slopes, GROUPS, scores);
        } else {
            // An earlier call with a cap may have left its own.
            self.slopes.clear();
        }
        fit(&mut self.d_k, STRIPS * cut.k_columns, super::NO_TILE);
        fit(&mut self.d_v, STRIPS * cut.v_columns, super::NO_TILE);
    }

    pub(super) fn run<L: Lane>(
        &mut self,
        call: &Call<'_>,
        task: Task<'_>,
        runner: &impl RowRunner,
    ) {
        let (cut, spec) = (call.cut, call.spec);
        let shape = cut.shape;
        self.fit(cut, spec.soft_cap().is_some());
        task.d_q.fill(super::NO_TILE);
        let (k, v) = (call.sources.k.of(task.kv), call.sources.v.of(task.kv));
        let starts = task.keys.clone().step_by(KEYS);
        let blocks = task
            .d_k
            .chunks_mut(KEYS * shape.d_k)
            .zip(task.d_v.chunks_mut(KEYS * shape.d_v));
        for (start, (d_k, d_v)) in starts.zip(blocks) {
            let keys = start..(start + KEYS).min(task.keys.end);
            let part = &k[keys.start * shape.d_k..keys.end * shape.d_k];
            pack::beside::<L>(part, shape.d_k, &mut self.k);
            pack::columns::<L>(part, shape.d_k, KEYS, &mut self.k_columns);
            let part = &v[keys.start * shape.d_v..keys.end * shape.d_v];
            pack::beside::<L>(part, shape.d_v, &mut self.v);
            self.d_k[..STRIPS * cut.k_columns].fill(super::NO_TILE);
            self.d_v[..STRIPS * cut.v_columns].fill(super::NO_TILE);
            for at in 0..cut.sharing() {
                let head = HeadIdx(task.kv.0 * cut.sharing() + at);
                let d_q = &mut task.d_q[at * cut.groups * cut.k_columns..];
                for first in (0..shape.n_q).step_by(QUERIES) {
                    let queries = queries(shape, first);
                    if meets(spec, &queries, &keys) {
                        if !runner.keep_going() {
                            return;
                        }
                        let d_q = &mut d_q[first / ROWS * cut.k_columns..];
                        self.tiles::<L>(call, head, queries, keys.clone(), d_q);
                    }
                }
            }
            for (to, tiles) in d_k
                .chunks_mut(ROWS * shape.d_k)
                .zip(self.d_k.chunks_exact(cut.k_columns))
            {
                spread(tiles, shape.d_k, to, |_, x| x);
                scale::<L>(to, spec.scale());
            }
            for (to, tiles) in d_v
                .chunks_mut(ROWS * shape.d_v)
                .zip(self.d_v.chunks_exact(cut.v_columns))
            {
                spread(tiles, shape.d_v, to, |_, x| x);
            }
        }
    }

    /// Some queries of a head against a block of keys.
    #[inline(always)]
    fn tiles<L: Lane>(
        &mut self,
        call: &Call<'_>,
        head: HeadIdx,
        queries: Range<usize>,
        keys: Range<usize>,
        d_q: &mut [Tile],
    ) {
        let (cut, shape) = (call.cut, call.cut.shape);
        let logits = Logits::new(call.spec, call.shared);
        let count = queries.len();
        let groups = count.div_ceil(ROWS);
        let rows = head.0 * shape.n_q + queries.start..head.0 * shape.n_q + queries.end;

        let q = &call.sources.q[rows.start * shape.d_k..rows.end * shape.d_k];
        pack::groups::<L>(q, shape.d_k, logits.factor(), &mut self.q);
        pack::columns::<L>(q, shape.d_k, QUERIES, &mut self.q_columns);
        let d_out = &call.saved.d_out[rows.start * shape.d_v..rows.end * shape.d_v];
        pack::groups::<L>(d_out, shape.d_v, 1.0, &mut self.d_out);
        pack::columns::<L>(d_out, shape.d_v, QUERIES, &mut self.d_out_columns);

        let mut spans: [Range<usize>; GROUPS] = Default::default();
        let mut reach = [const { Reach::nothing() }; QUERIES];
        let reach = &mut reach[..if logits.masked() { count } else { 0 }];
        logits.reach(rows.start, reach);
        let reach = &*reach;
        for (g, span) in spans.iter_mut().enumerate().take(groups) {
            let four = logits.masked().then(|| Reach::of_all(four(reach, g)));
            *span = logits.span(four.as_ref(), &keys);
        }
        let panels = keys.len().div_ceil(WIDE);
        for p in 0..panels {
            let k = &self.k[p * shape.d_k..][..shape.d_k];
            let v = &self.v[p * shape.d_v..][..shape.d_v];
            for (g, span) in spans[..groups].iter().enumerate() {
                let (weights, _) = self.weights[g].as_chunks_mut::<2>();
                let (d_scores, _) = self.d_scores[g].as_chunks_mut::<2>();
                if span.contains(&p) {
                    tile::dot::<L>(&self.q[g * shape.d_k..][..shape.d_k], k, &mut weights[p]);
                    let d_out = &self.d_out[g * shape.d_v..][..shape.d_v];
                    tile::dot::<L>(d_out, v, &mut d_scores[p]);
                } else {
                    weights[p] = [NO_STRIP; 2];
                    d_scores[p] = [NO_STRIP; 2];
                }
            }
        }
        for (g, span) in spans[..groups].iter().enumerate() {
            if span.is_empty() {
                continue;
            }
            let strips = 2 * span.start..2 * span.end;
            let weights = &mut self.weights[g][strips.clone()];
            if let Some(slopes) = self.slopes.get_mut(g) {
                for (slope, x) in slopes[strips.clone()].iter_mut().zip(weights.iter()) {
                    for (slope, x) in slope.iter_mut().zip(x) {
                        cap_slope(L::load(x)).store(slope);
                    }
                }
            }
            logits.four_rows::<L>(
                rows.start + g * ROWS..rows.end,
                keys.start + span.start * WIDE,
                keys.end,
                four(reach, g),
                weights,
            );
            let first = rows.start + g * ROWS;
            let here = (rows.end - first).min(ROWS);
            // Rows that fill up the last group have no weight.
            let mut lse = [f32::INFINITY; ROWS];
            let mut deltas = [0.0; ROWS];
            lse[..here].copy_from_slice(&call.lse[first..first + here]);
            deltas[..here].copy_from_slice(&call.deltas[first..first + here]);
            gradients::<L>(weights, &mut self.d_scores[g][strips.clone()], lse, deltas);
            if let Some(slopes) = self.slopes.get(g) {
                let d_scores = self.d_scores[g][strips.clone()].iter_mut().flatten();
                for (x, slope) in d_scores.zip(slopes[strips].iter().flatten()) {
                    L::load(x).mul(L::load(slope)).store(x);
                }
            }
        }
        for (c, panel) in self
            .k_columns
            .chunks_exact(KEYS)
            .take(cut.k_columns)
            .enumerate()
        {
            for (g, span) in spans[..groups].iter().enumerate() {
                if !span.is_empty() {
                    let weights = &self.d_scores[g][2 * span.start..2 * span.end];
                    let rows = &panel[span.start * WIDE..(span.end * WIDE).min(keys.len())];
                    tile::mix::<L>(weights, rows, &[1.0; ROWS], &mut d_q[g * cut.k_columns + c]);
                }
            }
        }
        let strips = keys.len().div_ceil(WIDTH);
        let spans = &spans[..groups];
        let at_values = (&*self.weights, &*self.d_out_columns);
        across::<L>(
            at_values,
            spans,
            count,
            strips,
            cut.v_columns,
            &mut self.d_v,
        );
        let at_keys = (&*self.d_scores, &*self.q_columns);
        across::<L>(at_keys, spans, count, strips, cut.k_columns, &mut self.d_k);
    }
}

/// to ← to + Σ over rows of a number for each key × the row. The numbers are those of groups of four rows; the `count` rows
/// stand by columns, [`QUERIES`] beside each other.
#[inline(always)]
fn across<L: Lane>(
    (groups, columns): (&[Scores], &[Eight]),
    spans: &[Range<usize>],
    count: usize,
    strips: usize,
    width: usize,
    to: &mut [Tile],
) {
    for (c, panel) in columns.chunks_exact(QUERIES).take(width).enumerate() {
        for j in 0..strips {
            let some = seeing(spans, j / 2);
            let rows = &panel[some.start * ROWS..(some.end * ROWS).min(count)];
            tile_across::<L>(&groups[some], j, rows, &mut to[j * width + c]);
        }
    }
}

/// The groups between the first and the last that see any of panel `p`.
fn seeing(spans: &[Range<usize>], p: usize) -> Range<usize> {
    let sees = |span: &Range<usize>| span.contains(&p);
    match spans.iter().position(sees) {
        Some(first) => first..spans.iter().rposition(sees).map_or(first, |last| last + 1),
        None => 0..0,
    }
}

#[inline(never)]
fn tile_across<L: Lane>(groups: &[Scores], j: usize, rows: &[Eight], to: &mut Tile) {
    tile::mix_across::<L>(groups.iter().map(|scores| &scores[j]), rows, to);
}

/// Scores to weights, and gradients at the weights to gradients at the scores.
#[inline(never)]
fn gradients<L: Lane>(
    weights: &mut [Strip],
    d_scores: &mut [Strip],
    lse: [f32; ROWS],
    deltas: [f32; ROWS],
) {
    let (lse, deltas) = (lse.map(L::splat), deltas.map(L::splat));
    for (weights, d_scores) in weights.iter_mut().zip(d_scores) {
        for r in 0..ROWS {
            // The saved log-sum-exp is rounded: a weight may come out a little above 1, the power takes it.
            let weight = exp2(L::load(&weights[r]).sub(lse[r]));
            let d_score = weight.mul(L::load(&d_scores[r]).sub(deltas[r]));
            weight.store(&mut weights[r]);
            d_score.store(&mut d_scores[r]);
        }
    }
}

/// The slope of tanh, 4e/(1 + e)² with e = exp(−2|x|): without the cancellation of 1 − tanh².
#[inline(always)]
fn cap_slope<L: Lane>(x: L) -> L {
    let e = exp(x.abs().mul(L::splat(-2.0)));
    let d = L::splat(1.0).add(e);
    L::splat(4.0).mul(e).div(d.mul(d))
}
