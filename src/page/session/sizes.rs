//! The sizes a reader can set, and how the numbers follow them.

use super::{Data, Session, SessionError};
use crate::source::Source;
use attention::{BitMatrix, KeyIdx, ParamKind, QueryIdx, Shape};
use std::sync::Arc;

/// A size of the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Size {
    /// Queries.
    Queries,
    /// Keys.
    Keys,
    /// Width of queries and keys.
    DK,
    /// Width of values.
    DV,
    /// Query heads.
    Heads,
    /// Key/value heads.
    KvHeads,
    /// Width of a token.
    DModel,
}

/// What the bench takes at most. The core takes more; the bench draws everything it computes.
pub mod limits {
    /// Queries, keys: the picture then has one pixel for two to three cells.
    pub const TOKENS: usize = 512;
    /// Width of a vector.
    pub const WIDTH: usize = 256;
    /// Heads.
    pub const HEADS: usize = 32;
    /// Numbers in one of Q, K, V over all heads: drawing and sending them stays within a frame.
    pub const CELLS: usize = 1 << 19;
}

impl Size {
    /// All of them.
    pub const ALL: [Size; 7] = [
        Size::Queries,
        Size::Keys,
        Size::DK,
        Size::DV,
        Size::Heads,
        Size::KvHeads,
        Size::DModel,
    ];

    /// Name for messages and tests: as in [`attention::Shape`].
    pub fn field(self) -> &'static str {
        match self {
            Size::Queries => "n_q",
            Size::Keys => "n_k",
            Size::DK => "d_k",
            Size::DV => "d_v",
            Size::Heads => "heads",
            Size::KvHeads => "kv_heads",
            Size::DModel => "d_model",
        }
    }

    /// Name for the reader.
    pub fn label(self) -> &'static str {
        match self {
            Size::Queries => "queries",
            Size::Keys => "keys",
            Size::DK => "d_k",
            Size::DV => "d_v",
            Size::Heads => "heads",
            Size::KvHeads => "K, V heads",
            Size::DModel => "d_model",
        }
    }

    /// Greatest value.
    pub fn most(self) -> usize {
        match self {
            Size::Queries | Size::Keys => limits::TOKENS,
            Size::DK | Size::DV | Size::DModel => limits::WIDTH,
            Size::Heads | Size::KvHeads => limits::HEADS,
        }
    }

    /// Its value in a session.
    pub fn of(self, session: &Session) -> usize {
        match (self, &session.data) {
            (Size::DModel, Data::Tokens { d_model, .. }) => *d_model,
            _ => self.of_shape(session.shape),
        }
    }

    /// Its value in a shape, which knows no tokens: there d_model is 0.
    pub fn of_shape(self, s: Shape) -> usize {
        match self {
            Size::Queries => s.n_q,
            Size::Keys => s.n_k,
            Size::DK => s.d_k,
            Size::DV => s.d_v,
            Size::Heads => s.heads,
            Size::KvHeads => s.kv_heads,
            Size::DModel => 0,
        }
    }
}

impl Session {
    /// The session with one size changed. Seeded numbers are drawn anew; typed ones are kept where they still have a
    /// place, new cells are 0. What no longer fits among the options is brought back into range.
    pub(super) fn resized(&self, size: Size, to: usize) -> Result<Session, SessionError> {
        if !self.sizes_are_free() {
            return Err(SessionError::new(
                size.field(),
                "The sizes of a real head are fixed. To change them, take its numbers as typed ones first.",
            ));
        }
        if to == 0 || to > size.most() {
            let got = if to == 0 {
                "0".to_owned()
            } else {
                to.to_string()
            };
            return Err(SessionError::new(
                size.field(),
                format!(
                    "{}: expected 1 to {}, got {got}. {}",
                    size.label(),
                    size.most(),
                    hint(size, to)
                ),
            ));
        }
        let mut next = self.clone();
        let before = self.shape;
        let mut d_model = Size::DModel.of(self);
        let s = &mut next.shape;
        match size {
            Size::Queries => s.n_q = to,
            Size::Keys => s.n_k = to,
            Size::DK => s.d_k = to,
            Size::DV => s.d_v = to,
            Size::Heads => {
                if s.kv_heads == s.heads {
                    s.kv_heads = to;
                }
                s.heads = to;
            }
            Size::KvHeads => s.kv_heads = to,
            Size::DModel => d_model = to,
        }
        if matches!(self.data, Data::Tokens { .. }) {
            match size {
                Size::Queries => next.shape.n_k = to,
                Size::Keys => next.shape.n_q = to,
                _ => {}
            }
        }
        let s = next.shape;
        if !s.heads.is_multiple_of(s.kv_heads) {
            let fits: Vec<String> = (1..=s.heads)
                .filter(|g| s.heads.is_multiple_of(*g))
                .map(|g| g.to_string())
                .collect();
            return Err(SessionError::new(
                size.field(),
                format!(
                    "Each key/value head serves the same number of query heads: expected K, V heads to divide {}, got {}. Choose {}.",
                    s.heads,
                    s.kv_heads,
                    list(&fits)
                ),
            ));
        }
        let most = s.q_len().max(s.k_len()).max(s.v_len());
        if most > limits::CELLS {
            return Err(SessionError::new(
                size.field(),
                format!(
                    "Heads × rows × width: expected at most {} numbers in a tensor, got {most}. Make one of them smaller.",
                    limits::CELLS
                ),
            ));
        }
        next.data = match &self.source {
            Source::Random { seed, sigma } => Data::random(s, *seed, *sigma),
            Source::Tokens { seed, .. } => Data::tokens(s, *seed, d_model),
            Source::Typed | Source::Example(_) => refit(&self.data, before, s, d_model),
        };
        match &mut next.source {
            Source::Random { .. } => next.edited = 0,
            Source::Tokens { d_model: width, .. } => {
                *width = d_model;
                next.edited = 0;
            }
            Source::Typed | Source::Example(_) => {}
        }
        next.fit_options(before);
        Ok(next)
    }

