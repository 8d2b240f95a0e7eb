//! The fast path against the oracle, and against itself on other lanes, threads and orders.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::lanes::{Best, Lane, Scalar};
use attention::naive::{self, Inputs};
use attention::rows::{RowRunner, Serial};
use attention::tiled::{self, CallError, Output};
use attention::{AttentionSpec, Config, Hidden, MaskUse, Shape};
use common::random::{Call, call};
use common::threads::{Shuffled, StopAfter};
use common::{Stream, bits, difference, golden, largest, narrow, widen};
use proptest::prelude::*;

/// |out − exact| ≤ ORDINARY · max|v| where scores are of ordinary size: the project's promise.
const ORDINARY: f64 = 2e-6;
/// Per unit of the largest score beyond `LARGE`: a score s is a float32 sum whose rounding is about s · 2⁻²³, and a
/// weight is off by the error of its score.
const PER_SCORE: f64 = 3e-7;
/// Scores up to here are of ordinary size.
const LARGE: f64 = 8.0;
/// Log-sum-exps are of the size of the scores: relative to it, or absolute below 1.
const LSE: f64 = 1e-6;

fn run<L: Lane>(call: &Call, runner: &impl RowRunner) -> Output {
    let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
    tiled::forward::<L, _>(&call.spec, &inputs, runner).unwrap()
}

/// Compares with the oracle.
fn agrees(name: &str, call: &Call, got: &Output) {
    let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
    let right = naive::forward(&call.spec, &inputs);
    let constant = match call.spec.hidden() {
        Hidden::NegInfinity => 0.0,
        Hidden::Finite(constant) => constant.abs(),
    };
    let score = largest(&right.scaled) + constant;
    let tolerance = ORDINARY + PER_SCORE * (score - LARGE).max(0.0);
    let error = difference(&widen(&got.out), &right.out);
    let bound = tolerance * largest(&widen(&call.v));
    assert!(
        error <= bound,
        "{name}: out off by {error:e}, bound {bound:e}, scores to {score}"
    );
    for (&got, right) in got.lse.iter().zip(right.lse) {
        let got = f64::from(got);
        let fits = got == right || (got - right).abs() <= LSE * score.max(right.abs()).max(1.0);
        assert!(fits, "{name}: lse {got}, right {right}");
    }
}

