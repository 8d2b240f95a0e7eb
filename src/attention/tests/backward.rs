//! The fast path's gradients against the oracle, against the golden data, and against themselves on other lanes,
//! threads and orders.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::lanes::{Best, Lane, Scalar};
use attention::naive::{self, Inputs};
use attention::rows::{RowRunner, Serial};
use attention::tiled::{self, CallError, Gradients, Workspace};
use attention::{AttentionSpec, Config, Hidden, MaskUse, Shape};
use common::random::{Call, call};
use common::threads::{Shuffled, StopAfter};
use common::{Stream, difference, golden, largest, narrow, widen};
use proptest::prelude::*;

/// Errors in units of what a gradient is a sum of (see `units`): dP and D are sums of d_v products rounded to 2⁻²⁴, a
/// weight is off by the error of its score, which is a sum of d_k products, and the sums over keys and rows add theirs.
const TOLERANCE: f64 = 2e-6;
/// Per unit of the largest score beyond `LARGE`, as in the forward pass.
const PER_SCORE: f64 = 3e-7;
const LARGE: f64 = 8.0;

fn run<L: Lane>(call: &Call, runner: &impl RowRunner) -> Gradients {
    let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
    let output = tiled::forward::<L, _>(&call.spec, &inputs, runner).unwrap();
    tiled::backward::<L, _>(&call.spec, &inputs, &output, &call.d_out, runner).unwrap()
}

/// The largest that d_q, d_k, d_v and d_sink can be, norm and rotation aside: rows sum up to 1, so that |dS| does not
/// sum to more than 2 · max|dO|₁ · max|v| in a row.
fn units(call: &Call) -> [f64; 4] {
    let shape = call.spec.shape();
    let wide = |x: &[f32]| largest(&widen(x));
    let rows = call.d_out.chunks(shape.d_v);
    let d_out = rows
        .map(|row| row.iter().map(|x| f64::from(x.abs())).sum())
        .fold(0.0, f64::max);
    let d_score = 2.0 * d_out * wide(&call.v);
    let scale = call.spec.scale().abs();
    // With a norm, queries and keys are of size √d at most, and the norm divides the gradient.
    let norm = call.spec.qk_norm().is_some();
    let size = |x: &[f32]| {
        if norm {
            (shape.d_k as f64).sqrt()
        } else {
            wide(x)
        }
    };
    let shrink = |x: &[f32]| {
        if !norm {
            return 1.0;
        }
        let rows = x.chunks(shape.d_k).map(|row| {
            let mean = row.iter().map(|x| f64::from(x * x)).sum::<f64>() / row.len() as f64;
            1.0 / (mean + call.spec.qk_norm().unwrap()).sqrt()
        });
        rows.fold(0.0, f64::max)
    };
    let rows = (shape.heads / shape.kv_heads * shape.n_q) as f64;
    [
        d_score * scale * size(&call.k) * shrink(&call.q),
        rows.sqrt() * d_score * scale * size(&call.q) * shrink(&call.k),
        rows.sqrt() * d_out,
        rows.sqrt() * d_score,
    ]
}

/// Compares with gradients in float64.
fn agrees(name: &str, call: &Call, got: &Gradients, right: &naive::Gradients, score: f64) {
    let tolerance = TOLERANCE + PER_SCORE * (score - LARGE).max(0.0);
    let units = units(call);
    let pairs = [
        ("d_q", &got.d_q, &right.d_q),
        ("d_k", &got.d_k, &right.d_k),
        ("d_v", &got.d_v, &right.d_v),
    ];
    for ((tensor, got, right), unit) in pairs.into_iter().zip(units) {
        let error = difference(&widen(got), right) / unit.max(f64::MIN_POSITIVE);
        assert!(
            error <= tolerance,
            "{name}: {tensor} off by {error:e} units, bound {tolerance:e}, scores to {score}"
        );
    }
    assert_eq!(got.d_sink.is_some(), right.d_sink.is_some());
    if let (Some(got), Some(right)) = (&got.d_sink, &right.d_sink) {
        let error = difference(&widen(got), right) / units[3].max(f64::MIN_POSITIVE);
        assert!(error <= tolerance, "{name}: d_sink off by {error:e} units");
    }
}

