//! Gradients against finite differences, over random shapes and options.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::naive::{Inputs, backward, forward, jacobian, row_gradient};
use attention::{AttentionSpec, Config};
use common::random::{Call, call};
use common::{largest, widen};
use proptest::prelude::*;

/// Step of the differences. Their error is about STEP⁴ · fifth derivative / 30, and rounding over STEP: 1e-12.
const STEP: f64 = 1e-3;
/// Relative to the largest gradient of the tensor, or absolute below 1.
const TOLERANCE: f64 = 1e-6;

/// Picks one of the tensors.
type Tensor = fn(&mut Problem) -> &mut Vec<f64>;

struct Problem {
    spec: AttentionSpec,
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
    d_out: Vec<f64>,
}

impl Problem {
    fn new(call: &Call) -> Self {
        let [q, k, v, d_out] = [&call.q, &call.k, &call.v, &call.d_out].map(|x| widen(x));
        Self {
            spec: call.spec.clone(),
            q,
            k,
            v,
            d_out,
        }
    }

    fn loss(&self) -> f64 {
        let inputs = Inputs::new(&self.spec, &self.q, &self.k, &self.v).unwrap();
        forward(&self.spec, &inputs)
            .out
            .iter()
            .zip(&self.d_out)
            .map(|(o, d)| o * d)
            .sum()
    }

    /// d loss / d x at `cell` of the tensor that `tensor` picks, by four points.
    fn slope(&mut self, tensor: Tensor, cell: usize) -> f64 {
        let at = tensor(self)[cell];
        let mut loss = |step: f64| {
            tensor(self)[cell] = at + step * STEP;
            self.loss()
        };
        let slope = (8.0 * (loss(1.0) - loss(-1.0)) - (loss(2.0) - loss(-2.0))) / (12.0 * STEP);
        tensor(self)[cell] = at;
        slope
    }

    /// d loss / d sink of a head.
    fn sink_slope(&self, head: usize) -> f64 {
        let loss = |step: f64| {
            let mut config: Config = self.spec.config().clone();
            config.sink.as_mut().unwrap()[head] += step * STEP;
            let spec = AttentionSpec::new(config).unwrap();
            let [q, k, v, d_out] = [&self.q, &self.k, &self.v, &self.d_out].map(Clone::clone);
            Self {
                spec,
                q,
                k,
                v,
                d_out,
            }
            .loss()
        };
        (8.0 * (loss(1.0) - loss(-1.0)) - (loss(2.0) - loss(-2.0))) / (12.0 * STEP)
    }

    /// Whether every query and key is long enough for the QK-norm to be nearly straight over a step.
    fn is_smooth(&self) -> bool {
        let long = |x: &[f64]| {
            x.chunks(self.spec.shape().d_k)
                .all(|row| largest(row) > 0.3)
        };
        self.spec.qk_norm().is_none() || long(&self.q) && long(&self.k)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn backward_is_the_slope_of_forward(call in call(5, 1.0)) {
        let mut p = Problem::new(&call);
        prop_assume!(p.is_smooth());
        let inputs = Inputs::new(&p.spec, &p.q, &p.k, &p.v).unwrap();
        let g = backward(&p.spec, &inputs, &forward(&p.spec, &inputs), &p.d_out).unwrap();
        let tensors: [(&str, Tensor, &[f64]); 3] = [
            ("q", |p| &mut p.q, &g.d_q),
            ("k", |p| &mut p.k, &g.d_k),
            ("v", |p| &mut p.v, &g.d_v),
        ];
        for (name, tensor, gradient) in tensors {
            let bound = TOLERANCE * largest(gradient).max(1.0);
            // Every seventh cell, and all of small tensors.
            for cell in (0..gradient.len()).step_by(if gradient.len() < 40 { 1 } else { 7 }) {
                let slope = p.slope(tensor, cell);
                prop_assert!((gradient[cell] - slope).abs() <= bound, "d_{}[{}]: {} {}", name, cell, gradient[cell], slope);
            }
        }
        for (head, d_sink) in g.d_sink.iter().flatten().enumerate() {
            let slope = p.sink_slope(head);
            prop_assert!((d_sink - slope).abs() <= TOLERANCE, "d_sink[{}]: {} {}", head, d_sink, slope);
        }
    }

    #[test]
    fn a_row_gradient_is_the_jacobian_times_the_gradient_at_the_weights(call in call(9, 2.0)) {
        let p = Problem::new(&call);
        let inputs = Inputs::new(&p.spec, &p.q, &p.k, &p.v).unwrap();
        let f = forward(&p.spec, &inputs);
        let shape = p.spec.shape();
        for head in shape.head_indices() {
            let v = &p.v[shape.kv_head(head).0 * shape.n_k * shape.d_v..][..shape.n_k * shape.d_v];
            for q in shape.queries() {
                let weights = &f.weights[shape.scores_row(head, q)];
                let sink = f.summaries[shape.row(head, q)].sink_weight;
                let d_out = &p.d_out[shape.out_row(head, q)];
                let j = jacobian(weights, sink);
                let d_weights: Vec<f64> =
                    v.chunks(shape.d_v).map(|v| v.iter().zip(d_out).map(|(v, d)| v * d).sum()).collect();
                for (row, got) in j.chunks(shape.n_k).zip(row_gradient(weights, sink, v, d_out)) {
                    let right: f64 = row.iter().zip(&d_weights).map(|(j, d)| j * d).sum();
                    prop_assert!((got - right).abs() <= 1e-13 * largest(&d_weights).max(1.0));
                }
            }
        }
    }
}
