//! Rotary position embedding (Su et al. 2021): queries and keys turn with their place, so that a score depends on the
//! difference of places only.

use super::{Action, PositionScheme, PositionUse, Turn};
use crate::error::SpecError;
use crate::limits::{MAX_PLACE, MAX_WIDTH};
use crate::math::{exp, ln};
use crate::param::{Param, ParamKind};
use crate::shape::Shape;

/// Which components turn together, in the order of the parameter `layout`.
///
/// `interleaved` pairs neighbours, (0, 1), (2, 3) …, as the paper does; `half` pairs component i with i + dims/2, as
/// GPT-NeoX and Hugging Face's Llama do.
pub const LAYOUT: &[&str] = &["interleaved", "half"];

/// How longer sequences are brought into the trained range, in the order of the parameter `scaling`.
///
/// `linear` divides all angles by the factor (Chen et al. 2023). `ntk` multiplies the base by
/// factor^(dims / (dims − 2)), which leaves the fastest pair nearly alone and slows the slowest by the factor.
pub const SCALING: &[&str] = &["none", "linear", "ntk"];

const LAYOUT_AT: usize = 0;
const DIMS_AT: usize = 1;
const BASE_AT: usize = 2;
const Q_OFFSET_AT: usize = 3;
const K_OFFSET_AT: usize = 4;
const SCALING_AT: usize = 5;
const FACTOR_AT: usize = 6;

const HALF: usize = 1;
const LINEAR: usize = 1;
const NTK: usize = 2;

/// The registry's entry.
pub static SCHEME: PositionScheme = PositionScheme {
    id: "rope",
    name: "RoPE",
    help: "Pairs of components of every query and key turn by an angle that grows with the place; a score then depends on the distance of query and key only.",
    params: &[
        Param {
            key: "layout",
            label: "Layout",
            help: "Interleaved turns neighbours together, half turns component i with i + dims/2.",
            kind: ParamKind::Choice(LAYOUT),
            default: 0.0,
        },
        Param {
            key: "dims",
            label: "Turned components",
            help: "Only so many first components turn; 0 means all.",
            kind: ParamKind::Integer {
                min: 0.0,
                max: MAX_WIDTH as f64,
            },
            default: 0.0,
        },
        Param {
            key: "base",
            label: "Base",
            help: "The slowest pair needs about 2π times this many places for a turn.",
            kind: ParamKind::Real { min: 2.0, max: 1e9 },
            default: 10_000.0,
        },
        Param {
            key: "q_offset",
            label: "Place of query 0",
            help: "With a cache, the queries are later tokens: 5 where five keys came before.",
            kind: ParamKind::Integer {
                min: 0.0,
                max: MAX_PLACE as f64,
            },
            default: 0.0,
        },
        Param {
            key: "k_offset",
            label: "Place of key 0",
            help: "Moves all keys.",
            kind: ParamKind::Integer {
                min: 0.0,
                max: MAX_PLACE as f64,
            },
            default: 0.0,
        },
        Param {
            key: "scaling",
            label: "Scaling",
            help: "Linear slows all pairs alike; NTK slows the slow ones.",
            kind: ParamKind::Choice(SCALING),
            default: 0.0,
        },
        Param {
            key: "factor",
            label: "Scaling factor",
            help: "How many times longer than the trained length.",
            kind: ParamKind::Real {
                min: 1.0,
                max: 1024.0,
            },
            default: 4.0,
        },
    ],
    action: Action::Turn(turn),
    check,
    examples,
};

/// How many first components turn.
fn dims(p: &PositionUse, shape: Shape) -> usize {
    match p.count(DIMS_AT) {
        0 => shape.d_k,
        dims => dims,
    }
}

fn turn(p: &PositionUse, shape: Shape) -> Turn {
    let dims = dims(p, shape);
    let width = dims as f64;
    let (scaling, factor) = (p.count(SCALING_AT), p.real(FACTOR_AT));
    let mut ln_base = ln(p.real(BASE_AT));
    if scaling == NTK {
        ln_base += width / (width - 2.0) * ln(factor);
    }
    let slow = if scaling == LINEAR { factor } else { 1.0 };
    let half = dims / 2;
    Turn {
        pairs: (0..half)
            .map(|i| {
                if p.count(LAYOUT_AT) == HALF {
                    (i, i + half)
                } else {
                    (2 * i, 2 * i + 1)
                }
            })
            .collect(),
        frequencies: (0..half)
            .map(|i| exp(-((2 * i) as f64 / width) * ln_base) / slow)
            .collect(),
        q_offset: p.count(Q_OFFSET_AT),
        k_offset: p.count(K_OFFSET_AT),
    }
}

fn check(p: &PositionUse, shape: Shape) -> Vec<SpecError> {
    let mut errors = Vec::new();
    let dims = dims(p, shape);
    let field = || SpecError::new("dims", "Turned components").of(SCHEME.id);
    if dims > shape.d_k {
        errors.push(
            field()
                .expected(format!("at most d_k = {}", shape.d_k))
                .got(dims.to_string())
                .hint("Turn fewer, or make d_k larger."),
        );
    } else if !dims.is_multiple_of(2) {
        errors.push(
            field()
                .expected("an even number, since components turn in pairs")
                .got(dims.to_string())
                .hint(match dims {
                    1 => "Make d_k even.".to_owned(),
                    _ => format!("Choose {} or make d_k even.", dims - 1),
                }),
        );
    } else if p.count(SCALING_AT) == NTK && dims == 2 {
        errors.push(
            field()
                .expected("at least 4 for NTK scaling, whose exponent is dims / (dims − 2)")
                .got("2")
                .hint("Turn more components, or choose linear scaling."),
        );
    }
    for (at, key, label, tokens) in [
        (Q_OFFSET_AT, "q_offset", "Place of query 0", shape.n_q),
        (K_OFFSET_AT, "k_offset", "Place of key 0", shape.n_k),
    ] {
        if p.count(at) + tokens > MAX_PLACE {
            errors.push(
                SpecError::new(key, label)
                    .of(SCHEME.id)
                    .expected(format!("a last place of at most {MAX_PLACE}"))
                    .got((p.count(at) + tokens).to_string())
                    .hint("Only differences of places count: lower both offsets."),
            );
        }
    }
    errors
}

fn examples(shape: Shape) -> Vec<PositionUse> {
    let even = shape.d_k / 2 * 2;
    if even == 0 {
        return Vec::new();
    }
    let values = [
        [0.0, even as f64, 10_000.0, 0.0, 0.0, 0.0, 4.0],
        [1.0, even as f64, 500_000.0, 5.0, 2.0, LINEAR as f64, 4.0],
        [0.0, 2.0, 100.0, 0.0, 1000.0, 0.0, 1.0],
        [1.0, even as f64, 10_000.0, 0.0, 0.0, NTK as f64, 8.0],
    ];
    values
        .iter()
        .filter(|v| v[SCALING_AT] as usize != NTK || even > 2)
        .map(|v| PositionUse {
            scheme: &SCHEME,
            values: v.to_vec(),
        })
        .collect()
}
