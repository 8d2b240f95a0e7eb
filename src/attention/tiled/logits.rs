//! From dot products to logits: soft cap, bias and mask, as exponents of 2.

use super::shared::{Shared, Units};
use super::tile::{ROWS, Strip, WIDE};
use crate::lanes::{Lane, WIDTH, tanh};
use crate::masks::{Coverage, Reach};
use crate::math::narrow;
use crate::shape::{HeadIdx, KeyIdx, QueryIdx, Shape};
use crate::spec::{AttentionSpec, Hidden};
use std::f64::consts::LOG2_E;
use std::ops::Range;

/// What happens to the scores of a call.
pub(super) struct Logits<'a> {
    spec: &'a AttentionSpec,
    shared: &'a Shared,
    units: Units,
    masked: bool,
    /// Whether nothing that is in reach is hidden.
    exact: bool,
    /// What hidden exponents gain; −∞ takes their place without.
    hidden: Option<f32>,
}

impl<'a> Logits<'a> {
    pub(super) fn new(spec: &'a AttentionSpec, shared: &'a Shared) -> Self {
        Self {
            spec,
            shared,
            units: Units::of(spec),
            masked: !spec.config().masks.is_empty(),
            exact: spec.reach_is_exact(),
            hidden: match spec.hidden() {
                Hidden::NegInfinity => None,
                Hidden::Finite(constant) => Some(narrow(constant * LOG2_E)),
            },
        }
    }

    pub(super) fn shape(&self) -> Shape {
        self.spec.shape()
    }

    /// Whether there are masks.
    pub(super) fn masked(&self) -> bool {
        self.masked
    }

    /// What queries are multiplied by.
    pub(super) fn factor(&self) -> f64 {
        self.units.factor
    }

    /// Where a row, counted through all heads, and those behind it see anything. Only with masks.
    pub(super) fn reach(&self, row: usize, mut to: &mut [Reach]) {
        let QueryIdx(mut first) = self.place(row).1;
        while !to.is_empty() {
            // As far as this head goes.
            let here = to.len().min(self.shape().n_q - first);
            let (now, later) = to.split_at_mut(here);
            self.spec.reach_each(QueryIdx(first), now);
            (first, to) = (0, later);
        }
    }

    /// The same for one row; nothing without masks.
    pub(super) fn reach_of(&self, row: usize) -> Option<Reach> {
        self.masked.then(|| self.spec.reach(self.place(row).1))
    }

    /// The head and the query of a row.
    fn place(&self, row: usize) -> (HeadIdx, QueryIdx) {
        let n_q = self.shape().n_q;
        (HeadIdx(row / n_q), QueryIdx(row % n_q))
    }

    /// The panels of eight keys between the first and the last that is in reach, which is that of some rows; all where
    /// there are no masks or hidden keys take part.
    pub(super) fn span(&self, reach: Option<&Reach>, keys: &Range<usize>) -> Range<usize> {
        let reach = match (reach, self.hidden) {
            (Some(reach), None) => reach,
            _ => return 0..keys.len().div_ceil(WIDE),
        };
        let [a, b] = reach.within(keys);
        let (a, b) = match (a.is_empty(), b.is_empty()) {
            (true, true) => return 0..0,
            (true, false) => (b.clone(), b),
            (false, true) => (a.clone(), a),
            (false, false) => (a, b),
        };
        (a.start - keys.start) / WIDE..(b.end - keys.start).div_ceil(WIDE)
    }

    /// Scores of the first four of `rows`, counted through all heads, with the keys from `start` on (a multiple of 8 from the block's), in
    /// place; `reach` is that of the rows, or empty without masks. −∞ for keys from `end` on and for those that the masks hide.
    #[inline(always)]
    pub(super) fn four_rows<L: Lane>(
        &self,
        rows: Range<usize>,
        start: usize,
        end: usize,
        reach: &[Reach],
        scores: &mut [Strip],
    ) {
        // As a rule each row sees one range of keys, and what is outside goes for all four at a time.
        let plain = self.exact && self.hidden.is_none() && one_range(reach);
        let filled = end - start < scores.len() * WIDTH;
        let capped = self.units.cap.is_some() || self.shared.bias().is_some();
        if capped || filled || !(plain || reach.is_empty()) {
            for r in 0..ROWS {
                // The last group of a task may have rows to spare: they repeat the last row and are not used.
                let row = (rows.start + r).min(rows.end - 1);
                let reach = if plain { None } else { reach.get(r) };
                self.row::<L>(row, r, start, end, reach, scores);
            }
        }
        if plain {
            leave::<L>(reach, start, scores);
        }
    }

