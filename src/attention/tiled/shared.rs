//! What all rows of a call share: the inputs after norm and rotation, their sizes, the bias.

use super::bias::{self, Bias};
use super::pack::size;
use crate::lanes::Lane;
use crate::naive::{Heads, Inputs};
use crate::prepare::{Places, Side};
use crate::rows::RowRunner;
use crate::shape::{KvHeadIdx, Shape};
use crate::spec::AttentionSpec;
use std::f64::consts::LOG2_E;

/// Sums that stay below this in float64 cannot overflow in float32, rounding included.
pub(super) const SAFE: f64 = 1e37;

/// Places that are turned together: their sines and cosines serve all heads.
const PLACES: usize = 64;

/// Tables and copies, kept between calls.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// Queries and keys after norm and rotation; empty where there is neither.
    q: Vec<f32>,
    k: Vec<f32>,
    sizes: Sizes,
    bias: Bias,
}

/// The largest sizes of queries, keys and values as they are multiplied.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sizes {
    pub(super) q: f64,
    pub(super) k: f64,
    pub(super) v: f64,
}

/// The call's numbers as the tiles take them.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub(super) q: &'a [f32],
    pub(super) k: Heads<'a, f32>,
    pub(super) v: Heads<'a, f32>,
}

/// How scores become exponents of 2.
#[derive(Clone, Copy)]
pub(super) struct Units {
    /// What queries are multiplied by.
    pub(super) factor: f64,
    /// With a soft cap the product is s/c, and this, c / ln 2, times its tanh the exponent.
    pub(super) cap: Option<f64>,
}

impl Units {
    pub(super) fn of(spec: &AttentionSpec) -> Self {
        match spec.soft_cap() {
            Some(cap) => Self {
                factor: spec.scale() / cap,
                cap: Some(cap * LOG2_E),
            },
            None => Self {
                factor: spec.scale() * LOG2_E,
                cap: None,
            },
        }
    }
}

/// Whether queries and keys are changed before their product.
pub(super) fn turns(spec: &AttentionSpec) -> bool {
    spec.qk_norm().is_some() || !spec.turns().is_empty()
}

/// Bytes that [`Shared`] takes; `placed`: where the keys went through norm and rotation before.
pub(super) fn bytes(spec: &AttentionSpec, placed: bool) -> usize {
    let shape = spec.shape();
    let turned = match (turns(spec), placed) {
        (false, _) => 0,
        (true, true) => shape.q_len(),
        (true, false) => shape.q_len() + shape.k_len(),
    };
    size_of::<f32>() * turned + bias::bytes(spec)
}

impl Shared {
    /// Works out everything for a call.
    pub(super) fn prepare<L: Lane, R: RowRunner>(
        &mut self,
        spec: &AttentionSpec,
        inputs: &Inputs<'_, f32>,
        runner: &R,
    ) {
        let shape = spec.shape();
        self.q.clear();
        self.k.clear();
        if turns(spec) {
            self.q.reserve_exact(shape.q_len());
            self.q.extend_from_slice(inputs.q());
            turn(spec, Side::Queries, &mut self.q, runner);
        }
        if turns(spec) && !inputs.keys_are_placed() {
            self.k.reserve_exact(shape.k_len());
            for head in (0..shape.kv_heads).map(KvHeadIdx) {
                self.k.extend_from_slice(inputs.k(head));
            }
            turn(spec, Side::Keys, &mut self.k, runner);
        }
        let or = |turned: &[f32], raw| match turned {
            [] => raw,
            _ => f64::from(size::<L>(turned)),
        };
        let [q, k, v] = inputs.sizes();
        self.sizes = Sizes {
            q: or(&self.q, q),
            k: or(&self.k, k),
            v,
        };
        self.bias.prepare(spec);
    }

    /// What stands in for the inputs of this shape.
    pub(super) fn sources<'a>(&'a self, shape: Shape, inputs: &Inputs<'a, f32>) -> Sources<'a> {
        let [k, v] = inputs.heads();
        Sources {
            q: if self.q.is_empty() {
                inputs.q()
            } else {
                &self.q
            },
            k: if self.k.is_empty() {
                k
            } else {
                Heads::dense(&self.k, shape.n_k * shape.d_k)
            },
            v,
        }
    }

    pub(super) fn sizes(&self) -> Sizes {
        self.sizes
    }

    /// What exponents gain by distance; `None` where there is no such bias.
    pub(super) fn bias(&self) -> Option<&Bias> {
        Some(&self.bias).filter(|bias| bias.is_there())
    }

    /// The largest size of a bias, as an exponent of 2.
    pub(super) fn largest_bias(&self) -> f64 {
        self.bias.largest()
    }

    /// How large the cells of a query may be for scores and sums of its row to be sure to stay in float32; negative where
    /// none is small enough.
    pub(super) fn largest_query(&self, spec: &AttentionSpec) -> f64 {
        let shape = spec.shape();
        let Sizes { k, v, .. } = self.sizes;
        let cap_fits = spec
            .soft_cap()
            .is_none_or(|cap| (cap as f32).is_normal() && cap * LOG2_E < SAFE);
        if !cap_fits || v * shape.n_k as f64 > SAFE || self.largest_bias() > SAFE {
            return -1.0;
        }
        // The product as it is, and times the factor; the query alone too, where keys are small.
        let factor = Units::of(spec)
            .factor
            .abs()
            .max(spec.scale().abs())
            .max(1.0);
        SAFE / factor / (shape.d_k as f64 * k).max(1.0)
    }
}

/// Norms and turns all rows of one side.
fn turn<R: RowRunner>(spec: &AttentionSpec, side: Side, rows: &mut [f32], runner: &R) {
    by_places(spec, side, rows, runner, |_, places, _, rows| {
        places.apply_all(rows, spec.shape().d_k);
    });
}

/// Does `work(head, tables, first place, rows)` for some places of a head at a time; nothing where neither
/// norm nor rotation is asked for.
pub(super) fn by_places<R: RowRunner>(
    spec: &AttentionSpec,
    side: Side,
    rows: &mut [f32],
    runner: &R,
    work: impl Fn(usize, &Places, usize, &mut [f32]) + Sync + Send,
) {
    if !turns(spec) {
        return;
    }
    let shape = spec.shape();
    let (n, width) = match side {
        Side::Queries => (shape.n_q, shape.d_k),
        Side::Keys => (shape.n_k, shape.d_k),
    };
    // A task is a range of places in all heads: what they share is worked out once.
    let heads = rows.len() / (n * width);
    let mut parts: Vec<Vec<&mut [f32]>> = (0..n.div_ceil(PLACES))
        .map(|_| Vec::with_capacity(heads))
        .collect();
    for head in rows.chunks_exact_mut(n * width) {
        for (part, rows) in parts.iter_mut().zip(head.chunks_mut(PLACES * width)) {
            part.push(rows);
        }
    }
    runner.for_each(
        parts.into_iter().enumerate(),
        || (),
        |(), (part, heads)| {
            if runner.keep_going() {
                let first = part * PLACES;
                let places = Places::of(spec, side, first..(first + PLACES).min(n));
                for (head, rows) in heads.into_iter().enumerate() {
                    work(head, &places, first, rows);
                }
            }
        },
    );
}

/// How many steps [`Shared::prepare`] asks for.
pub(super) fn steps(spec: &AttentionSpec) -> usize {
    let shape = spec.shape();
    if turns(spec) {
        shape.n_q.div_ceil(PLACES) + shape.n_k.div_ceil(PLACES)
    } else {
        0
    }
}
