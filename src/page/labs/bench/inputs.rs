//! The left column: where the numbers come from, and every setting of the attention call.

mod extras;
mod heads;
mod history;
mod maps_picture;
mod mask;
mod mask_icon;
mod options;
mod params;
mod positions;
mod scale;
mod several;
mod sizes;
mod source;
mod suggested;

use crate::prelude::*;
use crate::{ctx::Ctx, part, text::t};
use scale::ScaleControl;

part! {
    /// All inputs: not in a page that shows none.
    pub fn part() in inputs {
        view! { <Inputs/> }
    }
}

part! {
    /// The scale alone, as it stands at the foot of a phone.
    pub fn scale_part() in inputs {
        view! { <ScaleControl compact=true/> }
    }
}

/// All inputs, in reading order. Sizes stand next to the source where the reader sets them, and further down where a
/// real head fixes them.
#[component]
fn Inputs() -> impl IntoView {
    let ctx = Ctx::get();
    let free = memo(move || ctx.session(|s| s.sizes_are_free()));
    view! {
        <div class="inputs-list">
            <div class="control" data-control="source"><source::SourceInput /></div>
            <Show when=move || free.get()>
                <div class="control" data-control="sizes"><sizes::SizesInput /></div>
            </Show>
            <div class="control" data-control="scale"><ScaleControl /></div>
            <div class="control" data-control="mask"><mask::MaskInput /></div>
            <div class="control" data-control="positions"><positions::PositionInput /></div>
            <Show when=move || !free.get()>
                <div class="control" data-control="sizes"><sizes::SizesInput /></div>
            </Show>
            <div class="control" data-control="extras"><extras::ExtrasInput /></div>
            <div class="control" data-control="options"><options::OptionsInput /></div>
            <div class="control" data-control="history"><history::History /></div>
        </div>
    }
}

/// A group of controls under its name, with a word at the right.
#[component]
fn Group(
    /// Its name.
    #[prop(into)]
    title: String,
    /// What stands at the right of the name.
    #[prop(optional)]
    side: Option<AnyView>,
    /// Its controls.
    children: Children,
) -> impl IntoView {
    let id = crate::widgets::unique_id("group");
    let heading = id.clone();
    view! {
        <div class="group" role="group" aria-labelledby=id>
            <div class="group-head">
                <h2 class="group-title" id=heading>{title}</h2>
                {side}
            </div>
            {children()}
        </div>
    }
}

/// An action of a picker, which shows what is in force: where it is refused its sentence stands at `field`, and it is
/// not tried again later, when the reader has gone on.
fn act_now(ctx: Ctx, field: &str, action: crate::session::Action) {
    ctx.clear(field);
    ctx.act(action);
    if let Some(why) = ctx.problem_untracked(field) {
        ctx.note(field, why);
    }
}

/// A quiet line.
fn hint(key: &'static str) -> impl IntoView {
    view! { <p class="hint">{crate::widgets::rich(t(key))}</p> }
}

#[cfg(test)]
mod tests;
