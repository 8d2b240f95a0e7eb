//! Keys and values that stay from call to call, as in decoding: checked once, when they come, and read where they lie.

use crate::error::{CacheError, InputError, SpecError};
use crate::limits::{MAX_CELLS, MAX_TOKENS};
use crate::naive::{Element, Heads, Inputs, check};
use crate::prepare::{Places, Side};
use crate::shape::KvHeadIdx;
use crate::spec::AttentionSpec;

/// Room for the keys and values of a layer's tokens, which come one after the other.
///
/// Keys are kept as the dot product takes them: norm and rotation are done when they come, so that the next call does
/// not do them again. [`Cache::inputs`] gives what a call of [`tiled`](crate::tiled) or of the oracle takes; its bits
/// are those of [`Inputs::new`] with the same tokens. (Where the oracle is asked because numbers are huge, keys that were
/// turned are rounded once more than there.)
///
/// ```
/// use attention::{AttentionSpec, Cache, Config, Shape, lanes::Best, rows::Serial, tiled};
/// let of = |n| AttentionSpec::new(Config::new(Shape { n_q: 1, n_k: n, ..Shape::square(1, 2) }));
/// let mut cache = Cache::new(&of(1)?, 100)?;
/// for (n, token) in [[1.0, 0.0], [0.0, 1.0]].iter().enumerate() {
///     cache.append(token, token)?;
///     let spec = of(n + 1)?;
///     let out = tiled::forward::<Best, _>(&spec, &cache.inputs(&spec, &[0.0, 0.0])?, &Serial)?.out;
///     assert_eq!(out, [[1.0, 0.0], [0.5, 0.5]][n]);
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Cache {
    /// Of whatever lengths: it says the heads, the widths, and what keys go through.
    spec: AttentionSpec,
    capacity: usize,
    /// `[kv_heads, capacity, d_k]`
    k: Vec<f32>,
    /// `[kv_heads, capacity, d_v]`
    v: Vec<f32>,
    /// For each token that is there: the largest sizes of a key and of a value up to it.
    sizes: Vec<[f32; 2]>,
}

impl Cache {
    /// An empty cache for `capacity` tokens. Of `spec` it takes the heads, the widths, norm and rotations; the lengths do
    /// not matter.
    ///
    /// Fails where the capacity is 0 or beyond [`limits`](crate::limits), or there is no memory.
    pub fn new(spec: &AttentionSpec, capacity: usize) -> Result<Self, SpecError> {
        let shape = spec.shape();
        let refuse = |expected: String, hint: &str| {
            Err(SpecError::new("capacity", "Capacity")
                .expected(expected)
                .got(capacity.to_string())
                .hint(hint))
        };
        if !(1..=MAX_TOKENS).contains(&capacity) {
            return refuse(
                format!("1 to {MAX_TOKENS} tokens"),
                "Give the tokens that there will be at most.",
            );
        }
        let token = shape.kv_heads * shape.d_k.max(shape.d_v);
        if capacity * token > MAX_CELLS {
            return refuse(
                format!("at most {} tokens of this width", MAX_CELLS / token),
                "Take fewer tokens or heads, or narrower ones.",
            );
        }
        let zeros = |len: usize| {
            let mut cells = Vec::new();
            cells.try_reserve_exact(len).ok()?;
            cells.resize(len, 0.0);
            Some(cells)
        };
        let rows = shape.kv_heads * capacity;
        let mut sizes = Vec::new();
        let (Some(k), Some(v), Ok(())) = (
            zeros(rows * shape.d_k),
            zeros(rows * shape.d_v),
            sizes.try_reserve_exact(capacity),
        ) else {
            return refuse(
                "as much as there is memory for".into(),
                "Take fewer tokens.",
            );
        };
        Ok(Self {
            spec: spec.clone(),
            capacity,
            k,
            v,
            sizes,
        })
    }

    /// Bytes that a cache of this capacity takes.
    #[must_use]
    pub fn bytes(spec: &AttentionSpec, capacity: usize) -> usize {
        let shape = spec.shape();
        let rows = shape.kv_heads.saturating_mul(capacity);
        rows.saturating_mul(size_of::<f32>() * (shape.d_k + shape.d_v))
            .saturating_add(capacity.saturating_mul(size_of::<[f32; 2]>()))
    }

    /// How many tokens are there.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Whether no token is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// How many heads of keys and values it has.
    #[must_use]
    pub fn kv_heads(&self) -> usize {
        self.spec.shape().kv_heads
    }

    /// How many tokens there can be.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Takes in the keys `[kv_heads, tokens, d_k]` and values `[kv_heads, tokens, d_v]` of the next tokens.
    ///
    /// Fails where the two are not of the same number of tokens, a cell is not finite, or there is no room; the cache is
    /// then as it was.
    pub fn append(&mut self, k: &[f32], v: &[f32]) -> Result<(), CacheError> {
        let shape = self.spec.shape();
        let tokens = k.len() / (shape.kv_heads * shape.d_k);
        for (tensor, width, got) in [("k", shape.d_k, k.len()), ("v", shape.d_v, v.len())] {
            let expected = shape.kv_heads * tokens * width;
            if got != expected {
                let length = InputError::Length {
                    tensor,
                    expected,
                    got,
                };
                return Err(length.into());
            }
        }
        self.has_room(tokens)?;
        for head in (0..shape.kv_heads).map(KvHeadIdx) {
            let (to_k, to_v) = self.room(head);
            let (k_len, v_len) = (tokens * shape.d_k, tokens * shape.d_v);
            to_k[..k_len].copy_from_slice(&k[head.0 * k_len..][..k_len]);
            to_v[..v_len].copy_from_slice(&v[head.0 * v_len..][..v_len]);
        }
        self.take_in(tokens)
    }

