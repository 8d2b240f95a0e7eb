//! The oracle against golden values from NumPy and JAX.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::naive::{Inputs, backward, forward};
use common::{difference, golden, largest};

/// Both sides compute in float64; the script itself demands no more of its two computations.
const FORWARD: f64 = 1e-12;
/// Relative to the largest gradient: sums over up to 33 keys of products of up to 64 terms.
const BACKWARD: f64 = 1e-12;

#[test]
fn every_stage_and_gradient_is_golden() {
    golden(|case| {
        let (q, k, v) = (case.array("q"), case.array("k"), case.array("v"));
        let inputs = Inputs::new(&case.spec, &q, &k, &v).unwrap();
        let f = forward(&case.spec, &inputs);
        let scale = |right: &[f64]| largest(right).max(1.0);
        for (name, got) in [
            ("q_pos", &f.q_pos),
            ("k_pos", &f.k_pos),
            ("scores", &f.scores),
            ("probs", &f.weights),
            ("out", &f.out),
            ("entropy", &f.entropy),
        ] {
            let right = case.array(name);
            let error = difference(got, &right);
            assert!(
                error <= FORWARD * scale(&right),
                "{}/{name}: {error:e}",
                case.name
            );
        }
        let right = case.array("lse");
        let finite: Vec<f64> = right.iter().copied().filter(|x| x.is_finite()).collect();
        let error = difference(&f.lse, &right);
        assert!(
            error <= FORWARD * scale(&finite),
            "{}/lse: {error:e}",
            case.name
        );

        let g = backward(&case.spec, &inputs, &f, &case.array("d_out")).unwrap();
        let none = Vec::new();
        for (name, got) in [
            ("d_q", &g.d_q),
            ("d_k", &g.d_k),
            ("d_v", &g.d_v),
            ("d_scores", &g.d_scores),
            ("d_sink", g.d_sink.as_ref().unwrap_or(&none)),
        ] {
            let right = case.get(name).unwrap_or_default();
            let error = difference(got, &right);
            assert!(
                error <= BACKWARD * scale(&right),
                "{}/{name}: {error:e}",
                case.name
            );
        }
    });
}

#[test]
fn row_sums_are_one_less_the_sink() {
    golden(|case| {
        let (q, k, v) = (case.array("q"), case.array("k"), case.array("v"));
        let f = forward(&case.spec, &Inputs::new(&case.spec, &q, &k, &v).unwrap());
        for (row, sum) in f.summaries.iter().zip(&f.row_sum) {
            let right = if row.largest.is_none() {
                0.0
            } else {
                1.0 - row.sink_weight
            };
            assert!(
                (sum - right).abs() <= 1e-15 * case.spec.shape().n_k as f64,
                "{}",
                case.name
            );
        }
    });
}
