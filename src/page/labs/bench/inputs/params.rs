//! What can be set of the schemes in force, made from their own tables of parameters.

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    format,
    session::{Action, Session},
    widgets::{Choice, NumberField, Problem, Word},
};
use attention::{Param, ParamKind};

/// A parameter of a scheme in force, and where to find and change it.
#[derive(Clone, Copy)]
struct Slot {
    scheme: &'static str,
    param: &'static Param,
    read: fn(&Session, &str, &str) -> Option<f64>,
    write: fn(&'static str, &'static str, f64) -> Action,
}

fn mask_value(s: &Session, scheme: &str, key: &str) -> Option<f64> {
    s.masks
        .iter()
        .find(|m| m.scheme.id == scheme)
        .and_then(|m| m.value(key))
}

fn position_value(s: &Session, scheme: &str, key: &str) -> Option<f64> {
    s.positions
        .iter()
        .find(|p| p.scheme.id == scheme)
        .and_then(|p| p.value(key))
}

/// Parameters of every mask in force.
#[component]
pub fn MaskParams() -> impl IntoView {
    let ctx = Ctx::get();
    let slots = move || {
        ctx.session(|s| {
            s.masks
                .iter()
                .map(|m| (m.scheme.id, m.scheme.params))
                .collect::<Vec<_>>()
        })
    };
    params(slots, mask_value, Action::SetMaskParam, false)
}

/// Parameters of every position scheme in force.
#[component]
pub fn PositionParams() -> impl IntoView {
    let ctx = Ctx::get();
    let slots = move || {
        ctx.session(|s| {
            s.positions
                .iter()
                .map(|p| (p.scheme.id, p.scheme.params))
                .collect::<Vec<_>>()
        })
    };
    params(slots, position_value, Action::SetPositionParam, true)
}

type Schemes = Vec<(&'static str, &'static [Param])>;

fn params(
    schemes: impl Fn() -> Schemes + Send + Sync + 'static,
    read: fn(&Session, &str, &str) -> Option<f64>,
    write: fn(&'static str, &'static str, f64) -> Action,
    name_choices: bool,
) -> impl IntoView {
    // Rebuilt only when other schemes come into force, so that a field keeps its focus while its value changes.
    let schemes = Memo::new_with_compare(
        move |_| schemes(),
        |a, b| {
            let ids =
                |s: Option<&Schemes>| s.map(|s| s.iter().map(|(id, _)| *id).collect::<Vec<_>>());
            ids(a) != ids(b)
        },
    );
    view! {
        <div class="params">
            {move || {
                schemes
                    .get()
                    .into_iter()
                    .flat_map(|(scheme, params)| params.iter().map(move |param| Slot { scheme, param, read, write }))
                    .map(|slot| view! { <ParamInput place=slot name_choices=name_choices /> })
                    .collect_view()
            }}
        </div>
    }
}

/// A parameter that only matters beside another: which choice of its scheme makes it idle.
fn idle(ctx: Ctx, slot: Slot) -> bool {
    slot.param.key == "factor"
        && ctx.session(|s| (slot.read)(s, slot.scheme, "scaling")) == Some(0.0)
}

#[component]
fn ParamInput(place: Slot, name_choices: bool) -> impl IntoView {
    let ctx = Ctx::get();
    let Slot {
        scheme,
        param,
        read,
        write,
    } = place;
    let name = format!("{scheme}.{}", param.key);
    let value = memo(move || {
        ctx.session(|s| read(s, scheme, param.key))
            .unwrap_or(param.default)
    });
    let set = move |to: f64| ctx.act(write(scheme, param.key, to));
    match param.kind {
        ParamKind::Choice(options) => {
            let words = derive(move || {
                options
                    .iter()
                    .map(|o| Word::new(*o, o.replace('_', "-")))
                    .collect()
            });
            let chosen = derive(move || {
                options
                    .get(value.get() as usize)
                    .copied()
                    .unwrap_or("")
                    .to_owned()
            });
            let choose = move |id: String| {
                if let Some(at) = options.iter().position(|o| *o == id) {
                    set(at as f64);
                }
            };
            view! {
                <div class="param choice-param" title=param.help>
                    {name_choices.then(|| view! { <span class="param-label" aria-hidden="true">{param.label}</span> })}
                    <Choice name=name.clone() label=param.label options=words value=chosen choose=choose />
                    <Problem field=name />
                </div>
            }
        }
        ParamKind::Integer { min, max } => {
            view! {
                <div class="param" hidden=move || idle(ctx, place)>
                    <NumberField name=name value=value commit=set integer=true min=min max=max help=param.help show=format::exact>
                        {param.label}
                    </NumberField>
                </div>
            }
        }
        ParamKind::Real { min, max } => {
            view! {
                <div class="param" hidden=move || idle(ctx, place)>
                    <NumberField name=name value=value commit=set min=min max=max chars=7 help=param.help show=format::exact>
                        {param.label}
                    </NumberField>
                </div>
            }
        }
    }
}
