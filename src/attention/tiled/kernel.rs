//! One block of rows of one head against all keys.

use super::pack::{PANEL, Packed, widen};
use super::{KEY_BLOCK, QUERY_BLOCK, narrow};
use crate::lanes::{self, Lane, WIDTH};
use crate::masks::Coverage;
use crate::math::ln;
use crate::naive::Inputs;
use crate::shape::{HeadIdx, KeyIdx, QueryIdx, Shape};
use crate::spec::{AttentionSpec, Hidden};
use std::ops::Range;

/// Rows that go through the inner loops together: with two lanes each, their eight running sums, two lanes of keys
/// and a few to spare fit the sixteen registers of the machines at hand.
const GROUP: usize = 4;

/// A task: rows `first`.. of `head`, and where their results go.
pub(super) struct Block<'a> {
    pub(super) head: HeadIdx,
    pub(super) first: usize,
    /// `[rows, d_v]`
    pub(super) out: &'a mut [f32],
    /// `[rows]`
    pub(super) lse: &'a mut [f32],
    /// `[rows]`: set where float32 could overflow; the row's results are then meaningless.
    pub(super) beyond: &'a mut [bool],
}

/// Working memory of a thread.
pub(super) struct Scratch {
    /// A query in float64 `[d_k]`.
    row: Vec<f64>,
    /// Queries times scale `[QUERY_BLOCK / GROUP][d_k][GROUP]`.
    q: Vec<f32>,
    /// Scores, then their exponentials, of a group `[GROUP][KEY_BLOCK]`.
    scores: Vec<f32>,
    /// Unfinished outputs `[QUERY_BLOCK][d_v filled up]`.
    out: Vec<f32>,
    /// Running maxima `[QUERY_BLOCK]`.
    max: [f32; QUERY_BLOCK],
    /// Running sums, each in four parts `[QUERY_BLOCK]`.
    sum: [[f32; WIDTH]; QUERY_BLOCK],
}

/// A tile's place and what the masks leave of it.
struct Tile {
    head: HeadIdx,
    /// The first row's query.
    query: usize,
    keys: Range<usize>,
    coverage: Coverage,
}

impl Scratch {
    pub(super) fn new(shape: Shape) -> Self {
        Self {
            row: vec![0.0; shape.d_k],
            q: vec![0.0; QUERY_BLOCK * shape.d_k],
            scores: vec![0.0; GROUP * KEY_BLOCK],
            out: vec![0.0; QUERY_BLOCK * shape.d_v.next_multiple_of(PANEL)],
            max: [0.0; QUERY_BLOCK],
            sum: [[0.0; WIDTH]; QUERY_BLOCK],
        }
    }

    pub(super) fn run<L: Lane>(
        &mut self,
        spec: &AttentionSpec,
        inputs: &Inputs<'_, f32>,
        packed: &Packed,
        mut block: Block<'_>,
    ) {
        let shape = spec.shape();
        let rows = block.lse.len();
        let groups = rows.div_ceil(GROUP);
        self.pack_queries(spec, inputs, packed, &mut block);
        self.out.fill(0.0);
        // A sink is a key that came first, with logit `sink` and value 0.
        let (max, sum) = match spec.sink(block.head) {
            Some(sink) => (sink as f32, 1.0),
            None => (f32::NEG_INFINITY, 0.0),
        };
        self.max = [max; QUERY_BLOCK];
        self.sum = [[sum, 0.0, 0.0, 0.0]; QUERY_BLOCK];

        for start in (0..shape.n_k).step_by(KEY_BLOCK) {
            let keys = start..(start + KEY_BLOCK).min(shape.n_k);
            let queries = block.first..block.first + rows;
            let coverage = spec.coverage(queries, keys.clone());
            if coverage == Coverage::Empty && spec.hidden() == Hidden::NegInfinity {
                continue;
            }
            for group in 0..groups {
                let query = block.first + group * GROUP;
                let tile = Tile {
                    head: block.head,
                    query,
                    keys: keys.clone(),
                    coverage,
                };
                self.scores::<L>(packed, spec, group, &tile);
                self.shape_scores::<L>(packed, spec, &tile);
                let rescale = self.exponentials::<L>(group, keys.len());
                self.add_values::<L>(packed, spec, group, &tile, rescale);
            }
        }
        self.finish(shape, packed, block);
    }

