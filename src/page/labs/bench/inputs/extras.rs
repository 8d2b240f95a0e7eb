//! Soft cap, sink logit and QK-norm: off for most readers, each with a typed value and a line where that teaches.

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    format,
    session::{Action, Session},
    text::{t, tf},
    widgets::{Axis, Disclosure, NumberField, Slider, Tick, Toggle},
};

/// One of the three.
#[derive(Clone, Copy)]
struct Extra {
    /// Name of the control.
    name: &'static str,
    /// Words on the form.
    label: &'static str,
    help: &'static str,
    /// The value it begins with.
    usual: f64,
    axis: Option<Axis>,
    ticks: &'static [f64],
    read: fn(&Session) -> Option<f64>,
    write: fn(Option<f64>) -> Action,
}

fn all() -> [Extra; 3] {
    [
        Extra {
            name: "soft_cap",
            label: t("soft-cap"),
            help: t("soft-cap-help"),
            usual: 30.0,
            axis: Some(Axis::log(1.0, 50.0)),
            ticks: &[1.0, 10.0, 50.0],
            read: |s| s.soft_cap,
            write: Action::SetSoftCap,
        },
        Extra {
            name: "sink",
            label: t("sink"),
            help: t("sink-help"),
            usual: 0.0,
            axis: Some(Axis::linear(-4.0, 8.0)),
            ticks: &[0.0, -4.0, 4.0, 8.0],
            read: |s| s.sink.as_ref().and_then(|sink| sink.get(s.head).copied()),
            write: Action::SetSink,
        },
        Extra {
            name: "qk_norm",
            label: t("qk-norm"),
            help: t("qk-norm-help"),
            usual: 1e-6,
            axis: None,
            ticks: &[],
            read: |s| s.qk_norm,
            write: Action::SetQkNorm,
        },
    ]
}

/// The three, behind one heading that says whether any is in force.
#[component]
pub fn ExtrasInput() -> impl IntoView {
    let ctx = Ctx::get();
    let summary = derive(move || {
        match ctx.session(|s| all().iter().filter(|e| (e.read)(s).is_some()).count()) {
            0 => t("off").to_owned(),
            n => tf("extras-on", &[("n", &n)]),
        }
    });
    view! {
        <Disclosure name="extras" title=t("extras") summary=summary>
            {all().into_iter().map(|extra| view! { <ExtraInput extra /> }).collect_view()}
        </Disclosure>
    }
}

#[component]
fn ExtraInput(extra: Extra) -> impl IntoView {
    let ctx = Ctx::get();
    let value = memo(move || ctx.session(extra.read));
    let on = memo(move || value.get().is_some());
    let number = memo(move || value.get().unwrap_or(extra.usual));
    let set = move |to: f64| ctx.act((extra.write)(Some(to)));
    let switch = move |on: bool| {
        ctx.clear(extra.name);
        ctx.end_gesture();
        ctx.act((extra.write)(on.then_some(extra.usual)));
        ctx.end_gesture();
    };
    let several = memo(move || ctx.session(|s| (s.shape.heads > 1).then_some(s.head)));
    let ticks = derive(move || {
        extra
            .ticks
            .iter()
            .map(|v| Tick::new(*v, format::exact(*v)))
            .collect::<Vec<_>>()
    });
    let words = derive(move || format::short(number.get()));
    view! {
        <div class="extra" data-control=extra.name>
            <Toggle name=format!("{}-on", extra.name) label=extra.label on=on set=switch />
            <p class="hint">{extra.help}</p>
            <Show when=move || on.get()>
                <div class="extra-body">
                    {extra.axis.map(|axis| {
                        view! {
                            <Slider
                                name=extra.name
                                label=extra.label
                                axis=axis
                                ticks=ticks
                                value=number
                                words=words
                                slide=set
                                reset=move |()| set(extra.usual)
                                width=130.0
                            />
                        }
                    })}
                    {extra.axis.is_none().then(|| view! { <span class="param-label"><var>"ε"</var></span> })}
                    <NumberField name=extra.name value=number commit=set aria=extra.label help=extra.help chars=6 />
                </div>
                {move || (extra.name == "sink")
                    .then(|| several.get())
                    .flatten()
                    .map(|head| view! { <p class="hint">{tf("sink-of-head", &[("head", &head)])}</p> })}
            </Show>
        </div>
    }
}
