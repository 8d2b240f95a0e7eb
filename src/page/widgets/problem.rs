//! The sentence below a control whose last wish could not be met.

use crate::ctx::Ctx;
use leptos::prelude::*;

/// Stands below the control `field` while its wish is open. `id` is what the control's `aria-describedby` names.
#[component]
pub fn Problem(
    /// Name of the control.
    #[prop(into)]
    field: String,
    /// Id of the element.
    #[prop(into, optional)]
    id: String,
) -> impl IntoView {
    let ctx = Ctx::get();
    let name = field.clone();
    let words = Memo::new(move |_| ctx.problem(&field));
    move || {
        words.get().map(|words| {
            view! {
                <p class="problem" id=id.clone() data-problem=name.clone() role="alert">
                    {capitalised(&words)}
                </p>
            }
        })
    }
}

/// With its first letter as at the beginning of a sentence.
pub fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}
