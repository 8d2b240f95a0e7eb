//! Configs that nobody would write: each is refused with a sentence or computed, and nothing panics.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::lanes::Best;
use attention::masks::{self, MaskUse};
use attention::positions::{self, PositionUse};
use attention::rows::Serial;
use attention::tiled;
use attention::{AttentionSpec, BitMatrix, Config, Hidden, Inputs, Scale, Shape};
use common::Stream;
use common::random::call;
use proptest::prelude::*;

/// Sizes around the limits of everything, small ones most of all.
fn size() -> impl Strategy<Value = usize> {
    prop_oneof![
        12 => 0..12_usize,
        2 => 120..140_usize,
        1 => prop::sample::select(vec![255, 256, 257, 65_536, 65_537, 1 << 31, usize::MAX / 2, usize::MAX]),
    ]
}

/// Numbers as a reader or a file could have them.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        6 => -20.0..20.0,
        3 => (0..20).prop_map(f64::from),
        2 => prop::sample::select(vec![
            0.0, -0.0, 1e38, -1e38, 1e300, f64::MAX, f64::MIN_POSITIVE, 5e-324, f64::NAN,
            f64::INFINITY, f64::NEG_INFINITY, 65_536.0, 1e-30, 0.5,
        ]),
    ]
}

/// As many numbers as a scheme has parameters, or one more or less.
fn values(params: usize) -> impl Strategy<Value = Vec<f64>> {
    let lengths =
        prop_oneof![8 => Just(params), 1 => Just(params + 1), 1 => Just(params.saturating_sub(1))];
    lengths.prop_flat_map(|n| prop::collection::vec(number(), n))
}

fn mask() -> impl Strategy<Value = MaskUse> {
    (0..masks::ALL.len()).prop_flat_map(|at| {
        let scheme = masks::ALL[at];
        let drawn = prop::option::of((0..12_usize, 0..12_usize));
        (values(scheme.params.len()), drawn).prop_map(move |(values, drawn)| MaskUse {
            scheme,
            values,
            drawn: drawn
                .map(|(n_q, n_k)| BitMatrix::from_fn(n_q, n_k, |q, k| (q.0 + k.0) % 3 != 1)),
        })
    })
}

fn position() -> impl Strategy<Value = PositionUse> {
    (0..positions::ALL.len()).prop_flat_map(|at| {
        let scheme = positions::ALL[at];
        values(scheme.params.len()).prop_map(move |values| PositionUse { scheme, values })
    })
}

fn config() -> impl Strategy<Value = Config> {
    let shape = (size(), size(), size(), size(), size(), size()).prop_map(
        |(heads, kv_heads, n_q, n_k, d_k, d_v)| Shape {
            heads,
            kv_heads,
            n_q,
            n_k,
            d_k,
            d_v,
        },
    );
    (
        shape,
        prop::option::of(number()),
        prop::option::of(number()),
        prop::collection::vec(mask(), 0..3),
        prop::option::of(number()),
        prop::collection::vec(position(), 0..3),
        prop::option::of(number()),
        prop::option::of(prop::collection::vec(number(), 0..6)),
    )
        .prop_map(
            |(shape, scale, soft_cap, masks, hidden, positions, qk_norm, sink)| Config {
                shape,
                scale: scale.map_or(Scale::InverseSqrt, Scale::Custom),
                soft_cap,
                masks,
                hidden: hidden.map_or(Hidden::NegInfinity, Hidden::Finite),
                positions,
                qk_norm,
                sink,
            },
        )
}

/// A valid config of which a field or two are any.
fn nearly() -> impl Strategy<Value = Config> {
    let bits = prop::collection::vec(0..8_u8, 7);
    (call(30, 1.0), config(), bits).prop_map(|(call, any, bits)| {
        let mut config = call.spec.config().clone();
        let mut fields = bits.into_iter().map(|bit| bit == 0);
        let mut replace = || fields.next().unwrap_or(false);
        if replace() {
            config.scale = any.scale;
        }
        if replace() {
            config.soft_cap = any.soft_cap;
        }
        if replace() {
            config.masks = any.masks;
        }
        if replace() {
            config.hidden = any.hidden;
        }
        if replace() {
            config.positions = any.positions;
        }
        if replace() {
            config.qk_norm = any.qk_norm;
        }
        if replace() {
            config.sink = any.sink;
        }
        config
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn is_refused_or_computed(config in prop_oneof![config(), nearly()], seed in 1..1_000_u64) {
        let errors = AttentionSpec::check(&config);
        match AttentionSpec::new(config) {
            Err(error) => {
                prop_assert_eq!(Some(&error), errors.first());
                for error in errors {
                    let sentence = error.to_string();
                    prop_assert!(sentence.contains("expected") && sentence.contains("got"), "{}", sentence);
                    prop_assert!(!sentence.contains("NaN,"), "{}", sentence);
                }
            }
            Ok(spec) => {
                prop_assert!(errors.is_empty());
                let shape = spec.shape();
                // What would take long is left to the benchmarks.
                let work = shape.heads * shape.n_q * shape.n_k * (shape.d_k + shape.d_v);
                if work < 2_000_000 && shape.q_len().max(shape.k_len()).max(shape.v_len()) < 200_000 {
                    let mut stream = Stream::new(seed);
                    let (q, k, v) = (
                        stream.normals32(shape.q_len()),
                        stream.normals32(shape.k_len()),
                        stream.normals32(shape.v_len()),
                    );
                    let inputs = Inputs::new(&spec, &q, &k, &v).unwrap();
                    let got = tiled::forward::<Best, _>(&spec, &inputs, &Serial).unwrap();
                    prop_assert!(got.out.iter().all(|x| x.is_finite()), "{:?}", spec.config());
                    prop_assert!(!got.lse.iter().any(|x| x.is_nan()), "{:?}", spec.config());
                    let gradients = tiled::backward::<Best, _>(&spec, &inputs, &got, &got.out, &Serial).unwrap();
                    let all = gradients.d_q.iter().chain(&gradients.d_k).chain(&gradients.d_v);
                    prop_assert!(all.chain(gradients.d_sink.iter().flatten()).all(|x| x.is_finite()), "{:?}", spec.config());
                }
            }
        }
    }
}
