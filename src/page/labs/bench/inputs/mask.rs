//! Which keys a query sees.

use super::{
    mask_icon::{MaskIcon, icon_of},
    params::MaskParams,
};
use crate::prelude::*;
use crate::{
    ctx::Ctx,
    format,
    session::{Action, MASK_PRESETS, extra_masks, mask_preset},
    text::{t, tf},
    widgets::{Choice, NumberField, Problem, Word, unique_id},
};
use attention::{Hidden, QueryIdx};
use leptos::ev;
use wasm_bindgen::JsCast;

/// One entry of the picker.
#[derive(Clone)]
struct Entry {
    id: &'static str,
    name: &'static str,
    help: &'static str,
    icon: String,
}

/// The presets, what the registry has beyond them, and drawing by hand.
fn entries() -> Vec<Entry> {
    let presets = MASK_PRESETS.iter().map(|p| Entry {
        id: p.id,
        name: p.name,
        help: p.help,
        icon: icon_of(p.uses),
    });
    let extra = extra_masks().map(|scheme| Entry {
        id: scheme.id,
        name: scheme.name,
        help: scheme.help,
        icon: icon_of(|shape| (scheme.examples)(shape).into_iter().take(1).collect()),
    });
    let drawn = Entry {
        id: "drawn",
        name: t("mask-drawn"),
        help: t("mask-drawn-help"),
        icon: super::mask_icon::drawn(),
    };
    presets.chain(extra).chain([drawn]).collect()
}

/// The picker, what can be set of the masks in force, and what hidden scores become.
#[component]
pub fn MaskInput() -> impl IntoView {
    let ctx = Ctx::get();
    let all = StoredValue::new(entries());
    // Drawing by hand was chosen and nothing is hidden yet.
    let drawing = RwSignal::new(false);
    let peeked = RwSignal::new(None::<usize>);
    let by_hand = memo(move || {
        ctx.session(|s| {
            let (n_q, n_k) = (s.shape.n_q, s.shape.n_k);
            s.drawn.as_ref().map_or(0, |bits| {
                (0..n_q)
                    .map(|q| n_k - bits.count(QueryIdx(q), 0..n_k))
                    .sum::<usize>()
            })
        })
    });
    let chosen = memo(move || {
        let id = ctx.session(|s| match mask_preset(s) {
            Some(preset) if preset.id == "none" && (drawing.get() || s.drawn.is_some()) => {
                Some("drawn")
            }
            Some(preset) => Some(preset.id),
            None => s.masks.first().map(|m| m.scheme.id),
        });
        all.with_value(|all| all.iter().position(|e| Some(e.id) == id))
    });
    let in_force = memo(move || ctx.session(|s| !s.masks.is_empty() || s.drawn.is_some()));
    let choose = move |at: usize| {
        let Some(id) = all.with_value(|all| all.get(at).map(|e| e.id)) else {
            return;
        };
        ctx.end_gesture();
        drawing.set(id == "drawn");
        let action = if id == "drawn" {
            Action::MaskByHand
        } else {
            Action::SetMaskPreset(id)
        };
        super::act_now(ctx, "masks", action);
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let count = all.with_value(Vec::len);
        let Some(to) =
            crate::widgets::moved(&event.key(), chosen.get_untracked().unwrap_or(0), count)
        else {
            return;
        };
        event.prevent_default();
        event.stop_propagation();
        choose(to);
        let group = event
            .current_target()
            .and_then(|t| t.dyn_into::<web_sys::Element>().ok());
        let button = group.and_then(|g| g.children().item(to as u32));
        if let Some(button) = button.and_then(|b| b.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = button.focus();
        }
    };
    let name = move || {
        let at = peeked.get().or(chosen.get());
        at.and_then(|at| all.with_value(|all| all.get(at).map(|e| e.name)))
            .unwrap_or_default()
    };
    let icons = all.get_value().into_iter().enumerate().map(|(at, entry)| {
        let is = memo(move || chosen.get() == Some(at));
        view! {
            <button
                type="button"
                role="radio"
                class="mask-icon"
                data-value=entry.id
                aria-label=entry.name
                title=format!("{}: {}", entry.name, entry.help)
                aria-checked=move || if is.get() { "true" } else { "false" }
                tabindex=move || if is.get() || (chosen.get().is_none() && at == 0) { "0" } else { "-1" }
                on:click=move |_| choose(at)
                on:pointerenter=move |_| peeked.set(Some(at))
                on:pointerleave=move |_| peeked.set(None)
            >
                <MaskIcon path=entry.icon />
            </button>
        }
    });
    let id = unique_id("group");
    let heading = id.clone();
    view! {
        <div class="group" role="group" aria-labelledby=id>
            <div class="group-head">
                <h2 class="group-title" id=heading>{t("mask")}</h2>
                <span class="group-side" data-read="mask">{move || name()}</span>
            </div>
            <div class="mask-icons" role="radiogroup" aria-label=t("mask") data-name="mask" on:keydown=on_key>
                {icons.collect_view()}
            </div>
            <Problem field="masks" />
            <MaskParams />
            {move || match by_hand.get() {
                0 => drawing.get().then(|| super::hint("mask-draw-hint").into_any()),
                n => Some(view! { <ByHand count=n /> }),
            }}
        </div>
        <Show when=move || in_force.get()>
            <HiddenInput />
        </Show>
    }
}

