//! Which of several heads is shown, and which key/value head it reads.

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    session::Action,
    text::{t, tf},
    widgets::{moved, rich},
};
use leptos::ev;
use wasm_bindgen::JsCast;

/// More heads than this take the whole width of the column.
const MANY: usize = 8;

/// The heads in a row, in groups that share keys and values; a bracket under each group names its key/value head.
/// Nothing where there is one head.
#[component]
pub fn HeadInput() -> impl IntoView {
    let ctx = Ctx::get();
    let counts = memo(move || ctx.session(|s| (s.shape.heads, s.shape.kv_heads.max(1))));
    let shown = memo(move || ctx.session(|s| s.head));
    let on_key = move |event: ev::KeyboardEvent| {
        let Some(to) = moved(
            &event.key(),
            shown.get_untracked(),
            counts.get_untracked().0,
        ) else {
            return;
        };
        event.prevent_default();
        event.stop_propagation();
        ctx.act(Action::SetHead(to));
        let root = event
            .current_target()
            .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        let button = root.and_then(|r| {
            r.query_selector(&format!("[data-value='{to}']"))
                .ok()
                .flatten()
        });
        if let Some(button) = button.and_then(|b| b.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = button.focus();
        }
    };
    let head = move |at: usize| {
        let is = memo(move || shown.get() == at);
        view! {
            <button
                type="button"
                role="radio"
                class="word head"
                data-value=at
                data-words=at
                aria-label=tf("shown-head", &[("head", &at)])
                aria-checked=move || if is.get() { "true" } else { "false" }
                tabindex=move || if is.get() { "0" } else { "-1" }
                on:click=move |_| ctx.act(Action::SetHead(at))
            >
                <span>{at}</span>
            </button>
        }
    };
    let words = move || {
        let ((heads, kv), head) = (counts.get(), shown.get());
        let group = heads / kv;
        if group == 1 {
            tf("head-own", &[("head", &head)])
        } else {
            tf(
                "head-reads",
                &[("head", &head), ("kv", &(head / group)), ("group", &group)],
            )
        }
    };
    view! {
        <Show when=move || { counts.get().0 > 1 }>
            <div class="several" role="radiogroup" aria-label=t("shown-heads") data-name="shown-head" on:keydown=on_key>
                <span class="several-label" aria-hidden="true" hidden=move || { counts.get().0 > MANY }>{t("head")}</span>
                <div class="several-groups" class:shared=move || { counts.get().0 > counts.get().1 }>
                    {move || {
                        let (heads, kv) = counts.get();
                        let group = (heads / kv).max(1);
                        (0..kv)
                            .map(|g| {
                                view! {
                                    <div class="several-group" class:now=move || { shown.get() / group == g }>
                                        <div class="several-heads">{(g * group..(g + 1) * group).map(head).collect_view()}</div>
                                        {(group > 1).then(|| view! { <div class="several-kv" aria-hidden="true">{g}</div> })}
                                    </div>
                                }
                            })
                            .collect_view()
                    }}
                </div>
            </div>
            <p class="hint" data-read="kv_head">{move || rich(&words())}</p>
        </Show>
    }
}
