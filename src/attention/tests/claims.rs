//! Statements about attention with the numbers that settle them: the ones the core can be set to. Each test is named
//! after its statement; the small example is stream 7: X (6 × 8), then W_Q, W_K, W_V (8 × 4 each, divided by √8).

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::naive::{Forward, Inputs, backward, forward, jacobian, project, row_gradient};
use attention::{AttentionSpec, Config, MaskUse, PositionUse, Scale, Shape, positions};
use common::{Stream, difference, largest};

/// Numbers given to six digits.
const SIX: f64 = 1e-5;
/// What the statements call 0.
const ZERO: f64 = 1e-11;

struct Small {
    n: usize,
    x: Vec<f64>,
    wq: Vec<f64>,
    wk: Vec<f64>,
    wv: Vec<f64>,
}

impl Small {
    fn new(n: usize) -> Self {
        let mut s = Stream::new(7);
        let x = s.normals(n * 8);
        let mut w = || -> Vec<f64> { s.normals(32).iter().map(|x| x / 8.0_f64.sqrt()).collect() };
        Self {
            n,
            x,
            wq: w(),
            wk: w(),
            wv: w(),
        }
    }

    fn shape(&self) -> Shape {
        Shape::square(self.n, 4)
    }

    fn spec(&self, change: impl FnOnce(&mut Config)) -> AttentionSpec {
        let mut config = Config::new(self.shape());
        change(&mut config);
        AttentionSpec::new(config).unwrap()
    }

    fn qkv(&self) -> [Vec<f64>; 3] {
        [&self.wq, &self.wk, &self.wv].map(|w| project(&self.x, w, self.n, 8, 4).unwrap())
    }

    fn run(&self, change: impl FnOnce(&mut Config)) -> Forward {
        let spec = self.spec(change);
        let [q, k, v] = self.qkv();
        forward(&spec, &Inputs::new(&spec, &q, &k, &v).unwrap())
    }
}

fn causal(config: &mut Config) {
    config.masks.push(MaskUse::new("causal", &[]).unwrap());
}

/// One query of width 1 that scores each of `scores`, with `values` of width 1.
fn row_with(scores: &[f64], values: &[f64], sink: Option<f64>) -> Forward {
    let config = Config {
        sink: sink.map(|s| vec![s]),
        ..common::row(scores.len())
    };
    let spec = AttentionSpec::new(config).unwrap();
    forward(&spec, &Inputs::new(&spec, &[1.0], scores, values).unwrap())
}

fn row(scores: &[f64]) -> Forward {
    row_with(scores, &vec![0.0; scores.len()], None)
}

fn near(got: f64, right: f64, tolerance: f64) {
    assert!(
        (got - right).abs() <= tolerance * right.abs().max(1.0),
        "{got}, right {right}"
    );
}

fn about(got: f64, right: f64, tolerance: f64) {
    assert!(
        (got - right).abs() <= tolerance * right.abs(),
        "{got}, right {right}"
    );
}

fn transposed(a: &[f64], n: usize) -> Vec<f64> {
    (0..n * n).map(|at| a[at % n * n + at / n]).collect()
}

#[test]
fn asymmetry_from_unequal_projections() {
    let mut s = Small::new(6);
    let unscaled = |c: &mut Config| c.scale = Scale::Custom(1.0);
    let gap = |a: &[f64]| difference(a, &transposed(a, 6));
    near(gap(&s.run(unscaled).scores), 3.41827, SIX);
    s.wk = s.wq.clone();
    near(gap(&s.run(|_| {}).weights), 0.181_223, SIX);
    s.wk = s.wq.iter().map(|w| 2.0 * w).collect();
    assert!(gap(&s.run(unscaled).scores) <= ZERO);
}

#[test]
fn score_is_one_bilinear_form() {
    let s = Small::new(6);
    let m = project(
        &s.wq,
        &{
            let mut t = vec![0.0; 32];
            for (at, w) in s.wk.iter().enumerate() {
                t[at % 4 * 8 + at / 4] = *w;
            }
            t
        },
        8,
        4,
        8,
    )
    .unwrap();
    let xm = project(&s.x, &m, 6, 8, 8).unwrap();
    let form = |i: usize, j: usize| -> f64 { (0..8).map(|c| xm[i * 8 + c] * s.x[j * 8 + c]).sum() };
    let dot = s.run(|_| {}).dot;
    for (at, score) in dot.iter().enumerate() {
        near(*score, form(at / 6, at % 6), ZERO);
    }
}

