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
}
