//! How far a computed tensor may lie from the reference, and why.

use super::cases::Case;
use attention::Scale;

/// float64 against float64, relative to the largest number of the tensor (at least 1): to this the reference agrees with its
/// own second computation. Ours adds in another order and has its own exp; what is seen is about 1e−15.
pub const F64: f64 = 1e-12;

/// float64, for each unit of the largest score. A score of size S carries a rounding error of a few S·2⁻⁵³, and
/// exp(s + δ) = exp(s)·(1 + δ): what is behind the softmax inherits it. Matters from scores of about a thousand on.
pub const F64_PER_SCORE: f64 = 16.0 * f64::EPSILON;

/// float32 output, in units of the largest |v| of the head, where scores are of ordinary size.
pub const F32_OUT: f64 = 2e-6;

/// Scores beyond this are not of ordinary size: a rounding error of theirs, S·2⁻²⁴, alone is 4e−6.
pub const ORDINARY_SCORE: f64 = 64.0;

/// float32 output where scores are large, for each unit of the largest score, in units of the largest |v|. A score of size S
/// is rounded to float32 about twice (products summed, then scaled), each time by up to S·2⁻²⁴; two weights move against each
/// other by twice that; so the output moves by up to 4·S·2⁻²⁴·max|v|. With scores of 1e4 that is 2.4e−3.
pub const F32_OUT_PER_SCORE: f64 = 4.0 / (1 << 24) as f64;

/// float32 log-sum-exp, relative to the largest score (at least 1): it is about as large as the largest score and carries
/// its rounding error, which for long dot products is a few units in the last place.
pub const F32_LSE: f64 = 2e-6;

/// float32 gradients, in units of what each is a sum of (`gradient_unit`). dP and D are sums of d_v products rounded to
/// 2⁻²⁴, a weight is off by the error of its score, which is a sum of d_k products, and the sums over keys and rows add
/// theirs.
pub const F32_GRADIENT: f64 = 2e-6;

/// The same for each unit of the largest score beyond [`SMALL_SCORE`]: five times 2⁻²⁴, for the score's own rounding
/// enters a weight, D and dS.
pub const F32_GRADIENT_PER_SCORE: f64 = 3e-7;

/// Up to here a score's rounding is within [`F32_GRADIENT`].
pub const SMALL_SCORE: f64 = 8.0;

/// Output of float64 where the reference was computed before its q, k and v were rounded to float32, in units of the largest
/// |v|. Rounding moves a score by up to √d·2⁻²⁴·|q||k|/√d ≈ 1e−7 at the usual sizes, and v by half a unit in the last place,
/// 6e−8. NumPy in float64 is as far off (6.6e−8 at most over all heads of MiniLM).
pub const ROUNDED_INPUTS: f64 = 2e-7;

/// What computed the numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// The oracle.
    F64,
    /// The fast path.
    F32,
}

/// The largest error of a tensor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Verdict {
    /// |got − expected|; infinite where one is NaN, or only one is infinite.
    pub error: f64,
    /// What it may be.
    pub limit: f64,
    /// Where in the tensor.
    pub at: usize,
    /// The number there.
    pub got: f64,
    /// What it has to be.
    pub expected: f64,
}

impl Verdict {
    /// Whether the error is within the limit.
    pub fn ok(&self) -> bool {
        self.error <= self.limit
    }
}

/// Compares a stage of a case. Fails where the lengths differ or the tensor is empty.
pub fn compare(
    case: &Case,
    precision: Precision,
    stage: &str,
    got: &[f64],
    expected: &[f64],
) -> Result<Verdict, String> {
    if got.len() != expected.len() || got.is_empty() {
        return Err(format!(
            "{} numbers expected, {} computed",
            expected.len(),
            got.len()
        ));
    }
    let limits = Limits::new(case, precision, stage, expected);
    let verdicts = got
        .iter()
        .zip(expected)
        .enumerate()
        .map(|(at, (&got, &expected))| Verdict {
            error: distance(got, expected),
            limit: limits.at(at),
            at,
            got,
            expected,
        });
    // The worst is the one that uses most of its limit; the limit differs from head to head.
    let share = |v: &Verdict| v.error / v.limit;
    verdicts
        .max_by(|a, b| share(a).total_cmp(&share(b)))
        .ok_or_else(|| "nothing to compare".into())
}