    /// Norms, turns, scales and rounds the queries of a block, four side by side.
    fn pack_queries(
        &mut self,
        spec: &AttentionSpec,
        inputs: &Inputs<'_, f32>,
        packed: &Packed,
        block: &mut Block<'_>,
    ) {
        let shape = spec.shape();
        self.q.fill(0.0);
        for r in 0..block.lse.len() {
            let q = QueryIdx(block.first + r);
            widen(&inputs.q()[shape.q_row(block.head, q)], &mut self.row);
            packed.query_places.apply(&mut self.row, q.0);
            let group = &mut self.q[r / GROUP * GROUP * shape.d_k..];
            let mut size = 0.0;
            for (c, &x) in self.row.iter().enumerate() {
                let x = x * spec.scale();
                size += x.abs();
                group[c * GROUP + r % GROUP] = narrow(x);
            }
            block.beyond[r] = !packed.fits(spec, shape.kv_head(block.head), size);
        }
    }

    /// Dot products of a group of queries with the keys of a tile.
    #[inline(always)]
    fn scores<L: Lane>(
        &mut self,
        packed: &Packed,
        spec: &AttentionSpec,
        group: usize,
        tile: &Tile,
    ) {
        let shape = spec.shape();
        let kv = shape.kv_head(tile.head);
        let q = &self.q[group * GROUP * shape.d_k..][..GROUP * shape.d_k];
        for at in (0..tile.keys.len()).step_by(PANEL) {
            let panel = packed.keys(kv, tile.keys.start + at, shape.d_k);
            let mut sums = [[L::splat(0.0); 2]; GROUP];
            for (q, k) in q.chunks_exact(GROUP).zip(panel.chunks_exact(PANEL)) {
                let k = [L::load(&k[..WIDTH]), L::load(&k[WIDTH..])];
                for (sums, &q) in sums.iter_mut().zip(q) {
                    let q = L::splat(q);
                    sums[0] = sums[0].add(q.mul(k[0]));
                    sums[1] = sums[1].add(q.mul(k[1]));
                }
            }
            for (row, sums) in self.scores.chunks_exact_mut(KEY_BLOCK).zip(sums) {
                sums[0].store(&mut row[at..]);
                sums[1].store(&mut row[at + WIDTH..]);
            }
        }
    }

    /// Soft cap, bias and mask.
    #[inline(always)]
    fn shape_scores<L: Lane>(&mut self, packed: &Packed, spec: &AttentionSpec, tile: &Tile) {
        let shape = spec.shape();
        let n = tile.keys.len();
        let filled = n.next_multiple_of(PANEL);
        for (r, row) in self.scores.chunks_exact_mut(KEY_BLOCK).enumerate() {
            let row = &mut row[..filled];
            if let Some(cap) = spec.soft_cap() {
                let cap = L::splat(cap as f32);
                for x in row.chunks_exact_mut(WIDTH) {
                    cap.mul(lanes::tanh(L::load(x).div(cap))).store(x);
                }
            }
            // The last group of a block may have rows to spare: they repeat the last query and are not used.
            let query = (tile.query + r).min(shape.n_q - 1);
            if let Some(bias) = packed.bias(tile.head, shape.n_q, query, tile.keys.start) {
                for (x, bias) in row.chunks_exact_mut(WIDTH).zip(bias.chunks_exact(WIDTH)) {
                    L::load(x).add(L::load(bias)).store(x);
                }
            }
            if tile.coverage != Coverage::Whole {
                hide(spec, QueryIdx(query), tile.keys.clone(), row);
            }
            row[n..].fill(f32::NEG_INFINITY);
        }
    }

    /// Scores to exponentials; takes them into the running maxima and sums of their rows. What the rows' unfinished
    /// outputs have to be multiplied by.
    #[inline(always)]
    fn exponentials<L: Lane>(&mut self, group: usize, keys: usize) -> [f32; GROUP] {
        let filled = keys.next_multiple_of(PANEL);
        let mut old = [0.0; GROUP];
        let mut new = [0.0; GROUP];
        for (r, row) in self.scores.chunks_exact(KEY_BLOCK).enumerate() {
            let mut largest = [L::splat(f32::NEG_INFINITY); 2];
            for x in row[..filled].chunks_exact(PANEL) {
                largest[0] = largest[0].max(L::load(&x[..WIDTH]));
                largest[1] = largest[1].max(L::load(&x[WIDTH..]));
            }
            let largest = lanes::max(largest[0].max(largest[1]));
            old[r] = self.max[group * GROUP + r];
            new[r] = if old[r] < largest { largest } else { old[r] };
            self.max[group * GROUP + r] = new[r];
            // While a row has seen nothing its maximum is −∞, from which nothing can be subtracted.
            if new[r] == f32::NEG_INFINITY {
                new[r] = 0.0;
            }
        }
        let rescale = lanes::exp(L::from_array(old).sub(L::from_array(new))).to_array();
        for (r, row) in self.scores.chunks_exact_mut(KEY_BLOCK).enumerate() {
            let max = L::splat(new[r]);
            let mut sums = [L::splat(0.0); 2];
            for x in row[..filled].chunks_exact_mut(PANEL) {
                let (x0, x1) = x.split_at_mut(WIDTH);
                let e = [
                    lanes::exp(L::load(x0).sub(max)),
                    lanes::exp(L::load(x1).sub(max)),
                ];
                e[0].store(x0);
                e[1].store(x1);
                sums = [sums[0].add(e[0]), sums[1].add(e[1])];
            }
            let sum = &mut self.sum[group * GROUP + r];
            let before = L::from_array(*sum).mul(L::splat(rescale[r]));
            *sum = before.add(sums[0].add(sums[1])).to_array();
        }
        rescale
    }

