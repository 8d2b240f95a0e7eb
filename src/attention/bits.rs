//! A matrix of bits: a mask drawn by hand.

use crate::shape::{KeyIdx, QueryIdx};
use std::ops::Range;

/// One bit per (query, key); 1 is visible. Each row starts a new 64-bit word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BitMatrix {
    n_q: usize,
    n_k: usize,
    words: Vec<u64>,
}

const BITS: usize = u64::BITS as usize;

impl BitMatrix {
    /// All bits `visible`, for `n_q` queries and `n_k` keys.
    #[must_use]
    pub fn filled(n_q: usize, n_k: usize, visible: bool) -> Self {
        let row = n_k.div_ceil(BITS);
        let word = if visible { u64::MAX } else { 0 };
        let mut words = vec![word; n_q * row];
        // Bits beyond the last key are 0, so that equal drawings are equal.
        if let tail @ 1.. = n_k % BITS {
            for last in words.iter_mut().skip(row - 1).step_by(row) {
                *last &= (1 << tail) - 1;
            }
        }
        Self { n_q, n_k, words }
    }

    /// A bit for each pair, as `visible` says.
    #[must_use]
    pub fn from_fn(
        n_q: usize,
        n_k: usize,
        mut visible: impl FnMut(QueryIdx, KeyIdx) -> bool,
    ) -> Self {
        let mut bits = Self::filled(n_q, n_k, false);
        for q in (0..n_q).map(QueryIdx) {
            for k in (0..n_k).map(KeyIdx) {
                bits.set(q, k, visible(q, k));
            }
        }
        bits
    }

    /// Rows.
    #[must_use]
    pub const fn n_q(&self) -> usize {
        self.n_q
    }

    /// Columns.
    #[must_use]
    pub const fn n_k(&self) -> usize {
        self.n_k
    }

    /// Whether the pair is visible; `false` outside of the matrix.
    #[must_use]
    pub fn get(&self, q: QueryIdx, k: KeyIdx) -> bool {
        q.0 < self.n_q && k.0 < self.n_k && self.words[self.word(q, k)] >> (k.0 % BITS) & 1 == 1
    }

    /// Makes the pair visible or not; does nothing outside of the matrix.
    pub fn set(&mut self, q: QueryIdx, k: KeyIdx, visible: bool) {
        if q.0 >= self.n_q || k.0 >= self.n_k {
            return;
        }
        let word = self.word(q, k);
        let bit = 1 << (k.0 % BITS);
        if visible {
            self.words[word] |= bit;
        } else {
            self.words[word] &= !bit;
        }
    }

    /// How many of the keys `keys` are visible to `q`.
    #[must_use]
    pub fn count(&self, q: QueryIdx, keys: Range<usize>) -> usize {
        keys.filter(|&k| self.get(q, KeyIdx(k))).count()
    }

    fn word(&self, q: QueryIdx, k: KeyIdx) -> usize {
        q.0 * self.n_k.div_ceil(BITS) + k.0 / BITS
    }
}
