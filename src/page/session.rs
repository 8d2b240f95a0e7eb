//! The state of the bench and the only way to change it: an [`Action`] applied to a [`Session`].
//!
//! A session is a value. Applying an action gives a new one or an error that says which control it belongs to; the old
//! one stays as it was. [`Session::job`] turns it into what the engine is asked, without side effects.

mod action;
mod cells;
mod desk;
mod presets;
mod sizes;

pub use action::{Action, SessionError};
pub use cells::{CellRef, Tensor};
pub use desk::{Desk, Problem};
pub use presets::{
    MASK_PRESETS, POSITION_PRESETS, Preset, extra_masks, extra_positions, mask_preset,
    position_preset,
};
pub use sizes::{Size, limits};

use crate::source::{ExampleLayer, Source, Stream};
use attention::{AttentionSpec, BitMatrix, Config, Hidden, MaskUse, PositionUse, Scale, Shape};
use protocol::{Job, Look, Numbers, Revision, Target, ViewJob};
use std::sync::Arc;

/// Everything that a reader can set, and the numbers themselves.
#[derive(Clone, Debug, PartialEq)]
pub struct Session {
    /// Where the numbers came from.
    pub source: Source,
    /// Cells changed by hand since then.
    pub edited: usize,
    /// Sizes of the tensors.
    pub shape: Shape,
    /// The numbers.
    pub data: Data,
    /// Words on the queries' axis; empty for q₀, q₁, …
    pub q_labels: Arc<[String]>,
    /// Words on the keys' axis; empty for k₀, k₁, …
    pub k_labels: Arc<[String]>,
    /// Multiplier of the dot products.
    pub scale: Scale,
    /// Mask schemes in force, all of which a visible cell must pass.
    pub masks: Vec<MaskUse>,
    /// Cells hidden by hand: 1 is visible. `None` where no cell is.
    pub drawn: Option<BitMatrix>,
    /// What hidden scores become.
    pub hidden: Hidden,
    /// Position schemes in force.
    pub positions: Vec<PositionUse>,
    /// Soft cap of the scores.
    pub soft_cap: Option<f64>,
    /// Epsilon of the norm of queries and keys.
    pub qk_norm: Option<f64>,
    /// Sink logits, one per head.
    pub sink: Option<Vec<f64>>,
    /// The shown head.
    pub head: usize,
    /// The pinned cell, query and key.
    pub pin: Option<(usize, usize)>,
    /// A typed gradient at the output, instead of ½|o − v|².
    pub d_out: Option<Vec<f64>>,
}

/// The numbers of a session: row-major, all heads.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// Q, K and V themselves.
    Given {
        /// `[heads, n_q, d_k]`
        q: Arc<Vec<f64>>,
        /// `[kv_heads, n_k, d_k]`
        k: Arc<Vec<f64>>,
        /// `[kv_heads, n_k, d_v]`
        v: Arc<Vec<f64>>,
    },
    /// Tokens and their projections.
    Tokens {
        /// Width of a token.
        d_model: usize,
        /// `[n, d_model]`
        x: Arc<Vec<f64>>,
        /// `[heads, d_model, d_k]`
        w_q: Arc<Vec<f64>>,
        /// `[kv_heads, d_model, d_k]`
        w_k: Arc<Vec<f64>>,
        /// `[kv_heads, d_model, d_v]`
        w_v: Arc<Vec<f64>>,
    },
}

impl Session {
    /// Q, K and V drawn from the stream of a seed, in this order, times σ.
    pub fn random(shape: Shape, seed: u32, sigma: f64) -> Session {
        Session {
            source: Source::Random { seed, sigma },
            data: Data::random(shape, seed, sigma),
            ..Session::plain(shape)
        }
    }

    /// X, W_Q, W_K and W_V drawn from the stream of a seed, in this order, each W divided by √d_model.
    pub fn tokens(shape: Shape, seed: u32, d_model: usize) -> Session {
        let shape = Shape {
            n_k: shape.n_q,
            ..shape
        };
        let data = Data::tokens(shape, seed, d_model);
        Session {
            source: Source::Tokens { seed, d_model },
            data,
            ..Session::plain(shape)
        }
    }