    /// The same for row `r` of the strips, which is `row` of the call.
    #[inline(always)]
    pub(super) fn row<L: Lane>(
        &self,
        row: usize,
        r: usize,
        start: usize,
        end: usize,
        reach: Option<&Reach>,
        scores: &mut [Strip],
    ) {
        if let Some(cap) = self.units.cap {
            let cap = L::splat(narrow(cap));
            for strip in scores.iter_mut() {
                cap.mul(tanh(L::load(&strip[r]))).store(&mut strip[r]);
            }
        }
        // Whose row it is, is worked out only where it matters.
        if let Some(bias) = self.shared.bias() {
            let (head, q) = self.place(row);
            let bias = bias.of(self.shape(), head, q.0, start);
            for (strip, bias) in scores.iter_mut().zip(bias.as_chunks::<WIDTH>().0) {
                L::load(&strip[r]).add(L::load(bias)).store(&mut strip[r]);
            }
        }
        if let Some(reach) = reach {
            self.hide::<L>(row, r, start, end, reach, scores);
        }
        // What stands behind the last key is a panel's filling.
        let filling = end - start..scores.len() * WIDTH;
        cover::<L>(None, filling, r, scores);
    }

    /// Puts −∞ in place of the scores that the masks hide from `row`, or adds the spec's constant to them.
    fn hide<L: Lane>(
        &self,
        row: usize,
        r: usize,
        start: usize,
        end: usize,
        reach: &Reach,
        scores: &mut [Strip],
    ) {
        let end = end.min(start + scores.len() * WIDTH);
        let [a, b] = reach.within(&(start..end));
        // An empty range hides nothing from the other.
        let a = if a.is_empty() { start..start } else { a };
        let b = if b.is_empty() { end..end } else { b };
        for hidden in [start..a.start, a.end..b.start, b.end..end] {
            let columns = hidden.start - start..hidden.end - start;
            cover::<L>(self.hidden, columns, r, scores);
        }
        if !self.exact {
            let q = self.place(row).1;
            for part in [a, b] {
                self.ask::<L>(q, r, start, part, scores);
            }
        }
    }

    /// Hides what the masks hide from `q` of keys in its reach.
    fn ask<L: Lane>(
        &self,
        q: QueryIdx,
        r: usize,
        start: usize,
        keys: Range<usize>,
        scores: &mut [Strip],
    ) {
        if self.spec.coverage(q.0..q.0 + 1, keys.clone()) != Coverage::Whole {
            for k in keys {
                if !self.spec.visible(q, KeyIdx(k)) {
                    cover::<L>(self.hidden, k - start..k - start + 1, r, scores);
                }
            }
        }
    }
}

/// Whether each row sees one range of keys at most; not so without masks.
fn one_range(reach: &[Reach]) -> bool {
    !reach.is_empty() && reach.iter().all(|Reach([first, _])| first.is_empty())
}

/// Leaves of four rows what lies in the one range that each of them sees, and puts −∞ in place of the rest; the scores
/// begin with those of key `start`.
fn leave<L: Lane>(reach: &[Reach], start: usize, scores: &mut [Strip]) {
    let len = scores.len() * WIDTH;
    let column = |key: usize| key.saturating_sub(start).min(len);
    // Rows to spare keep all.
    let (mut first, mut end) = ([0; ROWS], [len; ROWS]);
    for (r, Reach([_, seen])) in reach.iter().enumerate().take(ROWS) {
        (first[r], end[r]) = (column(seen.start), column(seen.end));
    }
    let last = first.iter().fold(0, |a, &b| a.max(b)).div_ceil(WIDTH);
    let next = end.iter().fold(len, |a, &b| a.min(b)) / WIDTH;
    let nothing = L::splat(f32::NEG_INFINITY);
    let columns =
        |strip: usize| L::splat((strip * WIDTH) as f32).add(L::from_array([0.0, 1.0, 2.0, 3.0]));
    if last > 0 {
        let first = first.map(|at| L::splat(at as f32));
        for (s, strip) in scores.iter_mut().enumerate().take(last) {
            let columns = columns(s);
            for (x, first) in strip.iter_mut().zip(first) {
                columns.select_less(first, nothing, L::load(x)).store(x);
            }
        }
    }
    if next < scores.len() {
        let end = end.map(|at| L::splat(at as f32));
        for (s, strip) in scores.iter_mut().enumerate().skip(next) {
            let columns = columns(s);
            for (x, end) in strip.iter_mut().zip(end) {
                columns.select_less(end, L::load(x), nothing).store(x);
            }
        }
    }
}

/// Hides the scores of row `r` in a range of columns: −∞ takes their place, or a constant is added.
#[inline(always)]
fn cover<L: Lane>(constant: Option<f32>, columns: Range<usize>, r: usize, scores: &mut [Strip]) {
    if columns.is_empty() {
        return;
    }
    let [first, end] = [columns.start, columns.end].map(|at| L::splat(at as f32));
    let strips = columns.start / WIDTH..columns.end.div_ceil(WIDTH);
    let mut at = L::splat((strips.start * WIDTH) as f32).add(L::from_array([0.0, 1.0, 2.0, 3.0]));
    for strip in &mut scores[strips] {
        let x = L::load(&strip[r]);
        let hidden = match constant {
            None => L::splat(f32::NEG_INFINITY),
            Some(constant) => x.add(L::splat(constant)),
        };
        let hidden = at.select_less(end, hidden, x);
        at.select_less(first, x, hidden).store(&mut strip[r]);
        at = at.add(L::splat(WIDTH as f32));
    }
}
