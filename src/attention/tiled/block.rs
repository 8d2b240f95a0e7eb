//! A block of rows of one head against all keys.

use super::cut::{self, Cut};
use super::logits::Logits;
use super::pack;
use super::shared::{Shared, Sources};
use super::tile::{self, Eight, KEYS, ROWS, STRIPS, Scores, Strip, Tile, WIDE};
use crate::lanes::{Lane, WIDTH, exp2};
use crate::masks::{Coverage, Reach};
use crate::math::{ln_short, narrow};
use crate::shape::{HeadIdx, Shape};
use crate::spec::{AttentionSpec, Hidden};
use std::ops::Range;

/// Groups of four rows that go through a block of keys together: their queries and scores stay in a first-level cache.
pub(super) const GROUPS: usize = 8;

/// A task: rows from `first` on, counted through all heads, which read the same keys; and where their results go.
pub(super) struct Block<'a> {
    pub(super) first: usize,
    /// `[rows, d_v]`
    pub(super) out: &'a mut [f32],
    /// `[rows]`. NaN where float32 could overflow; the row's output is then meaningless.
    pub(super) lse: &'a mut [f32],
}

/// Working memory of a thread.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// Queries times their factor `[groups][d_k][4]`.
    q: Vec<[f32; ROWS]>,
    /// A block of keys `[KEYS / 8][d_k][8]`.
    k: Vec<Eight>,
    /// A block of values `[⌈d_v / 8⌉][KEYS][8]`.
    v: Vec<Eight>,
    /// `[GROUPS]`
    scores: Vec<Scores>,
    /// Unfinished outputs `[groups][⌈d_v / 8⌉][4][8]`.
    out: Vec<Tile>,
    /// `[groups]`
    state: Vec<State>,
    /// What each row sees; empty without masks.
    reach: Vec<Reach>,
    /// What each four rows see together; empty without masks.
    reach_of_four: Vec<Reach>,
    /// What all of them see together.
    reach_of_all: Reach,
    /// Of which call and rows these are: as a rule small calls come again and again.
    reach_is_of: Option<(AttentionSpec, Range<usize>)>,
}

/// Where the online softmax of four rows stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    /// Running maxima, as exponents of 2.
    pub(super) max: [f32; ROWS],
    /// Running sums, each in four parts.
    pub(super) sum: [[f32; WIDTH]; ROWS],
}

impl State {
    /// Before any key. A sink is a key that came first, with logit `sink` and value 0.
    pub(super) fn new(sink: Option<f64>) -> Self {
        let (max, sum) = match sink {
            Some(sink) => (narrow(sink * std::f64::consts::LOG2_E), 1.0),
            // Not −∞, from which nothing could be subtracted: a row that has seen nothing keeps this and sum 0.
            None => (f32::MIN, 0.0),
        };
        Self {
            max: [max; ROWS],
            sum: [[sum, 0.0, 0.0, 0.0]; ROWS],
        }
    }

    /// Row `r` of `other` in place of this one's.
    pub(super) fn set_row(&mut self, r: usize, other: &Self) {
        self.max[r] = other.max[r];
        self.sum[r] = other.sum[r];
    }

    /// The sums.
    pub(super) fn sums(&self) -> [f32; ROWS] {
        self.sum.map(|[a, b, c, d]| (a + b) + (c + d))
    }

    /// The log-sum-exp of row `r`; −∞ where it has seen nothing.
    #[inline(always)]
    pub(super) fn lse(&self, r: usize, sum: f32) -> f32 {
        if sum == 0.0 {
            return f32::NEG_INFINITY;
        }
        narrow(ln_short(f64::from(sum)) + f64::from(self.max[r]) * std::f64::consts::LN_2)
    }

    /// Turns scores of the first `N` rows into exponentials and takes them into maxima and sums; what unfinished outputs have to be multiplied
    /// by.
    #[inline(never)]
    pub(super) fn take<L: Lane, const N: usize>(&mut self, scores: &mut [Strip]) -> [f32; ROWS] {
        let mut largest = self.max.map(L::splat);
        for strip in scores.iter() {
            for (largest, x) in largest.iter_mut().zip(strip).take(N) {
                *largest = largest.max(L::load(x));
            }
        }
        let [a, b, c, d] = L::transpose(largest);
        let new = a.max(b).max(c.max(d));
        let rescale = exp2(L::load(&self.max).sub(new));
        new.store(&mut self.max);
        let rescale = rescale.to_array();
        let max = self.max.map(L::splat);
        let mut sums = [0, 1, 2, 3].map(|r| L::load(&self.sum[r]).mul(L::splat(rescale[r])));
        for strip in scores.iter_mut() {
            for ((x, max), sum) in strip.iter_mut().zip(max).zip(&mut sums).take(N) {
                let e = exp2(L::load(x).sub(max));
                *sum = sum.add(e);
                e.store(x);
            }
        }
        for (to, sum) in self.sum.iter_mut().zip(sums) {
            sum.store(to);
        }
        rescale
    }
}

