//! Lanes on the vector instructions of WebAssembly.

use super::{Lane, WIDTH};
use core::arch::wasm32::{
    f32x4, f32x4_abs, f32x4_add, f32x4_demote_f64x2_zero, f32x4_div, f32x4_extract_lane, f32x4_lt,
    f32x4_mul, f32x4_pmax, f32x4_splat, f32x4_sub, f64x2_mul, f64x2_promote_low_f32x4, f64x2_splat,
    i32x4_add, i32x4_shl, i32x4_shuffle, i32x4_splat, v128, v128_bitselect, v128_load, v128_store,
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
    fn splat_at(x: &f32) -> Self {
        // SAFETY: `x` is a reference, so it is aligned and points to a number. Volatile only so that the compiler makes
        // one v128.load32_splat of it: it would read four neighbours at once and shuffle, which halves the speed.
        Self(f32x4_splat(unsafe { core::ptr::read_volatile(x) }))
    }

    #[inline(always)]
    fn touch(x: &f32) {
        // SAFETY: `x` is a reference, so it is aligned and points to a number. Volatile, or the compiler would leave out a
        // read that nobody uses.
        unsafe { core::ptr::read_volatile(x) };
    }

    #[inline(always)]
    fn load(x: &[f32; WIDTH]) -> Self {
        // SAFETY: `x` is four numbers long, so its 16 bytes can be read; v128_load takes any alignment.
        Self(unsafe { v128_load(x.as_ptr().cast()) })
    }

    #[inline(always)]
    fn store(self, x: &mut [f32; WIDTH]) {
        // SAFETY: `x` is four numbers long and borrowed mutably, so its 16 bytes can be written; v128_store takes any
        // alignment.
        unsafe { v128_store(x.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn max(self, other: Self) -> Self {
        // self < other ? other : self, by definition.
        Self(f32x4_pmax(self.0, other.0))
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

    #[inline(always)]
    fn add_exponent(self, shifted: Self) -> Self {
        Self(i32x4_add(self.0, i32x4_shl(shifted.0, 23)))
    }

    #[inline(always)]
    fn scale(self, factor: f64) -> Self {
        let factor = f64x2_splat(factor);
        let low = f64x2_promote_low_f32x4(self.0);
        let high = f64x2_promote_low_f32x4(i32x4_shuffle::<2, 3, 0, 1>(self.0, self.0));
        let low = f32x4_demote_f64x2_zero(f64x2_mul(low, factor));
        let high = f32x4_demote_f64x2_zero(f64x2_mul(high, factor));
        Self(i32x4_shuffle::<0, 1, 4, 5>(low, high))
    }

    #[inline(always)]
    fn transpose([a, b, c, d]: [Self; WIDTH]) -> [Self; WIDTH] {
        let ab = i32x4_shuffle::<0, 4, 1, 5>(a.0, b.0);
        let cd = i32x4_shuffle::<0, 4, 1, 5>(c.0, d.0);
        let high_ab = i32x4_shuffle::<2, 6, 3, 7>(a.0, b.0);
        let high_cd = i32x4_shuffle::<2, 6, 3, 7>(c.0, d.0);
        [
            Self(i32x4_shuffle::<0, 1, 4, 5>(ab, cd)),
            Self(i32x4_shuffle::<2, 3, 6, 7>(ab, cd)),
            Self(i32x4_shuffle::<0, 1, 4, 5>(high_ab, high_cd)),
            Self(i32x4_shuffle::<2, 3, 6, 7>(high_ab, high_cd)),
        ]
    }
}
