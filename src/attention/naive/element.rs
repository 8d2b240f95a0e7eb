//! Checked inputs in float32 or float64.

use crate::error::InputError;
use crate::spec::AttentionSpec;

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

/// Q, K and V of a call: of the right length, and every cell finite.
#[derive(Clone, Copy, Debug)]
pub struct Inputs<'a, T> {
    q: &'a [T],
    k: &'a [T],
    v: &'a [T],
    sizes: [f64; 3],
}

impl<'a, T: Element> Inputs<'a, T> {
    /// Checks `q` `[heads, n_q, d_k]`, `k` `[kv_heads, n_k, d_k]` and `v` `[kv_heads, n_k, d_v]`, all row-major.
    ///
    /// Fails at the first tensor of another length, or the first cell that is NaN or infinite, with its index.
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
        let shape = spec.shape();
        let sizes = [
            check("q", q, &[shape.heads, shape.n_q, shape.d_k])?,
            check("k", k, &[shape.kv_heads, shape.n_k, shape.d_k])?,
            check("v", v, &[shape.kv_heads, shape.n_k, shape.d_v])?,
        ];
        Ok(Self { q, k, v, sizes })
    }

    /// The largest sizes of a cell of Q, K and V.
    #[must_use]
    pub const fn sizes(&self) -> [f64; 3] {
        self.sizes
    }

    /// Refuses inputs that were checked for another shape.
    pub(crate) fn check_shape(&self, spec: &AttentionSpec) -> Result<(), InputError> {
        let shape = spec.shape();
        let lengths = [
            ("q", self.q.len(), shape.q_len()),
            ("k", self.k.len(), shape.k_len()),
            ("v", self.v.len(), shape.v_len()),
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

    /// Queries `[heads, n_q, d_k]`.
    #[must_use]
    pub const fn q(&self) -> &'a [T] {
        self.q
    }

    /// Keys `[kv_heads, n_k, d_k]`.
    #[must_use]
    pub const fn k(&self) -> &'a [T] {
        self.k
    }

    /// Values `[kv_heads, n_k, d_v]`.
    #[must_use]
    pub const fn v(&self) -> &'a [T] {
        self.v
    }
}

/// Checks that `cells` fill `axes` (outermost first) with finite numbers; the largest size of one.
pub(crate) fn check<T: Element>(
    tensor: &'static str,
    cells: &[T],
    axes: &[usize],
) -> Result<f64, InputError> {
    let expected = axes.iter().product();
    if cells.len() != expected {
        return Err(InputError::Length {
            tensor,
            expected,
            got: cells.len(),
        });
    }
    let size = T::size(cells);
    if size.is_finite() {
        return Ok(size);
    }
    match cells.iter().position(|c| !c.wide().is_finite()) {
        None => Ok(size),
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