#[component]
fn ByHand(count: usize) -> impl IntoView {
    let ctx = Ctx::get();
    let words = if count == 1 {
        t("mask-by-hand-one").to_owned()
    } else {
        tf("mask-by-hand", &[("n", &count)])
    };
    view! {
        <p class="hint" data-read="hidden_by_hand" data-value=count>
            {words}
            " "
            <button type="button" class="text-button" data-name="clear-drawn" on:click=move |_| ctx.act(Action::ClearDrawn)>
                {t("clear")}
            </button>
        </p>
    }
}

const STAND_INS: [(&str, &str, Hidden); 3] = [
    ("inf", "−∞", Hidden::NegInfinity),
    ("1e9", "−1e9", Hidden::Finite(-1e9)),
    ("1e4", "−1e4", Hidden::Finite(-1e4)),
];

/// What the scores of hidden keys become.
#[component]
fn HiddenInput() -> impl IntoView {
    let ctx = Ctx::get();
    let custom = RwSignal::new(false);
    let hidden = memo(move || ctx.session(|s| s.hidden));
    let value = derive(move || {
        let known = STAND_INS.iter().find(|(_, _, h)| *h == hidden.get());
        match known {
            Some((id, ..)) if !custom.get() => (*id).to_owned(),
            _ => "custom".to_owned(),
        }
    });
    let options = derive(|| {
        STAND_INS
            .iter()
            .map(|(id, words, _)| Word::new(*id, *words))
            .chain([Word::new("custom", t("custom"))])
            .collect()
    });
    let choose = move |id: String| {
        custom.set(id == "custom");
        ctx.clear("hidden");
        if let Some((_, _, hidden)) = STAND_INS.iter().find(|(known, ..)| *known == id) {
            ctx.act(Action::SetHidden(*hidden));
        } else if hidden.get_untracked() == Hidden::NegInfinity {
            ctx.act(Action::SetHidden(Hidden::Finite(-100.0)));
        }
    };
    let number = derive(move || match hidden.get() {
        Hidden::Finite(value) => value,
        Hidden::NegInfinity => -100.0,
    });
    let id = unique_id("group");
    let heading = id.clone();
    view! {
        <div class="group" role="group" aria-labelledby=id>
            <div class="group-head">
                <h2 class="group-title" id=heading title=t("hidden-help")>{t("hidden")}</h2>
                <Show when=move || value.get() == "custom">
                    <NumberField
                        name="hidden"
                        value=number
                        commit=move |to| ctx.act(Action::SetHidden(Hidden::Finite(to)))
                        show=format::exact
                        aria=t("hidden")
                        chars=7
                    />
                </Show>
            </div>
            <Choice name="hidden-choice" label=t("hidden") options=options value=value choose=choose />
        </div>
    }
}
