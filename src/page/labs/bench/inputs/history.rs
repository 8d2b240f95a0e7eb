//! Back, forward, and back to the beginning.

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    link::Opened,
    links::Frame,
    session::{Action, Desk},
    text::t,
};

/// Undo, redo and reset. Reset is a step that undo takes back.
#[component]
pub fn History() -> impl IntoView {
    let ctx = Ctx::get();
    let can = memo(move || ctx.desk.with(Desk::can));
    let back = move |_| {
        ctx.desk.update(|desk| {
            desk.undo();
        });
        ctx.say(t("undone"));
    };
    let forward = move |_| {
        ctx.desk.update(|desk| {
            desk.redo();
        });
        ctx.say(t("redone"));
    };
    let embedded = Frame::get().embedded;
    let reset = move |_| match ctx.home.get_value().filter(|_| embedded) {
        // In somebody's page the beginning is what its author chose.
        Some((session, view)) => ctx.open(
            Opened {
                session,
                view,
                notes: Vec::new(),
            },
            false,
        ),
        None => ctx.act(Action::Reset),
    };
    // Not `disabled`: a button that disappears from under the keyboard's focus takes the focus with it.
    let disabled = |can: bool| (!can).then_some("true");
    view! {
        <div class="history" role="group" aria-label=t("history")>
            <button
                type="button"
                class="text-button"
                data-name="undo"
                aria-keyshortcuts="Control+Z"
                title=t("undo-help")
                aria-disabled=move || disabled(can.get().0)
                on:click=back
            >
                {t("undo")}
            </button>
            <button
                type="button"
                class="text-button"
                data-name="redo"
                aria-keyshortcuts="Control+Shift+Z Control+Y"
                title=t("redo-help")
                aria-disabled=move || disabled(can.get().1)
                on:click=forward
            >
                {t("redo")}
            </button>
            <button type="button" class="text-button" data-name="reset" title=t("reset-help") on:click=reset>
                {t("reset")}
            </button>
        </div>
    }
}
