//! Drawn by hand, cell by cell.

use super::{Coverage, MaskScheme, MaskUse, Reach};
use crate::bits::BitMatrix;
use crate::error::SpecError;
use crate::shape::Shape;

/// The registry's entry.
pub static SCHEME: MaskScheme = MaskScheme {
    id: "drawn",
    name: "Drawn",
    help: "Each cell is visible or hidden as you draw it, the same for all heads.",
    params: &[],
    needs_drawing: true,
    visible: |m, _, q, k| m.drawn.as_ref().is_some_and(|bits| bits.get(q, k)),
    cover: |m, _, q, keys| {
        let total = keys.len();
        Coverage::of_count(
            m.drawn.as_ref().map_or(0, |bits| bits.count(q, keys)),
            total,
        )
    },
    reach: |_, frame, _, to| to.fill(Reach::one(0..isize::MAX, frame.shape.n_k)),
    shift: |_, _| None,
    check,
    examples,
};

fn check(m: &MaskUse, shape: Shape) -> Vec<SpecError> {
    let got = match &m.drawn {
        Some(bits) if (bits.n_q(), bits.n_k()) == (shape.n_q, shape.n_k) => return Vec::new(),
        Some(bits) => format!("{} × {}", bits.n_q(), bits.n_k()),
        None => "none".to_owned(),
    };
    vec![
        SpecError::new("drawn", "Drawn mask")
            .of(SCHEME.id)
            .expected(format!("a drawing of {} × {} cells", shape.n_q, shape.n_k))
            .got(got)
            .hint("Draw it anew at this size."),
    ]
}

fn examples(shape: Shape) -> Vec<MaskUse> {
    // Row 1 sees nothing; elsewhere a knight's move pattern.
    let bits = BitMatrix::from_fn(shape.n_q, shape.n_k, |q, k| {
        q.0 != 1 && (2 * q.0 + k.0) % 5 != 0
    });
    vec![
        MaskUse::drawn(bits),
        MaskUse::drawn(BitMatrix::filled(shape.n_q, shape.n_k, true)),
    ]
}
