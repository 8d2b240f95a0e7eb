//! Waves added to the tokens (Vaswani et al. 2017, section 3.5).

use super::{Action, PositionScheme, PositionUse};
use crate::math::{exp, ln, sin_cos};
use crate::param::{Param, ParamKind};
use crate::shape::Shape;

const BASE_AT: usize = 0;

/// The registry's entry.
pub static SCHEME: PositionScheme = PositionScheme {
    id: "sinusoidal",
    name: "Sinusoidal",
    help: "Sines and cosines of falling frequency are added to the tokens before the projections, so queries, keys and values all know the place.",
    params: &[Param {
        key: "base",
        label: "Base",
        help: "The slowest wave is about 2π times this many places long.",
        kind: ParamKind::Real { min: 2.0, max: 1e9 },
        default: 10_000.0,
    }],
    action: Action::AddToTokens(value),
    check: |_, _| Vec::new(),
    examples,
};

/// PE(place, 2i) = sin(place / base^(2i/width)), PE(place, 2i + 1) = cos(place / base^(2i/width)).
fn value(p: &PositionUse, place: usize, column: usize, width: usize) -> f64 {
    let exponent = (column / 2 * 2) as f64 / width.max(1) as f64;
    let (sin, cos) = sin_cos(place as f64 * exp(-exponent * ln(p.real(BASE_AT))));
    if column.is_multiple_of(2) { sin } else { cos }
}

fn examples(_: Shape) -> Vec<PositionUse> {
    vec![PositionUse {
        scheme: &SCHEME,
        values: vec![10_000.0],
    }]
}
