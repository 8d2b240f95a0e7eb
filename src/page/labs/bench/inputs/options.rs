//! How the pictures are drawn. No number changes with it, and undo steps over it.

use crate::prelude::*;
use crate::{ctx::Ctx, text::t, widgets::Toggle};

/// Weights by their square root; Q and K as the scores use them, where that differs from how they were given.
#[component]
pub fn OptionsInput() -> impl IntoView {
    let ctx = Ctx::get();
    let root = derive(move || ctx.options.with(|o| o.root_weights));
    let used = derive(move || ctx.options.with(|o| o.as_used));
    let changed = memo(move || {
        ctx.session(|s| {
            let turned = s
                .positions
                .iter()
                .any(|p| matches!(p.scheme.action, attention::positions::Action::Turn(_)));
            turned || s.qk_norm.is_some()
        })
    });
    view! {
        <div class="options">
            <Toggle
                name="root_weights"
                label=t("root-weights")
                help=t("root-weights-help")
                on=root
                set=move |on| ctx.options.update(|o| o.root_weights = on)
            />
            <Show when=move || changed.get()>
                <Toggle
                    name="as_used"
                    label=t("as-used")
                    help=t("as-used-help")
                    on=used
                    set=move |on| ctx.options.update(|o| o.as_used = on)
                />
            </Show>
        </div>
    }
}
