//! exp, ln, tanh, sin and cos in float64, from additions, multiplications and divisions in a fixed order only, so that
//! native code and WebAssembly give the same bits (the standard library's differ between platforms).
//!
//! Errors measured in the tests: at most two units in the last place.

const LOG2_E: f64 = std::f64::consts::LOG2_E;
/// ln 2 in two parts. The first has 21 trailing zero bits, so that its product with an exponent is exact.
const LN2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
/// 1.5 · 2⁵²: adding it rounds to a whole number, which then stands in the low bits.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The nearest float32, held at its ends.
pub(crate) fn narrow(x: f64) -> f32 {
    (x as f32).clamp(-f32::MAX, f32::MAX)
}

/// eˣ. 0 for −∞ and where the result is below half of the least subnormal (x < −745.13…), +∞ above 709.78….
#[must_use]
#[inline]
pub fn exp(x: f64) -> f64 {
    let x = if x < -746.0 { -746.0 } else { x };
    let x = if x > 710.0 { 710.0 } else { x };
    let shifted = x * LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (x - k * LN2_HIGH) - k * LN2_LOW;
    let bits = (shifted.to_bits() as i64).wrapping_sub(ROUND.to_bits() as i64);
    let half = bits >> 1;
    (1.0 + expm1_small(r)) * power_of_two(half) * power_of_two(bits - half)
}

/// eʳ − 1 for |r| ≤ ln 2 / 2: the Taylor series, whose first term left out is below 4e-18.
#[inline]
fn expm1_small(r: f64) -> f64 {
    let mut p = 1.0 / 6_227_020_800.0;
    for c in [
        1.0 / 479_001_600.0,
        1.0 / 39_916_800.0,
        1.0 / 3_628_800.0,
        1.0 / 362_880.0,
        1.0 / 40_320.0,
        1.0 / 5_040.0,
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
    ] {
        p = p * r + c;
    }
    r + r * r * p
}

/// 2ᵏ for |k| ≤ 1000.
#[inline]
fn power_of_two(k: i64) -> f64 {
    f64::from_bits(((1023 + k) << 52) as u64)
}

/// 2ˣ, exact where x is whole. For |x| ≤ 1000.
#[must_use]
pub fn exp2(x: f64) -> f64 {
    let whole = x.round();
    exp((x - whole) * std::f64::consts::LN_2) * power_of_two(whole as i64)
}

/// ln x. −∞ for 0 and below, +∞ for +∞.
#[must_use]
pub fn ln(x: f64) -> f64 {
    ln_by(
        x,
        [
            25.0, 23.0, 21.0, 19.0, 17.0, 15.0, 13.0, 11.0, 9.0, 7.0, 5.0, 3.0,
        ],
    )
}

/// ln x within 2e-11, for what becomes a float32.
#[inline]
pub(crate) fn ln_short(x: f64) -> f64 {
    ln_by(x, [11.0, 9.0, 7.0, 5.0, 3.0])
}

/// By the terms 2sⁿ/n of these odd n, the largest first.
#[inline(always)]
fn ln_by<const N: usize>(x: f64, terms: [f64; N]) -> f64 {
    if x <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if !x.is_finite() {
        return x;
    }
    let (x, offset) = if x < f64::MIN_POSITIVE {
        (x * 18_014_398_509_481_984.0, -54)
    } else {
        (x, 0)
    };
    // x = 2ᵉ · m with m in [√½, √2).
    let shifted = x.to_bits() as i64 - std::f64::consts::FRAC_1_SQRT_2.to_bits() as i64;
    let e = shifted >> 52;
    let m = f64::from_bits((x.to_bits() as i64 - (e << 52)) as u64);
    // ln(1 + f) = 2 artanh(s), s = f/(2 + f), |s| < 0.172.
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let mut r = 0.0;
    for n in terms {
        r = r * z + 2.0 / n;
    }
    let half = 0.5 * f * f;
    let e = (e + offset) as f64;
    e * LN2_HIGH + (f - (half - (s * (half + r * z) + e * LN2_LOW)))
}

/// The hyperbolic tangent; ±1 from |x| ≈ 19 on.
#[must_use]
pub fn tanh(x: f64) -> f64 {
    let y = -2.0 * x.abs();
    let size = if y > -0.34 {
        let e = expm1_small(y);
        -e / (2.0 + e)
    } else {
        let e = exp(y);
        (1.0 - e) / (1.0 + e)
    };
    if x < 0.0 { -size } else { size }
}

/// The slope of tanh at x, 1 − tanh²(x), without the cancellation of that formula.
#[must_use]
pub fn tanh_slope(x: f64) -> f64 {
    let e = exp(-2.0 * x.abs());
    let d = 1.0 + e;
    4.0 * e / (d * d)
}

/// π/2 in three parts of 33 bits, so that products with whole numbers below 2²⁰ are exact, and the rest.
const HALF_PI: [f64; 4] = [
    f64::from_bits(0x3ff9_21fb_5440_0000),
    f64::from_bits(0x3dd0_b461_1a60_0000),
    f64::from_bits(0x3ba3_198a_2e00_0000),
    8.478_427_660_368_899e-32,
];

