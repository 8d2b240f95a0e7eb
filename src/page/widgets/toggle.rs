//! Something that is on or off, said in words.

use crate::prelude::*;
use crate::text::t;

/// A line with its state at the right; the whole line is the switch.
#[component]
pub fn Toggle(
    /// Name of the control for tests.
    #[prop(into)]
    name: String,
    /// What is on or off.
    #[prop(into)]
    label: String,
    /// One sentence more.
    #[prop(into, optional)]
    help: String,
    /// Whether it is on.
    #[prop(into)]
    on: Signal<bool>,
    /// Asked for the other.
    #[prop(into)]
    set: Callback<bool>,
) -> impl IntoView {
    view! {
        <button
            type="button"
            role="switch"
            class="toggle"
            data-name=name
            title=(!help.is_empty()).then_some(help)
            aria-checked=move || if on.get() { "true" } else { "false" }
            on:click=move |_| set.run(!on.get_untracked())
        >
            <span class="toggle-label">{label}</span>
            <span class="toggle-state" aria-hidden="true">{move || if on.get() { t("on") } else { t("off") }}</span>
        </button>
    }
}
