//! Rows that see nothing, weights that underflow, numbers that overflow: never NaN, never a panic, and each of them
//! told apart.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::lanes::Best;
use attention::naive::{
    CEILING, CellState, Forward, Gradients, Inputs, Prepared, RowBuffers, RowStatus, backward,
    forward, jacobian_norm,
};
use attention::{
    AttentionSpec, BitMatrix, Config, HeadIdx, Hidden, MaskUse, QueryIdx, Scale, Shape,
};
use attention::{rows, tiled};
use common::difference;
use common::random::{Call, call};
use proptest::prelude::*;

/// Cells that break careless code.
const AWKWARD: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    1e-310,
    5e-324,
    1e-160,
    -1e-30,
    1e19,
    1e38,
    -1e38,
    3e38,
    1e154,
    -1e200,
    1e308,
    f64::MAX,
    -f64::MAX,
    88.8,
    709.8,
    -745.2,
];

fn run(config: Config, q: &[f64], k: &[f64], v: &[f64]) -> Forward {
    let spec = AttentionSpec::new(config).unwrap();
    forward(&spec, &Inputs::new(&spec, q, k, v).unwrap())
}

/// One query, width 1, scale 1: the keys are the scores.
fn row(scores: &[f64]) -> Forward {
    run(
        common::row(scores.len()),
        &[1.0],
        scores,
        &vec![1.0; scores.len()],
    )
}

fn states(f: &Forward, visible: &[bool]) -> Vec<CellState> {
    let cells = f.weights.iter().zip(&f.scores).zip(visible);
    cells
        .map(|((&w, &s), &v)| CellState::of_weight(w, s, v, f.summaries[0].status))
        .collect()
}

#[test]
fn a_row_that_sees_nothing_is_zero_by_rule() {
    let nothing = MaskUse::new("padding", &[("key_length", 0.into())]).unwrap();
    let config = Config {
        masks: vec![nothing],
        ..Config::new(Shape::square(3, 2))
    };
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let spec = AttentionSpec::new(config.clone()).unwrap();
    let inputs = Inputs::new(&spec, &x, &x, &x).unwrap();
    let f = forward(&spec, &inputs);
    assert_eq!((&f.weights[..], &f.out[..]), (&[0.0; 9][..], &[0.0; 6][..]));
    assert_eq!(
        (&f.entropy[..], &f.row_sum[..]),
        (&[0.0; 3][..], &[0.0; 3][..])
    );
    assert_eq!(f.lse, [f64::NEG_INFINITY; 3]);
    for s in &f.summaries {
        assert_eq!(
            (s.status, s.visible, s.largest),
            (RowStatus::SeesNothing, 0, None)
        );
        assert_eq!((s.jacobian_norm, s.sink_weight), (0.0, 0.0));
    }
    assert_eq!(states(&f, &[false; 9])[0], CellState::RowSeesNothing);
    let g = backward(&spec, &inputs, &f, &x).unwrap();
    let all = [&g.d_q[..], &g.d_k, &g.d_v, &g.d_scores].concat();
    assert!(all.iter().all(|x| *x == 0.0));

    // With a sink the row still sees nothing, and the sink takes all.
    let f = run(
        Config {
            sink: Some(vec![1.5]),
            ..config
        },
        &x,
        &x,
        &x,
    );
    assert_eq!(
        (f.lse[0], f.summaries[0].sink_weight, f.row_sum[0]),
        (1.5, 1.0, 0.0)
    );
}

#[test]
fn masked_underflowed_and_zero_are_told_apart() {
    let bits = BitMatrix::from_fn(1, 4, |_, k| k.0 != 3);
    let shape = Shape {
        n_q: 1,
        n_k: 4,
        ..Shape::square(1, 1)
    };
    let config = Config {
        scale: Scale::Custom(1.0),
        masks: vec![MaskUse::drawn(bits)],
        ..Config::new(shape)
    };
    let f = run(config, &[1.0], &[0.0, -800.0, -1.0, 2.0], &[1.0; 4]);
    let visible = [true, true, true, false];
    use CellState::{Masked, Ordinary, Underflowed, Zero};
    assert_eq!(
        states(&f, &visible),
        [Ordinary, Underflowed, Ordinary, Masked]
    );
    assert_eq!(f.summaries[0].underflowed, 1);
    assert_eq!(CellState::of_score(f.masked[3], false), Masked);
    assert_eq!(CellState::of_score(f.masked[0], true), Zero);
}

/// Claim `weights-are-never-exactly-zero`.
#[test]
fn a_weight_is_zero_from_a_lead_of_745_14_on() {
    assert!(row(&[745.13, 0.0]).weights[1] > 0.0);
    let f = row(&[745.14, 0.0]);
    assert_eq!(f.weights, [1.0, 0.0]);
    assert_eq!(f.summaries[0].underflowed, 1);
}

