//! The text field over a cell.

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    labs::bench::{
        edit,
        hands::{Hands, Spot},
        layout::{Layout, Matrix},
    },
    text::tf,
};
use leptos::html;
use wasm_bindgen::JsCast;

/// The text field over the cell that is being edited, and what is wrong with its text.
#[component]
pub fn CellEditor(layout: Signal<Option<Layout>>, hands: Hands) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let spot = memo(move || hands.editor.with(|e| e.as_ref().map(|e| e.spot)));
    effect(move || {
        if spot.get().is_some()
            && let Some(field) = input.get()
        {
            let _ = field.focus();
            if hands
                .editor
                .with_untracked(|e| e.as_ref().is_some_and(|e| e.text.chars().count() > 1))
            {
                field.select();
            }
        }
    });
    let back = move |spot: Spot| {
        hands.editor.set(None);
        if let Some(place) = document()
            .query_selector(&format!("[data-matrix='{:?}']", spot.0))
            .ok()
            .flatten()
            && let Ok(place) = place.dyn_into::<web_sys::HtmlElement>()
        {
            let _ = place.focus();
        }
    };
    dynamic(move || {
        let spot = spot.get()?;
        let place = layout.with(|l| l.as_ref().and_then(|l| l.place(spot.0)).copied())?;
        let cell = place.cell(spot.1, spot.2);
        let text = hands
            .editor
            .with_untracked(|e| e.as_ref().map(|e| e.text.clone()))
            .unwrap_or_default();
        // As wide as what stands in it, within the picture.
        let wanted = text.chars().count() as f64 * 8.0 + 20.0;
        let w = cell.w.max(wanted.clamp(64.0, 176.0));
        let h = cell.h.max(26.0);
        let most = layout.with(|l| l.as_ref().map_or(0.0, |l| l.width)) - w;
        let (x, y) = (
            (cell.x + cell.w / 2.0 - w / 2.0).min(most).max(0.0),
            cell.y + cell.h / 2.0 - h / 2.0,
        );
        // What is wrong stands left of the cell where there is room, below it elsewhere.
        let beside = x > 230.0;
        // Above Q, left of K, there is nothing: a sentence there covers no number.
        let free = place.rect.y - cell.y - cell.h / 2.0 + h / 2.0 - 12.0;
        let k = layout.with(|l| {
            l.as_ref()
                .and_then(|l| l.place(Matrix::K))
                .map_or(0.0, |k| k.rect.x)
        });
        let room = (k - 12.0 - x).clamp(96.0, 216.0);
        let above =
            spot.0 == Matrix::Q && layout.with(|l| l.as_ref().is_some_and(|l| l.narrow.is_none()));
        let error = move || {
            hands
                .editor
                .with(|e| e.as_ref().and_then(|e| e.error.clone()))
        };
        let label = tf(
            "stage-editing",
            &[(
                "cell",
                &edit::cell_name(
                    &Ctx::get().desk.with_untracked(|d| d.session().clone()),
                    spot.0,
                    spot.1,
                    spot.2,
                ),
            )],
        );
        Some(view! {
            <div class="cell-editor" class:beside=beside && !above class:above=above style:--free=format!("{free}px") style:--room=format!("{room}px") style:left=format!("{x}px") style:top=format!("{y}px")>
                <input
                    node_ref=input
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
                    spellcheck="false"
                    data-name="cell-editor"
                    aria-label=label
                    aria-invalid=move || if error().is_some() { "true" } else { "false" }
                    aria-describedby="cell-editor-problem"
                    style:width=format!("{w}px")
                    style:height=format!("{h}px")
                    prop:value=text
                    on:input=move |ev| {
                        let text = event_target_value(&ev);
                        hands.editor.update(|e| if let Some(e) = e { e.text = text; e.error = None });
                    }
                    on:keydown=move |ev: web_sys::KeyboardEvent| {
                        ev.stop_propagation();
                        match ev.key().as_str() {
                            "Enter" | "Tab" => {
                                ev.prevent_default();
                                hands.commit_soon(move || back(spot));
                            }
                            "Escape" => back(spot),
                            _ => {}
                        }
                    }
                    on:blur=move |ev: web_sys::FocusEvent| {
                        hands.commit();
                        let to = ev.related_target().and_then(|to| to.dyn_into::<web_sys::Element>().ok());
                        let to = to.and_then(|to| to.get_attribute("data-matrix"));
                        if to.is_none_or(|to| to != format!("{:?}", spot.0)) {
                            hands.unfocus();
                        }
                    }
                    on:pointerdown=move |ev| ev.stop_propagation()
                />
                <p class="problem" id="cell-editor-problem" role="alert" data-problem="cell" hidden=move || error().is_none()>
                    {move || error().unwrap_or_default()}
                </p>
            </div>
        })
    })
}
