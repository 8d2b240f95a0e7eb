//! A token sees itself and what came before it; optionally everyone sees a prefix.

use super::{Coverage, Frame, MaskScheme, MaskUse, Reach, fill, overlap};
use crate::error::SpecError;
use crate::limits::MAX_TOKENS;
use crate::param::{Param, ParamKind};
use crate::shape::{KeyIdx, QueryIdx, Shape};
use std::ops::Range;

/// Where the triangle starts, in the order of the parameter `align`.
///
/// `square` is the triangle of equally many queries and keys and `top_left` the same triangle for other shapes:
/// query i sees keys 0 to i. With `bottom_right` the queries are the last tokens, as when decoding with a cache:
/// query i sees keys 0 to n_k − n_q + i.
pub const ALIGN: &[&str] = &["square", "top_left", "bottom_right"];

const ALIGN_AT: usize = 0;
const PREFIX_AT: usize = 1;
const SQUARE: usize = 0;
const BOTTOM_RIGHT: usize = 2;

/// The registry's entry.
pub static SCHEME: MaskScheme = MaskScheme {
    id: "causal",
    name: "Causal",
    help: "A token sees itself and the tokens before it. Where there are fewer queries than keys, the alignment says which tokens the queries are.",
    params: &[
        Param {
            key: "align",
            label: "Alignment",
            help: "Top left: query 0 is token 0. Bottom right: the last query is the last token.",
            kind: ParamKind::Choice(ALIGN),
            default: 0.0,
        },
        Param {
            key: "prefix",
            label: "Prefix",
            help: "So many first tokens are visible to all, as in a prefix language model.",
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
        fill(first, to, |q| {
            Reach::one(0..end(m, frame, q), frame.shape.n_k)
        });
    },
    shift,
    check,
    examples,
};

/// One past the last visible key; may be negative or beyond the keys.
fn end(m: &MaskUse, frame: &Frame, q: QueryIdx) -> isize {
    (frame.place(q) + 1).max(m.count(PREFIX_AT) as isize)
}

fn visible(m: &MaskUse, frame: &Frame, q: QueryIdx, k: KeyIdx) -> bool {
    (k.0 as isize) < end(m, frame, q)
}

fn cover(m: &MaskUse, frame: &Frame, q: QueryIdx, keys: Range<usize>) -> Coverage {
    Coverage::of_count(overlap(&keys, 0..end(m, frame, q)), keys.len())
}

fn shift(m: &MaskUse, shape: Shape) -> Option<isize> {
    Some(if m.count(ALIGN_AT) == BOTTOM_RIGHT {
        shape.n_k as isize - shape.n_q as isize
    } else {
        0
    })
}

fn check(m: &MaskUse, shape: Shape) -> Vec<SpecError> {
    let mut errors = Vec::new();
    if m.count(ALIGN_AT) == SQUARE && shape.n_q != shape.n_k {
        errors.push(
            SpecError::new("align", "Alignment")
                .of(SCHEME.id)
                .expected("as many keys as queries for a square triangle")
                .got(format!("{} queries and {} keys", shape.n_q, shape.n_k))
                .hint("Choose top left or bottom right: they differ here."),
        );
    }
    if m.count(PREFIX_AT) > shape.n_k {
        errors.push(
            SpecError::new("prefix", "Prefix")
                .of(SCHEME.id)
                .expected(format!("at most the {} keys", shape.n_k))
                .got(m.count(PREFIX_AT).to_string())
                .hint("Shorten the prefix."),
        );
    }
    errors
}

fn examples(shape: Shape) -> Vec<MaskUse> {
    let mut all = Vec::new();
    for align in 0..ALIGN.len() {
        if align == SQUARE && shape.n_q != shape.n_k {
            continue;
        }
        for prefix in [0, shape.n_k.min(3)] {
            all.push(MaskUse {
                scheme: &SCHEME,
                values: vec![align as f64, prefix as f64],
                drawn: None,
            });
        }
    }
    all
}
