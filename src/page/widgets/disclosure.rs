//! A heading that opens.

use super::{select::Chevron, unique_id};
use crate::prelude::*;

/// A heading with a summary at the right; what it holds appears below when it is opened.
#[component]
pub fn Disclosure(
    /// Name of the control for tests.
    #[prop(into)]
    name: String,
    /// The heading.
    #[prop(into)]
    title: String,
    /// What is in force, in a few words.
    #[prop(into, optional)]
    summary: MaybeProp<String>,
    /// Whether it is a quiet line and not a heading.
    #[prop(optional)]
    slight: bool,
    /// What it holds.
    children: ChildrenFn,
) -> impl IntoView {
    let open = RwSignal::new(false);
    let id = unique_id("disclosed");
    let body = id.clone();
    view! {
        <div class="disclosure" class:open=open class:slight=slight>
            <button
                type="button"
                class="disclosure-head"
                data-name=name
                aria-expanded=move || if open.get() { "true" } else { "false" }
                aria-controls=id
                on:click=move |_| open.update(|o| *o = !*o)
            >
                <span class="disclosure-title">{title}</span>
                " "
                <span class="disclosure-summary">{move || summary.get()}</span>
                <Chevron />
            </button>
            <div class="disclosure-body" id=body hidden=move || !open.get()>
                <Show when=move || open.get()>{children()}</Show>
            </div>
        </div>
    }
}
