//! A token sees only its near past, and optionally the first tokens.

use super::{Coverage, Frame, MaskScheme, MaskUse, Reach, fill, overlap};
use crate::error::SpecError;
use crate::limits::MAX_TOKENS;
use crate::param::{Param, ParamKind};
use crate::shape::{KeyIdx, QueryIdx, Shape};
use std::ops::Range;

const SIZE_AT: usize = 0;
const KEEP_FIRST_AT: usize = 1;

/// The registry's entry. The future is not its business: alone it hides only what lies too far back.
pub static SCHEME: MaskScheme = MaskScheme {
    id: "window",
    name: "Sliding window",
    help: "A token sees itself and the tokens just before it, as many as the window holds. It limits the past only: add the causal mask to hide the future.",
    params: &[
        Param {
            key: "size",
            label: "Window",
            help: "How many tokens back a query sees, itself included. Measured from where the causal mask places the query.",
            kind: ParamKind::Integer {
                min: 1.0,
                max: MAX_TOKENS as f64,
            },
            default: 4.0,
        },
        Param {
            key: "keep_first",
            label: "Kept first tokens",
            help: "So many first tokens stay visible whatever the window: the sinks of a streaming cache (Xiao et al. 2023).",
            kind: ParamKind::Integer {
                min: 0.0,
                max: MAX_TOKENS as f64,
            },
            default: 0.0,
        },
    ],
    needs_drawing: false,
    visible,
    cover,
    reach: |m, frame, first, to| {
        let kept = m.count(KEEP_FIRST_AT) as isize;
        fill(first, to, |q| {
            Reach::two(0..kept, start(m, frame, q)..isize::MAX, frame.shape.n_k)
        });
    },
    shift: |_, _| None,
    check,
    examples,
};

/// The first key inside the window; may be negative or beyond the keys.
fn start(m: &MaskUse, frame: &Frame, q: QueryIdx) -> isize {
    frame.place(q) + 1 - m.count(SIZE_AT) as isize
}

fn visible(m: &MaskUse, frame: &Frame, q: QueryIdx, k: KeyIdx) -> bool {
    k.0 as isize >= start(m, frame, q) || k.0 < m.count(KEEP_FIRST_AT)
}

fn cover(m: &MaskUse, frame: &Frame, q: QueryIdx, keys: Range<usize>) -> Coverage {
    let kept = m.count(KEEP_FIRST_AT) as isize;
    let near = start(m, frame, q).max(kept);
    let seen = overlap(&keys, 0..kept) + overlap(&keys, near..isize::MAX);
    Coverage::of_count(seen, keys.len())
}

fn check(m: &MaskUse, shape: Shape) -> Vec<SpecError> {
    if m.count(KEEP_FIRST_AT) <= shape.n_k {
        return Vec::new();
    }
    vec![
        SpecError::new("keep_first", "Kept first tokens")
            .of(SCHEME.id)
            .expected(format!("at most the {} keys", shape.n_k))
            .got(m.count(KEEP_FIRST_AT).to_string())
            .hint("Keep fewer."),
    ]
}

fn examples(shape: Shape) -> Vec<MaskUse> {
    [(1, 0), (3, 0), (3, shape.n_k.min(2)), (shape.n_k + 1, 0)]
        .map(|(size, kept)| MaskUse {
            scheme: &SCHEME,
            values: vec![size as f64, kept as f64],
            drawn: None,
        })
        .into()
}
