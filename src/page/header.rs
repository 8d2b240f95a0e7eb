//! The head of the page: its name, the labs, how the engine is, and the theme.

mod theme;
mod top;

pub use theme::{Theme, restore_theme};
pub use top::Header;

use crate::prelude::*;
use crate::{canvas::paint::forget_widths, ctx::Ctx, text::t};
use wasm_bindgen::{JsCast, closure::Closure};

/// Calls back whenever a font of the style sheets has been fetched: canvases are then drawn again with it.
pub fn when_fonts_arrive(redraw: Callback<()>) {
    // The list of fonts is missing in no browser that runs this page; without it canvases keep the font they have.
    let fonts = js_sys::Reflect::get(&document(), &"fonts".into()).ok();
    let Some(fonts) = fonts.and_then(|f| f.dyn_into::<web_sys::EventTarget>().ok()) else {
        return;
    };
    let done = Closure::<dyn FnMut()>::new(move || {
        forget_widths();
        redraw.run(());
    });
    let _ = fonts.add_event_listener_with_callback("loadingdone", done.as_ref().unchecked_ref());
    // For as long as the page lives.
    done.forget();
}

/// The engine cannot start: why, and a button that tries again. What was computed stays on the screen.
#[component]
pub fn EngineFailed(
    /// Starts the engine again.
    retry: Callback<()>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let failed = memo(move || ctx.engine.with(|e| e.failed.clone()));
    dynamic(move || {
        failed.get().map(|why| {
            view! {
                <div class="engine-failed" role="alert" data-problem="engine">
                    <p><b>{t("engine-failed")}</b> " " {why}</p>
                    <button type="button" class="text-button" data-name="retry-engine" on:click=move |_| retry.run(())>
                        {t("try-again")}
                    </button>
                </div>
            }
        })
    })
}

/// What of a link could not be opened, until the reader has read it.
#[component]
pub fn LinkNotes() -> impl IntoView {
    let ctx = Ctx::get();
    let notes = memo(move || ctx.link_notes.get());
    dynamic(move || {
        (!notes.get().is_empty()).then(|| {
            let all = notes
                .get()
                .into_iter()
                .map(|note| view! { <li>{note}</li> });
            view! {
                <div class="link-notes" role="alert" data-problem="link">
                    <p><b>{t("link-title")}</b></p>
                    <ul>{all.collect_view()}</ul>
                    <button
                        type="button"
                        class="text-button"
                        data-name="hide-link-notes"
                        on:click=move |_| ctx.link_notes.set(Vec::new())
                    >
                        {t("hide")}
                    </button>
                </div>
            }
        })
    })
}
