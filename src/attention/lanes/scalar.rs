//! Lanes in plain code, for every target.

use super::{Lane, WIDTH};

/// Four numbers in an array.
#[derive(Clone, Copy, Debug)]
#[repr(align(16))]
pub struct Scalar([f32; WIDTH]);

impl Scalar {
    #[inline(always)]
    fn zip(self, other: Self, f: impl Fn(f32, f32) -> f32) -> Self {
        let (a, b) = (self.0, other.0);
        Self([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }

    #[inline(always)]
    fn map(self, f: impl Fn(f32) -> f32) -> Self {
        let a = self.0;
        Self([f(a[0]), f(a[1]), f(a[2]), f(a[3])])
    }
}

impl Lane for Scalar {
    const NAME: &'static str = "scalar";

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self([x; WIDTH])
    }

    #[inline(always)]
    fn from_array(x: [f32; WIDTH]) -> Self {
        Self(x)
    }

    #[inline(always)]
    fn to_array(self) -> [f32; WIDTH] {
        self.0
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.zip(other, |a, b| a * b)
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self.zip(other, |a, b| a / b)
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(f32::abs)
    }

    #[inline(always)]
    fn select_less(self, other: Self, yes: Self, no: Self) -> Self {
        let (a, b, y, n) = (self.0, other.0, yes.0, no.0);
        let pick = |i: usize| if a[i] < b[i] { y[i] } else { n[i] };
        Self([pick(0), pick(1), pick(2), pick(3)])
    }

    #[inline(always)]
    fn power_of_two(self) -> Self {
        self.map(|x| f32::from_bits((x.to_bits() << 23).wrapping_add(1.0_f32.to_bits())))
    }

    #[inline(always)]
    fn add_exponent(self, shifted: Self) -> Self {
        let (a, b) = (self.0, shifted.0);
        let shift = |i: usize| f32::from_bits(a[i].to_bits().wrapping_add(b[i].to_bits() << 23));
        Self([shift(0), shift(1), shift(2), shift(3)])
    }

    #[inline(always)]
    fn scale(self, factor: f64) -> Self {
        self.map(|x| (f64::from(x) * factor) as f32)
    }

    #[inline(always)]
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH] {
        let column = |i: usize| Self([rows[0].0[i], rows[1].0[i], rows[2].0[i], rows[3].0[i]]);
        [column(0), column(1), column(2), column(3)]
    }
}