/// Sine and cosine of x radians, for |x| ≤ 2²⁰.
#[must_use]
pub fn sin_cos(x: f64) -> (f64, f64) {
    let shifted = x * std::f64::consts::FRAC_2_PI + ROUND;
    let k = shifted - ROUND;
    let r = (((x - k * HALF_PI[0]) - k * HALF_PI[1]) - k * HALF_PI[2]) - k * HALF_PI[3];
    let z = r * r;
    let mut s = -1.0 / 121_645_100_408_832_000.0;
    for c in [
        1.0 / 355_687_428_096_000.0,
        -1.0 / 1_307_674_368_000.0,
        1.0 / 6_227_020_800.0,
        -1.0 / 39_916_800.0,
        1.0 / 362_880.0,
        -1.0 / 5_040.0,
        1.0 / 120.0,
        -1.0 / 6.0,
    ] {
        s = s * z + c;
    }
    let sin = r + r * z * s;
    let mut c = 1.0 / 2_432_902_008_176_640_000.0;
    for d in [
        -1.0 / 6_402_373_705_728_000.0,
        1.0 / 20_922_789_888_000.0,
        -1.0 / 87_178_291_200.0,
        1.0 / 479_001_600.0,
        -1.0 / 3_628_800.0,
        1.0 / 40_320.0,
        -1.0 / 720.0,
        1.0 / 24.0,
    ] {
        c = c * z + d;
    }
    let cos = 1.0 - (0.5 * z - z * z * c);
    match shifted.to_bits() & 3 {
        0 => (sin, cos),
        1 => (cos, -sin),
        2 => (-sin, -cos),
        _ => (-cos, sin),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units in the last place of `right`.
    fn ulps(got: f64, right: f64) -> f64 {
        if got == right {
            0.0
        } else {
            (got - right).abs() / (right.abs() * f64::EPSILON).max(5e-324)
        }
    }

    #[test]
    fn exp_is_within_two_units() {
        for i in -70_000..70_900 {
            let x = f64::from(i) * 0.01 + 0.001_234;
            assert!(ulps(exp(x), x.exp()) <= 2.0, "{x}: {} {}", exp(x), x.exp());
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f64::NEG_INFINITY), 0.0);
        assert_eq!(exp(-1e308), 0.0);
        assert_eq!(exp(710.0), f64::INFINITY);
        // The last lead that leaves a weight, and the first that does not.
        assert!(exp(-745.13) > 0.0);
        assert_eq!(exp(-745.14), 0.0);
    }

    #[test]
    fn ln_is_within_two_units() {
        for i in 1..200_000 {
            let x = f64::from(i) * 0.000_123;
            assert!(
                (ln(x) - x.ln()).abs() <= 2.0 * f64::EPSILON * x.ln().abs().max(1e-3),
                "{x}"
            );
        }
        assert_eq!(ln(1.0), 0.0);
        assert_eq!(ln(0.0), f64::NEG_INFINITY);
        assert!(ulps(ln(5e-324), 5e-324_f64.ln()) <= 2.0);
        assert!(ulps(ln(f64::MAX), f64::MAX.ln()) <= 2.0);
    }

    #[test]
    fn the_short_ln_is_within_2e_11() {
        for i in 1..200_000 {
            let x = f64::from(i) * 0.000_123;
            assert!((ln_short(x) - x.ln()).abs() <= 2e-11, "{x}");
        }
        assert_eq!((ln_short(1.0), ln_short(0.0)), (0.0, f64::NEG_INFINITY));
        assert!((ln_short(1e38) - 1e38_f64.ln()).abs() <= 2e-11);
    }

    #[test]
    fn tanh_is_within_four_units() {
        for i in -5_000..5_000 {
            let x = f64::from(i) * 0.004 + 1e-7;
            assert!(
                ulps(tanh(x), x.tanh()) <= 4.0,
                "{x}: {} {}",
                tanh(x),
                x.tanh()
            );
            let slope = 1.0 / x.cosh().powi(2);
            assert!(ulps(tanh_slope(x), slope) <= 8.0, "{x}");
        }
        assert_eq!((tanh(0.0), tanh(1e300), tanh(-1e300)), (0.0, 1.0, -1.0));
    }

    #[test]
    fn sine_and_cosine_are_within_two_units_of_one() {
        for i in -200_000..200_000 {
            let x = f64::from(i) * 5.123_4;
            let (sin, cos) = sin_cos(x);
            assert!((sin - x.sin()).abs() < 2.3e-16, "{x}");
            assert!((cos - x.cos()).abs() < 2.3e-16, "{x}");
        }
        assert_eq!(sin_cos(0.0), (0.0, 1.0));
    }

    #[test]
    fn exp2_is_exact_at_whole_numbers() {
        for k in -100..100 {
            assert_eq!(exp2(f64::from(k)), 2f64.powi(k));
        }
        assert!(ulps(exp2(-0.5), 0.5f64.sqrt()) <= 1.0);
    }
}
