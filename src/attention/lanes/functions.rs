//! Functions over lanes: polynomials of our own, since those of a library differ between targets.

use super::Lane;

const LOG2_E: f32 = std::f32::consts::LOG2_E;
/// ln 2 in two parts; the first has nine bits, so that its product with an exponent is exact.
const LN2_HIGH: f32 = f32::from_bits(0x3f31_8000);
const LN2_LOW: f32 = -2.121_944_4e-4;
/// 1.5 · 2²³: adding it rounds to a whole number, which then stands in the low bits.
const ROUND: f32 = 12_582_912.0;
/// Below this, eˣ is set to 0: the next smaller powers would be subnormal, which some machines treat slowly. What is
/// lost is less than 1.7e-38 of a row's largest term.
const LEAST: f32 = -87.0;
const GREATEST: f32 = 88.0;

/// eˣ, within two units in the last place for −87 ≤ x ≤ 88. Exactly 1 at 0, exactly 0 below −87 (−∞ included);
/// e⁸⁸ above 88.
#[inline(always)]
pub fn exp<L: Lane>(x: L) -> L {
    let least = L::splat(LEAST);
    let greatest = L::splat(GREATEST);
    let inside = least.select_less(x, x, least);
    let inside = inside.select_less(greatest, inside, greatest);
    let shifted = inside.mul(L::splat(LOG2_E)).add(L::splat(ROUND));
    let k = shifted.sub(L::splat(ROUND));
    let r = inside
        .sub(k.mul(L::splat(LN2_HIGH)))
        .sub(k.mul(L::splat(LN2_LOW)));
    let y = L::splat(1.0)
        .add(expm1_small(r))
        .mul(shifted.power_of_two());
    x.select_less(least, L::splat(0.0), y)
}

/// eʳ − 1 for |r| ≤ ln 2 / 2: the Taylor series, whose first term left out is below 6e-9.
#[inline(always)]
fn expm1_small<L: Lane>(r: L) -> L {
    let mut p = L::splat(1.0 / 5040.0);
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5] {
        p = p.mul(r).add(L::splat(c));
    }
    r.add(r.mul(r).mul(p))
}

/// 2ᵗ for t ≤ 0, within one unit in the last place down to −126. Exactly 1 at 0, exactly 0 from −127 down (−∞
/// included); between the two a power that float32 has no room for, below 1.2e-38 and not exact.
#[inline(always)]
pub fn exp2<L: Lane>(t: L) -> L {
    let t = L::splat(-127.0).max(t);
    let shifted = t.add(L::splat(ROUND));
    let f = t.sub(shifted.sub(L::splat(ROUND)));
    // 2^f for |f| ≤ ½: the polynomial with p(0) = 1 of least relative error, 2e-9; ours, by reweighted least squares.
    let mut p = L::splat(1.535_336_2e-4);
    for c in [
        1.339_887_4e-3,
        9.618_437e-3,
        0.055_503_324,
        0.240_226_48,
        std::f32::consts::LN_2,
        1.0,
    ] {
        p = p.mul(f).add(L::splat(c));
    }
    p.add_exponent(shifted)
}

/// The hyperbolic tangent, within four units in the last place.
#[inline(always)]
pub fn tanh<L: Lane>(x: L) -> L {
    let y = x.abs().mul(L::splat(-2.0));
    let (one, two) = (L::splat(1.0), L::splat(2.0));
    let e = expm1_small(y);
    let near = L::splat(0.0).sub(e.div(two.add(e)));
    let e = exp(y);
    let far = one.sub(e).div(one.add(e));
    let size = L::splat(-0.34).select_less(y, near, far);
    x.select_less(L::splat(0.0), L::splat(0.0).sub(size), size)
}

/// The sum of the four, as (a + b) + (c + d).
#[inline(always)]
pub fn sum<L: Lane>(x: L) -> f32 {
    let [a, b, c, d] = x.to_array();
    (a + b) + (c + d)
}

