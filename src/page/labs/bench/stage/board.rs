//! A canvas with matrices that a hand can work on, and a focusable place over each of them.

use super::super::in_sight;
use super::editor::CellEditor;
use crate::prelude::*;
use crate::{
    canvas::{picture::Picture, scene::Scene},
    ctx::Ctx,
    labs::bench::{
        board::{self, Same},
        edit,
        hands::Hands,
        layout::{Layout, Matrix},
        scene::Heats,
        tables::to_clipboard,
    },
    text::{t, tf},
};
use leptos::{ev, html, task::spawn_local};
use std::sync::Arc;
use wasm_bindgen::JsCast;

/// A canvas with matrices that a hand can work on.
#[component]
pub fn Board(
    layout: Signal<Option<Layout>>,
    picture: Signal<Option<Same<Scene>>>,
    heats: Signal<Option<Same<Heats>>>,
    label: Signal<String>,
    hands: Hands,
    swipe: Callback<bool>,
) -> impl IntoView {
    let wrapper = NodeRef::<html::Div>::new();
    let begun = StoredValue::new(None::<(f64, f64)>);
    let at = move |x: i32, y: i32| {
        wrapper.get_untracked().map(|w| {
            let rect = w.get_bounding_client_rect();
            (f64::from(x) - rect.left(), f64::from(y) - rect.top())
        })
    };
    let moved = move |ev: web_sys::PointerEvent| {
        if ev.pointer_type() == "touch" && begun.get_value().is_none() {
            return;
        }
        if let (Some((x, y)), Some(layout)) =
            (at(ev.client_x(), ev.client_y()), layout.get_untracked())
        {
            hands.move_to(&layout, x, y, ev.shift_key());
        }
    };
    let pressed = move |ev: web_sys::PointerEvent| {
        if ev.button() != 0 || !hands.commit() {
            return;
        }
        let finger = ev.pointer_type() == "touch";
        let Some((x, y)) = at(ev.client_x(), ev.client_y()) else {
            return;
        };
        begun.set_value(Some((x, y)));
        let Some(layout) = layout.get_untracked() else {
            return;
        };
        let focus = heats.with_untracked(|h| hands.press(&layout, h.as_deref(), x, y, finger));
        if let (Some(matrix), Some(div)) = (focus, wrapper.get_untracked()) {
            if !finger {
                let _ = div.set_pointer_capture(ev.pointer_id());
            }
            let place = div
                .query_selector(&format!("[data-matrix='{matrix:?}']"))
                .ok()
                .flatten();
            if let Some(place) = place.and_then(|p| p.dyn_into::<web_sys::HtmlElement>().ok()) {
                let options = web_sys::FocusOptions::new();
                options.set_prevent_scroll(true);
                let _ = place.focus_with_options(&options);
            }
            ev.prevent_default();
        }
    };
    let released = move |ev: web_sys::PointerEvent| {
        let finger = ev.pointer_type() == "touch";
        if let (true, Some((x0, y0)), Some((x, y))) =
            (finger, begun.get_value(), at(ev.client_x(), ev.client_y()))
            && (x - x0).abs() > 48.0
            && (x - x0).abs() > 1.5 * (y - y0).abs()
        {
            begun.set_value(None);
            hands.cancel();
            swipe.run(x < x0);
            return;
        }
        begun.set_value(None);
        hands.release(finger);
    };
    let double = move |ev: web_sys::MouseEvent| {
        if let (Some((x, y)), Some(layout)) =
            (at(ev.client_x(), ev.client_y()), layout.get_untracked())
            && let Some((m, r, c)) = layout.hit(x, y)
            && m.tensor().is_some()
        {
            hands.edit((m, r, c), None);
        }
    };
    let places = move || {
        let matrices: Vec<Matrix> = layout.with(|l| {
            l.as_ref()
                .map_or_else(Vec::new, |l| l.places.iter().map(|(m, _)| *m).collect())
        });
        matrices
            .into_iter()
            .map(|m| view! { <Place matrix=m layout heats hands/> })
            .collect_view()
    };
    let matrices = memo(move || {
        layout.with(|l| {
            l.as_ref()
                .map(|l| l.places.iter().map(|(m, _)| *m).collect::<Vec<_>>())
        })
    });
    let scene = derive(move || picture.get().map_or_else(Arc::default, |p| p.0));
    view! {
        <div
            class="board"
            node_ref=wrapper
            on:pointermove=moved
            on:pointerdown=pressed
            on:pointerup=released
            on:pointercancel=move |_| { begun.set_value(None); hands.cancel() }
            on:pointerleave=move |_| hands.leave()
            on:dblclick=double
        >
            <Picture scene label/>
            {move || { matrices.with(|_| ()); untrack(places) }}
            <CellEditor layout hands/>
        </div>
    }
}

