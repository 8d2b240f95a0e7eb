//! What the engine answers is what the oracle says, for every mask and position scheme that is registered.

use crate::common::{ask, checked, given, look, numbers, stopped, view};
use attention::naive::{Inputs, backward, forward, jacobian, row_gradient};
use attention::rows::Serial;
use attention::{
    AttentionSpec, Config, Hidden, MaskUse, PositionUse, Shape, lanes, masks, positions, tiled,
};
use engine::worker::Worker;
use protocol::{Job, KernelJob, Numbers, Reply, Revision, StagesJob, Target, Trace, cell_state};

/// One config for every example of every registry, at a square and an oblong shape, and one with everything.
fn configs() -> Vec<Config> {
    let square = Shape {
        heads: 4,
        kv_heads: 2,
        n_q: 9,
        n_k: 9,
        d_k: 8,
        d_v: 6,
    };
    let oblong = Shape {
        n_q: 3,
        n_k: 7,
        ..square
    };
    let mut all = Vec::new();
    for shape in [square, oblong] {
        all.push(Config::new(shape));
        for mask in masks::ALL.iter().flat_map(|m| (m.examples)(shape)) {
            all.push(Config {
                masks: vec![mask.clone()],
                ..Config::new(shape)
            });
            all.push(Config {
                masks: vec![mask],
                hidden: Hidden::Finite(-1e4),
                ..Config::new(shape)
            });
        }
        for position in positions::ALL.iter().flat_map(|p| (p.examples)(shape)) {
            all.push(Config {
                positions: vec![position],
                ..Config::new(shape)
            });
        }
    }
    all.push(Config {
        masks: vec![
            MaskUse::new("causal", &[]).unwrap(),
            MaskUse::new("window", &[("size", 5.into()), ("keep_first", 1.into())]).unwrap(),
        ],
        positions: vec![
            PositionUse::new("rope", &[("layout", "half".into())]).unwrap(),
            PositionUse::new("alibi", &[]).unwrap(),
        ],
        soft_cap: Some(10.0),
        qk_norm: Some(1e-6),
        sink: Some(vec![0.3, -0.2, 0.0, 1.0]),
        ..Config::new(square)
    });
    all
}

fn trace(reply: Reply) -> Box<Trace> {
    match reply {
        Reply::Trace(trace) => trace,
        other => panic!("expected a trace, got {other:?}"),
    }
}

#[test]
fn a_view_shows_the_oracle_bit_for_bit() {
    for (n, config) in configs().iter().enumerate() {
        let spec = AttentionSpec::new(config.clone()).unwrap();
        let shape = spec.shape();
        let Numbers::Given { q, k, v } = given(config) else {
            unreachable!()
        };
        let f = forward(&spec, &Inputs::new(&spec, &q, &k, &v).unwrap());
        let mut worker = Worker::new(1, stopped);
        for head in shape.head_indices() {
            let t = trace(ask(
                &mut worker,
                Job::View(view(n as u64 * 10 + head.0 as u64, config, head.0)),
            ));
            let cells = shape.scores_row(head, attention::QueryIdx(0)).start..;
            let cells = cells.start..cells.start + shape.n_q * shape.n_k;
            assert_eq!(t.scores, f.scores[cells.clone()]);
            assert_eq!(t.weights, f.weights[cells.clone()]);
            assert_eq!(
                t.out,
                f.out[head.0 * shape.n_q * shape.d_v..][..shape.n_q * shape.d_v]
            );
            assert_eq!(
                t.q_pos,
                f.q_pos[head.0 * shape.n_q * shape.d_k..][..shape.n_q * shape.d_k]
            );
            assert_eq!(t.bias.is_empty(), !spec.has_bias());
            for (i, row) in t.rows.iter().enumerate() {
                let s = f.summaries[shape.row(head, attention::QueryIdx(i))];
                assert_eq!(
                    (row.lse, row.entropy, row.row_sum),
                    (s.lse, s.entropy, s.row_sum)
                );
                assert_eq!(
                    row.visible,
                    (0..shape.n_k)
                        .filter(|&j| spec.visible(attention::QueryIdx(i), attention::KeyIdx(j)))
                        .count()
                );
                for j in 0..shape.n_k {
                    if spec.has_bias() {
                        let bias = spec.relative_bias(head, i as isize - j as isize);
                        assert_eq!(t.bias[i * shape.n_k + j], bias);
                    }
                    let masked = matches!(
                        cell_state(t.states[i * shape.n_k + j]),
                        attention::naive::CellState::Masked
                            | attention::naive::CellState::RowSeesNothing
                    );
                    assert!(!masked || t.weights[i * shape.n_k + j] == 0.0);
                }
            }
            let sees: Vec<_> = t.rows.iter().filter(|r| r.max.is_finite()).collect();
            assert_eq!(t.summary.empty_rows, shape.n_q - sees.len());
            if !sees.is_empty() {
                let mean = sees.iter().map(|r| r.jacobian_norm).sum::<f64>() / sees.len() as f64;
                assert_eq!(t.summary.mean_jacobian_norm, mean);
            }
            // A finite mask constant makes the scores large, and float32 rounds them by about s · 1e-7.
            let constant = if let Hidden::Finite(c) = config.hidden {
                c.abs()
            } else {
                0.0
            };
            let tolerance = 2e-6 + constant * 1e-7;
            assert!(
                checked(&mut worker).is_some_and(|f| f.max_error <= tolerance * f.max_value),
                "{config:?}"
            );
        }
    }
}

