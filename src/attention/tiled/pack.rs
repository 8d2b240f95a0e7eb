//! Keys and values in the order in which the kernel reads them.

use super::narrow;
use crate::naive::Inputs;
use crate::prepare::{Places, Side};
use crate::rows::RowRunner;
use crate::shape::{HeadIdx, KeyIdx, KvHeadIdx, Shape};
use crate::spec::AttentionSpec;

/// Numbers side by side that one step of the kernel takes: two lanes.
pub(super) const PANEL: usize = 8;

/// Sums that stay below this in float64 cannot overflow in float32, rounding included.
const SAFE: f64 = 1e37;

/// Everything that the rows share, for all heads.
pub(super) struct Packed {
    /// `[kv_heads][n_k / 8][d_k][8]`: eight keys side by side; filled up with zeros.
    k: Vec<f32>,
    /// `[kv_heads][d_v / 8][n_k][8]`: eight columns side by side; filled up with zeros.
    v: Vec<f32>,
    sizes: Vec<Sizes>,
    /// The bias of each head at j − i + n_q − 1, filled up with zeros; empty where there is none.
    bias: Vec<Vec<f32>>,
    largest_bias: f64,
    /// Where queries stand.
    pub(super) query_places: Places,
    /// Keys, filled up to whole panels.
    pub(super) n_k: usize,
    /// Columns of the values, filled up to whole panels.
    pub(super) d_v: usize,
}

/// The largest numbers of a key/value head.
#[derive(Clone, Copy, Default)]
struct Sizes {
    k: f64,
    v: f64,
}

/// One key/value head while it is packed.
struct Task<'a> {
    head: KvHeadIdx,
    k: &'a mut [f32],
    v: &'a mut [f32],
    sizes: &'a mut Sizes,
}

impl Packed {
    pub(super) fn new<R: RowRunner>(
        spec: &AttentionSpec,
        inputs: &Inputs<'_, f32>,
        runner: &R,
        go_on: &(impl Fn() -> bool + Sync),
    ) -> Self {
        let shape = spec.shape();
        let n_k = shape.n_k.next_multiple_of(PANEL);
        let d_v = shape.d_v.next_multiple_of(PANEL);
        let (k_len, v_len) = (n_k * shape.d_k, n_k * d_v);
        let mut k = vec![0.0; shape.kv_heads * k_len];
        let mut v = vec![0.0; shape.kv_heads * v_len];
        let mut sizes = vec![Sizes::default(); shape.kv_heads];

        let places = Places::new(spec, Side::Keys);
        let tasks = k
            .chunks_mut(k_len)
            .zip(v.chunks_mut(v_len))
            .zip(&mut sizes)
            .enumerate();
        let tasks = tasks.map(|(head, ((k, v), sizes))| Task {
            head: KvHeadIdx(head),
            k,
            v,
            sizes,
        });
        runner.for_each(
            tasks.collect(),
            || vec![0.0; shape.d_k],
            |row, task| {
                if go_on() {
                    *task.sizes = Sizes {
                        k: pack_keys(shape, inputs.k(), task.head, &places, row, task.k),
                        v: pack_values(shape, inputs.v(), task.head, n_k, task.v),
                    };
                }
            },
        );

        let bias = bias_tables(spec, n_k);
        let largest_bias = bias
            .iter()
            .flatten()
            .fold(0.0_f64, |m, &b| m.max(f64::from(b).abs()));
        let query_places = Places::new(spec, Side::Queries);
        Self {
            k,
            v,
            sizes,
            bias,
            largest_bias,
            query_places,
            n_k,
            d_v,
        }
    }

    /// The panel `[d_k][8]` that starts at key `first`, a multiple of 8.
    #[inline(always)]
    pub(super) fn keys(&self, head: KvHeadIdx, first: usize, d_k: usize) -> &[f32] {
        &self.k[(head.0 * self.n_k + first) * d_k..][..PANEL * d_k]
    }

    /// Columns `column` to `column` + 7 of the values of `n` keys from `first` on `[n][8]`.
    #[inline(always)]
    pub(super) fn values(&self, head: KvHeadIdx, column: usize, first: usize, n: usize) -> &[f32] {
        let panel = head.0 * self.d_v + column;
        &self.v[panel * self.n_k + first * PANEL..][..n * PANEL]
    }

    /// What the scores of query `q` gain from key `first` on; `None` without such a bias.
    #[inline(always)]
    pub(super) fn bias(&self, head: HeadIdx, n_q: usize, q: usize, first: usize) -> Option<&[f32]> {
        self.bias
            .get(head.0)
            .map(|table| &table[n_q - 1 - q + first..])
    }

    /// Whether scores and sums of a row are sure to stay in float32; `query` is the sum of the sizes of its cells.
    pub(super) fn fits(&self, spec: &AttentionSpec, head: KvHeadIdx, query: f64) -> bool {
        let Sizes { k, v } = self.sizes[head.0];
        let score = query * k;
        let cap_fits = spec
            .soft_cap()
            .is_none_or(|cap| (cap as f32).is_normal() && score / cap < SAFE);
        score + self.largest_bias < SAFE && v * self.n_k as f64 <= SAFE && cap_fits
    }
}

/// Norms, turns, rounds and packs the keys of a head; the size of the largest number.
fn pack_keys(
    shape: Shape,
    k: &[f32],
    head: KvHeadIdx,
    places: &Places,
    row: &mut [f64],
    packed: &mut [f32],
) -> f64 {
    let mut largest = 0.0_f64;
    for (j, key) in (0..shape.n_k).map(|j| (j, &k[shape.k_row(head, KeyIdx(j))])) {
        widen(key, row);
        places.apply(row, j);
        let panel = &mut packed[j / PANEL * PANEL * shape.d_k..];
        for (c, &x) in row.iter().enumerate() {
            panel[c * PANEL + j % PANEL] = narrow(x);
            largest = largest.max(x.abs());
        }
    }
    largest
}

/// Packs the values of a head; the size of the largest number.
fn pack_values(shape: Shape, v: &[f32], head: KvHeadIdx, n_k: usize, packed: &mut [f32]) -> f64 {
    let mut largest = 0.0_f32;
    for (j, value) in (0..shape.n_k).map(|j| (j, &v[shape.v_row(head, KeyIdx(j))])) {
        for (c, &x) in value.iter().enumerate() {
            packed[(c / PANEL * n_k + j) * PANEL + c % PANEL] = x;
            largest = largest.max(x.abs());
        }
    }
    f64::from(largest)
}

fn bias_tables(spec: &AttentionSpec, n_k: usize) -> Vec<Vec<f32>> {
    let shape = spec.shape();
    if !spec.has_bias() {
        return Vec::new();
    }
    let table = |head| {
        let offsets = (0..shape.n_q + shape.n_k - 1).map(|at| shape.n_q as isize - 1 - at as isize);
        let mut table: Vec<f32> = offsets
            .map(|o| narrow(spec.relative_bias(head, o)))
            .collect();
        table.resize(shape.n_q + n_k, 0.0);
        table
    };
    shape.head_indices().map(table).collect()
}

/// Copies float32 into float64.
pub(super) fn widen(from: &[f32], to: &mut [f64]) {
    for (to, &from) in to.iter_mut().zip(from) {
        *to = f64::from(from);
    }
}