/// Bytes that a [`Scratch`] takes.
pub(super) fn bytes(spec: &AttentionSpec, cut: Cut) -> usize {
    let shape = spec.shape();
    let groups = cut.largest().div_ceil(ROWS);
    let columns = shape.d_v.div_ceil(WIDE);
    let reach = if spec.config().masks.is_empty() {
        0
    } else {
        cut.largest() + groups
    };
    groups * shape.d_k * size_of::<[f32; ROWS]>()
        + (KEYS / WIDE * shape.d_k + columns * KEYS) * size_of::<Eight>()
        + GROUPS.min(groups) * size_of::<Scores>()
        + groups * (columns * size_of::<Tile>() + size_of::<State>())
        + reach * size_of::<Reach>()
}

/// Makes room for exactly `len`.
pub(super) fn fit<T: Clone>(buffer: &mut Vec<T>, len: usize, zero: T) {
    if buffer.len() < len {
        buffer.reserve_exact(len - buffer.len());
        buffer.resize(len, zero);
    }
}

impl Scratch {
    fn fit(&mut self, shape: Shape, groups: usize) {
        let columns = shape.d_v.div_ceil(WIDE);
        fit(&mut self.q, groups * shape.d_k, [0.0; ROWS]);
        fit(&mut self.k, KEYS / WIDE * shape.d_k, [[0.0; WIDTH]; 2]);
        fit(&mut self.v, columns * KEYS, [[0.0; WIDTH]; 2]);
        fit(
            &mut self.scores,
            GROUPS.min(groups),
            [[[0.0; WIDTH]; ROWS]; STRIPS],
        );
        fit(&mut self.out, groups * columns, [[[0.0; WIDTH]; 2]; ROWS]);
        fit(&mut self.state, groups, State::new(None));
    }

    /// Computes a task. Leaves off where `go_on` says no.
    pub(super) fn run<L: Lane>(
        &mut self,
        spec: &AttentionSpec,
        shared: &Shared,
        sources: Sources<'_>,
        cut: Cut,
        block: Block<'_>,
        go_on: impl Fn() -> bool,
    ) {
        let shape = spec.shape();
        let logits = Logits::new(spec, shared);
        let count = block.lse.len();
        let groups = count.div_ceil(ROWS);
        let columns = shape.d_v.div_ceil(WIDE);
        self.fit(shape, cut.largest().div_ceil(ROWS));

        let rows = block.first..block.first + count;
        let queries = cut::queries(shape, &rows);
        let head_of = |row: usize| HeadIdx(row.min(rows.end - 1) / shape.n_q);
        let kv = shape.kv_head(head_of(rows.start));
        let q = &sources.q[rows.start * shape.d_k..rows.end * shape.d_k];
        pack::groups::<L>(q, shape.d_k, logits.factor(), &mut self.q);
        let largest = shared.largest_query(spec);
        // As a rule every query is small enough, and none needs a look.
        let looks = if shared.sizes().q > largest { count } else { 0 };
        for (lse, row) in block
            .lse
            .iter_mut()
            .zip(q.chunks_exact(shape.d_k))
            .take(looks)
        {
            if f64::from(pack::size::<L>(row)) > largest {
                *lse = f32::NAN;
            }
        }
        self.out[..groups * columns].fill([[[0.0; WIDTH]; 2]; ROWS]);
        self.state[..groups].fill(State::new(spec.sink(head_of(rows.start))));
        if head_of(rows.start) != head_of(rows.end) {
            for (g, state) in self.state[..groups].iter_mut().enumerate() {
                for r in 0..ROWS {
                    let sink = spec.sink(head_of(rows.start + g * ROWS + r));
                    state.set_row(r, &State::new(sink));
                }
            }
        }

        let (k, v) = (sources.k.of(kv), sources.v.of(kv));
        self.look(spec, &logits, cut, &rows);
        for keys in blocks(spec, queries.clone(), &self.reach_of_all.clone()) {
            if !go_on() {
                return;
            }
            let part = &k[keys.start * shape.d_k..keys.end * shape.d_k];
            pack::beside::<L>(part, shape.d_k, &mut self.k);
            let part = &v[keys.start * shape.d_v..keys.end * shape.d_v];
            pack::columns::<L>(part, shape.d_v, KEYS, &mut self.v);
            for first in (0..groups).step_by(GROUPS) {
                let some = first..(first + GROUPS).min(groups);
                self.tiles::<L>(&logits, some, rows.clone(), keys.clone());
            }
        }
        self.finish::<L>(shape, columns, block);
    }

