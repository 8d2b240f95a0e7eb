//! On a narrow screen a sheet covers the foot of the page: the pinned row stays in sight above it.

use super::Fold;
use crate::ctx::{Ctx, Sheet};
use crate::prelude::*;
use wasm_bindgen::JsCast;

/// Room left between the row and the edge of the sheet, px.
const ABOVE: f64 = 44.0;
/// Room around the row under the keyboard's cursor, px.
const EDGE: f64 = 8.0;

/// Scrolls the page when a sheet opens, and back when it closes.
pub fn keep_row_in_sight(fold: Memo<Fold>) {
    let ctx = Ctx::get();
    let before = StoredValue::new(None::<f64>);
    Effect::new(move |_| {
        let open = ctx.sheet.get() != Sheet::Closed && fold.get_untracked() == Fold::Phone;
        // Once the sheet has its height.
        request_animation_frame(move || {
            let now = window().scroll_y().unwrap_or(0.0);
            let first = before.try_get_value().flatten();
            if !open {
                if let Some(first) = first {
                    before.set_value(None);
                    window().scroll_to_with_x_and_y(0.0, first);
                }
                return;
            }
            let rows = ctx
                .desk
                .with_untracked(|d| (d.session().look_at().0, d.session().shape.n_q));
            if let Some((row, edge)) = row_and_edge(rows) {
                before.set_value(Some(first.unwrap_or(now)));
                window().scroll_to_with_x_and_y(0.0, (now + row - (edge - ABOVE)).max(0.0));
            }
        });
    });
}

/// Scrolls the page so that the row of a matrix on which the cursor is lies above what covers the foot of the window.
pub fn bring_row_in_sight(matrix: &web_sys::Element, row: usize, rows: usize) {
    let rect = matrix.get_bounding_client_rect();
    let pitch = rect.height() / rows.max(1) as f64;
    let (top, bottom) = (
        rect.top() + pitch * row as f64,
        rect.top() + pitch * (row + 1) as f64,
    );
    let Some(height) = window().inner_height().ok().and_then(|h| h.as_f64()) else {
        return;
    };
    let bar = document()
        .query_selector(".pipeline > .scale.compact")
        .ok()
        .flatten();
    let end = bar.map_or(height, |bar| {
        bar.get_bounding_client_rect().top().min(height)
    });
    let by = if bottom + EDGE > end {
        bottom + EDGE - end
    } else if top < EDGE {
        top - EDGE
    } else {
        return;
    };
    window().scroll_by_with_x_and_y(0.0, by);
}

/// Middle of the row and upper edge of the open sheet, in px from the top of the window.
fn row_and_edge((row, n_q): (usize, usize)) -> Option<(f64, f64)> {
    let rect = |selector: &str| {
        let element: web_sys::Element = document()
            .query_selector(selector)
            .ok()
            .flatten()?
            .unchecked_into();
        Some(element.get_bounding_client_rect())
    };
    let matrix = ["A", "S", "O", "Q", "M"]
        .iter()
        .find_map(|m| rect(&format!(".place[data-matrix='{m}']")))?;
    let sheet = rect(".sheet.open")?;
    let middle = matrix.top() + matrix.height() * (row as f64 + 0.5) / n_q.max(1) as f64;
    Some((
        middle,
        window().inner_height().ok()?.as_f64()? - sheet.height(),
    ))
}