/// Claim `minus-1e9-is-minus-infinity`: so it is, while a row sees something.
#[test]
fn a_finite_mask_constant_is_not_minus_infinity() {
    let with = |hidden, see: [bool; 3]| {
        let bits = BitMatrix::from_fn(1, 3, |_, k| see[k.0]);
        let shape = Shape {
            n_q: 1,
            n_k: 3,
            ..Shape::square(1, 1)
        };
        let config = Config {
            scale: Scale::Custom(1.0),
            masks: vec![MaskUse::drawn(bits)],
            hidden,
            ..Config::new(shape)
        };
        run(config, &[1.0], &[0.1, 0.7, 1.3], &[1.0; 3])
    };
    let finite = Hidden::Finite(-1e9);
    let one = [true, false, true];
    assert_eq!(
        with(finite, one).weights,
        with(Hidden::NegInfinity, one).weights
    );
    let unmasked = row(&[0.1, 0.7, 1.3]).weights;
    let broken = with(finite, [false; 3]);
    assert!(difference(&broken.weights, &unmasked) <= 1e-6);
    assert_eq!(
        (broken.summaries[0].status, broken.summaries[0].visible),
        (RowStatus::Ordinary, 0)
    );
    assert_eq!(states(&broken, &[false; 3]), [CellState::Ordinary; 3]);
    // A small constant hides nothing much.
    assert!(with(Hidden::Finite(-1.0), one).weights[1] > 0.1);
}

#[test]
fn overflowing_scores_are_held_and_told() {
    let shape = Shape {
        n_q: 1,
        n_k: 3,
        ..Shape::square(1, 2)
    };
    let config = Config {
        scale: Scale::Custom(1.0),
        ..Config::new(shape)
    };
    let q = [1e308, 1e308];
    // +∞, −∞, and two terms that overflow but cancel.
    let f = run(
        config.clone(),
        &q,
        &[1e308, 1e308, -1e308, -1e308, 1e308, -1e308],
        &[1.0; 6],
    );
    assert_eq!(f.scores, [CEILING, -CEILING, 0.0]);
    assert_eq!(f.weights, [1.0, 0.0, 0.0]);
    assert_eq!(f.summaries[0].status, RowStatus::Overflowed);
    use CellState::{Overflowed, Underflowed};
    assert_eq!(
        states(&f, &[true; 3]),
        [Overflowed, Overflowed, Underflowed]
    );

    // Two at the upper end tie by rule.
    let f = run(
        config.clone(),
        &q,
        &[1e308, 1e308, 2.0, 1e308, 0.0, 0.0],
        &[1.0; 6],
    );
    assert_eq!(f.weights, [0.5, 0.5, 0.0]);
    assert_eq!(f.summaries[0].status, RowStatus::Overflowed);

    // The scale may bring it back, and a soft cap does.
    let small = Config {
        scale: Scale::Custom(1e-300),
        ..config.clone()
    };
    let f = run(
        small.clone(),
        &[1e154, 0.0],
        &[1e154, 0.0, 2e154, 0.0, 0.0, 1.0],
        &[1.0; 6],
    );
    assert_eq!(f.summaries[0].status, RowStatus::Ordinary);
    assert!((f.scores[0] / 1e8 - 1.0).abs() < 1e-12 && (f.scores[1] / 2e8 - 1.0).abs() < 1e-12);
    let capped = Config {
        soft_cap: Some(30.0),
        ..config
    };
    let f = run(
        capped,
        &q,
        &[1e308, 1e308, -1e308, 1.0, 0.0, 0.0],
        &[1.0; 6],
    );
    assert_eq!(f.scores, [30.0, -30.0, 0.0]);
    assert_eq!(f.summaries[0].status, RowStatus::Ordinary);
}

#[test]
fn a_norm_of_huge_or_tiny_numbers_is_right() {
    for size in [1e308, 1.0, 1e-300] {
        let config = Config {
            qk_norm: Some(0.0),
            ..Config::new(Shape::square(1, 2))
        };
        let f = run(config, &[0.6 * size, 0.8 * size], &[size, 0.0], &[1.0, 1.0]);
        let root = 2.0_f64.sqrt();
        assert!(
            difference(&f.q_pos, &[0.6 * root, 0.8 * root]) <= 1e-15,
            "{size}: {:?}",
            f.q_pos
        );
        assert!((f.dot[0] - 1.2).abs() <= 1e-15);
    }
    let config = Config {
        qk_norm: Some(0.0),
        ..Config::new(Shape::square(1, 2))
    };
    assert_eq!(run(config, &[0.0; 2], &[0.0; 2], &[1.0; 2]).q_pos, [0.0; 2]);
}

#[test]
fn rows_can_be_computed_in_any_order_and_later() {
    let shape = Shape {
        heads: 2,
        kv_heads: 1,
        ..Shape::square(5, 3)
    };
    let x: Vec<f64> = (0..30).map(|i| f64::from(i).sin()).collect();
    let whole = run(Config::new(shape), &x, &x[..15], &x[15..]);
    let prepared = {
        let spec = AttentionSpec::new(Config::new(shape)).unwrap();
        let inputs = Inputs::new(&spec, &x, &x[..15], &x[15..]).unwrap();
        Prepared::new(&spec, &inputs, HeadIdx(1))
    };
    let mut buffers = RowBuffers::new(prepared.spec());
    for q in [4, 0, 2, 2] {
        let summary = prepared.row(QueryIdx(q), &mut buffers);
        let at = shape.row(HeadIdx(1), QueryIdx(q));
        assert_eq!(summary, whole.summaries[at]);
        assert_eq!(
            buffers.weights,
            whole.weights[shape.scores_row(HeadIdx(1), QueryIdx(q))]
        );
        assert_eq!(
            buffers.out,
            whole.out[shape.out_row(HeadIdx(1), QueryIdx(q))]
        );
        let norm = jacobian_norm(&buffers.weights, summary.sink_weight);
        assert!((norm - summary.jacobian_norm).abs() <= 1e-15);
    }
}

