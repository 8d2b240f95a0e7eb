//! One row of a trace as the inspector reads it. Computes no attention: it looks up, sorts and sums what is there.

use super::names::Names;
use crate::{canvas::heat::Look, ctx::Looked, order, session::Session};
use attention::{AttentionSpec, HeadIdx, Hidden, KeyIdx, QueryIdx, naive::CellState, positions};
use protocol::{RowFacts, Trace};
use std::sync::Arc;

/// What the views need to know of the session beside the numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Words on the axes.
    pub names: Names,
    /// The attention asked for; `None` while it is not a valid one.
    pub spec: Option<AttentionSpec>,
    /// Whether a cell is pinned.
    pub pinned: bool,
    /// The row to return to when the pointer leaves.
    pub home: usize,
    /// The gradient at the output that the reader typed.
    pub typed: Option<Vec<f64>>,
}

impl Setting {
    /// Of a session.
    pub fn of(session: &Session) -> Setting {
        Setting {
            names: Names::of(session),
            spec: AttentionSpec::new(session.config()).ok(),
            pinned: session.pin.is_some(),
            home: session.look_at().0,
            typed: session.d_out.clone(),
        }
    }

    /// What becomes of a hidden score.
    pub fn hidden(&self) -> Hidden {
        self.spec
            .as_ref()
            .map_or(Hidden::NegInfinity, AttentionSpec::hidden)
    }

    /// The sink logit of the head.
    pub fn sink(&self, head: usize) -> Option<f64> {
        self.spec.as_ref().and_then(|s| s.sink(HeadIdx(head)))
    }

    /// The soft cap.
    pub fn soft_cap(&self) -> Option<f64> {
        self.spec.as_ref().and_then(AttentionSpec::soft_cap)
    }

    /// Whether queries and keys are normed; whether they are rotated.
    pub fn changed(&self) -> (bool, bool) {
        self.spec.as_ref().map_or((false, false), |s| {
            (s.qk_norm().is_some(), !s.turns().is_empty())
        })
    }

    /// Whether a scheme adds to the scores.
    pub fn biased(&self) -> bool {
        self.spec.as_ref().is_some_and(|s| {
            s.config()
                .positions
                .iter()
                .any(|p| matches!(p.scheme.action, positions::Action::RelativeBias(_)))
        })
    }
}

/// How a cell whose state the engine gave as a number looks.
pub fn look_of(state: f64) -> Look {
    const MASKED: u8 = CellState::Masked as u8;
    const NOTHING: u8 = CellState::RowSeesNothing as u8;
    const UNDERFLOWED: u8 = CellState::Underflowed as u8;
    const OVERFLOWED: u8 = CellState::Overflowed as u8;
    match state as u8 {
        MASKED => Look::Masked,
        NOTHING => Look::Empty,
        UNDERFLOWED => Look::Underflow,
        OVERFLOWED => Look::Overflow,
        _ => Look::Plain,
    }
}

/// A trace, the row and cell looked at, and the setting, checked to fit each other: what stands behind may index.
#[derive(Clone, Debug)]
pub struct Shown {
    trace: Arc<Trace>,
    looked: Arc<Looked>,
    /// The session's part.
    pub setting: Arc<Setting>,
    /// The numbers are not, or not yet, those of the present session.
    pub stale: bool,
}

impl PartialEq for Shown {
    fn eq(&self, other: &Shown) -> bool {
        Arc::ptr_eq(&self.trace, &other.trace)
            && (Arc::ptr_eq(&self.looked, &other.looked) || self.looked == other.looked)
            && self.setting == other.setting
            && self.stale == other.stale
    }
}

/// One key of the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Which.
    pub key: usize,
    /// Its logit after the mask: −∞ where it is hidden.
    pub logit: f64,
    /// Its weight.
    pub weight: f64,
    /// What it is beside a number.
    pub look: Look,
    /// The mask hides it, though a finite constant leaves it some weight.
    pub leaks: bool,
}

/// The most keys that are listed one by one.
pub const MOST_LINES: usize = 16;

impl Shown {
    /// `None` where row or cell are not of this trace: the two come one after the other.
    pub fn new(
        trace: Arc<Trace>,
        looked: Arc<Looked>,
        setting: Arc<Setting>,
        stale: bool,
    ) -> Option<Shown> {
        let s = trace.shape;
        let (query, key, cells) = (looked.row.query, looked.cell.key, s.n_q.checked_mul(s.n_k)?);
        let fits = query < s.n_q
            && key < s.n_k
            && looked.cell.query == query
            && trace.scores.len() == cells
            && trace.weights.len() == cells
            && trace.states.len() == cells
            && trace.rows.len() == s.n_q
            && trace.q_pos.len() == s.n_q * s.d_k
            && trace.k_pos.len() == s.n_k * s.d_k
            && trace.v.len() == s.n_k * s.d_v
            && trace.out.len() == s.n_q * s.d_v
            && looked.row.jacobian.len() == s.n_k * s.n_k
            && looked.row.d_scores.len() == s.n_k
            && looked.cell.terms.len() == s.d_k;
        fits.then_some(Shown {
            trace,
            looked,
            setting,
            stale,
        })
    }

    /// The trace.
    pub fn trace(&self) -> &Trace {
        &self.trace
    }

    /// The trace, shared.
    pub fn shared(&self) -> &Arc<Trace> {
        &self.trace
    }