    /// Rescales the unfinished outputs and adds the values of a tile under their exponentials.
    #[inline(always)]
    fn add_values<L: Lane>(
        &mut self,
        packed: &Packed,
        spec: &AttentionSpec,
        group: usize,
        tile: &Tile,
        rescale: [f32; GROUP],
    ) {
        let n = tile.keys.len();
        let kv = spec.shape().kv_head(tile.head);
        let (e0, rest) = self.scores.split_at(KEY_BLOCK);
        let (e1, rest) = rest.split_at(KEY_BLOCK);
        let (e2, e3) = rest.split_at(KEY_BLOCK);
        let e = [&e0[..n], &e1[..n], &e2[..n], &e3[..n]];
        let out = &mut self.out[group * GROUP * packed.d_v..][..GROUP * packed.d_v];
        for column in (0..packed.d_v).step_by(PANEL) {
            let values = packed.values(kv, column, tile.keys.start, n);
            let mut sums = [[L::splat(0.0); 2]; GROUP];
            for (j, v) in values.chunks_exact(PANEL).enumerate() {
                let v = [L::load(&v[..WIDTH]), L::load(&v[WIDTH..])];
                for (sums, e) in sums.iter_mut().zip(e) {
                    let e = L::splat(e[j]);
                    sums[0] = sums[0].add(e.mul(v[0]));
                    sums[1] = sums[1].add(e.mul(v[1]));
                }
            }
            for ((row, sums), rescale) in out.chunks_exact_mut(packed.d_v).zip(sums).zip(rescale) {
                let rescale = L::splat(rescale);
                let (x0, x1) = row[column..column + PANEL].split_at_mut(WIDTH);
                L::load(x0).mul(rescale).add(sums[0]).store(x0);
                L::load(x1).mul(rescale).add(sums[1]).store(x1);
            }
        }
    }

    /// Divides by the sums and writes the results.
    fn finish(&self, shape: Shape, packed: &Packed, block: Block<'_>) {
        let rows = block
            .out
            .chunks_exact_mut(shape.d_v)
            .zip(self.out.chunks_exact(packed.d_v));
        for (r, ((out, unfinished), lse)) in rows.zip(block.lse).enumerate() {
            let [a, b, c, d] = self.sum[r];
            let sum = (a + b) + (c + d);
            // A row that sees nothing has sum 0: output 0 and lse −∞.
            for (x, &u) in out.iter_mut().zip(unfinished) {
                *x = if sum > 0.0 { u / sum } else { 0.0 };
            }
            *lse = (ln(f64::from(sum)) + f64::from(self.max[r])) as f32;
        }
    }
}

/// Puts −∞ in place of the scores that the masks hide from `q`, or adds the spec's constant to them.
fn hide(spec: &AttentionSpec, q: QueryIdx, keys: Range<usize>, scores: &mut [f32]) {
    let hide_one = |x: &mut f32| match spec.hidden() {
        Hidden::NegInfinity => *x = f32::NEG_INFINITY,
        Hidden::Finite(constant) => *x += constant as f32,
    };
    let scores = &mut scores[..keys.len()];
    match spec.coverage(q.0..q.0 + 1, keys.clone()) {
        Coverage::Whole => {}
        Coverage::Empty => scores.iter_mut().for_each(hide_one),
        Coverage::Mixed => {
            for (x, k) in scores.iter_mut().zip(keys) {
                if !spec.visible(q, KeyIdx(k)) {
                    hide_one(x);
                }
            }
        }
    }
}
