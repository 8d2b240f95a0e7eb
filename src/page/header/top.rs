//! The line at the head of a page of its own.

use super::theme;
use crate::prelude::*;
use crate::{
    ctx::{Ctx, EngineState, Sheet},
    labs,
    text::{t, tf},
};

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