fn no_nan(f: &Forward, g: &Gradients) -> bool {
    let finite = [
        &f.q_pos[..],
        &f.k_pos,
        &f.dot,
        &f.scaled,
        &f.capped,
        &f.scores,
        &f.weights,
        &f.entropy,
        &f.row_sum,
        &f.out,
        &g.d_q,
        &g.d_k,
        &g.d_v,
        &g.d_scores,
        g.d_sink.as_deref().unwrap_or(&[]),
    ];
    let or_hidden = [&f.masked[..], &f.lse];
    finite.iter().all(|x| x.iter().all(|x| x.is_finite()))
        && or_hidden
            .iter()
            .all(|x| x.iter().all(|x| x.is_finite() || *x == f64::NEG_INFINITY))
        && f.summaries.iter().all(|s| {
            s.jacobian_norm.is_finite()
                && s.sink_weight.is_finite()
                && s.max < f64::INFINITY
                && !s.max.is_nan()
        })
}

/// Any awkward cells in the places of a call's numbers.
fn awkward(cells: usize) -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(prop::sample::select(AWKWARD), cells)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_input_gives_nan(
        (call, cells) in call(6, 1.0).prop_flat_map(|call| {
            let s = call.spec.shape();
            let n = s.q_len() + s.k_len() + s.v_len() + s.out_len();
            (Just(call), awkward(n))
        }),
        constant in prop::option::of(prop::sample::select(&[-1e9, -1e30, 1e30, -1.0][..])),
        scale in prop::option::of(prop::sample::select(&[0.0, -1e30, 1e30, 1e-300][..])),
    ) {
        let mut config = call.spec.config().clone();
        if let Some(constant) = constant {
            config.hidden = Hidden::Finite(constant);
        }
        if let Some(scale) = scale {
            config.scale = Scale::Custom(scale);
        }
        let spec = AttentionSpec::new(config).unwrap();
        let s = spec.shape();
        let (q, rest) = cells.split_at(s.q_len());
        let (k, rest) = rest.split_at(s.k_len());
        let (v, d_out) = rest.split_at(s.v_len());
        let inputs = Inputs::new(&spec, q, k, v).unwrap();
        let f = forward(&spec, &inputs);
        let g = backward(&spec, &inputs, &f, d_out).unwrap();
        prop_assert!(no_nan(&f, &g), "{:?}\n{:?}", f, g);
        for (row, sum) in f.summaries.iter().zip(&f.row_sum) {
            let right = if row.largest.is_none() { 0.0 } else { 1.0 - row.sink_weight };
            prop_assert!((sum - right).abs() <= 1e-12, "{} {}", sum, right);
        }

        // The same through float32, where the cells fit.
        let narrow = |x: &[f64]| -> Vec<f32> {
            x.iter().map(|&x| (x as f32).clamp(-f32::MAX, f32::MAX)).collect()
        };
        let call = Call { spec, q: narrow(q), k: narrow(k), v: narrow(v), d_out: vec![] };
        let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
        let fast = tiled::forward::<Best, _>(&call.spec, &inputs, &rows::Serial).unwrap();
        prop_assert!(fast.out.iter().all(|x| x.is_finite()), "{:?}", fast);
        prop_assert!(fast.lse.iter().all(|x| x.is_finite() || *x == f32::NEG_INFINITY), "{:?}", fast);
    }

    #[test]
    fn weights_are_a_distribution_and_outputs_stay_between_the_values(call in call(12, 3.0)) {
        let inputs = Inputs::new(&call.spec, &call.q, &call.k, &call.v).unwrap();
        let f = forward(&call.spec, &inputs);
        prop_assert!(f.weights.iter().all(|a| (0.0..=1.0).contains(a)));
        let s = call.spec.shape();
        for (q, out) in f.out.chunks(s.d_v).enumerate() {
            let entropy = f.entropy[q];
            let most = (f.summaries[q].visible.max(1) as f64).ln() + 1.0;
            prop_assert!((0.0..=most).contains(&entropy), "{}", entropy);
            let kv = s.kv_head(HeadIdx(q / s.n_q)).0;
            for (c, x) in out.iter().enumerate() {
                let column = (0..s.n_k).map(|j| f64::from(call.v[(kv * s.n_k + j) * s.d_v + c]));
                let (low, high) = column.fold((0.0_f64, 0.0_f64), |(l, h), v| (l.min(v), h.max(v)));
                prop_assert!((low - 1e-12..=high + 1e-12).contains(x));
            }
        }
    }
}