/// The place of a matrix for the keyboard and for screen readers: transparent, over the canvas.
#[component]
fn Place(
    matrix: Matrix,
    layout: Signal<Option<Layout>>,
    heats: Signal<Option<Same<Heats>>>,
    hands: Hands,
) -> impl IntoView {
    let ctx = Ctx::get();
    let rect = move || {
        layout
            .with(|l| l.as_ref().and_then(|l| l.place(matrix)).map(|p| p.rect))
            .unwrap_or_default()
    };
    let name = move || {
        let (rows, cols) = ctx.session(|s| board::size(s, matrix));
        let symbol = matrix.tensor().map_or(matrix.symbol(), |t| t.symbol());
        let editable = ctx.session(|s| matrix.tensor().is_some_and(|t| s.size_of(t).is_some()));
        let how = match (editable, matrix) {
            (true, _) if !ctx.locked => t("stage-how-edit"),
            (false, Matrix::M) if !ctx.locked && !ctx.mask_held => t("stage-how-mask"),
            _ => t("stage-how-look"),
        };
        tf(
            "stage-matrix",
            &[
                ("symbol", &symbol),
                ("rows", &rows),
                ("cols", &cols),
                ("how", &how),
            ],
        )
    };
    let key = move |ev: web_sys::KeyboardEvent| {
        if ev.alt_key() || hands.editor.with_untracked(Option::is_some) {
            return;
        }
        let jump = ev.ctrl_key() || ev.meta_key();
        if jump && ev.key() == "c" {
            copy(ctx, heats, matrix);
            ev.prevent_default();
            return;
        }
        let used = heats.with_untracked(|h| hands.key(matrix, h.as_deref(), &ev.key(), jump));
        if used {
            ev.prevent_default();
            ev.stop_propagation();
            let place = ev.current_target();
            if let Some(place) = place.and_then(|p| p.dyn_into::<web_sys::Element>().ok()) {
                let (_, row, _) = hands.cursor.get_untracked();
                let (rows, _) = ctx
                    .desk
                    .with_untracked(|d| board::size(d.session(), matrix));
                in_sight::bring_row_in_sight(&place, row, rows);
            }
        }
    };
    view! {
        <div
            class="place"
            tabindex="0"
            role="application"
            aria-roledescription=t("stage-role")
            aria-label=name
            data-matrix=format!("{matrix:?}")
            style:left=move || format!("{}px", rect().x)
            style:top=move || format!("{}px", rect().y)
            style:width=move || format!("{}px", rect().w)
            style:height=move || format!("{}px", rect().h)
            on:keydown=key
            on:focus=move |_| {
                let (m, row, col) = hands.cursor.get_untracked();
                let (row, col) = if m == matrix { (row, col) } else { (0, 0) };
                let (rows, cols) = ctx.desk.with_untracked(|d| board::size(d.session(), matrix));
                hands.rest((matrix, row.min(rows.saturating_sub(1)), col.min(cols.saturating_sub(1))));
            }
            on:blur=move |_| {
                // The field over one of its cells: the cursor stays where the hand comes back to.
                if hands.editor.with_untracked(|e| e.as_ref().is_some_and(|e| e.spot.0 == matrix)) {
                    return;
                }
                hands.unfocus();
            }
        ></div>
    }
}

/// Pastes into the matrix with the focus. Listened for at the window: browsers differ in whether a paste belongs to
/// what has the focus or to where text was selected last.
///
/// `focused` selects the place with the focus on the board of these hands.
pub fn listen_for_pastes(focused: &'static str, hands: Hands) {
    let pastes = window_event_listener(ev::paste, move |ev| {
        let focused = document().query_selector(focused).ok().flatten();
        let text = ev.clipboard_data().and_then(|d| d.get_data("text").ok());
        if let (Some(_), Some(text)) = (focused, text) {
            ev.prevent_default();
            hands.paste(hands.cursor.get_untracked().0, &text);
        }
    });
    on_cleanup(move || pastes.remove());
}

fn copy(ctx: Ctx, heats: Signal<Option<Same<Heats>>>, matrix: Matrix) {
    let text = ctx.desk.with_untracked(|d| {
        let (rows, cols) = board::size(d.session(), matrix);
        heats.with_untracked(|h| {
            edit::to_tsv(rows, cols, |r, c| {
                board::cell(h.as_deref(), d.session(), matrix, r, c).map_or(0.0, |(v, _)| v)
            })
        })
    });
    spawn_local(async move {
        ctx.say(match to_clipboard(&text).await {
            Ok(()) => tf("stage-copied", &[("matrix", &matrix.symbol())]),
            Err(()) => t("stage-not-copied").to_string(),
        });
    });
}
