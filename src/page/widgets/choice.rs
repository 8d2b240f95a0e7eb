//! One of a few words, the chosen one underlined.

use super::{plain, rich};
use crate::ctx::Ctx;
use crate::prelude::*;
use leptos::ev;
use wasm_bindgen::JsCast;

/// One word of a [`Choice`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Word {
    /// Its value.
    pub id: String,
    /// What stands there, with marks of [`rich`].
    pub words: String,
    /// One sentence more.
    pub help: String,
}

impl Word {
    /// A word without further explanation.
    pub fn new(id: impl Into<String>, words: impl Into<String>) -> Word {
        Word {
            id: id.into(),
            words: words.into(),
            help: String::new(),
        }
    }
}

/// A row of words of which one is chosen: by click, and by arrow keys as radio buttons are.
#[component]
pub fn Choice(
    /// Name of the control for tests.
    #[prop(into)]
    name: String,
    /// Accessible name of the row.
    #[prop(into)]
    label: String,
    /// The words.
    #[prop(into)]
    options: Signal<Vec<Word>>,
    /// Id of the chosen one.
    #[prop(into)]
    value: Signal<String>,
    /// Another was chosen.
    #[prop(into)]
    choose: Callback<String>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let pick = move |id: String| {
        ctx.end_gesture();
        choose.run(id);
        ctx.end_gesture();
    };
    // One stop of the Tab key: the chosen word, or the first where none is.
    let stop = memo(move || {
        let now = value.get();
        options.with(|all| all.iter().position(|w| w.id == now).unwrap_or(0))
    });
    let on_key = move |event: ev::KeyboardEvent| {
        let all = options.get_untracked();
        let at = stop.get_untracked();
        let Some(to) = moved(&event.key(), at, all.len()) else {
            return;
        };
        event.prevent_default();
        event.stop_propagation();
        if let Some(word) = all.get(to) {
            pick(word.id.clone());
        }
        let group = event
            .current_target()
            .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        let button = group.and_then(|g| g.children().item(to as u32));
        if let Some(button) = button.and_then(|b| b.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = button.focus();
        }
    };
    view! {
        <div class="choice" role="radiogroup" aria-label=label data-name=name on:keydown=on_key>
            <For each=move || options.get().into_iter().enumerate() key=|(at, word)| (*at, word.clone()) let:item>
                {
                    let (at, word) = item;
                    let id = word.id.clone();
                    let chosen = memo(move || value.with(|v| *v == id));
                    let id = word.id.clone();
                    view! {
                        <button
                            type="button"
                            role="radio"
                            class="word"
                            data-value=word.id.clone()
                            data-words=plain(&word.words).replace('_', "")
                            title=(!word.help.is_empty()).then_some(word.help)
                            aria-checked=move || if chosen.get() { "true" } else { "false" }
                            tabindex=move || if stop.get() == at { "0" } else { "-1" }
                            on:click=move |_| pick(id.clone())
                        >
                            <span>{rich(&word.words)}</span>
                        </button>
                    }
                }
            </For>
        </div>
    }
}

/// Where an arrow key leads from `at` among `count`.
pub fn moved(key: &str, at: usize, count: usize) -> Option<usize> {
    let count = count.max(1);
    match key {
        "ArrowRight" | "ArrowDown" => Some((at + 1) % count),
        "ArrowLeft" | "ArrowUp" => Some((at + count - 1) % count),
        "Home" => Some(0),
        "End" => Some(count - 1),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_go_round() {
        assert_eq!(moved("ArrowRight", 2, 3), Some(0));
        assert_eq!(moved("ArrowUp", 0, 3), Some(2));
        assert_eq!(moved("End", 0, 3), Some(2));
        assert_eq!(moved("ArrowLeft", 0, 0), Some(0));
        assert_eq!(moved("x", 0, 3), None);
    }
}
