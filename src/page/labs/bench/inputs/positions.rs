//! How places enter.

use super::{Group, params::PositionParams};
use crate::prelude::*;
use crate::{
    ctx::Ctx,
    format,
    session::{Action, POSITION_PRESETS, extra_positions, position_preset},
    source::SourceKind,
    text::{t, tf},
    widgets::{Problem, Select, Word},
};
use attention::{HeadIdx, positions::alibi};

/// The menu of presets and what can be set of the schemes in force.
#[component]
pub fn PositionInput() -> impl IntoView {
    let ctx = Ctx::get();
    let example = memo(move || ctx.session(|s| s.source.kind() == SourceKind::Example));
    let options = derive(move || {
        // The tokens of a real head carry the places that its model added.
        let none = if example.get() {
            t("positions-of-the-model")
        } else {
            t("none")
        };
        let presets = POSITION_PRESETS
            .iter()
            .map(|p| Word::new(p.id, if p.id == "none" { none } else { p.name }));
        presets
            .chain(extra_positions().map(|scheme| Word::new(scheme.id, scheme.name)))
            .collect::<Vec<_>>()
    });
    let value = memo(move || {
        ctx.session(|s| {
            let preset = position_preset(s).map(|p| p.id);
            preset
                .or(s.positions.first().map(|p| p.scheme.id))
                .unwrap_or("none")
                .to_owned()
        })
    });
    let choose = move |id: String| {
        let known = POSITION_PRESETS
            .iter()
            .map(|p| p.id)
            .chain(extra_positions().map(|s| s.id))
            .find(|known| *known == id);
        if let Some(id) = known {
            super::act_now(ctx, "positions", Action::SetPositionPreset(id));
        }
    };
    // What was refused is said until something else is in force.
    Effect::new(move |before: Option<(String, bool)>| {
        let now = (value.get(), example.get());
        if before.is_some_and(|b| b != now) {
            ctx.clear("positions");
        }
        now
    });
    let slope = memo(move || {
        ctx.session(|s| {
            let used = s.positions.iter().any(|p| p.scheme.id == "alibi");
            used.then(|| (s.head, alibi::slope(s.shape.heads, HeadIdx(s.head))))
        })
    });
    let about = move || {
        let id = value.get();
        let help = POSITION_PRESETS
            .iter()
            .find(|p| p.id == id && id != "none")
            .map(|p| p.help);
        help.or_else(|| (id == "none" && example.get()).then(|| t("positions-of-the-model-help")))
    };
    view! {
        <Group title=t("positions")>
            <div title=move || about().unwrap_or_default()>
                <Select name="positions" label=t("positions") options=options value=value choose=choose />
            </div>
            <Problem field="positions" />
            <PositionParams />
            {move || slope.get().map(|(head, slope)| {
                let slope = format::short(slope);
                view! { <p class="hint" data-read="slope">{tf("alibi-slope", &[("head", &head), ("slope", &slope)])}</p> }
            })}
        </Group>
    }
}
