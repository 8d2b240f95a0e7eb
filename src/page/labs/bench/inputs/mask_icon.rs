//! Small pictures of masks: what 6 queries really see of 6 keys.

use crate::prelude::*;
use attention::{
    KeyIdx, MaskUse, QueryIdx, Shape,
    masks::{Frame, visible},
};

/// Queries and keys.
const SIDE: usize = 6;
/// From one cell to the next, px; a cell is one less.
const PITCH: usize = 4;

/// The outline of the cells that are seen, as a path.
pub(super) fn icon_of(uses: impl Fn(Shape) -> Vec<MaskUse>) -> String {
    let shape = Shape::square(SIDE, 2);
    let uses = uses(shape);
    let frame = Frame::new(shape, &uses);
    path(|q, k| visible(&uses, &frame, QueryIdx(q), KeyIdx(k)))
}

/// A mask that follows no rule.
pub(super) fn drawn() -> String {
    const ROWS: [u8; SIDE] = [0b110101, 0b101110, 0b011011, 0b110110, 0b101101, 0b011111];
    path(|q, k| ROWS.get(q).is_some_and(|row| row >> k & 1 == 1))
}

fn path(seen: impl Fn(usize, usize) -> bool) -> String {
    let mut path = String::new();
    for q in 0..SIDE {
        for k in 0..SIDE {
            if seen(q, k) {
                let (x, y, side) = (k * PITCH, q * PITCH, PITCH - 1);
                path.push_str(&format!("M{x} {y}h{side}v{side}h-{side}z"));
            }
        }
    }
    path
}

/// The picture, in the colour of the text.
#[component]
pub fn MaskIcon(
    /// From [`icon_of`].
    path: String,
) -> impl IntoView {
    let size = SIDE * PITCH - 1;
    view! {
        <svg width=size height=size viewBox=format!("0 0 {size} {size}") shape-rendering="crispEdges" aria-hidden="true">
            <path d=path fill="currentColor" />
        </svg>
    }
}