/// The largest of the four.
#[inline(always)]
pub fn max<L: Lane>(x: L) -> f32 {
    let larger = |a: f32, b: f32| if a < b { b } else { a };
    let [a, b, c, d] = x.to_array();
    larger(larger(a, b), larger(c, d))
}

#[cfg(test)]
mod tests {
    use super::super::{Best, Scalar};
    use super::*;

    fn ulps(got: f32, right: f64) -> f64 {
        (f64::from(got) - right).abs() / (right.abs() * f64::from(f32::EPSILON))
    }

    fn one<L: Lane>(f: impl Fn(L) -> L, x: f32) -> f32 {
        f(L::splat(x)).to_array()[0]
    }

    #[test]
    fn exp_is_within_two_units() {
        let mut worst = 0.0_f64;
        for i in -869_999..880_000 {
            let x = i as f32 * 1e-4;
            worst = worst.max(ulps(one(exp::<Scalar>, x), f64::from(x).exp()));
        }
        assert!(worst <= 2.0, "{worst}");
        assert_eq!(one(exp::<Scalar>, 0.0), 1.0);
        assert_eq!(one(exp::<Scalar>, f32::NEG_INFINITY), 0.0);
        assert_eq!(one(exp::<Scalar>, -1e37), 0.0);
        assert!(one(exp::<Scalar>, f32::INFINITY).is_finite());
    }

    #[test]
    fn exp2_is_within_one_unit() {
        let mut worst = 0.0_f64;
        for i in 0..1_260_000 {
            let t = i as f32 * -1e-4;
            worst = worst.max(ulps(one(exp2::<Scalar>, t), f64::from(t).exp2()));
        }
        assert!(worst <= 1.0, "{worst}");
        assert_eq!(one(exp2::<Scalar>, 0.0), 1.0);
        for t in [-127.0, -1e3, f32::MIN, f32::NEG_INFINITY] {
            assert_eq!(one(exp2::<Scalar>, t).to_bits(), 0, "{t}");
        }
        let least = one(exp2::<Scalar>, -126.7);
        assert!((0.0..1.2e-38).contains(&least), "{least:e}");
    }

    #[test]
    fn a_square_is_turned() {
        fn turned<L: Lane>() -> [[f32; 4]; 4] {
            let row = |i: usize| L::from_array([0, 1, 2, 3].map(|j| (4 * i + j) as f32));
            L::transpose([row(0), row(1), row(2), row(3)]).map(L::to_array)
        }
        for square in [turned::<Scalar>(), turned::<Best>()] {
            for (i, row) in square.iter().enumerate() {
                assert_eq!(*row, [0, 4, 8, 12].map(|j| (i + j) as f32));
            }
        }
    }

    #[test]
    fn tanh_is_within_four_units() {
        let mut worst = 0.0_f64;
        for i in -100_000..100_000 {
            let x = i as f32 * 1.3e-4 + 1e-6;
            worst = worst.max(ulps(one(tanh::<Scalar>, x), f64::from(x).tanh()));
        }
        assert!(worst <= 4.0, "{worst}");
        assert_eq!(one(tanh::<Scalar>, 0.0), 0.0);
        assert_eq!(one(tanh::<Scalar>, -1e37), -1.0);
    }

    #[test]
    fn all_lanes_give_the_same_bits() {
        for i in -2_000..2_000 {
            let x = i as f32 * 0.1234;
            for (a, b) in [
                (one(exp::<Scalar>, x), one(exp::<Best>, x)),
                (one(exp2::<Scalar>, -x.abs()), one(exp2::<Best>, -x.abs())),
                (one(tanh::<Scalar>, x), one(tanh::<Best>, x)),
            ] {
                assert_eq!(a.to_bits(), b.to_bits(), "{x}");
            }
        }
    }

    #[test]
    fn reductions_take_all_four() {
        let x = Scalar::from_array([1.0, 2.0, 4.0, -8.0]);
        assert_eq!((sum(x), max(x)), (-1.0, 4.0));
    }
}