#[test]
fn a_look_explains_the_cell_and_the_row() {
    for (n, config) in configs().iter().enumerate() {
        let spec = AttentionSpec::new(config.clone()).unwrap();
        let shape = spec.shape();
        let mut worker = Worker::new(1, stopped);
        let t = trace(ask(
            &mut worker,
            Job::View(view(n as u64 * 1000 + 1, config, 3)),
        ));
        for (at, (i, j)) in [(0, 0), (shape.n_q - 1, shape.n_k - 1), (1, 2)]
            .into_iter()
            .enumerate()
        {
            let revision = Revision(n as u64 * 1000 + 2 + at as u64);
            let reply = ask(
                &mut worker,
                Job::Look {
                    revision,
                    look: look(i, j),
                },
            );
            let Reply::Look {
                row,
                cell,
                revision: answered,
            } = reply
            else {
                panic!("{reply:?}")
            };
            assert_eq!(answered, revision);
            let facts = &t.rows[i];
            let weights = &t.weights[i * shape.n_k..][..shape.n_k];
            assert_eq!(row.jacobian, jacobian(weights, facts.sink_weight));
            assert_eq!(row.jacobian_norm, facts.jacobian_norm);
            let out = &t.out[i * shape.d_v..][..shape.d_v];
            let value = &t.v[j * shape.d_v..][..shape.d_v];
            let d_out: Vec<f64> = out.iter().zip(value).map(|(o, v)| o - v).collect();
            assert_eq!(row.loss, Some(d_out.iter().map(|d| 0.5 * d * d).sum()));
            assert_eq!(
                row.d_scores,
                row_gradient(weights, facts.sink_weight, &t.v, &d_out)
            );
            assert_eq!(row.d_out, d_out);
            assert_eq!(cell.score, t.scores[i * shape.n_k + j]);
            assert_eq!(cell.weight, weights[j]);
            let sum: f64 = cell.terms.iter().sum();
            assert!(
                (sum - cell.dot).abs() < 1e-12 && (cell.dot * t.scale - cell.scaled).abs() < 1e-12
            );
            assert!((cell.capped + cell.bias - cell.score).abs() < 1e-12);
            if cell.denominator > 0.0 {
                assert!((cell.exp / cell.denominator - cell.weight).abs() < 1e-15);
            } else {
                assert_eq!(cell.weight, 0.0);
            }
        }
    }
}

#[test]
fn tokens_are_projected_with_their_places() {
    let shape = Shape {
        heads: 2,
        kv_heads: 1,
        n_q: 5,
        n_k: 5,
        d_k: 4,
        d_v: 3,
    };
    let positions = vec![PositionUse::new("sinusoidal", &[]).unwrap()];
    let config = Config {
        positions: positions.clone(),
        ..Config::new(shape)
    };
    let (x, d_model) = (numbers(5 * 6, 7), 6);
    let (w_q, w_k, w_v) = (numbers(2 * 6 * 4, 8), numbers(6 * 4, 9), numbers(6 * 3, 10));
    let mut placed = x.clone();
    positions::add_to_tokens(&positions, &mut placed, d_model);
    assert_ne!(placed, x);
    let project = |w: &[f64], d| attention::naive::project(&placed, w, 5, 6, d).unwrap();
    let tokens = Numbers::Tokens {
        d_model,
        x,
        w_q: w_q.clone(),
        w_k: w_k.clone(),
        w_v: w_v.clone(),
    };
    let mut worker = Worker::new(1, stopped);
    for head in 0..2 {
        let job = protocol::ViewJob {
            numbers: tokens.clone(),
            ..view(1 + head as u64, &config, head)
        };
        let t = trace(ask(&mut worker, Job::View(job)));
        assert_eq!(t.q, project(&w_q[head * 24..][..24], 4));
        assert_eq!(t.k, project(&w_k, 4));
        assert_eq!(t.v, project(&w_v, 3));
        assert!(checked(&mut worker).is_some_and(|f| f.max_error <= 2e-6 * f.max_value));
    }
}

