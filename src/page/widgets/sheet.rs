//! A part of the page that is a column on a wide screen and a sheet on a narrow one.

use crate::prelude::*;
use crate::{
    ctx::{Ctx, Sheet},
    text::t,
};
use leptos::{ev, html};
use wasm_bindgen::JsCast;

/// A pull of the handle by so many px closes the sheet, or makes it tall when upwards.
const PULL: f64 = 56.0;

/// An `aside` that stands in its column where there is room. Where there is not, it is a sheet which `ctx.sheet`
/// opens: a dialog that leaves the picture above it in reach. Focus moves into it and back; Esc, the word at its head
/// and a pull of its handle close it.
#[component]
pub fn SheetPane(
    /// Which of the sheets.
    which: Sheet,
    /// Its name.
    #[prop(into)]
    label: String,
    /// Class of the `aside`.
    #[prop(into)]
    class: String,
    /// Whether it is a sheet now.
    #[prop(into)]
    narrow: Signal<bool>,
    /// What it holds.
    children: Children,
) -> impl IntoView {
    let ctx = Ctx::get();
    let pane = NodeRef::<html::Div>::new();
    let open = memo(move || ctx.sheet.get() == which);
    let shown = memo(move || narrow.get() && open.get());
    let tall = RwSignal::new(false);
    // Height that the handle was seized at, and how far it was pulled.
    let seized = RwSignal::new(None::<f64>);
    let pulled = RwSignal::new(0.0_f64);
    let before = StoredValue::new_local(None::<web_sys::HtmlElement>);

    Effect::new(move |was: Option<bool>| {
        let now = shown.get();
        let Some(element) = pane.get() else {
            return now;
        };
        match (was.unwrap_or(false), now) {
            (false, true) => {
                let active = document().active_element().and_then(|e| e.dyn_into().ok());
                before.set_value(active);
                tall.set(false);
                // Once it is visible.
                request_animation_frame(move || {
                    let _ = element.focus();
                });
            }
            (true, false) => {
                // Focus goes back only where it would be lost with the sheet.
                let inside = document()
                    .active_element()
                    .is_some_and(|e| element.contains(Some(&e)));
                let last = before.try_update_value(Option::take).flatten();
                if let (true, Some(last)) = (inside, last) {
                    let _ = last.focus();
                }
            }
            _ => {}
        }
        now
    });
    let close = move || {
        if shown.get_untracked() {
            ctx.sheet.set(Sheet::Closed);
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" && shown.get_untracked() {
            event.stop_propagation();
            close();
        }
    };
    let grab = move |event: ev::PointerEvent| {
        seized.set(Some(f64::from(event.client_y())));
        if let Some(handle) = event
            .current_target()
            .and_then(|t| t.dyn_into::<web_sys::Element>().ok())
        {
            let _ = handle.set_pointer_capture(event.pointer_id());
        }
    };
    let pull = move |event: ev::PointerEvent| {
        if let Some(from) = seized.get_untracked() {
            pulled.set(f64::from(event.client_y()) - from);
        }
    };
    let drop = move |_: ev::PointerEvent| {
        if seized.get_untracked().is_none() {
            return;
        }
        let by = pulled.get_untracked();
        seized.set(None);
        pulled.set(0.0);
        if by < -PULL / 2.0 {
            tall.set(true);
        } else if by > PULL && tall.get_untracked() {
            tall.set(false);
        } else if by > PULL {
            close();
        }
    };
    let (title, name) = (label.clone(), label.clone());
    view! {
        <aside
            class=class
            class:sheet=narrow
            class:open=shown
            class:tall=tall
            class:held=move || seized.get().is_some()
            aria-label=label
            inert=move || narrow.get() && !open.get()
            style:--pull=move || format!("{}px", pulled.get().max(0.0))
            on:keydown=on_key
        >
            <div
                class="sheet-inner"
                node_ref=pane
                role=move || narrow.get().then_some("dialog")
                aria-label=move || narrow.get().then(|| name.clone())
                tabindex=move || narrow.get().then_some("-1")
            >
            <div class="sheet-head" hidden=move || !narrow.get()>
                <div class="sheet-handle" aria-hidden="true" on:pointerdown=grab on:pointermove=pull on:pointerup=drop on:pointercancel=drop>
                    <i></i>
                </div>
                <span class="sheet-title">{title}</span>
                <button type="button" class="text-button sheet-close" data-name="close" on:click=move |_| close()>
                    {t("close")}
                </button>
            </div>
            <div class="pane">{children()}</div>
            </div>
        </aside>
    }
}
