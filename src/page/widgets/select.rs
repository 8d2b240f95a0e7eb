//! The browser's own menu, set as underlined words.

use super::{Word, unique_id};
use crate::prelude::*;

/// A menu. Where what was chosen is refused, it shows what is in force.
#[component]
pub fn Select(
    /// Name of the control for tests.
    #[prop(into)]
    name: String,
    /// Accessible name.
    #[prop(into)]
    label: String,
    /// The entries.
    #[prop(into)]
    options: Signal<Vec<Word>>,
    /// Id of the chosen one.
    #[prop(into)]
    value: Signal<String>,
    /// Another was chosen.
    #[prop(into)]
    choose: Callback<String>,
) -> impl IntoView {
    let id = unique_id("select");
    // The entry that was refused last, and what was in force then.
    let refused = StoredValue::new(None::<(i32, String)>);
    let take = move |select: &web_sys::HtmlSelectElement| {
        let tried = select.selected_index();
        choose.run(select.value());
        let now = value.get_untracked();
        select.set_value(&now);
        refused.set_value((select.selected_index() != tried).then_some((tried, now)));
    };
    // Arrow keys go on from the entry that was refused: from the one in force they would never come past it.
    let go_on = move |select: &web_sys::HtmlSelectElement, key: &str| {
        if let ("ArrowDown" | "ArrowUp", Some((tried, then))) = (key, refused.get_value())
            && then == value.get_untracked()
        {
            select.set_selected_index(tried);
        }
    };
    let show = move |select: &web_sys::HtmlSelectElement| select.set_value(&value.get_untracked());
    view! {
        <div class="select">
            <select
                id=id
                aria-label=label
                data-name=name
                on:change:target=move |event| take(&event.target())
                on:keydown:target=move |event| go_on(&event.target(), &event.key())
                // Where a key led nowhere, as at the last entry.
                on:keyup:target=move |event| show(&event.target())
                on:blur:target=move |event| {
                    refused.set_value(None);
                    show(&event.target());
                }
            >
                <For each=move || options.get() key=|word| word.clone() let:word>
                    {
                        let id = word.id.clone();
                        view! {
                            <option value=word.id.clone() prop:selected=move || value.with(|v| *v == id)>
                                {word.words.clone()}
                            </option>
                        }
                    }
                </For>
            </select>
            <Chevron />
        </div>
    }
}

/// A small arrow that points down.
#[component]
pub fn Chevron() -> impl IntoView {
    view! {
        <svg class="chevron" viewBox="0 0 12 8" aria-hidden="true">
            <path d="M1 1.5 6 6.5 11 1.5" fill="none" stroke="currentColor" stroke-width="1.25" />
        </svg>
    }
}