#[test]
fn sqrt_dk_is_a_temperature() {
    let mut s = Small::new(6);
    let mean = |f: &Forward| f.entropy.iter().sum::<f64>() / 6.0;
    near(mean(&s.run(|_| {})), 1.68075, SIX);
    let hot = s.run(|c| c.scale = Scale::Custom(2.0));
    s.wq.iter_mut().for_each(|w| *w *= 4.0);
    let large = s.run(|_| {});
    near(mean(&large), 0.987_809, SIX);
    assert!(difference(&hot.weights, &large.weights) <= ZERO);
}

#[test]
fn rows_are_distributions() {
    let s = Small::new(6);
    let f = s.run(|_| {});
    near(
        f.weights.iter().copied().fold(1.0, f64::min),
        0.043_151_3,
        1e-6,
    );
    assert!(difference(&f.row_sum, &[1.0; 6]) <= 4e-15);
    assert_eq!(
        s.run(causal).weights.iter().filter(|a| **a == 0.0).count(),
        15
    );
}

#[test]
fn weights_are_a_markov_chain() {
    let a = Small::new(6).run(|_| {}).weights;
    let columns: Vec<f64> = (0..6).map(|j| a.iter().skip(j).step_by(6).sum()).collect();
    near(difference(&columns, &[1.0; 6]), 0.269_493, SIX);
}

#[test]
fn gap_becomes_ratio() {
    for (lead, ratio) in [(1.0, std::f64::consts::E), (5.0, 148.4132)] {
        let a = row(&[3.0 + lead, 3.0, -1.0]).weights;
        near(a[0] / a[1], ratio, 1e-6);
    }
    for (n, top) in [(4, 0.980_186), (1000, 0.129_346)] {
        let mut scores = vec![0.0; n];
        scores[0] = 5.0;
        near(row(&scores).weights[0], top, SIX);
    }
}

#[test]
fn output_is_an_expectation() {
    near(
        row_with(&[1.0, 2.0, 3.0], &[5.0, 1.0, 9.0], None).out[0],
        6.68205,
        SIX,
    );
}

#[test]
fn softmax_maximises_entropy() {
    near(row(&[1.0, 2.0, 3.0]).entropy[0], 0.832_396, SIX);
}

#[test]
fn mean_to_lookup() {
    let s = Small::new(6);
    let v = &s.qkv()[2];
    let mean: Vec<f64> = (0..4)
        .map(|c| v.iter().skip(c).step_by(4).sum::<f64>() / 6.0)
        .collect();
    let flat = s.run(|c| c.scale = Scale::Custom(0.0)).out;
    assert!(flat.chunks(4).all(|row| difference(row, &mean) <= ZERO));
    let sharp = s.run(|c| c.scale = Scale::Custom(1000.0));
    for (out, summary) in sharp.out.chunks(4).zip(&sharp.summaries) {
        let best = summary.largest.unwrap().0.0;
        assert!(difference(out, &v[best * 4..best * 4 + 4]) <= ZERO);
    }
}

#[test]
fn softmax_jacobian() {
    let j = jacobian(&row(&[1.0, 2.0, 3.0]).weights, 0.0);
    near(j[0], 0.081_925_1, 1e-7);
    near(j[1], -0.022_033_3, 1e-6);
    near(j[2], -0.059_891_8, 1e-6);
    near(j[8], 0.222_695_4, 1e-7);
    assert!(
        j.chunks(3)
            .all(|row| row.iter().sum::<f64>().abs() <= 1e-16)
    );
}

#[test]
fn saturation_kills_the_jacobian() {
    for (lead, norm) in [
        (0.0, 0.433_013),
        (5.0, 0.027_527_8),
        (10.0, 1.925_66e-4),
        (20.0, 8.744_73e-9),
    ] {
        let f = row(&[lead, 0.0, 0.0, 0.0]);
        about(f.summaries[0].jacobian_norm, norm, 2e-5);
        let square: f64 = f.weights.iter().map(|a| a * a).sum();
        assert!(f.summaries[0].jacobian_norm <= 1.0 - square + 1e-15);
    }
    // The leading order stays right far beyond where 1 − a rounds to 0: √(9 + 3 + 6) e^−lead.
    for lead in [40.0, 100.0, 300.0_f64] {
        about(
            row(&[lead, 0.0, 0.0, 0.0]).summaries[0].jacobian_norm,
            18.0_f64.sqrt() * (-lead).exp(),
            1e-12,
        );
    }
}

