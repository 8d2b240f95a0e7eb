//! Keys beyond a length are filling and hidden from all.

use super::{Coverage, MaskScheme, MaskUse, Reach, overlap};
use crate::error::SpecError;
use crate::limits::MAX_TOKENS;
use crate::param::{Param, ParamKind};
use crate::shape::Shape;

const LENGTH_AT: usize = 0;

/// The registry's entry.
pub static SCHEME: MaskScheme = MaskScheme {
    id: "padding",
    name: "Key padding",
    help: "Only the first keys are real, the rest fills up a batch and is hidden from every query. With length 0 no row sees anything.",
    params: &[Param {
        key: "key_length",
        label: "Key length",
        help: "How many keys are real.",
        kind: ParamKind::Integer {
            min: 0.0,
            max: MAX_TOKENS as f64,
        },
        default: 1.0,
    }],
    needs_drawing: false,
    visible: |m, _, _, k| k.0 < m.count(LENGTH_AT),
    cover: |m, _, _, keys| {
        Coverage::of_count(overlap(&keys, 0..m.count(LENGTH_AT) as isize), keys.len())
    },
    reach: |m, frame, _, to| {
        to.fill(Reach::one(0..m.count(LENGTH_AT) as isize, frame.shape.n_k));
    },
    shift: |_, _| None,
    check,
    examples,
};

fn check(m: &MaskUse, shape: Shape) -> Vec<SpecError> {
    if m.count(LENGTH_AT) <= shape.n_k {
        return Vec::new();
    }
    vec![
        SpecError::new("key_length", "Key length")
            .of(SCHEME.id)
            .expected(format!("at most the {} keys", shape.n_k))
            .got(m.count(LENGTH_AT).to_string())
            .hint("Shorten it, or give more keys."),
    ]
}

fn examples(shape: Shape) -> Vec<MaskUse> {
    [0, shape.n_k.div_ceil(2), shape.n_k]
        .map(|length| MaskUse {
            scheme: &SCHEME,
            values: vec![length as f64],
            drawn: None,
        })
        .into()
}