/// Compares with the oracle.
fn agrees_with_oracle(name: &str, call: &Call, got: &Gradients) {
    let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
    let forward = naive::forward(&call.spec, &inputs);
    let right = naive::backward(&call.spec, &inputs, &forward, &widen(&call.d_out)).unwrap();
    let constant = match call.spec.hidden() {
        Hidden::NegInfinity => 0.0,
        Hidden::Finite(constant) => constant.abs(),
    };
    agrees(name, call, got, &right, largest(&forward.scaled) + constant);
}

#[test]
fn golden_gradients_agree() {
    let mut compared = 0;
    golden(|case| {
        let Some(d_out) = case.get("d_out") else {
            return;
        };
        let call = Call {
            spec: case.spec.clone(),
            q: narrow(&case.array("q")),
            k: narrow(&case.array("k")),
            v: narrow(&case.array("v")),
            d_out: narrow(&d_out),
        };
        let right = naive::Gradients {
            d_q: case.array("d_q"),
            d_k: case.array("d_k"),
            d_v: case.array("d_v"),
            d_scores: Vec::new(),
            d_sink: case.get("d_sink"),
        };
        let got = run::<Best>(&call, &Serial);
        let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
        let score = largest(&naive::forward(&call.spec, &inputs).scaled);
        agrees(&case.name, &call, &got, &right, score);
        compared += 1;
    });
    assert!(
        compared >= 25,
        "only {compared} golden cases have gradients"
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn small_calls_agree(call in call(24, 1.0)) {
        agrees_with_oracle("small", &call, &run::<Best>(&call, &Serial));
    }

    #[test]
    fn hidden_by_a_constant_agrees(call in call(12, 1.0), constant in -40.0..1.0) {
        let call = call.hidden_by(constant);
        agrees_with_oracle("constant", &call, &run::<Best>(&call, &Serial));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn calls_of_several_blocks_agree(call in call(300, 1.0)) {
        agrees_with_oracle("several blocks", &call, &run::<Best>(&call, &Serial));
    }

    #[test]
    fn same_bits_on_all_lanes_threads_and_orders(call in call(300, 2.0)) {
        let right = bits(&run::<Scalar>(&call, &Serial));
        prop_assert_eq!(&bits(&run::<Best>(&call, &Serial)), &right);
        for threads in [1, 2, 4] {
            prop_assert_eq!(&bits(&run::<Best>(&call, &Shuffled { threads })), &right);
        }
    }

    #[test]
    fn numbers_of_any_size_give_numbers(call in call(16, 1.0), power in -4..38, other in -4..38) {
        let scaled = |x: &[f32], power: i32| -> Vec<f32> {
            x.iter().map(|x| (x * 10f32.powi(power)).clamp(f32::MIN, f32::MAX)).collect()
        };
        let call = Call {
            q: scaled(&call.q, power),
            k: scaled(&call.k, other),
            v: scaled(&call.v, power),
            d_out: scaled(&call.d_out, other),
            spec: call.spec,
        };
        let got = run::<Best>(&call, &Serial);
        prop_assert!(bits(&got).into_iter().all(|x| f32::from_bits(x).is_finite()));
    }
}

fn bits(g: &Gradients) -> Vec<u32> {
    let sink = g.d_sink.as_deref().unwrap_or(&[]);
    let all = g.d_q.iter().chain(&g.d_k).chain(&g.d_v).chain(sink);
    all.map(|x| x.to_bits()).collect()
}

fn causal(n: usize, d: usize) -> Call {
    let shape = Shape {
        heads: 2,
        kv_heads: 1,
        ..Shape::square(n, d)
    };
    let config = Config {
        masks: vec![MaskUse::new("causal", &[]).unwrap()],
        ..Config::new(shape)
    };
    let mut stream = Stream::new(7);
    Call {
        spec: AttentionSpec::new(config).unwrap(),
        q: stream.normals32(shape.q_len()),
        k: stream.normals32(shape.k_len()),
        v: stream.normals32(shape.v_len()),
        d_out: stream.normals32(shape.out_len()),
    }
}

#[test]
fn a_long_causal_call_agrees() {
    for (n, d) in [(513, 64), (700, 33)] {
        let call = causal(n, d);
        agrees_with_oracle("long", &call, &run::<Best>(&call, &Serial));
    }
}

#[test]
fn a_workspace_leaves_no_trace() {
    // One workspace for calls that grow and shrink, with and without rotation, gives what fresh ones give.
    let mut workspace = Workspace::new();
    let calls = [causal(200, 16), causal(40, 64), causal(333, 8)];
    for call in calls.iter().chain(&calls) {
        let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
        let shape = call.spec.shape();
        let (mut out, mut lse) = (vec![0.0; shape.out_len()], vec![0.0; shape.rows()]);
        tiled::forward_into::<Best, _>(
            &call.spec,
            &inputs,
            &Serial,
            &mut workspace,
            &mut out,
            &mut lse,
        )
        .unwrap();
        let mut gradients = Gradients::zero(&call.spec);
        tiled::backward_into::<Best, _>(
            &call.spec,
            &inputs,
            (&out, &lse),
            &call.d_out,
            &Serial,
            &mut workspace,
            &mut gradients,
        )
        .unwrap();
        assert_eq!(bits(&gradients), bits(&run::<Best>(call, &Serial)));
    }
}

#[test]
fn wrong_tensors_are_refused() {
    let call = causal(8, 4);
    let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
    let output = tiled::forward::<Best, _>(&call.spec, &inputs, &Serial).unwrap();
    let refused = |d_out: &[f32]| {
        let result = tiled::backward::<Best, _>(&call.spec, &inputs, &output, d_out, &Serial);
        result.unwrap_err().to_string()
    };
    assert!(
        refused(&call.d_out[1..]).contains("d_out"),
        "{}",
        refused(&call.d_out[1..])
    );
    let mut broken = call.d_out.clone();
    broken[5] = f32::NAN;
    assert!(
        refused(&broken).starts_with("d_out[0, 1, 1]"),
        "{}",
        refused(&broken)
    );
}

#[test]
fn memory_of_another_shape_is_refused() {
    let (call, other) = (causal(8, 4), causal(9, 4));
    let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
    let mut workspace = Workspace::new();
    let (mut out, mut lse) = (vec![0.0; 64], vec![0.0; 16]);
    let mut forward = |spec: &AttentionSpec, out: &mut [f32], lse: &mut [f32]| {
        tiled::forward_into::<Best, _>(spec, &inputs, &Serial, &mut workspace, out, lse)
            .map_err(|e| e.to_string())
    };
    assert_eq!(forward(&call.spec, &mut out, &mut lse), Ok(0));
    let refused = |result: Result<usize, String>, tensor: &str| {
        assert!(
            result.as_ref().unwrap_err().starts_with(tensor),
            "{result:?}"
        );
    };
    refused(
        forward(&other.spec, &mut out, &mut lse),
        "q: expected 72 numbers, got 64",
    );
    refused(
        forward(&call.spec, &mut out[1..], &mut lse),
        "out: expected 64 numbers, got 63",
    );
    refused(
        forward(&call.spec, &mut out, &mut lse[..3]),
        "lse: expected 16 numbers, got 3",
    );

    let mut backward = |mut gradients: Gradients| {
        tiled::backward_into::<Best, _>(
            &call.spec,
            &inputs,
            (&out, &lse),
            &call.d_out,
            &Serial,
            &mut workspace,
            &mut gradients,
        )
        .map_err(|e| e.to_string())
    };
    assert_eq!(backward(Gradients::zero(&call.spec)), Ok(()));
    let error = backward(Gradients::zero(&other.spec)).unwrap_err();
    assert!(
        error.starts_with("d_q: expected 64 numbers, got 72"),
        "{error}"
    );
}

#[test]
fn stops_where_it_is_told_and_asks_as_often_as_it_says() {
    let call = causal(300, 4);
    let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
    let output = tiled::forward::<Best, _>(&call.spec, &inputs, &Serial).unwrap();
    let run = |steps: usize| {
        let runner = StopAfter(steps.into());
        tiled::backward::<Best, _>(&call.spec, &inputs, &output, &call.d_out, &runner).map(|_| ())
    };
    let steps = tiled::backward_steps(&call.spec);
    assert!(steps > 10, "{steps}");
    assert_eq!(run(steps - 1), Err(CallError::Stopped));
    assert_eq!(run(steps), Ok(()));
}