#[test]
fn large_scores_saturate_only_by_their_differences() {
    let f = row(&[1000.0, 1000.0, 0.0]);
    assert_eq!(f.weights, [0.5, 0.5, 0.0]);
    near(f.summaries[0].jacobian_norm, 0.5, 1e-15);
    assert_eq!(
        row(&[1001.0, 1002.0, 1003.0]).weights,
        row(&[1.0, 2.0, 3.0]).weights
    );
}

#[test]
fn softmax_prime_is_no_multiplier() {
    let a = row(&[1.0, 2.0, 3.0]).weights;
    let all = row_gradient(&a, 0.0, &[1.0, 1.0, 1.0], &[1.0]);
    assert!(largest(&all) <= 1e-16);
    near(
        row_gradient(&a, 0.0, &[1.0, 0.0, 0.0], &[1.0])[2],
        -0.059_891_8,
        1e-6,
    );
}

#[test]
fn saturated_heads_stop_learning() {
    let a = row(&[20.0, 0.0]).weights;
    let gradient = row_gradient(&a, 0.0, &[0.0, 1.0], &[2.0 * (a[1] - 1.0)]);
    about(gradient[1].abs(), 4.1223e-9, 1e-4);
}

#[test]
fn output_stays_in_the_hull() {
    let s = Small::new(6);
    let (v, out) = (&s.qkv()[2], s.run(|_| {}).out);
    let column =
        |x: &[f64], c: usize| -> Vec<f64> { x.iter().skip(c).step_by(4).copied().collect() };
    let (mut below, mut above) = (f64::INFINITY, f64::INFINITY);
    for c in 0..4 {
        let (v, out) = (column(v, c), column(&out, c));
        let low = v.iter().copied().fold(f64::INFINITY, f64::min);
        let high = v.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        below = out.iter().fold(below, |m, o| m.min(o - low));
        above = out.iter().fold(above, |m, o| m.min(high - o));
    }
    near(below, 0.316_553, SIX);
    near(above, 0.525_573, SIX);
}

#[test]
fn keys_do_not_move_into_the_query() {
    let s = Small::new(6);
    let spec = s.spec(|_| {});
    let [q, k, v] = s.qkv();
    let mut doubled = v.clone();
    doubled[8..12].iter_mut().for_each(|x| *x *= 2.0);
    let run = |v: &[f64]| forward(&spec, &Inputs::new(&spec, &q, &k, v).unwrap());
    let (one, two, none) = (run(&v), run(&doubled), run(&[0.0; 24]));
    for at in 0..24 {
        near(
            two.out[at] - one.out[at],
            one.weights[at / 4 * 6 + 2] * v[8 + at % 4],
            ZERO,
        );
    }
    assert_eq!(largest(&none.out), 0.0);
}

#[test]
fn zero_scores_give_the_mean() {
    let f = row_with(&[0.0; 3], &[1.0, 2.0, 3.0], None);
    near(f.out[0], 2.0, 1e-15);
    near(f.row_sum[0], 1.0, 1e-15);
}

#[test]
fn no_null_option_forces_sinks() {
    near(row(&[-5.0; 8]).row_sum[0], 1.0, 1e-15);
    let off_by_one = row_with(&[-5.0; 8], &[0.0; 8], Some(0.0));
    near(off_by_one.row_sum[0], 0.051_146_6, 1e-6);
    near(off_by_one.summaries[0].sink_weight, 1.0 - 0.051_146_6, 1e-6);
}