    /// Brings what depends on the shape back into range after a change of shape.
    pub(super) fn fit_options(&mut self, before: Shape) {
        let s = self.shape;
        if self.q_labels.len() != s.n_q {
            self.q_labels = Arc::from([]);
        }
        if self.k_labels.len() != s.n_k {
            self.k_labels = Arc::from([]);
        }
        self.head = self.head.min(s.heads - 1);
        self.pin = self.pin.map(|(q, k)| (q.min(s.n_q - 1), k.min(s.n_k - 1)));
        if let Some(sink) = &mut self.sink {
            let last = sink.last().copied().unwrap_or(0.0);
            sink.resize(s.heads, last);
        }
        if let Some(d_out) = &mut self.d_out {
            d_out.resize(s.d_v, 0.0);
        }
        let turned = |shape: Shape| (shape.d_k - shape.d_k % 2) as f64;
        for dims in self.turned_components() {
            // What turned all components goes on turning all.
            *dims = if *dims == turned(before) {
                turned(s)
            } else {
                dims.min(turned(s))
            };
        }
        if (before.n_q, before.n_k) != (s.n_q, s.n_k) {
            self.drawn = self.drawn.take().map(|old| {
                BitMatrix::from_fn(s.n_q, s.n_k, |q: QueryIdx, k: KeyIdx| {
                    q.0 >= before.n_q || k.0 >= before.n_k || old.get(q, k)
                })
            });
            for mask in &mut self.masks {
                for (param, value) in mask.scheme.params.iter().zip(&mut mask.values) {
                    if matches!(param.key, "prefix" | "key_length" | "keep_first")
                        && matches!(param.kind, ParamKind::Integer { .. })
                    {
                        // A length that was all of the keys stays all of them.
                        *value = if *value == before.n_k as f64 {
                            s.n_k as f64
                        } else {
                            value.min(s.n_k as f64)
                        };
                    }
                }
            }
        }
    }

    /// Says how many components turn where a scheme only says "all" (0): a reader sees the number.
    pub(super) fn count_turned(&mut self) {
        let all = self.shape.d_k as f64;
        for dims in self.turned_components() {
            if *dims == 0.0 {
                *dims = all;
            }
        }
    }

    fn turned_components(&mut self) -> impl Iterator<Item = &mut f64> {
        self.positions.iter_mut().flat_map(|used| {
            let params = used.scheme.params.iter().zip(&mut used.values);
            params
                .filter(|(param, _)| param.key == "dims")
                .map(|(_, value)| value)
        })
    }
}

fn hint(size: Size, to: usize) -> String {
    let thing = match size {
        Size::Queries | Size::Keys => "a row of scores needs at least one query and one key",
        Size::DK => "a dot product needs at least one component",
        Size::DV | Size::DModel => "a vector has at least one component",
        Size::Heads | Size::KvHeads => "attention has at least one head",
    };
    if to == 0 {
        format!("Write 1 or more: {thing}.")
    } else {
        format!("Write {} or less: the bench draws every cell.", size.most())
    }
}

fn list(words: &[String]) -> String {
    match words {
        [] => String::new(),
        [one] => one.clone(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

/// The numbers in their new shape: kept where they have a place, 0 elsewhere.
fn refit(data: &Data, from: Shape, to: Shape, d_model: usize) -> Data {
    let copy =
        |a: &[f64], (h0, r0, c0): (usize, usize, usize), (h1, r1, c1): (usize, usize, usize)| {
            let mut out = vec![0.0; h1 * r1 * c1];
            for h in 0..h0.min(h1) {
                for r in 0..r0.min(r1) {
                    let n = c0.min(c1);
                    let (src, dst) = ((h * r0 + r) * c0, (h * r1 + r) * c1);
                    out[dst..dst + n].copy_from_slice(&a[src..src + n]);
                }
            }
            Arc::new(out)
        };
    match data {
        Data::Given { q, k, v } => Data::Given {
            q: copy(
                q,
                (from.heads, from.n_q, from.d_k),
                (to.heads, to.n_q, to.d_k),
            ),
            k: copy(
                k,
                (from.kv_heads, from.n_k, from.d_k),
                (to.kv_heads, to.n_k, to.d_k),
            ),
            v: copy(
                v,
                (from.kv_heads, from.n_k, from.d_v),
                (to.kv_heads, to.n_k, to.d_v),
            ),
        },
        Data::Tokens {
            d_model: width,
            x,
            w_q,
            w_k,
            w_v,
        } => Data::Tokens {
            d_model,
            x: copy(x, (1, from.n_q, *width), (1, to.n_q, d_model)),
            w_q: copy(
                w_q,
                (from.heads, *width, from.d_k),
                (to.heads, d_model, to.d_k),
            ),
            w_k: copy(
                w_k,
                (from.kv_heads, *width, from.d_k),
                (to.kv_heads, d_model, to.d_k),
            ),
            w_v: copy(
                w_v,
                (from.kv_heads, *width, from.d_v),
                (to.kv_heads, d_model, to.d_v),
            ),
        },
    }
}