#[test]
fn golden_cases_agree() {
    golden(|case| {
        let call = Call {
            spec: case.spec.clone(),
            q: narrow(&case.array("q")),
            k: narrow(&case.array("k")),
            v: narrow(&case.array("v")),
            d_out: Vec::new(),
        };
        let got = run::<Best>(&call, &Serial);
        assert_eq!(got.overflowed_rows, 0);
        agrees(&case.name, &call, &got);
        if case.name != "unit_std_1e4" {
            // Straight against the file, all at the promised bound: that one case has scores of 10⁴.
            let error = difference(&widen(&got.out), &case.array("out"));
            assert!(
                error <= ORDINARY * largest(&case.array("v")),
                "{}: {error:e}",
                case.name
            );
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_calls_agree(call in call(24, 1.0)) {
        agrees("small", &call, &run::<Best>(&call, &Serial));
    }

    #[test]
    fn hidden_by_a_constant_agrees(call in call(12, 1.0), constant in -40.0..1.0) {
        let call = call.hidden_by(constant);
        agrees("constant", &call, &run::<Best>(&call, &Serial));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn calls_of_several_blocks_agree(call in call(200, 1.0)) {
        agrees("several blocks", &call, &run::<Best>(&call, &Serial));
    }

    #[test]
    fn same_bits_on_all_lanes_threads_and_orders(call in call(150, 2.0)) {
        let right = bits(&run::<Scalar>(&call, &Serial));
        prop_assert_eq!(&bits(&run::<Best>(&call, &Serial)), &right);
        for threads in [1, 2, 4] {
            prop_assert_eq!(&bits(&run::<Best>(&call, &Shuffled { threads })), &right);
            prop_assert_eq!(&bits(&run::<Scalar>(&call, &Shuffled { threads })), &right);
        }
    }
}

fn plain(shape: Shape, masks: Vec<MaskUse>, size: f32) -> Call {
    let mut stream = Stream::new(11);
    let mut draw = |n| stream.normals32(n).iter().map(|x| x * size).collect();
    Call {
        q: draw(shape.q_len()),
        k: draw(shape.k_len()),
        v: draw(shape.v_len()),
        d_out: Vec::new(),
        spec: AttentionSpec::new(Config {
            masks,
            ..Config::new(shape)
        })
        .unwrap(),
    }
}

#[test]
fn widths_of_all_kinds_agree() {
    for (d_k, d_v) in [
        (1, 256),
        (256, 1),
        (31, 33),
        (64, 64),
        (96, 128),
        (100, 200),
    ] {
        for n_q in [1, 3, 4, 37] {
            let shape = Shape {
                n_q,
                n_k: 150,
                d_k,
                d_v,
                ..Shape::square(1, 1)
            };
            let call = plain(shape, Vec::new(), 1.0);
            agrees("widths", &call, &run::<Best>(&call, &Serial));
        }
    }
}

#[test]
fn a_few_queries_against_a_long_cache_agree() {
    let given = [("align", "bottom_right".into())];
    let causal = vec![MaskUse::new("causal", &given).unwrap()];
    let window = MaskUse::new("window", &[("size", 700.into()), ("keep_first", 4.into())]);
    let window = vec![causal[0].clone(), window.unwrap()];
    for (heads, kv_heads, n_q) in [(1, 1, 1), (8, 2, 1), (6, 2, 3), (2, 2, 2)] {
        for masks in [Vec::new(), causal.clone(), window.clone()] {
            let shape = Shape {
                heads,
                kv_heads,
                n_q,
                n_k: 2_500,
                ..Shape::square(1, 24)
            };
            let call = plain(shape, masks, 1.0);
            let got = run::<Best>(&call, &Serial);
            agrees("few", &call, &got);
            for threads in [2, 3] {
                assert_eq!(bits(&run::<Best>(&call, &Shuffled { threads })), bits(&got));
            }
            assert_eq!(bits(&run::<Scalar>(&call, &Serial)), bits(&got));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the scores: the output is a mean of the values, so it lies between them, and log-sum-exps are right to a
    /// rounding of the largest score.
    #[test]
    fn magnitudes_up_to_ten_thousand(call in call(40, 1.0), power in 0..5) {
        let size = 10f32.powi(power);
        let scaled = |x: &[f32]| -> Vec<f32> { x.iter().map(|x| x * size).collect() };
        let call = Call { q: scaled(&call.q), k: scaled(&call.k), v: scaled(&call.v), ..call };
        let got = run::<Best>(&call, &Serial);
        let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
        let right = naive::forward(&call.spec, &inputs);
        let v = largest(&widen(&call.v));
        for x in &got.out {
            prop_assert!(f64::from(x.abs()) <= v * (1.0 + 1e-5), "{x} beyond {v}");
        }
        let score = largest(&right.scaled).max(1.0);
        for (&got, right) in got.lse.iter().zip(right.lse) {
            let got = f64::from(got);
            prop_assert!(got == right || (got - right).abs() <= LSE * score.max(right.abs()), "{got} {right}");
        }
    }
}

#[test]
fn a_long_causal_call_agrees() {
    let shape = Shape {
        heads: 2,
        kv_heads: 1,
        ..Shape::square(513, 64)
    };
    let config = Config {
        masks: vec![MaskUse::new("causal", &[]).unwrap()],
        ..Config::new(shape)
    };
    let mut stream = Stream::new(7);
    let call = Call {
        spec: AttentionSpec::new(config).unwrap(),
        q: stream.normals32(shape.q_len()),
        k: stream.normals32(shape.k_len()),
        v: stream.normals32(shape.v_len()),
        d_out: Vec::new(),
    };
    agrees("long", &call, &run::<Best>(&call, &Serial));
}

/// Claim `online-softmax-is-exact`: stream 7, 20·q (32 × 8), 20·k and v (50 × 8), in both directions of the keys.
#[test]
fn online_softmax_of_huge_scores_is_exact() {
    let mut stream = Stream::new(7);
    let mut draw =
        |n, size: f32| -> Vec<f32> { stream.normals32(n).iter().map(|x| x * size).collect() };
    let shape = Shape {
        n_q: 32,
        n_k: 50,
        ..Shape::square(1, 8)
    };
    let (q, k, v) = (draw(256, 20.0), draw(400, 20.0), draw(400, 1.0));
    let back = |x: &[f32]| -> Vec<f32> { x.chunks(8).rev().flatten().copied().collect() };
    let spec = AttentionSpec::new(Config::new(shape)).unwrap();
    for (k, v) in [(k.clone(), v.clone()), (back(&k), back(&v))] {
        let call = Call {
            spec: spec.clone(),
            q: q.clone(),
            k,
            v,
            d_out: Vec::new(),
        };
        agrees("20 q", &call, &run::<Best>(&call, &Serial));
    }
}

#[test]
fn numbers_that_overflow_float32_are_left_to_the_oracle() {
    let shape = Shape {
        n_q: 3,
        n_k: 4,
        ..Shape::square(1, 2)
    };
    let spec = AttentionSpec::new(Config::new(shape)).unwrap();
    let q = [1e38, 1e38, 1.0, 0.0, 0.0, 0.0];
    let k = [3e38, -3e38, 1.0, 0.0, 0.0, 1.0, 2.0, 2.0];
    for v in [[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [3e38; 8]] {
        let call = Call {
            spec: spec.clone(),
            q: q.into(),
            k: k.into(),
            v: v.into(),
            d_out: vec![],
        };
        let got = run::<Best>(&call, &Serial);
        assert!(got.overflowed_rows >= 2, "{}", got.overflowed_rows);
        assert!(
            got.out.iter().chain(&got.lse).all(|x| x.is_finite()),
            "{got:?}"
        );
        let inputs = Inputs::new(&spec, &call.q, &call.k, &call.v).unwrap();
        let right = naive::forward(&spec, &inputs).out;
        assert!(difference(&widen(&got.out), &right) <= 1e-7 * largest(&right));
    }
}

#[test]
fn kept_memory_remembers_no_mask_of_another_call() {
    let mask = |scheme, values: &[_]| vec![MaskUse::new(scheme, values).unwrap()];
    let shape = Shape::square(16, 8);
    let long = Shape::square(300, 8);
    let calls = [
        plain(shape, mask("causal", &[]), 1.0),
        plain(shape, mask("window", &[("size", 3.0.into())]), 1.0),
        plain(shape, vec![], 1.0),
        plain(long, mask("causal", &[]), 1.0),
        plain(shape, mask("padding", &[("key_length", 5.0.into())]), 1.0),
    ];
    let mut workspace = tiled::Workspace::new();
    // Each after each other, and twice running.
    for at in [
        0, 1, 0, 0, 2, 0, 3, 3, 0, 4, 4, 1, 4, 2, 1, 1, 3, 2, 2, 4, 3, 1,
    ] {
        let call = &calls[at];
        let fresh = run::<Best>(call, &Serial);
        let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
        let mut kept = Output {
            out: vec![0.0; fresh.out.len()],
            lse: vec![0.0; fresh.lse.len()],
            ..fresh
        };
        tiled::forward_into::<Best, _>(
            &call.spec,
            &inputs,
            &Serial,
            &mut workspace,
            &mut kept.out,
            &mut kept.lse,
        )
        .unwrap();
        assert_eq!(bits(&kept), bits(&fresh), "call {at}");
    }
}

#[test]
fn many_check_inputs_as_one_does() {
    // Several pieces each, none of them full.
    let shape = Shape {
        heads: 3,
        kv_heads: 3,
        ..Shape::square(1_100, 60)
    };
    let mut call = plain(shape, Vec::new(), 1.0);
    let many = |call: &Call| {
        Inputs::checked_by(
            &call.spec,
            &call.q,
            &call.k,
            &call.v,
            &Shuffled { threads: 3 },
        )
        .map(|inputs| inputs.sizes())
    };
    let one = |call: &Call| {
        Inputs::new(&call.spec, &call.q, &call.k, &call.v).map(|inputs| inputs.sizes())
    };
    let last = shape.v_len() - 1;
    for (at, size) in [(0, 50.0), (70_000, -60.0), (last, 70.0)] {
        call.q[at] = size;
        call.v[at] = -2.0 * size;
        assert_eq!(many(&call), one(&call));
    }
    for bad in [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for at in [0, 65_535, 65_536, last] {
            let kept = std::mem::replace(&mut call.k[at], bad);
            let (many, one) = (many(&call).unwrap_err(), one(&call).unwrap_err());
            assert_eq!(many.to_string(), one.to_string());
            call.k[at] = kept;
        }
    }
    call.v.pop();
    assert_eq!(many(&call), one(&call));
    assert!(many(&call).is_err());
}

#[test]
fn stops_where_it_is_told_and_asks_as_often_as_it_says() {
    let causal = vec![MaskUse::new("causal", &[("align", "bottom_right".into())]).unwrap()];
    for (heads, kv_heads, n_q, n_k) in [
        (1, 1, 300, 300),
        (6, 2, 100, 700),
        (4, 1, 9, 2_000),
        (2, 1, 2, 2_000),
    ] {
        for masks in [Vec::new(), causal.clone()] {
            let shape = Shape {
                heads,
                kv_heads,
                n_q,
                n_k,
                ..Shape::square(1, 4)
            };
            let call = plain(shape, masks, 1.0);
            let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
            let run = |steps: usize| {
                let runner = StopAfter(steps.into());
                tiled::forward::<Best, _>(&call.spec, &inputs, &runner).map(|o| o.lse.len())
            };
            let steps = tiled::steps(&call.spec, 1);
            assert_eq!(run(steps - 1), Err(CallError::Stopped), "{shape:?}");
            assert_eq!(run(steps), Ok(heads * n_q), "{shape:?}");
        }
    }
}

#[test]
fn heads_that_share_keys_give_the_bits_of_each_alone() {
    let given = [("align", "bottom_right".into())];
    let causal = vec![MaskUse::new("causal", &given).unwrap()];
    for (n_q, n_k) in [(5, 300), (70, 70), (130, 400)] {
        for masks in [Vec::new(), causal.clone()] {
            let shape = Shape {
                heads: 6,
                kv_heads: 2,
                n_q,
                n_k,
                d_k: 20,
                d_v: 12,
            };
            let call = plain(shape, masks.clone(), 1.0);
            let together = run::<Best>(&call, &Serial);
            for head in shape.head_indices() {
                let kv = shape.kv_head(head);
                let part = |cells: &[f32], at: usize, len: usize| cells[at * len..][..len].to_vec();
                let one = Shape {
                    heads: 1,
                    kv_heads: 1,
                    ..shape
                };
                let alone = Call {
                    q: part(&call.q, head.0, one.q_len()),
                    k: part(&call.k, kv.0, one.k_len()),
                    v: part(&call.v, kv.0, one.v_len()),
                    ..plain(one, masks.clone(), 1.0)
                };
                let alone = run::<Best>(&alone, &Serial);
                let len = one.out_len();
                assert_eq!(together.out[head.0 * len..][..len], alone.out);
                assert_eq!(together.lse[head.0 * n_q..][..n_q], alone.lse);
            }
        }
    }
}
