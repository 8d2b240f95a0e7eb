//! The lab in a page of its own: its head, the line above the picture, and sheets where columns have no room.

use super::{
    Fold, Window, begin, formulas, inputs, inspector, invite::Invite, names, picture, waterfall,
};
use crate::prelude::*;
use crate::{
    ctx::{Ctx, Sheet},
    examples::shelf::Shelf,
    header::{EngineFailed, Header, LinkNotes},
    links, part,
    text::{t, tf},
    widgets::SheetPane,
};
use wasm_bindgen::JsCast;

part! {
    /// All of it. `on_theme` is called when the colours have changed, `retry` starts the engine again.
    pub fn whole(on_theme: Callback<()>, retry: Callback<()>) in bench {
        view! {
            <a class="skip" href="#bench" on:click=skip>{t("skip")}</a>
            <Header current="bench" on_theme/>
            <EngineFailed retry/>
            <LinkNotes/>
            <Bench/>
        }
    }
}

#[component]
fn Bench() -> impl IntoView {
    let ctx = Ctx::get();
    let Window(window) = expect_context::<Window>();
    let fold = memo(move || Fold::of(window.get()));
    begin(fold);
    links::address::keep(ctx, Shelf::get());
    let narrow = derive(move || fold.get() != Fold::Wide);
    let phone = derive(move || fold.get() == Fold::Phone);
    view! {
        <main class="bench" id="bench" tabindex="-1" data-layout=move || fold.get().name()>
            <SheetPane which=Sheet::Inputs label=t("sheet-inputs") class="inputs" narrow>
                {inputs::part()}
            </SheetPane>
            <section class="pipeline" aria-label=move || t("stage-region")>
                <Invite/>
                {picture(fold)}
                {waterfall::part()}
                <Show when=move || phone.get()>
                    {inputs::scale_part()}
                </Show>
            </section>
            <SheetPane which=Sheet::Inspector label=t("inspector-label") class="inspector" narrow=phone>
                {inspector::part(phone)}
            </SheetPane>
            {formulas::part()}
            <Show when=move || phone.get()>
                <footer class="sheets">
                    <button type="button" data-name="open-inputs" on:click=move |_| ctx.sheet.set(Sheet::Inputs)>
                        {t("sheet-inputs")}
                    </button>
                    <button type="button" data-name="open-inspector" on:click=move |_| ctx.sheet.set(Sheet::Inspector)>
                        {move || {
                            let (query, name) = ctx.session(|s| {
                                let q = s.look_at().0;
                                (q, names::label(&s.query_name(q)).text)
                            });
                            tf("sheet-row", &[("row", &query), ("name", &name)])
                        }}
                    </button>
                </footer>
            </Show>
        </main>
    }
}

/// To the picture, without a change of the address, which holds the session.
fn skip(ev: leptos::ev::MouseEvent) {
    ev.prevent_default();
    let place = document().get_element_by_id("bench");
    if let Some(place) = place.and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = place.focus();
        place.scroll_into_view();
    }
}