    /// Finds out what rows see, unless that is known from the call before.
    fn look(&mut self, spec: &AttentionSpec, logits: &Logits<'_>, cut: Cut, rows: &Range<usize>) {
        let known = |(of, which): &(AttentionSpec, Range<usize>)| which == rows && of.is(spec);
        if self.reach_is_of.as_ref().is_some_and(known) {
            return;
        }
        self.reach.clear();
        self.reach_of_four.clear();
        if logits.masked() {
            self.reach.reserve_exact(cut.largest());
            self.reach.resize(rows.len(), Reach::nothing());
            logits.reach(rows.start, &mut self.reach);
            self.reach_of_four
                .reserve_exact(cut.largest().div_ceil(ROWS));
            self.reach_of_four
                .extend(self.reach.chunks(ROWS).map(Reach::of_all));
        }
        self.reach_of_all = Reach::of_all(&self.reach_of_four);
        // A drawing may be large, and is not held for this.
        self.reach_is_of = spec.reach_is_exact().then(|| (spec.clone(), rows.clone()));
    }

    /// Some groups of rows against a block of keys.
    #[inline(always)]
    fn tiles<L: Lane>(
        &mut self,
        logits: &Logits<'_>,
        groups: Range<usize>,
        rows: Range<usize>,
        keys: Range<usize>,
    ) {
        let shape = logits.shape();
        let columns = shape.d_v.div_ceil(WIDE);
        let mut spans: [Range<usize>; GROUPS] = Default::default();
        for (span, g) in spans.iter_mut().zip(groups.clone()) {
            *span = logits.span(self.reach_of_four.get(g), &keys);
        }
        let panels = self.k.chunks_exact(shape.d_k);
        for (p, panel) in panels.take(keys.len().div_ceil(WIDE)).enumerate() {
            for ((g, scores), span) in groups.clone().zip(&mut self.scores).zip(&spans) {
                if span.contains(&p) {
                    let (pairs, _) = scores.as_chunks_mut::<2>();
                    let q = &self.q[g * shape.d_k..][..shape.d_k];
                    tile::dot::<L>(q, panel, &mut pairs[p]);
                }
            }
        }
        let mut rescale = [[1.0; ROWS]; GROUPS];
        for (((g, scores), span), rescale) in groups
            .clone()
            .zip(&mut self.scores)
            .zip(&spans)
            .zip(&mut rescale)
        {
            if !span.is_empty() {
                let scores = &mut scores[2 * span.start..2 * span.end];
                logits.four_rows::<L>(
                    rows.start + g * ROWS..rows.end,
                    keys.start + span.start * WIDE,
                    keys.end,
                    four(&self.reach, g),
                    scores,
                );
                *rescale = self.state[g].take::<L, ROWS>(scores);
            }
        }
        for (c, panel) in self.v.chunks_exact(KEYS).take(columns).enumerate() {
            for (((g, scores), span), rescale) in
                groups.clone().zip(&self.scores).zip(&spans).zip(&rescale)
            {
                if !span.is_empty() {
                    let scores = &scores[2 * span.start..2 * span.end];
                    let values = &panel[span.start * WIDE..(span.end * WIDE).min(keys.len())];
                    tile::mix::<L>(scores, values, rescale, &mut self.out[g * columns + c]);
                }
            }
        }
    }

    /// Divides by the sums and writes the results.
    fn finish<L: Lane>(&self, shape: Shape, columns: usize, block: Block<'_>) {
        let groups = block
            .out
            .chunks_mut(ROWS * shape.d_v)
            .zip(block.lse.chunks_mut(ROWS));
        for ((out, lse), (tiles, state)) in
            groups.zip(self.out.chunks_exact(columns).zip(&self.state))
        {
            let sums = state.sums();
            // A row that sees nothing has sum 0: output 0 and log-sum-exp −∞.
            pack::unpack::<L>(tiles, sums, shape.d_v, out);
            for ((r, lse), sum) in lse.iter_mut().enumerate().zip(sums) {
                if !lse.is_nan() {
                    *lse = state.lse(r, sum);
                }
            }
        }
    }
}

/// Group `g` of four, which may be shorter, or empty.
pub(super) fn four<T>(all: &[T], g: usize) -> &[T] {
    let end = all.len().min((g + 1) * ROWS);
    all.get(g * ROWS..end).unwrap_or(&[])
}

/// The blocks of keys of which `queries` may see something, in order; `reach` is what they see, or [`Reach::of_all`] of
/// nothing without masks.
pub(super) fn blocks(
    spec: &AttentionSpec,
    queries: Range<usize>,
    reach: &Reach,
) -> impl Iterator<Item = Range<usize>> {
    let n_k = spec.shape().n_k;
    let all_take_part = spec.hidden() != Hidden::NegInfinity || spec.config().masks.is_empty();
    let exact = spec.reach_is_exact();
    (0..n_k)
        .step_by(KEYS)
        .map(move |start| start..(start + KEYS).min(n_k))
        .filter(move |keys| {
            all_take_part
                || reach.meets(keys)
                    && (exact || spec.coverage(queries.clone(), keys.clone()) != Coverage::Empty)
        })
}