#[test]
fn kernel_and_stages_are_those_of_the_core() {
    let mut worker = Worker::new(1, stopped);
    for (n, config) in configs().into_iter().enumerate() {
        let spec = AttentionSpec::new(config.clone()).unwrap();
        let Numbers::Given { q, k, v } = given(&config) else {
            unreachable!()
        };
        let d_out = numbers(spec.shape().out_len(), 4);
        let inputs = Inputs::new(&spec, &q, &k, &v).unwrap();
        let f = forward(&spec, &inputs);
        let g = backward(&spec, &inputs, &f, &d_out).unwrap();
        let revision = Revision(2 * n as u64);
        let job = StagesJob {
            revision,
            config: config.clone(),
            numbers: given(&config),
            d_out,
        };
        let Reply::Stages(stages) = ask(&mut worker, Job::Stages(job)) else {
            panic!("no stages")
        };
        let stage = |name| &stages.tensors[stages.names.iter().position(|n| n == name).unwrap()];
        for (name, tensor) in [
            ("scores", &f.scores),
            ("probs", &f.weights),
            ("out", &f.out),
            ("lse", &f.lse),
        ] {
            assert_eq!(stage(name), tensor, "{name}");
        }
        for (name, tensor) in [
            ("d_q", &g.d_q),
            ("d_k", &g.d_k),
            ("d_v", &g.d_v),
            ("d_scores", &g.d_scores),
        ] {
            assert_eq!(stage(name), tensor, "{name}");
        }
        assert_eq!(
            stages.names.iter().any(|n| n == "d_sink"),
            config.sink.is_some()
        );

        let narrow = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
        let (q, k, v) = (narrow(&q), narrow(&k), narrow(&v));
        let fast = tiled::forward::<lanes::Best, _>(
            &spec,
            &Inputs::new(&spec, &q, &k, &v).unwrap(),
            &Serial,
        )
        .unwrap();
        let job = KernelJob {
            revision: Revision(2 * n as u64 + 1),
            config: config.clone(),
            numbers: given(&config),
        };
        let Reply::Kernel(kernel) = ask(&mut worker, Job::Kernel(job)) else {
            panic!("no kernel")
        };
        assert!(
            kernel.out.iter().eq(fast
                .out
                .iter()
                .map(|&x| f64::from(x))
                .collect::<Vec<_>>()
                .iter())
        );
        assert!(
            kernel.lse.iter().eq(fast
                .lse
                .iter()
                .map(|&x| f64::from(x))
                .collect::<Vec<_>>()
                .iter())
        );
    }
}

#[test]
fn numbers_at_the_end_of_float_reach_no_screen_as_infinity_or_nan() {
    let config = Config {
        scale: attention::Scale::Custom(1.0),
        ..Config::new(Shape::square(3, 2))
    };
    for huge in [1e38, 1e200, f64::MAX] {
        let mut job = view(1, &config, 0);
        let Numbers::Given { q, k, v } = &mut job.numbers else {
            unreachable!()
        };
        (q[0], k[0], k[2], v[1], v[0]) = (huge, huge, -huge, huge, -huge);
        job.look.target = Target::Value(0);
        let mut worker = Worker::new(1, stopped);
        let t = trace(ask(&mut worker, Job::View(job)));
        let all = [
            &t.q_pos,
            &t.k_pos,
            &t.scores,
            &t.weights,
            &t.out,
            &t.row.jacobian,
            &t.row.d_scores,
            &t.row.d_out,
            &t.cell.terms,
        ];
        assert!(
            all.into_iter().flatten().all(|x| x.is_finite()),
            "{huge}: {t:?}"
        );
        let c = &t.cell;
        assert!(
            [
                c.dot,
                c.scaled,
                c.score,
                c.max,
                c.exp,
                c.denominator,
                c.weight
            ]
            .iter()
            .all(|x| x.is_finite()),
            "{c:?}"
        );
        assert!(t.row.loss.is_some_and(f64::is_finite));
        match checked(&mut worker) {
            Some(fast) => assert!(fast.overflowed > 0 && fast.max_error.is_finite()),
            None => assert!(huge > f64::from(f32::MAX)),
        }
    }
}

#[test]
fn threads_and_steps_give_the_same_bits() {
    let config = Config {
        masks: vec![MaskUse::new("causal", &[]).unwrap()],
        ..Config::new(Shape {
            d_v: 24,
            ..Shape::square(300, 32)
        })
    };
    let spec = AttentionSpec::new(config.clone()).unwrap();
    let Numbers::Given { q, k, v } = given(&config) else {
        unreachable!()
    };
    let f = forward(&spec, &Inputs::new(&spec, &q, &k, &v).unwrap());
    for threads in [1, 4] {
        let t = trace(ask(
            &mut Worker::new(threads, stopped),
            Job::View(view(1, &config, 0)),
        ));
        assert_eq!(
            (t.scores, t.weights, t.out),
            (f.scores.clone(), f.weights.clone(), f.out.clone())
        );
    }
}