fn distance(got: f64, expected: f64) -> f64 {
    if got == expected {
        return 0.0;
    }
    let distance = (got - expected).abs();
    if distance.is_finite() {
        distance
    } else {
        f64::INFINITY
    }
}

/// The limit of every number in a tensor.
struct Limits {
    /// Numbers to a limit.
    run: usize,
    each: Vec<f64>,
}

impl Limits {
    fn at(&self, at: usize) -> f64 {
        self.each.get(at / self.run).copied().unwrap_or(0.0)
    }

    fn new(case: &Case, precision: Precision, stage: &str, expected: &[f64]) -> Limits {
        let shape = case.config.shape;
        let score = score_size(case);
        let in_values = |per_value: f64| {
            let values = case.v.chunks(shape.n_k * shape.d_v).map(largest);
            // Each key/value head serves so many query heads.
            let each = values
                .flat_map(|v| std::iter::repeat_n(per_value * v, shape.group()))
                .collect();
            Limits {
                run: shape.n_q * shape.d_v,
                each,
            }
        };
        let same = |limit: f64| Limits {
            run: expected.len(),
            each: vec![limit],
        };
        match (precision, stage) {
            (Precision::F64, "out") if case.rounded_inputs => in_values(ROUNDED_INPUTS),
            (Precision::F64, _) => same((F64 + F64_PER_SCORE * score) * largest(expected).max(1.0)),
            (Precision::F32, "out") if score <= ORDINARY_SCORE => in_values(F32_OUT),
            (Precision::F32, "out") => in_values(F32_OUT_PER_SCORE * score),
            (Precision::F32, "lse") => same(F32_LSE * score.max(1.0)),
            (Precision::F32, _) => {
                let relative =
                    F32_GRADIENT + F32_GRADIENT_PER_SCORE * (score - SMALL_SCORE).max(0.0);
                same(relative * gradient_unit(case, stage).max(f64::MIN_POSITIVE))
            }
        }
    }
}

/// The largest finite size.
fn largest(x: &[f64]) -> f64 {
    x.iter()
        .map(|x| x.abs())
        .filter(|x| x.is_finite())
        .fold(0.0, f64::max)
}

/// The largest that a gradient can be, rotation aside. Rows of weights sum to 1, so |dS| does not sum to more than
/// 2 · max|dO|₁ · max|v| in a row; a key or value gathers from the rows of its group, whose errors are independent.
fn gradient_unit(case: &Case, stage: &str) -> f64 {
    let shape = case.config.shape;
    let norm = case.config.qk_norm;
    let d_out = case
        .d_out
        .chunks(shape.d_v)
        .map(|row| row.iter().map(|x| x.abs()).sum())
        .fold(0.0, f64::max);
    let scale = match case.config.scale {
        Scale::InverseSqrt => 1.0 / (shape.d_k as f64).sqrt(),
        Scale::Custom(scale) => scale.abs(),
    };
    let d_score = 2.0 * d_out * largest(&case.v);
    // With a norm a query or key is of size √d at most, and its gradient is divided by the norm.
    let size = |x: &[f64]| norm.map_or(largest(x), |_| (shape.d_k as f64).sqrt());
    let shrink = |x: &[f64]| {
        let Some(epsilon) = norm else { return 1.0 };
        let of_row = |row: &[f64]| {
            let mean = row.iter().map(|x| x * x).sum::<f64>() / row.len() as f64;
            1.0 / (mean + epsilon).sqrt()
        };
        x.chunks(shape.d_k).map(of_row).fold(0.0, f64::max)
    };
    let rows = ((shape.group() * shape.n_q) as f64).sqrt();
    match stage {
        "d_q" => d_score * scale * size(&case.k) * shrink(&case.q),
        "d_k" => rows * d_score * scale * size(&case.q) * shrink(&case.k),
        "d_v" => rows * d_out,
        _ => rows * d_score,
    }
}