    /// Row and cell.
    pub fn looked(&self) -> &Looked {
        &self.looked
    }

    /// The query looked at.
    pub fn query(&self) -> usize {
        self.looked.row.query
    }

    /// The key looked at.
    pub fn key(&self) -> usize {
        self.looked.cell.key
    }

    /// Keys.
    pub fn n_k(&self) -> usize {
        self.trace.shape.n_k
    }

    /// The row in numbers.
    pub fn facts(&self) -> &RowFacts {
        &self.trace.rows[self.query()]
    }

    /// Whether no key is visible and none leaks.
    pub fn sees_nothing(&self) -> bool {
        self.row_sees_nothing(self.query())
    }

    /// The same of any row.
    pub fn row_sees_nothing(&self, query: usize) -> bool {
        query < self.trace.shape.n_q && self.looks_at(query).all(|l| l == Look::Empty)
    }

    /// How a weight looks.
    pub fn look(&self, query: usize, key: usize) -> Look {
        self.trace
            .states
            .get(query * self.n_k() + key)
            .map_or(Look::Plain, |s| look_of(*s))
    }

    /// Whether the masks let a query see a key.
    pub fn sees(&self, query: usize, key: usize) -> bool {
        match &self.setting.spec {
            // The session may already be of another shape than the trace.
            Some(s) if s.shape().n_k == self.n_k() && query < s.shape().n_q => {
                s.visible(QueryIdx(query), KeyIdx(key))
            }
            _ => !matches!(self.look(query, key), Look::Masked | Look::Empty),
        }
    }

    /// The sink logit that takes part in the row.
    pub fn sink(&self) -> Option<f64> {
        self.setting.sink(self.trace.head)
    }

    /// The weights of a row.
    pub fn weights_of(&self, query: usize) -> &[f64] {
        let n = self.n_k();
        self.trace
            .weights
            .get(query * n..(query + 1) * n)
            .unwrap_or(&[])
    }

    fn looks_at(&self, query: usize) -> impl Iterator<Item = Look> + '_ {
        let n = self.n_k();
        self.trace.states[query * n..(query + 1) * n]
            .iter()
            .map(|s| look_of(*s))
    }

    /// The looks of the row's weights.
    pub fn looks(&self) -> Vec<Look> {
        self.looks_at(self.query()).collect()
    }

    /// Values, `[n_k, d_v]`.
    pub fn value(&self, key: usize) -> &[f64] {
        let d = self.trace.shape.d_v;
        &self.trace.v[key * d..(key + 1) * d]
    }

    /// The row's output, `[d_v]`.
    pub fn out(&self) -> &[f64] {
        let d = self.trace.shape.d_v;
        &self.trace.out[self.query() * d..(self.query() + 1) * d]
    }

    /// One key of the row.
    pub fn line(&self, key: usize) -> Line {
        let (q, n) = (self.query(), self.n_k());
        let (score, weight) = (
            self.trace.scores[q * n + key],
            self.trace.weights[q * n + key],
        );
        let look = look_of(self.trace.states[q * n + key]);
        let hidden = !self.sees(q, key) || matches!(look, Look::Masked | Look::Empty);
        let logit = match self.setting.hidden() {
            _ if !hidden => score,
            Hidden::NegInfinity => f64::NEG_INFINITY,
            Hidden::Finite(constant) => score + constant,
        };
        Line {
            key,
            logit,
            weight,
            look,
            leaks: hidden && weight > 0.0,
        }
    }

    /// The keys to list, in the order of their places: all, or the [`MOST_LINES`] of largest weight and the one looked
    /// at.
    pub fn lines(&self) -> Vec<Line> {
        chosen(self.weights_of(self.query()), self.key(), MOST_LINES)
            .into_iter()
            .map(|k| self.line(k))
            .collect()
    }

    /// How many keys are not listed, and their weight together.
    pub fn rest(&self, lines: &[Line]) -> Option<(usize, f64)> {
        let weights = self.weights_of(self.query());
        let more = weights.len().saturating_sub(lines.len());
        let mut listed = lines.iter().map(|l| l.key).peekable();
        let together = weights
            .iter()
            .enumerate()
            .filter(|(k, _)| listed.next_if_eq(k).is_none())
            .map(|(_, w)| w)
            .sum();
        (more > 0).then_some((more, together))
    }

    /// The heaviest keys and their weights, heaviest first; keys without weight are left out.
    pub fn heaviest(&self, most: usize) -> Vec<(usize, f64)> {
        let keys: Vec<(usize, f64)> = self
            .weights_of(self.query())
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, w)| *w > 0.0)
            .collect();
        let mut keys = order::sorted(&keys, &|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        keys.truncate(most);
        keys
    }
}

/// The indices of the `most` largest weights (the first of equals) and of `key`, in order.
pub fn chosen(weights: &[f64], key: usize, most: usize) -> Vec<usize> {
    let mut keys: Vec<usize> = (0..weights.len()).collect();
    if keys.len() > most {
        order::sort(&mut keys, &|a, b| weights[b].total_cmp(&weights[a]));
        let looked = keys.iter().skip(most).any(|k| *k == key);
        keys.truncate(most);
        if looked {
            keys.push(key);
        }
        order::sort(&mut keys, &|a, b| a.cmp(&b));
    }
    keys
}
