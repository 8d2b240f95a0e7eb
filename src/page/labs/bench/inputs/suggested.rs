//! Heads of the sentence that show something, each with what there is to see.

use super::heads::chosen_head;
use crate::prelude::*;
use crate::{
    ctx::Ctx,
    examples::{Shelf, Suggestion, Wish},
    source::Source,
    text::{t, tf},
    widgets::Disclosure,
};

/// Opens to the list.
#[component]
pub fn Suggested() -> impl IntoView {
    let ctx = Ctx::get();
    let shelf = Shelf::get();
    let chosen = chosen_head(ctx, shelf);
    let found = memo(move || {
        let name = ctx.session(|s| match &s.source {
            Source::Example(layer) => layer.sentence.clone(),
            _ => String::new(),
        });
        shelf.index.with(|index| {
            let sentence = index.as_ref().and_then(|i| i.sentence(&name));
            sentence.map_or((String::new(), Vec::new()), |s| {
                (s.name.clone(), s.suggested.clone())
            })
        })
    });
    let line = move |sentence: String, s: Suggestion| {
        let (layer, head, pin) = (s.layer, s.head, (s.row, s.key));
        let is = move || chosen.get() == Some((layer, head));
        let go = move |_| {
            shelf.open(
                ctx,
                Wish {
                    pin: Some(pin),
                    ..Wish::head(&sentence, layer, head)
                },
            );
        };
        view! {
            <li>
                <button
                    type="button"
                    class="suggested"
                    data-name="suggested"
                    data-head=format!("{layer}.{head}")
                    aria-current=move || is().then_some("true")
                    on:click=go
                >
                    <b>{tf("head-name", &[("layer", &layer), ("head", &head)])}</b>
                    " "
                    <span>{s.why}</span>
                </button>
            </li>
        }
    };
    let some = move || !found.with(|(_, all)| all.is_empty());
    view! {
        <Show when=some>
            <Disclosure name="suggested-heads" title=t("suggested") slight=true>
                <ul class="suggestions">
                    {move || {
                        let (sentence, all) = found.get();
                        all.into_iter().map(|s| line(sentence.clone(), s)).collect_view()
                    }}
                </ul>
            </Disclosure>
        </Show>
    }
}
