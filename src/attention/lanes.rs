//! Four float32 numbers at a time. The only place with `unsafe` and with `cfg(target_feature)`.
//!
//! An algorithm is written once over [`Lane`]. [`Scalar`] does in plain code what `Simd128` does with the vector
//! instructions of WebAssembly: the same operations, each rounded by itself, in the same order, so that both give the
//! same bits. No fused multiply-add, which some machines have and others have not.

mod functions;
mod scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[allow(unsafe_code)] // loads and stores, each with its reason
mod simd128;

pub use functions::{exp, exp2, max, sum, tanh};
pub use scalar::Scalar;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub use simd128::Simd128;

/// The fastest lanes of this build.
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
pub type Best = Simd128;
/// The fastest lanes of this build.
#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
pub type Best = Scalar;

/// How many numbers a lane holds.
pub const WIDTH: usize = 4;

/// Four float32 numbers and what can be done with them, cell by cell and rounded once each.
pub trait Lane: Copy + Send + Sync {
    /// What reports and tests call these lanes.
    const NAME: &'static str;

    /// Four times `x`.
    fn splat(x: f32) -> Self;
    /// These four.
    fn from_array(x: [f32; WIDTH]) -> Self;
    /// The four numbers.
    fn to_array(self) -> [f32; WIDTH];
    /// self + other.
    fn add(self, other: Self) -> Self;
    /// self − other.
    fn sub(self, other: Self) -> Self;
    /// self · other.
    fn mul(self, other: Self) -> Self;
    /// self / other.
    fn div(self, other: Self) -> Self;
    /// |self|.
    fn abs(self) -> Self;
    /// `yes` where self < other, otherwise `no`; `no` too where one of the two is NaN.
    fn select_less(self, other: Self, yes: Self, no: Self) -> Self;
    /// 2ᵏ, for a `self` that is 1.5·2²³ + k with k whole and −126 ≤ k ≤ 127.
    fn power_of_two(self) -> Self;
    /// self · 2ᵏ by adding k to the exponent, for a `shifted` that is 1.5·2²³ + k with k whole; exactly 0 for
    /// self = 1 and k = −127. Right while the result is a normal number.
    fn add_exponent(self, shifted: Self) -> Self;
    /// Each times `factor`, in float64 and rounded once.
    fn scale(self, factor: f64) -> Self;
    /// Four lanes as the rows of a square, turned about its diagonal.
    fn transpose(rows: [Self; WIDTH]) -> [Self; WIDTH];

    /// Four times the number at `x`, read there and then: a compiler that gathers several such reads into one, and
    /// shuffles, makes the inner loops slower.
    #[inline(always)]
    fn splat_at(x: &f32) -> Self {
        Self::splat(*x)
    }

    /// Reads the number at `x` for nothing but to have it near.
    #[inline(always)]
    fn touch(_x: &f32) {}

    /// The four of `x`.
    #[inline(always)]
    fn load(x: &[f32; WIDTH]) -> Self {
        Self::from_array(*x)
    }

    /// Writes to the four of `x`.
    #[inline(always)]
    fn store(self, x: &mut [f32; WIDTH]) {
        *x = self.to_array();
    }

    /// The larger of the two; `self` where they do not compare.
    #[inline(always)]
    fn max(self, other: Self) -> Self {
        self.select_less(other, other, self)
    }
}
