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
    view! {
        <div class="select">
            <select
                id=id
                aria-label=label
                data-name=name
                on:change:target=move |event| {
                    choose.run(event.target().value());
                    event.target().set_value(&value.get_untracked());
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
