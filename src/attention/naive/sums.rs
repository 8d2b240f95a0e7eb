//! Sums in a fixed order, in loops that the compiler turns into vectors; and the careful ones for numbers that would
//! overflow on the way.

use super::hold;

/// Adds Σ factors`[i]` · rows`[i]` to `acc`, cell by cell, i ascending: the same bits as one row after the other.
///
/// `rows` [factors.len(), acc.len()], row-major.
pub(crate) fn accumulate(acc: &mut [f64], factors: &[f64], rows: &[f64]) {
    let n = acc.len();
    // Four rows in one pass over `acc`, to read and write it less often.
    let mut fours = factors.chunks_exact(4);
    let mut blocks = rows.chunks_exact(4 * n);
    for (f, block) in fours.by_ref().zip(blocks.by_ref()) {
        let (r0, rest) = block.split_at(n);
        let (r1, rest) = rest.split_at(n);
        let (r2, r3) = rest.split_at(n);
        let (f0, f1, f2, f3) = (f[0], f[1], f[2], f[3]);
        for ((((a, x0), x1), x2), x3) in acc.iter_mut().zip(r0).zip(r1).zip(r2).zip(r3) {
            *a = (((*a + f0 * x0) + f1 * x1) + f2 * x2) + f3 * x3;
        }
    }
    for (f, row) in fours
        .remainder()
        .iter()
        .zip(blocks.remainder().chunks_exact(n))
    {
        for (a, x) in acc.iter_mut().zip(row) {
            *a += f * x;
        }
    }
}

/// Σ x in four interleaved partial sums, added up at the end.
pub(crate) fn sum(xs: &[f64]) -> f64 {
    let mut lanes = [0.0; 4];
    let mut chunks = xs.chunks_exact(4);
    for c in chunks.by_ref() {
        for (lane, x) in lanes.iter_mut().zip(c) {
            *lane += x;
        }
    }
    for (lane, x) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane += x;
    }
    (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])
}

/// The largest of `xs`; −∞ for none.
pub(crate) fn max(xs: &[f64]) -> f64 {
    let mut lanes = [f64::NEG_INFINITY; 4];
    let larger = |a: f64, b: f64| if b > a { b } else { a };
    let mut chunks = xs.chunks_exact(4);
    for c in chunks.by_ref() {
        for (lane, &x) in lanes.iter_mut().zip(c) {
            *lane = larger(*lane, x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(chunks.remainder()) {
        *lane = larger(*lane, x);
    }
    larger(larger(lanes[0], lanes[1]), larger(lanes[2], lanes[3]))
}

/// a · b, held at the ends of float64.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (x, y) in a.iter().zip(b) {
        sum += x * y;
    }
    if sum.is_finite() {
        sum
    } else {
        CarefulDot::new(a, b).times(1.0)
    }
}

/// A dot product whose terms overflow: kept as a product of factors none of which does.
pub(crate) struct CarefulDot {
    factors: [f64; 3],
}

impl CarefulDot {
    pub(crate) fn new(a: &[f64], b: &[f64]) -> Self {
        let largest = |xs: &[f64]| xs.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let (unit_a, unit_b) = (largest(a), largest(b));
        if unit_a == 0.0 || unit_b == 0.0 {
            return Self { factors: [0.0; 3] };
        }
        let sum = a
            .iter()
            .zip(b)
            .map(|(x, y)| (x / unit_a) * (y / unit_b))
            .sum();
        Self {
            factors: [sum, unit_a, unit_b],
        }
    }

    /// The dot product times `factor`: right where float64 holds it, otherwise the end of float64 with its sign.
    pub(crate) fn times(&self, factor: f64) -> f64 {
        let (mut mantissa, mut exponent) = (1.0, 0);
        for &x in self.factors.iter().chain(std::iter::once(&factor)) {
            if x == 0.0 {
                return 0.0;
            }
            // Subnormal factors lose nothing: they are first lifted by 2¹⁰⁰.
            let (x, lift) = if x.abs() < 1e-290 {
                (x * LIFT, -100)
            } else {
                (x, 0)
            };
            let e = (x.to_bits() >> 52 & 0x7ff) as i32 - 1023;
            mantissa *= f64::from_bits(x.to_bits() & !(0x7ff << 52) | 1023 << 52);
            exponent += e + lift;
        }
        // Four mantissas are below 2⁴; steps of at most 2¹⁰⁰⁰ cannot overflow before the result does.
        while exponent != 0 {
            let step = exponent.clamp(-1000, 1000);
            mantissa *= f64::from_bits(((1023 + step) as u64) << 52);
            exponent -= step;
        }
        hold(mantissa)
    }
}

const LIFT: f64 = f64::from_bits((1023 + 100) << 52);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accumulating_four_rows_at_once_keeps_the_order() {
        for (rows, n) in [(1, 3), (4, 5), (7, 2), (9, 16)] {
            let f: Vec<f64> = (0..rows).map(|i| 1.0 / (i as f64 + 3.0)).collect();
            let x: Vec<f64> = (0..rows * n).map(|i| (i as f64).sin()).collect();
            let mut got = vec![0.25; n];
            accumulate(&mut got, &f, &x);
            let mut right = vec![0.25; n];
            for (f, row) in f.iter().zip(x.chunks(n)) {
                for (r, x) in right.iter_mut().zip(row) {
                    *r += f * x;
                }
            }
            assert_eq!(got, right);
        }
    }

    #[test]
    fn a_careful_dot_is_right_where_float64_holds_it() {
        assert_eq!(dot(&[1e200, 1e200], &[1e200, -1e200]), 0.0);
        assert!((dot(&[1e308, 1e308], &[10.0, -9.0]) / 1e308 - 1.0).abs() < 1e-14);
        assert_eq!(dot(&[-1e308], &[1e308]), -f64::MAX);
        let careful = CarefulDot::new(&[1e200], &[-1e200]);
        assert_eq!(careful.times(1.0), -f64::MAX);
        assert!((careful.times(1e-200) / -1e200 - 1.0).abs() < 1e-14);
        assert_eq!(careful.times(0.0), 0.0);
    }

    #[test]
    fn sums_and_maxima_take_every_cell() {
        for n in 0..11 {
            let x: Vec<f64> = (0..n).map(|i| f64::from(i * i)).collect();
            assert_eq!(sum(&x), x.iter().sum::<f64>());
            assert_eq!(max(&x), x.iter().copied().fold(f64::NEG_INFINITY, f64::max));
        }
    }
}