    /// The small example that statements about attention are checked on: stream 7, 6 tokens of width 8, d_k = d_v = 4.
    pub fn small_example() -> Session {
        Session::tokens(Shape::square(6, 4), 7, 8)
    }

    /// A head of a real model, with its tokens on both axes.
    pub fn example(layer: Arc<ExampleLayer>, head: usize) -> Session {
        let n = layer.tokens.len();
        let shape = Shape {
            heads: layer.heads,
            kv_heads: layer.heads,
            n_q: n,
            n_k: n,
            d_k: layer.d,
            d_v: layer.d,
        };
        Session {
            data: Data::Given {
                q: layer.q.clone(),
                k: layer.k.clone(),
                v: layer.v.clone(),
            },
            q_labels: layer.tokens.clone(),
            k_labels: layer.tokens.clone(),
            head: head.min(layer.heads.saturating_sub(1)),
            source: Source::Example(layer),
            ..Session::plain(shape)
        }
    }

    /// All zeros, typed, no option set.
    pub fn plain(shape: Shape) -> Session {
        let zeros = |n: usize| Arc::new(vec![0.0; n]);
        Session {
            source: Source::Typed,
            edited: 0,
            shape,
            data: Data::Given {
                q: zeros(shape.q_len()),
                k: zeros(shape.k_len()),
                v: zeros(shape.v_len()),
            },
            q_labels: Arc::from([]),
            k_labels: Arc::from([]),
            scale: Scale::InverseSqrt,
            masks: Vec::new(),
            drawn: None,
            hidden: Hidden::NegInfinity,
            positions: Vec::new(),
            soft_cap: None,
            qk_norm: None,
            sink: None,
            head: 0,
            pin: None,
            d_out: None,
        }
    }

    /// What the core is configured with.
    pub fn config(&self) -> Config {
        let mut config = Config::new(self.shape);
        config.scale = self.scale;
        config.soft_cap = self.soft_cap;
        config.masks = self.masks.clone();
        if let Some(bits) = &self.drawn {
            config.masks.push(MaskUse::drawn(bits.clone()));
        }
        config.hidden = self.hidden;
        config.positions = self.positions.clone();
        config.qk_norm = self.qk_norm;
        config.sink = self.sink.clone();
        config
    }

    /// Takes all options of a config over; sizes stay.
    pub fn configure(&mut self, config: Config) {
        self.scale = config.scale;
        self.soft_cap = config.soft_cap;
        self.drawn = config.masks.iter().rev().find_map(|m| m.drawn.clone());
        self.masks = config.masks;
        self.masks.retain(|m| !m.scheme.needs_drawing);
        self.hidden = config.hidden;
        self.positions = config.positions;
        self.count_turned();
        self.qk_norm = config.qk_norm;
        self.sink = config.sink;
    }

    /// The multiplier of the dot products as a number.
    pub fn scale_value(&self) -> f64 {
        match self.scale {
            Scale::InverseSqrt => 1.0 / (self.shape.d_k as f64).sqrt(),
            Scale::Custom(value) => value,
        }
    }

    /// The row and key to look at when the pointer is elsewhere.
    pub fn look_at(&self) -> (usize, usize) {
        let (query, key) = self.pin.unwrap_or((0, 0));
        (
            query.min(self.shape.n_q.saturating_sub(1)),
            key.min(self.shape.n_k.saturating_sub(1)),
        )
    }

    /// Where the inspector looks: the hovered cell if there is one, the pinned one otherwise. The loss pulls towards
    /// the value of the looked-at key, unless a gradient was typed.
    pub fn look(&self, hover: Option<(usize, usize)>) -> Look {
        let (query, key) = hover.unwrap_or_else(|| self.look_at());
        let target = match &self.d_out {
            Some(d_out) => Target::Typed(d_out.clone()),
            None => Target::Value(key),
        };
        Look { query, key, target }
    }

