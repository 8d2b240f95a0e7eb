//! The head of the page: its name, the labs, how the engine is, and the theme.

mod theme;

pub use theme::{Theme, restore_theme};

use crate::prelude::*;
use crate::{
    canvas::paint::forget_widths,
    ctx::{Ctx, EngineState, Sheet},
    labs,
    text::{t, tf},
};
use wasm_bindgen::{JsCast, closure::Closure};

/// The header, with every lab of the registry.
#[component]
pub fn Header(
    /// Id of the lab on the screen.
    #[prop(default = "bench")]
    current: &'static str,
    /// The colours have changed.
    on_theme: Callback<()>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let tabs = labs::ALL.iter().map(|lab| {
        let (id, name) = (lab.id, t(lab.name));
        if id == current {
            view! { <li><span class="tab" aria-current="page">{name}</span></li> }
        } else {
            view! { <li><a class="tab" href=format!("#{id}")>{name}</a></li> }
        }
    });
    view! {
        <header class="top">
            <div class="top-line">
                <h1 class="brand">{t("brand")}</h1>
                <nav aria-label=t("labs")>
                    <ul class="tabs">{tabs.collect_view()}</ul>
                </nav>
                <EngineNote />
                <p class="engine" data-read="engine" title=t("engine-help")>
                    {move || ctx.engine.with(engine_words)}
                </p>
                <button
                    type="button"
                    class="text-button inputs-button"
                    data-name="inputs"
                    aria-expanded=move || if ctx.sheet.get() == Sheet::Inputs { "true" } else { "false" }
                    on:click=move |_| {
                        ctx.sheet.update(|s| *s = if *s == Sheet::Inputs { Sheet::Closed } else { Sheet::Inputs });
                    }
                >
                    {t("inputs")}
                </button>
                // What it opens is loaded when it is pressed: `www/boot.js` listens for it.
                <button type="button" class="text-button" data-name="share">{t("share")}</button>
                <theme::ThemeButton on_theme />
            </div>
        </header>
    }
}

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

fn engine_words(state: &EngineState) -> String {
    match state.progress {
        Some((done, total)) if total > 0 && done < total => {
            tf("engine-progress", &[("percent", &(done * 100 / total))])
        }
        _ if state.failed.is_some() => t("engine-stopped").to_owned(),
        _ if state.words.is_empty() => t("engine-starting").to_owned(),
        _ => state.words.clone(),
    }
}

/// What the reader should know of the engine, until they have read it.
#[component]
fn EngineNote() -> impl IntoView {
    let ctx = Ctx::get();
    let note = memo(move || ctx.engine.with(|e| e.note.clone()));
    view! {
        <div class="engine-note" role="status">
            {move || note.get().map(|note| view! {
                <span title=note.clone()>{note.clone()}</span>
                <button
                    type="button"
                    class="text-button"
                    data-name="hide-note"
                    on:click=move |_| ctx.engine.update(|e| e.note = None)
                >
                    {t("hide")}
                </button>
            })}
        </div>
    }
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
