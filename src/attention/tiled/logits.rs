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
}

impl<'a> Logits<'a> {
    pub(super) fn new(spec: &'a AttentionSpec, shared: &'a Shared) -> Self {
        Self {
            spec,
            shared,
            units: Units::of(spec),
            masked: !spec.config().masks.is_empty(),
        }
    }

    pub(super) fn shape(&self) -> Shape {
        self.spec.shape()
    }

    /// What queries are multiplied by.
    pub(super) fn factor(&self) -> f64 {
        self.units.factor
    }

    /// Where each of these rows, counted through all heads, sees anything; empty where there are no masks.
    pub(super) fn reach(&self, rows: Range<usize>) -> impl Iterator<Item = Reach> {
        let rows = if self.masked { rows } else { 0..0 };
        rows.map(|row| self.spec.reach(self.place(row).1))
    }

    /// The head and the query of a row.
    fn place(&self, row: usize) -> (HeadIdx, QueryIdx) {
        let n_q = self.shape().n_q;
        (HeadIdx(row / n_q), QueryIdx(row % n_q))
    }

    /// The panels of eight keys between the first and the last that any row sees; all where hidden keys take part.
    pub(super) fn span(&self, rows: &[Reach], keys: &Range<usize>) -> Range<usize> {
        if !self.masked || self.spec.hidden() != Hidden::NegInfinity {
            return 0..keys.len().div_ceil(WIDE);
        }
        let [a, b] = Reach::of_all(rows).within(keys);
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
        for r in 0..ROWS {
            // The last group of a task may have rows to spare: they repeat the last row and are not used.
            let row = (rows.start + r).min(rows.end - 1);
            self.row::<L>(row, r, start, end, reach.get(r), scores);
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
        if self.shared.has_bias() {
            let (head, q) = self.place(row);
            let bias = self.shared.bias(self.shape(), head, q.0, start);
            for (strip, bias) in scores.iter_mut().zip(bias.as_chunks::<WIDTH>().0) {
                L::load(&strip[r]).add(L::load(bias)).store(&mut strip[r]);
            }
        }
        if let Some(reach) = reach {
            self.hide(self.place(row).1, r, start, end, reach, scores);
        }
        // What stands behind the last key is a panel's filling.
        for at in end - start..scores.len() * WIDTH {
            scores[at / WIDTH][r][at % WIDTH] = f32::NEG_INFINITY;
        }
    }

    /// Puts −∞ in place of the scores that the masks hide from `q`, or adds the spec's constant to them.
    fn hide(
        &self,
        q: QueryIdx,
        r: usize,
        start: usize,
        end: usize,
        reach: &Reach,
        scores: &mut [Strip],
    ) {
        let end = end.min(start + scores.len() * WIDTH);
        let mut hide = |keys: Range<usize>| {
            for at in keys.start - start..keys.end - start {
                let x = &mut scores[at / WIDTH][r][at % WIDTH];
                match self.spec.hidden() {
                    Hidden::NegInfinity => *x = f32::NEG_INFINITY,
                    Hidden::Finite(constant) => *x += narrow(constant * LOG2_E),
                }
            }
        };
        let keys = start..end;
        let seen = reach.within(&keys);
        let mut hidden = start;
        for part in seen.iter().filter(|part| !part.is_empty()) {
            hide(hidden..part.start);
            hidden = part.end;
        }
        hide(hidden..end);
        if self.spec.reach_is_exact() {
            return;
        }
        for part in seen {
            if self.spec.coverage(q.0..q.0 + 1, part.clone()) != Coverage::Whole {
                for k in part {
                    if !self.spec.visible(q, KeyIdx(k)) {
                        hide(k..k + 1);
                    }
                }
            }
        }
    }
}