    /// What the engine is asked to compute.
    pub fn job(&self, revision: Revision, hover: Option<(usize, usize)>) -> Job {
        let numbers = match &self.data {
            Data::Given { q, k, v } => Numbers::Given {
                q: q.to_vec(),
                k: k.to_vec(),
                v: v.to_vec(),
            },
            Data::Tokens {
                d_model,
                x,
                w_q,
                w_k,
                w_v,
            } => Numbers::Tokens {
                d_model: *d_model,
                x: x.to_vec(),
                w_q: w_q.to_vec(),
                w_k: w_k.to_vec(),
                w_v: w_v.to_vec(),
            },
        };
        Job::View(ViewJob {
            revision,
            config: self.config(),
            numbers,
            head: self.head,
            look: self.look(hover),
        })
    }

    /// Whether the engine would compute the same picture: equal in all but where the reader looks.
    pub fn asks_the_same(&self, other: &Session) -> bool {
        let same_data = match (&self.data, &other.data) {
            (
                Data::Given { q, k, v },
                Data::Given {
                    q: q2,
                    k: k2,
                    v: v2,
                },
            ) => Arc::ptr_eq(q, q2) && Arc::ptr_eq(k, k2) && Arc::ptr_eq(v, v2),
            (
                Data::Tokens {
                    d_model,
                    x,
                    w_q,
                    w_k,
                    w_v,
                },
                Data::Tokens {
                    d_model: d2,
                    x: x2,
                    w_q: wq2,
                    w_k: wk2,
                    w_v: wv2,
                },
            ) => {
                d_model == d2
                    && Arc::ptr_eq(x, x2)
                    && Arc::ptr_eq(w_q, wq2)
                    && Arc::ptr_eq(w_k, wk2)
                    && Arc::ptr_eq(w_v, wv2)
            }
            _ => false,
        };
        same_data && self.head == other.head && self.config() == other.config()
    }

    /// A query's name: its token, or q with its index.
    pub fn query_name(&self, query: usize) -> String {
        name(&self.q_labels, "q", query)
    }

    /// A key's name: its token, or k with its index.
    pub fn key_name(&self, key: usize) -> String {
        name(&self.k_labels, "k", key)
    }

    /// Whether the sizes are free to change (a real head fixes them).
    pub fn sizes_are_free(&self) -> bool {
        !matches!(self.source, Source::Example(_))
    }

    /// The errors of the config, as the core states them.
    pub fn check(&self) -> Result<(), SessionError> {
        match AttentionSpec::check(&self.config()).into_iter().next() {
            Some(error) => Err(SessionError::from(error)),
            None => Ok(()),
        }
    }
}

fn name(labels: &[String], letter: &str, index: usize) -> String {
    labels
        .get(index)
        .cloned()
        .unwrap_or_else(|| format!("{letter}{}", subscript(index)))
}

/// A number in subscript digits.
pub fn subscript(number: usize) -> String {
    number
        .to_string()
        .chars()
        .map(|c| char::from_u32('₀' as u32 + c as u32 - '0' as u32).unwrap_or(c))
        .collect()
}

impl Data {
    fn random(shape: Shape, seed: u32, sigma: f64) -> Data {
        let mut stream = Stream::new(seed);
        let mut draw = |count| Arc::new(stream.normals(count, sigma));
        Data::Given {
            q: draw(shape.q_len()),
            k: draw(shape.k_len()),
            v: draw(shape.v_len()),
        }
    }

    fn tokens(shape: Shape, seed: u32, d_model: usize) -> Data {
        let mut stream = Stream::new(seed);
        let root = (d_model as f64).sqrt();
        let x = Arc::new(stream.normals(shape.n_q * d_model, 1.0));
        let mut weights = |heads: usize, d: usize| -> Arc<Vec<f64>> {
            Arc::new(
                (0..heads * d_model * d)
                    .map(|_| stream.normal() / root)
                    .collect(),
            )
        };
        Data::Tokens {
            d_model,
            x,
            w_q: weights(shape.heads, shape.d_k),
            w_k: weights(shape.kv_heads, shape.d_k),
            w_v: weights(shape.kv_heads, shape.d_v),
        }
    }
}

#[cfg(test)]
mod tests;
