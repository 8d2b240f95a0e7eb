//! Random calls: shapes, options and numbers, for proptest.

use super::Stream;
use attention::masks::{self, MaskUse};
use attention::positions::{self, PositionUse};
use attention::{AttentionSpec, Config, Hidden, Scale, Shape};
use proptest::prelude::*;

/// A valid spec with numbers that float32 holds.
#[derive(Clone, Debug)]
pub struct Call {
    pub spec: AttentionSpec,
    pub q: Vec<f32>,
    pub k: Vec<f32>,
    pub v: Vec<f32>,
    pub d_out: Vec<f32>,
}

impl Call {
    /// The same with a constant added to hidden scores.
    pub fn hidden_by(self, constant: f64) -> Self {
        let config = Config {
            hidden: Hidden::Finite(constant),
            ..self.spec.config().clone()
        };
        let spec = AttentionSpec::new(config).unwrap();
        Self { spec, ..self }
    }
}

/// Small shapes with all relations of their sizes, and some that span several blocks of rows and keys.
pub fn shape(max_n: usize) -> impl Strategy<Value = Shape> {
    let heads = prop_oneof![Just((1, 1)), Just((4, 2)), Just((3, 1)), Just((2, 2))];
    (
        heads,
        1..=max_n,
        1..=max_n,
        any::<bool>(),
        1..=17_usize,
        1..=17_usize,
    )
        .prop_map(|((heads, kv_heads), n_q, n_k, square, d_k, d_v)| Shape {
            heads,
            kv_heads,
            n_q,
            n_k: if square { n_q } else { n_k },
            d_k,
            d_v,
        })
}

/// A subset of the registry's examples of masks at a shape, each scheme at most once.
fn masks_at(shape: Shape) -> impl Strategy<Value = Vec<MaskUse>> {
    let one = move |at: usize| {
        let examples = (masks::ALL[at].examples)(shape);
        prop::option::weighted(0.4, prop::sample::select(examples))
    };
    (0..masks::ALL.len())
        .map(one)
        .collect::<Vec<_>>()
        .prop_map(|m| m.into_iter().flatten().collect())
}

/// The same of positions.
fn positions_at(shape: Shape) -> impl Strategy<Value = Vec<PositionUse>> {
    let one = move |at: usize| {
        let examples = (positions::ALL[at].examples)(shape);
        if examples.is_empty() {
            Just(None).boxed()
        } else {
            prop::option::weighted(0.4, prop::sample::select(examples)).boxed()
        }
    };
    (0..positions::ALL.len())
        .map(one)
        .collect::<Vec<_>>()
        .prop_map(|p| p.into_iter().flatten().collect())
}

/// Any valid config of a shape, hidden keys at −∞.
pub fn config(shape: Shape) -> impl Strategy<Value = Config> {
    let scale = prop_oneof![
        Just(Scale::InverseSqrt),
        Just(Scale::Custom(1.0)),
        (-1.0..1.0).prop_map(Scale::Custom)
    ];
    let cap = prop::option::weighted(0.3, 0.5..50.0);
    let norm = prop::option::weighted(0.3, prop_oneof![Just(1e-6), Just(0.0)]);
    let sink = prop::option::weighted(0.3, prop::collection::vec(-3.0..3.0, shape.heads));
    (scale, cap, masks_at(shape), positions_at(shape), norm, sink).prop_map(
        move |(scale, soft_cap, masks, positions, qk_norm, sink)| Config {
            shape,
            scale,
            soft_cap,
            masks,
            hidden: Hidden::NegInfinity,
            positions,
            qk_norm,
            sink,
        },
    )
}

/// A config with normal numbers times `size`.
pub fn call(max_n: usize, size: f32) -> impl Strategy<Value = Call> {
    (shape(max_n).prop_flat_map(config), 1..1_000_000_u64).prop_map(move |(config, seed)| {
        let shape = config.shape;
        let spec = AttentionSpec::new(config).unwrap();
        let mut stream = Stream::new(seed);
        let mut draw = |n| stream.normals32(n).iter().map(|x| x * size).collect();
        Call {
            spec,
            q: draw(shape.q_len()),
            k: draw(shape.k_len()),
            v: draw(shape.v_len()),
            d_out: draw(shape.out_len()),
        }
    })
}
