//! A dialog on top of the page: Escape, its button and a click beside it close it, and focus returns to where it was.

use crate::prelude::*;
use crate::text::t;
use leptos::{ev, html};

/// Open while the signal says so. What is inside exists only then.
#[component]
pub fn Dialog(
    /// Whether it is open.
    open: RwSignal<bool>,
    /// Its heading.
    #[prop(into)]
    title: Signal<String>,
    /// Class, and id of the heading.
    name: &'static str,
    /// What is inside.
    children: ChildrenFn,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    effect(move || {
        let (Some(dialog), open) = (dialog.get(), open.get()) else {
            return;
        };
        if open && !dialog.open() {
            // Refused only where the dialog is not in the document, and then there is nothing to show.
            let _ = dialog.show_modal();
        } else if !open && dialog.open() {
            dialog.close();
        }
    });
    let beside = move |event: ev::MouseEvent| {
        let on_dialog = match (event.target(), dialog.get_untracked()) {
            (Some(target), Some(dialog)) => {
                target == *AsRef::<web_sys::EventTarget>::as_ref(&dialog)
            }
            _ => false,
        };
        if on_dialog {
            open.set(false);
        }
    };
    view! {
        <dialog
            node_ref=dialog
            class=format!("dialog {name}")
            aria-labelledby=format!("{name}-title")
            on:close=move |_| open.set(false)
            on:click=beside
            on:keydown=move |event| event.stop_propagation()
        >
            <Show when=move || open.get()>
                <div class="dialog-inside">
                    <header>
                        <h2 id=format!("{name}-title")>{move || title.get()}</h2>
                        <button class="quiet" data-name=format!("{name}-close") on:click=move |_| open.set(false)>
                            {t("dialog-close")}
                        </button>
                    </header>
                    {children()}
                </div>
            </Show>
        </dialog>
    }
}
