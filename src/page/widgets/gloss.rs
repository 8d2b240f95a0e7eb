//! A word that says what it means when it is asked: by a click, a tap, Enter or Space; Escape takes it back.

use crate::prelude::*;

/// A word with a dotted line below it, and its meaning in a note beside it.
#[component]
pub fn Gloss(
    /// Id of the note, that no other has.
    id: &'static str,
    /// The word.
    word: &'static str,
    /// What it means.
    means: &'static str,
) -> impl IntoView {
    view! {
        <button type="button" class="gloss" popovertarget=id data-name=id>{word}</button>
        <span class="gloss-note" popover="auto" id=id role="note">{means}</span>
    }
}
