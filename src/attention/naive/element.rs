//! Checked inputs in float32 or float64.

use crate::error::{CacheError, InputError};
use crate::prepare::same_keys;
use crate::rows::RowRunner;
use crate::shape::KvHeadIdx;
use crate::spec::AttentionSpec;
use std::sync::atomic::{AtomicU64, Ordering};

/// Cells that are looked at as one task.
const PIECE: usize = 1 << 16;

/// A number that a tensor is made of: `f32` or `f64`.
pub trait Element: Copy + Send + Sync + 'static {
    /// The same value in float64, exactly.
    fn wide(self) -> f64;
    /// The largest size of a cell; NaN or infinite where a cell is.
    fn size(cells: &[Self]) -> f64;
}

impl Element for f32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn size(cells: &[f32]) -> f64 {
        // Without their signs, numbers are ordered as their bits, with what is not finite above the rest. A maximum of
        // whole numbers is quick on vectors, where a search that may end early is not.
        let size = |x: &f32| x.to_bits() & 0x7fff_ffff;
        let largest = cells.iter().fold(0, |m: u32, x| m.max(size(x)));
        f64::from(f32::from_bits(largest))
    }
}

impl Element for f64 {
    fn wide(self) -> f64 {
        self
    }

    fn size(cells: &[f64]) -> f64 {
        let size = |x: &f64| x.to_bits() & (u64::MAX >> 1);
        f64::from_bits(cells.iter().fold(0, |m: u64, x| m.max(size(x))))
    }
}

/// The rows of a tensor, head by head, where heads may have room between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Heads<'a, T> {
    cells: &'a [T],
    /// Numbers of a head.
    len: usize,
    /// Numbers from the start of a head to that of the next.
    stride: usize,
}

impl<'a, T> Heads<'a, T> {
    /// Heads of `len` numbers, one behind the other.
    pub(crate) const fn dense(cells: &'a [T], len: usize) -> Self {
        Self {
            cells,
            len,
            stride: len,
        }
    }

    /// The first `len` numbers of each `stride`.
    pub(crate) const fn apart(cells: &'a [T], len: usize, stride: usize) -> Self {
        Self { cells, len, stride }
    }

    /// The rows of a head.
    #[inline(always)]
    pub(crate) fn of(self, head: KvHeadIdx) -> &'a [T] {
        &self.cells[head.0 * self.stride..][..self.len]
    }

    /// Numbers in all heads.
    fn total(self) -> usize {
        match self.stride {
            0 => 0,
            stride => self.cells.len() / stride * self.len,
        }
    }
}

/// Q, K and V of a call: of the right length, and every cell finite.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, T> {
    q: &'a [T],
    k: Heads<'a, T>,
    v: Heads<'a, T>,
    sizes: [f64; 3],
    /// A spec that says what the keys went through; `None` where they did not yet.
    kept: Option<&'a AttentionSpec>,
}

impl<'a, T: Element> Inputs<'a, T> {
    /// Checks `q` `[heads, n_q, d_k]`, `k` `[kv_heads, n_k, d_k]` and `v` `[kv_heads, n_k, d_v]`, all row-major.
    ///
    /// Fails at the first tensor of another length, or the first cell that is NaN or infinite, with its index.
    /// Keys and values that stay from call to call are checked once by a [`Cache`](crate::Cache).
    ///
    /// ```
    /// use attention::{AttentionSpec, Config, Inputs, Shape};
    /// let spec = AttentionSpec::new(Config::new(Shape::square(2, 1)))?;
    /// let error = Inputs::new(&spec, &[0.0, 1.0], &[0.0, f64::INFINITY], &[0.0, 1.0]).unwrap_err();
    /// assert_eq!(error.to_string(), "k[0, 1, 0]: expected a finite number, got +∞. Type one.");
    /// # Ok::<(), attention::SpecError>(())
    /// ```
    pub fn new(
        spec: &AttentionSpec,
        q: &'a [T],
        k: &'a [T],
        v: &'a [T],
    ) -> Result<Self, InputError> {
        Self::with_sizes(spec, q, k, v, [q, k, v].map(T::size))
    }

    /// [`Inputs::new`], which looks at every cell, shared out by `runner` where there are many.
    ///
    /// Fails as [`Inputs::new`] does.
    pub fn checked_by(
        spec: &AttentionSpec,
        q: &'a [T],
        k: &'a [T],
        v: &'a [T],
        runner: &impl RowRunner,
    ) -> Result<Self, InputError> {
        if runner.threads() == 1 || q.len() + k.len() + v.len() < 2 * PIECE {
            return Self::new(spec, q, k, v);
        }
        // Sizes are not negative, NaN included: they are ordered as their bits.
        let sizes = [q, k, v].map(|_| AtomicU64::new(0));
        let pieces = [q, k, v].map(|cells| cells.len().div_ceil(PIECE));
        runner.for_each(
            0..pieces.iter().sum(),
            || (),
            |(), mut at: usize| {
                for ((cells, size), pieces) in [q, k, v].into_iter().zip(&sizes).zip(pieces) {
                    if at < pieces {
                        let piece = &cells[at * PIECE..((at + 1) * PIECE).min(cells.len())];
                        size.fetch_max(T::size(piece).to_bits(), Ordering::Relaxed);
                        return;
                    }
                    at -= pieces;
                }
            },
        );
        let sizes = sizes.map(|size| f64::from_bits(size.into_inner()));
        Self::with_sizes(spec, q, k, v, sizes)
    }