    /// Where the keys and values of a head's next tokens go, as rows: what is written there is in the cache once
    /// [`Cache::take_in`] has said so for all heads. [`Cache::append`] without its copy.
    ///
    /// Panics where there is no such head.
    pub fn room(&mut self, head: KvHeadIdx) -> (&mut [f32], &mut [f32]) {
        let shape = self.spec.shape();
        let rows = head.0 * self.capacity + self.len()..(head.0 + 1) * self.capacity;
        (
            &mut self.k[rows.start * shape.d_k..rows.end * shape.d_k],
            &mut self.v[rows.start * shape.d_v..rows.end * shape.d_v],
        )
    }

    /// Takes in so many tokens that were written to [`Cache::room`]. Fails as [`Cache::append`] does.
    pub fn take_in(&mut self, tokens: usize) -> Result<(), CacheError> {
        self.has_room(tokens)?;
        let before = self.len();
        let done = self.measure(tokens);
        if done.is_err() {
            self.sizes.truncate(before);
        }
        done
    }

    fn has_room(&self, tokens: usize) -> Result<(), CacheError> {
        let room = self.capacity - self.len();
        if tokens <= room {
            return Ok(());
        }
        Err(CacheError::Full { room, got: tokens })
    }

    /// Checks, places and measures new tokens.
    fn measure(&mut self, tokens: usize) -> Result<(), CacheError> {
        let shape = self.spec.shape();
        let (first, last) = (self.len(), self.len() + tokens);
        let before = self.sizes.last().copied().unwrap_or_default();
        self.sizes.resize(last, before);
        let places = Places::of(&self.spec, Side::Keys, first..last);
        for head in 0..shape.kv_heads {
            let row = head * self.capacity + first;
            let k = &mut self.k[row * shape.d_k..][..tokens * shape.d_k];
            let v = &self.v[row * shape.d_v..][..tokens * shape.d_v];
            finite("k", head, k, shape.d_k)?;
            finite("v", head, v, shape.d_v)?;
            if places.change_something() {
                places.apply_all(k, shape.d_k);
            }
            let rows = k.chunks_exact(shape.d_k).zip(v.chunks_exact(shape.d_v));
            for (sizes, (k, v)) in self.sizes[first..].iter_mut().zip(rows) {
                // Sizes of float32 numbers: nothing is lost.
                let row = [f32::size(k) as f32, f32::size(v) as f32];
                *sizes = [sizes[0].max(row[0]), sizes[1].max(row[1])];
            }
        }
        let mut largest = before;
        for sizes in &mut self.sizes[first..] {
            largest = [largest[0].max(sizes[0]), largest[1].max(sizes[1])];
            *sizes = largest;
        }
        Ok(())
    }

    /// Leaves the first `len` tokens; all, where there are no more.
    pub fn truncate(&mut self, len: usize) {
        self.sizes.truncate(len);
    }

    /// What a call of queries `q` `[heads, n_q, d_k]` on the tokens takes. `spec` is that of the call: its `n_k` is
    /// [`Cache::len`]; heads, widths, norm and rotation of keys are those of the cache.
    ///
    /// Fails where they are not, or a cell of `q` is not finite. Gradients of such a call are those at the keys as they
    /// lie here, after norm and rotation.
    pub fn inputs<'a>(
        &'a self,
        spec: &AttentionSpec,
        q: &'a [f32],
    ) -> Result<Inputs<'a, f32>, CacheError> {
        let (shape, own) = (spec.shape(), self.spec.shape());
        let q_size = check("q", q, &[shape.heads, shape.n_q, shape.d_k])?;
        let [k_size, v_size] = self.sizes.last().copied().unwrap_or_default();
        let heads = |cells, width| Heads::apart(cells, self.len() * width, self.capacity * width);
        let inputs = Inputs::kept(
            (q, q_size),
            heads(&self.k, own.d_k),
            heads(&self.v, own.d_v),
            [f64::from(k_size), f64::from(v_size)],
            &self.spec,
        );
        inputs.check_shape(spec)?;
        inputs.check_places(spec)?;
        Ok(inputs)
    }
}

/// Refuses rows of a head that are not finite.
fn finite(tensor: &'static str, head: usize, rows: &[f32], width: usize) -> Result<(), InputError> {
    if f32::size(rows).is_finite() {
        return Ok(());
    }
    match rows.iter().position(|x| !x.is_finite()) {
        None => Ok(()),
        Some(at) => Err(InputError::NotFinite {
            tensor,
            index: vec![head, at / width, at % width],
            value: f64::from(rows[at]),
        }),
    }
}
