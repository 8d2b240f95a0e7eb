//! What scores gain by distance, as a table.
//!
//! It depends on the distance only, so it stays from call to call, and a call with more keys only adds to it: a step of
//! decoding finds it there.

use super::tile::KEYS;
use crate::math::narrow;
use crate::shape::{HeadIdx, Shape};
use crate::spec::AttentionSpec;
use std::f64::consts::LOG2_E;

/// The table, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Bias {
    /// What it was made for; calls of other numbers of keys have the same.
    of: Option<AttentionSpec>,
    columns: usize,
    /// The bias of each head at j − i + n_q − 1 in units of ln 2 `[heads][columns]`.
    table: Vec<f32>,
    /// The largest size up to each column, whatever the head `[columns]`.
    largest: Vec<f64>,
    /// The largest of this call; `None` where it has no bias.
    largest_here: Option<f64>,
}

/// Columns that a call needs: whole blocks of keys.
fn columns(shape: Shape) -> usize {
    shape.n_q + shape.n_k.next_multiple_of(KEYS)
}

/// Bytes that a [`Bias`] takes.
pub(super) fn bytes(spec: &AttentionSpec) -> usize {
    if spec.has_bias() {
        let column = spec.shape().heads * size_of::<f32>() + size_of::<f64>();
        columns(spec.shape()) * column
    } else {
        0
    }
}

impl Bias {
    /// Works out what a call needs and is not there yet.
    pub(super) fn prepare(&mut self, spec: &AttentionSpec) {
        self.largest_here = None;
        if !spec.has_bias() {
            return;
        }
        let shape = spec.shape();
        let same = |of: &AttentionSpec| of.shape().n_q == shape.n_q && of.has_bias_of(spec);
        if !self.of.as_ref().is_some_and(same) {
            self.of = Some(spec.clone());
            self.columns = 0;
            self.table.clear();
            self.largest.clear();
        }
        if self.columns < columns(shape) {
            self.grow(spec);
        }
        let last = shape.n_q + shape.n_k - 2;
        self.largest_here = self.largest.get(last).copied();
    }

    fn grow(&mut self, spec: &AttentionSpec) {
        let shape = spec.shape();
        let (old, new) = (self.columns, columns(shape));
        let len = shape.heads * new;
        self.table.reserve_exact(len - self.table.len());
        self.table.resize(len, 0.0);
        self.largest.reserve_exact(new - old);
        self.largest.resize(new, 0.0);
        for head in (0..shape.heads).rev() {
            let row = head * old..(head + 1) * old;
            self.table.copy_within(row, head * new);
        }
        for (head, row) in shape.head_indices().zip(self.table.chunks_exact_mut(new)) {
            let cells = row.iter_mut().zip(&mut self.largest);
            for (at, (cell, largest)) in cells.enumerate().skip(old) {
                let offset = shape.n_q as isize - 1 - at as isize;
                let bias = spec.relative_bias(head, offset) * LOG2_E;
                *cell = narrow(bias);
                *largest = largest.max(bias.abs());
            }
        }
        for at in old.max(1)..new {
            self.largest[at] = self.largest[at].max(self.largest[at - 1]);
        }
        self.columns = new;
    }

    /// Whether exponents gain anything by distance.
    pub(super) fn is_there(&self) -> bool {
        self.largest_here.is_some()
    }

    /// What the exponents of query `q` gain from key `first` on; only where there is a bias. Behind the last key it goes on.
    #[inline(always)]
    pub(super) fn of(&self, shape: Shape, head: HeadIdx, q: usize, first: usize) -> &[f32] {
        let row = head.0 * self.columns..(head.0 + 1) * self.columns;
        let row = self.table.get(row).unwrap_or(&[]);
        row.get(shape.n_q - 1 - q + first..).unwrap_or(&[])
    }

    /// The largest size of a bias, as an exponent of 2.
    pub(super) fn largest(&self) -> f64 {
        self.largest_here.unwrap_or(0.0)
    }
}