    fn with_sizes(
        spec: &AttentionSpec,
        q: &'a [T],
        k: &'a [T],
        v: &'a [T],
        sizes: [f64; 3],
    ) -> Result<Self, InputError> {
        let shape = spec.shape();
        refuse("q", q, &[shape.heads, shape.n_q, shape.d_k], sizes[0])?;
        refuse("k", k, &[shape.kv_heads, shape.n_k, shape.d_k], sizes[1])?;
        refuse("v", v, &[shape.kv_heads, shape.n_k, shape.d_v], sizes[2])?;
        Ok(Self {
            q,
            k: Heads::dense(k, shape.n_k * shape.d_k),
            v: Heads::dense(v, shape.n_k * shape.d_v),
            sizes,
            kept: None,
        })
    }

    /// Keys and values that were checked before, and whose largest sizes are known; `kept` says what the keys went through.
    pub(crate) const fn kept(
        (q, q_size): (&'a [T], f64),
        k: Heads<'a, T>,
        v: Heads<'a, T>,
        [k_size, v_size]: [f64; 2],
        kept: &'a AttentionSpec,
    ) -> Self {
        Self {
            q,
            k,
            v,
            sizes: [q_size, k_size, v_size],
            kept: Some(kept),
        }
    }

    /// The largest sizes of a cell of Q, K and V.
    #[must_use]
    pub const fn sizes(&self) -> [f64; 3] {
        self.sizes
    }

    /// Whether the keys went through norm and rotation before, as those of a [`Cache`](crate::Cache) have.
    #[must_use]
    pub const fn keys_are_placed(&self) -> bool {
        self.kept.is_some()
    }

    /// Refuses inputs that were checked for another shape.
    pub(crate) fn check_shape(&self, spec: &AttentionSpec) -> Result<(), InputError> {
        let shape = spec.shape();
        let lengths = [
            ("q", self.q.len(), shape.q_len()),
            ("k", self.k.total(), shape.k_len()),
            ("v", self.v.total(), shape.v_len()),
            ("k", self.k.len, shape.n_k * shape.d_k),
            ("v", self.v.len, shape.n_k * shape.d_v),
        ];
        for (tensor, got, expected) in lengths {
            if got != expected {
                return Err(InputError::Length {
                    tensor,
                    expected,
                    got,
                });
            }
        }
        Ok(())
    }

    /// Refuses keys that went through something else than `spec` asks for.
    pub(crate) fn check_places(&self, spec: &AttentionSpec) -> Result<(), CacheError> {
        match self.kept {
            Some(kept) if !same_keys(kept, spec) => Err(CacheError::OtherPlaces),
            _ => Ok(()),
        }
    }

    /// Queries `[heads, n_q, d_k]`.
    #[must_use]
    pub const fn q(&self) -> &'a [T] {
        self.q
    }

    /// Keys of a head `[n_k, d_k]`, as they were given, or after norm and rotation where [`Inputs::keys_are_placed`].
    ///
    /// Panics where there is no such head.
    #[must_use]
    pub fn k(&self, head: KvHeadIdx) -> &'a [T] {
        self.k.of(head)
    }

    /// Values of a head `[n_k, d_v]`.
    ///
    /// Panics where there is no such head.
    #[must_use]
    pub fn v(&self, head: KvHeadIdx) -> &'a [T] {
        self.v.of(head)
    }

    /// Keys and values of all heads.
    pub(crate) const fn heads(&self) -> [Heads<'a, T>; 2] {
        [self.k, self.v]
    }
}

/// Checks that `cells` fill `axes` (outermost first) with finite numbers; the largest size of one.
pub(crate) fn check<T: Element>(
    tensor: &'static str,
    cells: &[T],
    axes: &[usize],
) -> Result<f64, InputError> {
    let size = T::size(cells);
    refuse(tensor, cells, axes, size)?;
    Ok(size)
}

/// The same where their size is known: not finite where a cell is not.
fn refuse<T: Element>(
    tensor: &'static str,
    cells: &[T],
    axes: &[usize],
    size: f64,
) -> Result<(), InputError> {
    let expected = axes.iter().product();
    if cells.len() != expected {
        return Err(InputError::Length {
            tensor,
            expected,
            got: cells.len(),
        });
    }
    if size.is_finite() {
        return Ok(());
    }
    match cells.iter().position(|c| !c.wide().is_finite()) {
        None => Ok(()),
        Some(at) => {
            let mut index = Vec::with_capacity(axes.len());
            let mut rest = at;
            for &axis in axes.iter().rev() {
                index.push(rest % axis);
                rest /= axis;
            }
            index.reverse();
            Err(InputError::NotFinite {
                tensor,
                index,
                value: cells[at].wide(),
            })
        }
    }
}
