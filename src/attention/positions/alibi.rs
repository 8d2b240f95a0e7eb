//! Attention with linear biases (Press et al. 2021): a score falls with the distance of query and key, at a slope of
//! its head.

use super::{Action, PositionScheme, PositionUse};
use crate::shape::HeadIdx;

/// The registry's entry.
pub static SCHEME: PositionScheme = PositionScheme {
    id: "alibi",
    name: "ALiBi",
    help: "Every score loses slope × distance of query and key, with a slope of its own for each head: steep heads look near, flat heads look far.",
    params: &[],
    action: Action::RelativeBias(|_, heads, head, offset| {
        -slope(heads, head) * offset.unsigned_abs() as f64
    }),
    check: |_, _| Vec::new(),
    examples: |_| {
        vec![PositionUse {
            scheme: &SCHEME,
            values: Vec::new(),
        }]
    },
};

/// The slope of a head, positive; the score falls by it with each place of distance.
///
/// For a power of two of heads, 2^(−8(i + 1)/heads). Otherwise the slopes of the next lower power of two, and for the
/// heads left over every second slope of its double, as the paper's published code has it.
///
/// ```
/// use attention::{HeadIdx, positions::alibi::slope};
/// assert_eq!(slope(8, HeadIdx(0)), 0.5);
/// assert_eq!(slope(8, HeadIdx(7)), 1.0 / 256.0);
/// ```
#[must_use]
pub fn slope(heads: usize, head: HeadIdx) -> f64 {
    let lower = if heads.is_power_of_two() {
        heads
    } else {
        heads.next_power_of_two() / 2
    };
    let (of, at) = if head.0 < lower {
        (lower, head.0)
    } else {
        (2 * lower, 2 * (head.0 - lower))
    };
    // 2^(−8(at + 1)/of), exact where the exponent is whole.
    crate::math::exp2(-8.0 * (at + 1) as f64 / of.max(1) as f64)
}
