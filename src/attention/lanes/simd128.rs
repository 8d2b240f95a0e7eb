//! Lanes on the vector instructions of WebAssembly.

use super::{Lane, WIDTH};
use core::arch::wasm32::{
    f32x4, f32x4_abs, f32x4_add, f32x4_div, f32x4_extract_lane, f32x4_lt, f32x4_mul, f32x4_splat,
    f32x4_sub, i32x4_add, i32x4_shl, i32x4_splat, v128, v128_bitselect, v128_load, v128_store,
};

/// Four numbers in a vector register.
#[derive(Clone, Copy, Debug)]
pub struct Simd128(v128);

impl Lane for Simd128 {
    const NAME: &'static str = "simd128";

    #[inline(always)]
    fn splat(x: f32) -> Self {
        Self(f32x4_splat(x))
    }

    #[inline(always)]
    fn from_array(x: [f32; WIDTH]) -> Self {
        Self(f32x4(x[0], x[1], x[2], x[3]))
    }

    #[inline(always)]
    fn to_array(self) -> [f32; WIDTH] {
        [
            f32x4_extract_lane::<0>(self.0),
            f32x4_extract_lane::<1>(self.0),
            f32x4_extract_lane::<2>(self.0),
            f32x4_extract_lane::<3>(self.0),
        ]
    }

    #[inline(always)]
    fn load(x: &[f32]) -> Self {
        let x = &x[..WIDTH];
        // SAFETY: `x` is four numbers long, so the 16 bytes at its start can be read; v128_load takes any alignment.
        Self(unsafe { v128_load(x.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, x: &mut [f32]) {
        let x = &mut x[..WIDTH];
        // SAFETY: `x` is four numbers long and borrowed mutably, so the 16 bytes at its start can be written;
        // v128_store takes any alignment.
        unsafe { v128_store(x.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self(f32x4_add(self.0, other.0))
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self(f32x4_sub(self.0, other.0))
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        Self(f32x4_mul(self.0, other.0))
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        Self(f32x4_div(self.0, other.0))
    }

    #[inline(always)]
    fn abs(self) -> Self {
        Self(f32x4_abs(self.0))
    }

    #[inline(always)]
    fn select_less(self, other: Self, yes: Self, no: Self) -> Self {
        Self(v128_bitselect(yes.0, no.0, f32x4_lt(self.0, other.0)))
    }

    #[inline(always)]
    fn power_of_two(self) -> Self {
        Self(i32x4_add(
            i32x4_shl(self.0, 23),
            i32x4_splat(1.0_f32.to_bits() as i32),
        ))
    }
}
