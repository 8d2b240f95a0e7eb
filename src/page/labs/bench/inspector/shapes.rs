//! Small shapes that several scenes of the inspector share.

use crate::canvas::{
    heat::{Heat, Look, Scale},
    scene::{Ink, Mark, Rect, Scene},
};
use std::sync::Arc;

/// Brackets around a matrix, 4 away and 1.5 thick.
pub fn brackets(scene: &mut Scene, around: Rect, ink: Ink) {
    let r = around.grown(3.0);
    for (x, d) in [(r.x, 4.0), (r.right(), -4.0)] {
        scene.line(
            &[(x + d, r.y), (x, r.y), (x, r.bottom()), (x + d, r.bottom())],
            ink,
            1.5,
        );
    }
}

/// A hatched strip.
pub fn hatch(at: Rect, look: Look) -> Mark {
    Mark::Heat(Box::new(Heat {
        x: at.x,
        y: at.y,
        cell_w: at.w,
        // The gap is part of a pitch of 7 or more.
        cell_h: if at.h >= 6.0 { at.h + 1.0 } else { at.h },
        rows: 1,
        cols: 1,
        values: Arc::new(vec![0.0]),
        transposed: false,
        looks: Arc::new(vec![look]),
        scale: Scale::Signed { max: 1.0 },
        print: None,
        stale: false,
    }))
}
