//! What multiplies the dot products.

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    format,
    session::Action,
    source::SourceKind,
    text::{t, tf},
    widgets::{Axis, Choice, NumberField, Slider, Tick, Word, rich, unique_id},
};
use attention::Scale;
use leptos::html;

const AXIS: Axis = Axis::log(0.01, 4.0);

/// What a scale means that is not on the line.
fn off_line(value: f64) -> Option<&'static str> {
    match value {
        x if x < 0.0 => Some(t("scale-negative")),
        0.0 => Some(t("scale-zero")),
        x if x < AXIS.min => Some(t("scale-left")),
        x if x > AXIS.max => Some(t("scale-right")),
        _ => None,
    }
}

/// As many digits as the field holds, and no zeros that say nothing: 0.1768, 0.5, 1, 1e12, 1.2e12.
fn brief(x: f64) -> String {
    let all = format::exact(x);
    if all.chars().count() <= 6 {
        return all;
    }
    let text = format::short(x);
    match (text.contains('.'), text.contains('e')) {
        (true, false) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        (_, true) => format!("{x:.1e}").replace('-', "−").replace(".0e", "e"),
        (false, false) => text,
    }
}

/// The scale: typed, chosen, or slid. `compact` leaves the choices out, for the foot of a narrow screen; 1/√d_k and 1
/// are then on the slider.
#[component]
pub fn ScaleControl(#[prop(optional)] compact: bool) -> impl IntoView {
    let ctx = Ctx::get();
    let value = memo(move || ctx.session(|s| s.scale_value()));
    let width = memo(move || ctx.session(|s| s.shape.d_k));
    // "custom" was chosen while the value is still that of another choice.
    let custom = RwSignal::new(false);
    let field = NodeRef::<html::Input>::new();
    let choice = derive(move || {
        let word = match ctx.session(|s| s.scale) {
            _ if custom.get() => "custom",
            Scale::InverseSqrt => "inverse_sqrt",
            Scale::Custom(1.0) => "none",
            Scale::Custom(_) => "custom",
        };
        word.to_owned()
    });
    let options = derive(|| {
        vec![
            Word {
                help: t("scale-root-help").into(),
                ..Word::new("inverse_sqrt", t("scale-root"))
            },
            Word {
                help: t("scale-none-help").into(),
                ..Word::new("none", t("none"))
            },
            Word::new("custom", t("custom")),
        ]
    });
    let choose = move |id: String| {
        custom.set(id == "custom");
        match id.as_str() {
            "inverse_sqrt" => ctx.act(Action::SetScale(Scale::InverseSqrt)),
            "none" => ctx.act(Action::SetScale(Scale::Custom(1.0))),
            _ => {
                if let Some(input) = field.get_untracked() {
                    let _ = input.focus();
                    input.select();
                }
            }
        }
    };
    let root = memo(move || 1.0 / (width.get() as f64).sqrt());
    let ticks = derive(move || {
        let one = if compact { t("scale-one-none") } else { "1" };
        vec![
            Tick::new(root.get(), format!("1/√{}", width.get())),
            Tick::new(1.0, one),
            Tick::new(0.05, "0.05"),
        ]
    });
    let set = move |to: f64| {
        let scale = if to == root.get_untracked() {
            Scale::InverseSqrt
        } else {
            Scale::Custom(to)
        };
        ctx.act(Action::SetScale(scale));
    };
    let slide = move |to: f64| {
        custom.set(false);
        set(to);
        ctx.invited.set(true);
    };
    let reset = move |()| {
        custom.set(false);
        ctx.act(Action::SetScale(Scale::InverseSqrt));
    };
    let invited = derive(move || {
        !ctx.invited.get()
            && ctx.session(|s| {
                s.source.kind() == SourceKind::Example && s.scale == Scale::InverseSqrt
            })
    });
    let words = derive(move || match ctx.session(|s| s.scale) {
        Scale::InverseSqrt => tf(
            "scale-said-root",
            &[
                ("value", &format::short(value.get())),
                ("d_k", &width.get()),
            ],
        ),
        Scale::Custom(_) => format::short(value.get()),
    });
    let id = unique_id("group");
    let heading = id.clone();
    view! {
        <div class="group scale" class:compact=compact role="group" aria-labelledby=id>
            <div class="group-head">
                <h2 class="group-title" id=heading>{t("scale")}</h2>
                {compact.then(|| view! { <span class="group-side">{move || match ctx.session(|s| s.scale) {
                    Scale::InverseSqrt => rich(&format!("1/√{}", width.get())),
                    Scale::Custom(1.0) => rich(t("none")),
                    Scale::Custom(_) => rich(t("custom")),
                }}</span> })}
                <NumberField
                    name="scale"
                    value=value
                    commit=set
                    show=brief
                    chars=7
                    aria=t("scale")
                    help=t("scale-help")
                    node=field
                />
            </div>
            {(!compact).then(|| view! { <Choice name="scale-choice" label=t("scale") options=options value=choice choose=choose /> })}
            <Slider
                name="scale"
                label=t("scale")
                axis=AXIS
                ticks=ticks
                value=value
                words=words
                slide=slide
                reset=reset
                invited=invited
                width=if compact { 320.0 } else { 202.0 }
            />
            // What the line cannot show is said.
            {move || off_line(value.get()).map(|words| view! { <p class="hint off-line" data-read="scale_off">{words}</p> })}
        </div>
    }
}