/// The largest score of the reference; where it has none, of the plain scaled product of q and k.
pub fn score_size(case: &Case) -> f64 {
    if let Some((_, scores)) = case.expected.iter().find(|(stage, _)| stage == "scores") {
        return largest(scores);
    }
    let shape = case.config.shape;
    let dot = |q: &[f64], k: &[f64]| q.iter().zip(k).map(|(q, k)| q * k).sum::<f64>().abs();
    let mut most = 0.0_f64;
    for (head, q) in case.q.chunks(shape.n_q * shape.d_k).enumerate() {
        let k = case
            .k
            .chunks(shape.n_k * shape.d_k)
            .nth(head / shape.group().max(1));
        for q in q.chunks(shape.d_k) {
            most = k
                .into_iter()
                .flat_map(|k| k.chunks(shape.d_k))
                .map(|k| dot(q, k))
                .fold(most, f64::max);
        }
    }
    most / (shape.d_k as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use attention::{Config, Shape};

    /// Two heads over one key/value head, two tokens; values up to 2.
    fn case() -> Case {
        Case {
            name: "x".into(),
            config: Config::new(Shape {
                heads: 2,
                kv_heads: 1,
                n_q: 2,
                n_k: 2,
                d_k: 1,
                d_v: 1,
            }),
            q: vec![1.0, -3.0, 0.5, 0.0],
            k: vec![2.0, 1.0],
            v: vec![-2.0, 1.0],
            d_out: vec![0.0; 4],
            expected: vec![],
            rounded_inputs: false,
        }
    }

    #[test]
    fn an_error_beyond_the_limit_is_found_wherever_it_is() {
        let expected = [0.5, 0.25, -1.0, 0.0];
        for at in 0..4 {
            let mut got = expected;
            got[at] += 3.9e-6;
            assert!(
                compare(&case(), Precision::F32, "out", &got, &expected)
                    .unwrap()
                    .ok()
            );
            got[at] += 0.2e-6;
            let verdict = compare(&case(), Precision::F32, "out", &got, &expected).unwrap();
            assert_eq!((verdict.ok(), verdict.at), (false, at));
            assert!(
                !compare(&case(), Precision::F64, "out", &got, &expected)
                    .unwrap()
                    .ok()
            );
        }
        assert!(compare(&case(), Precision::F32, "out", &expected[1..], &expected).is_err());
        assert!(compare(&case(), Precision::F32, "out", &[], &[]).is_err());
    }

    #[test]
    fn infinities_agree_only_with_themselves_and_nan_with_nothing() {
        let hidden = [f64::NEG_INFINITY, 1.0];
        let check = |got: &[f64]| {
            compare(&case(), Precision::F64, "lse", got, &hidden)
                .unwrap()
                .ok()
        };
        assert!(check(&hidden));
        assert!(!check(&[f64::INFINITY, 1.0]));
        assert!(!check(&[-1e300, 1.0]));
        assert!(!check(&[f64::NEG_INFINITY, f64::NAN]));
        assert!(!check(&[f64::NAN, 1.0]));
    }

    #[test]
    fn the_size_of_scores_is_that_of_the_reference_or_of_the_products() {
        assert_eq!(score_size(&case()), 6.0);
        let given = vec![("scores".to_owned(), vec![f64::NEG_INFINITY, -20.0])];
        assert_eq!(
            score_size(&Case {
                expected: given,
                ..case()
            }),
            20.0
        );
    }

    #[test]
    fn large_scores_widen_the_limit_as_derived() {
        let given = vec![("scores".to_owned(), vec![1e4])];
        let large = Case {
            expected: given,
            ..case()
        };
        let verdict = compare(&large, Precision::F32, "out", &[0.0; 4], &[0.0; 4]).unwrap();
        assert!((verdict.limit / 2.0 - 2.4e-3).abs() < 1e-4, "{verdict:?}");
    }
}
