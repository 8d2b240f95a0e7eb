//! Where numbers come from: the seeded stream that anyone can repeat, and the examples in use.

use std::sync::Arc;

/// The pseudo-random stream of the seeded sources: the minimal standard generator of Park and Miller (1988).
///
/// x starts at the seed; x ← 16807·x mod (2³¹ − 1); u = x / (2³¹ − 1); the first ten u are thrown away. A normal
/// number takes two u: √(−2 ln u₁)·cos(2π u₂). Any language with doubles repeats it to rounding.
#[derive(Clone, Debug)]
pub struct Stream(u64);

const MODULUS: u64 = (1 << 31) - 1;

impl Stream {
    /// The least and the greatest seed: 0 and 2³¹ − 1 would stay where they are for ever.
    pub const SEEDS: std::ops::RangeInclusive<u32> = 1..=(MODULUS as u32 - 1);

    /// The stream of a seed within [`Stream::SEEDS`]; others are brought into it.
    pub fn new(seed: u32) -> Stream {
        let mut stream = Stream(u64::from(seed).clamp(1, MODULUS - 1));
        for _ in 0..10 {
            stream.uniform();
        }
        stream
    }

    /// The next u, strictly between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0 * 16807 % MODULUS;
        self.0 as f64 / MODULUS as f64
    }

    /// The next number of mean 0 and variance 1.
    pub fn normal(&mut self) -> f64 {
        let (u1, u2) = (self.uniform(), self.uniform());
        (-2.0 * u1.ln()).sqrt() * (std::f64::consts::TAU * u2).cos()
    }

    /// `count` normal numbers times `factor`.
    pub fn normals(&mut self, count: usize, factor: f64) -> Vec<f64> {
        (0..count).map(|_| self.normal() * factor).collect()
    }
}

/// One layer of a real model on one sentence, all heads.
#[derive(Debug, PartialEq)]
pub struct ExampleLayer {
    /// Name of the sentence, as in the index of the examples.
    pub sentence: String,
    /// Layer, counted from 0.
    pub layer: usize,
    /// Heads of the layer.
    pub heads: usize,
    /// Tokens of the sentence.
    pub tokens: Arc<[String]>,
    /// Width of queries, keys and values.
    pub d: usize,
    /// The only head whose numbers are here; the others are zeros. `None` where all are.
    pub only: Option<usize>,
    /// `[heads, n, d]`.
    pub q: Arc<Vec<f64>>,
    /// `[heads, n, d]`.
    pub k: Arc<Vec<f64>>,
    /// `[heads, n, d]`.
    pub v: Arc<Vec<f64>>,
}

/// Which source the numbers of a session have.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Typed or pasted by the reader.
    Typed,
    /// Q, then K, then V from the stream, times σ.
    Random {
        /// Seed of the stream.
        seed: u32,
        /// Standard deviation.
        sigma: f64,
    },
    /// Tokens X and projections from the stream: X, then W_Q, W_K, W_V, each W divided by √d_model.
    Tokens {
        /// Seed of the stream.
        seed: u32,
        /// Width of a token.
        d_model: usize,
    },
    /// A head of a real model.
    Example(Arc<ExampleLayer>),
}

impl ExampleLayer {
    /// Whether it is the same layer of the same sentence, whole or not.
    pub fn is_same(&self, other: &ExampleLayer) -> bool {
        (&self.sentence, self.layer) == (&other.sentence, other.layer)
    }
}

impl Source {
    /// Which of the four kinds, without its settings.
    pub fn kind(&self) -> SourceKind {
        match self {
            Source::Typed => SourceKind::Typed,
            Source::Random { .. } => SourceKind::Random,
            Source::Tokens { .. } => SourceKind::Tokens,
            Source::Example(_) => SourceKind::Example,
        }
    }
}

/// The kinds of source, as a menu lists them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SourceKind {
    /// See [`Source::Example`].
    Example,
    /// See [`Source::Typed`].
    Typed,
    /// See [`Source::Random`].
    Random,
    /// See [`Source::Tokens`].
    Tokens,
}

impl SourceKind {
    /// In the order of the menu: id for links and tests, words for the reader.
    pub const ALL: [(SourceKind, &'static str, &'static str); 4] = [
        (SourceKind::Example, "example", "a real head"),
        (SourceKind::Typed, "typed", "typed by hand"),
        (SourceKind::Random, "random", "random normal"),
        (SourceKind::Tokens, "tokens", "tokens X · W"),
    ];
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_the_documented_one() {
        // Seed 7, ten thrown away: worked out by hand with Python's integers.
        let mut x: u64 = 7;
        for _ in 0..11 {
            x = x * 16807 % 2147483647;
        }
        assert_eq!(Stream::new(7).uniform(), x as f64 / 2147483647.0);
    }

    #[test]
    fn every_seed_gives_finite_numbers() {
        for seed in [0, 1, 2, 7, u32::MAX, MODULUS as u32] {
            assert!(
                Stream::new(seed)
                    .normals(1000, 1.0)
                    .iter()
                    .all(|x| x.is_finite()),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn normals_have_mean_0_and_variance_1() {
        let xs = Stream::new(5).normals(20_000, 1.0);
        let mean = xs.iter().sum::<f64>() / 2e4;
        let var = xs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 2e4;
        assert!(
            mean.abs() < 0.03 && (var - 1.0).abs() < 0.03,
            "{mean} {var}"
        );
    }
}
