//! Sizes and axes. An axis is a type: a query index cannot be passed where a key index is meant.

use std::ops::Range;

/// The sizes of one attention call.
///
/// Tensors are row-major: `q` `[heads, n_q, d_k]`, `k` `[kv_heads, n_k, d_k]`, `v` `[kv_heads, n_k, d_v]`,
/// scores and weights `[heads, n_q, n_k]`, `out` `[heads, n_q, d_v]`.
///
/// A `Shape` by itself promises nothing; one that comes out of an
/// [`AttentionSpec`](crate::AttentionSpec) has no zero sizes and heads that divide. Products of sizes that a `usize`
/// does not hold are its largest value: where it has 32 bits, the scores of a valid shape may be too many to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Query heads, h.
    pub heads: usize,
    /// Key/value heads, g; divides `heads`. Equal to it in ordinary attention, 1 in multi-query attention.
    pub kv_heads: usize,
    /// Queries per head.
    pub n_q: usize,
    /// Keys, and values, per head.
    pub n_k: usize,
    /// Width of a query and of a key.
    pub d_k: usize,
    /// Width of a value and of an output.
    pub d_v: usize,
}

/// A query head, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HeadIdx(pub usize);

/// A key/value head, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KvHeadIdx(pub usize);

/// A query, i.e. a row of the scores, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QueryIdx(pub usize);

/// A key, i.e. a column of the scores, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyIdx(pub usize);

impl Shape {
    /// One head of `n` tokens attending to each other, all widths `d`.
    ///
    /// ```
    /// let shape = attention::Shape::square(6, 4);
    /// assert_eq!((shape.heads, shape.n_q, shape.n_k, shape.d_v), (1, 6, 6, 4));
    /// ```
    #[must_use]
    pub const fn square(n: usize, d: usize) -> Self {
        Self {
            heads: 1,
            kv_heads: 1,
            n_q: n,
            n_k: n,
            d_k: d,
            d_v: d,
        }
    }

    /// The key/value head that a query head reads: i // (heads / kv_heads).
    ///
    /// Neighbouring query heads share one (0,0,1,1 and not 0,1,0,1), as grouped-query attention defines
    /// (Ainslie et al. 2023).
    #[must_use]
    pub const fn kv_head(self, head: HeadIdx) -> KvHeadIdx {
        KvHeadIdx(head.0 / self.group())
    }

    /// How many query heads read the same key/value head; at least 1.
    #[must_use]
    pub const fn group(self) -> usize {
        // `max` for shapes that no spec has accepted: kv_heads may be 0 or above heads there.
        let kv_heads = if self.kv_heads == 0 { 1 } else { self.kv_heads };
        let group = self.heads / kv_heads;
        if group == 0 { 1 } else { group }
    }

    /// Numbers in `q`: heads · n_q · d_k.
    #[must_use]
    pub const fn q_len(self) -> usize {
        self.heads.saturating_mul(self.n_q).saturating_mul(self.d_k)
    }

    /// Numbers in `k`: kv_heads · n_k · d_k.
    #[must_use]
    pub const fn k_len(self) -> usize {
        self.kv_heads
            .saturating_mul(self.n_k)
            .saturating_mul(self.d_k)
    }

    /// Numbers in `v`: kv_heads · n_k · d_v.
    #[must_use]
    pub const fn v_len(self) -> usize {
        self.kv_heads
            .saturating_mul(self.n_k)
            .saturating_mul(self.d_v)
    }

    /// Numbers in `out`: heads · n_q · d_v.
    #[must_use]
    pub const fn out_len(self) -> usize {
        self.heads.saturating_mul(self.n_q).saturating_mul(self.d_v)
    }

    /// Numbers in the scores, and in the weights: heads · n_q · n_k.
    #[must_use]
    pub const fn scores_len(self) -> usize {
        self.heads.saturating_mul(self.n_q).saturating_mul(self.n_k)
    }

    /// Rows of the scores over all heads: heads · n_q.
    #[must_use]
    pub const fn rows(self) -> usize {
        self.heads.saturating_mul(self.n_q)
    }

    /// Where row (`head`, `query`) stands in a `[heads, n_q]` array such as the log-sum-exps.
    #[must_use]
    pub const fn row(self, head: HeadIdx, query: QueryIdx) -> usize {
        head.0 * self.n_q + query.0
    }

    /// Where row (`head`, `query`) lies in the scores or weights.
    #[must_use]
    pub const fn scores_row(self, head: HeadIdx, query: QueryIdx) -> Range<usize> {
        let start = self.row(head, query) * self.n_k;
        start..start + self.n_k
    }

    /// Where row (`head`, `query`) lies in `out`.
    #[must_use]
    pub const fn out_row(self, head: HeadIdx, query: QueryIdx) -> Range<usize> {
        let start = self.row(head, query) * self.d_v;
        start..start + self.d_v
    }

    /// Where row (`head`, `query`) lies in `q`.
    #[must_use]
    pub const fn q_row(self, head: HeadIdx, query: QueryIdx) -> Range<usize> {
        let start = self.row(head, query) * self.d_k;
        start..start + self.d_k
    }

    /// Where row (`head`, `key`) lies in `k`.
    #[must_use]
    pub const fn k_row(self, head: KvHeadIdx, key: KeyIdx) -> Range<usize> {
        let start = (head.0 * self.n_k + key.0) * self.d_k;
        start..start + self.d_k
    }

    /// Where row (`head`, `key`) lies in `v`.
    #[must_use]
    pub const fn v_row(self, head: KvHeadIdx, key: KeyIdx) -> Range<usize> {
        let start = (head.0 * self.n_k + key.0) * self.d_v;
        start..start + self.d_v
    }

    /// All query heads in order.
    pub fn head_indices(self) -> impl Iterator<Item = HeadIdx> {
        (0..self.heads).map(HeadIdx)
    }

    /// All queries of a head in order.
    pub fn queries(self) -> impl Iterator<Item = QueryIdx> {
        (0..self.n_q).map(QueryIdx)
    }

    /// All keys of a head in order.
    pub fn keys(self) -> impl Iterator<Item = KeyIdx> {
        (0..self.n_k).map(KeyIdx)
    }
}