#[test]
fn causal_rows_still_sum_to_one() {
    let f = Small::new(6).run(causal);
    assert!(difference(&f.row_sum, &[1.0; 6]) <= 4e-15);
    assert_eq!(f.weights[..6], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let diagonal = f.weights.iter().step_by(7).copied().fold(1.0, f64::min);
    near(diagonal, 0.248_415, SIX);
    assert!((0..36).all(|at| at % 6 <= at / 6 || f.weights[at] == 0.0));
}

#[test]
fn future_cannot_leak() {
    let mut s = Small::new(6);
    let before = s.run(causal).out;
    s.x[40..].iter_mut().for_each(|x| *x += 10.0);
    let after = s.run(causal).out;
    assert_eq!(before[..20], after[..20]);
    near(difference(&before[20..], &after[20..]), 23.0222, SIX);
}

#[test]
fn attention_is_permutation_equivariant_without_a_mask() {
    let s = Small::new(6);
    let order = [3, 0, 5, 1, 4, 2];
    let permuted = |x: &[f64], width: usize| -> Vec<f64> {
        order
            .iter()
            .flat_map(|&i| x[i * width..(i + 1) * width].to_vec())
            .collect()
    };
    let moved = Small {
        x: permuted(&s.x, 8),
        ..Small::new(6)
    };
    let gap = |change: fn(&mut Config)| {
        difference(&moved.run(change).out, &permuted(&s.run(change).out, 4))
    };
    assert!(gap(|_| {}) <= ZERO);
    near(gap(causal), 0.974_826, SIX);
}

#[test]
fn rope_enters_after_the_projections() {
    let s = Small::new(6);
    let at = |offset: usize| {
        s.run(|c| {
            let given = [("q_offset", offset.into()), ("k_offset", offset.into())];
            c.positions.push(PositionUse::new("rope", &given).unwrap());
        })
        .scores
    };
    assert!(difference(&at(0), &at(5)) <= ZERO);
}

#[test]
fn absolute_positions_change_scores() {
    // Content and place enter every score: with sinusoids, it is the form of X + P.
    let mut s = Small::new(6);
    let plain = s.run(|_| {}).scores;
    let wave = [PositionUse::new("sinusoidal", &[]).unwrap()];
    positions::add_to_tokens(&wave, &mut s.x, 8);
    assert!(difference(&s.run(|_| {}).scores, &plain) > 0.1);
}

#[test]
fn value_gradient_uses_the_value_projection_alone() {
    let s = Small::new(6);
    let spec = s.spec(|_| {});
    let [q, k, v] = s.qkv();
    let inputs = Inputs::new(&spec, &q, &k, &v).unwrap();
    let d_out = Stream::new(3).normals(24);
    let g = backward(&spec, &inputs, &forward(&spec, &inputs), &d_out).unwrap();
    // dX through one projection: dQ W_Qᵀ.
    let path = |d: &[f64], w: &[f64]| {
        let transposed: Vec<f64> = (0..32).map(|at| w[at % 8 * 4 + at / 8]).collect();
        largest(&project(d, &transposed, 6, 4, 8).unwrap())
    };
    near(path(&g.d_q, &s.wq), 0.713_259, SIX);
    near(path(&g.d_k, &s.wk), 1.328_96, SIX);
    near(path(&g.d_v, &s.wv), 1.017_71, SIX);
    // Rows of dS sum to 0, and so do the keys' gradients: a vector added to all keys changes nothing.
    assert!(
        g.d_scores
            .chunks(6)
            .all(|row| row.iter().sum::<f64>().abs() <= ZERO)
    );
    assert!((0..4).all(|c| g.d_k.iter().skip(c).step_by(4).sum::<f64>().abs() <= ZERO));
}

#[test]
fn grouped_is_tied_multi_head() {
    let grouped = Shape {
        heads: 8,
        kv_heads: 2,
        ..Shape::square(5, 4)
    };
    let mut s = Stream::new(7);
    let (q, k, v) = (s.normals(160), s.normals(40), s.normals(40));
    let run = |shape, k: &[f64], v: &[f64]| {
        let spec = AttentionSpec::new(Config::new(shape)).unwrap();
        forward(&spec, &Inputs::new(&spec, &q, k, v).unwrap()).out
    };
    let copied =
        |x: &[f64]| -> Vec<f64> { x.chunks(20).flat_map(|head| [head; 4].concat()).collect() };
    let tied = run(
        Shape {
            kv_heads: 8,
            ..grouped
        },
        &copied(&k),
        &copied(&v),
    );
    assert_eq!(run(grouped, &k, &v), tied);
}
