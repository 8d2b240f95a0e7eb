//! How many queries, keys, components and heads there are.

use super::{Group, several::HeadInput};
use crate::prelude::*;
use crate::{
    beside::after_frame,
    ctx::Ctx,
    format,
    session::{Action, Data, Size},
    source::SourceKind,
    text::{t, tf},
    widgets::{NumberField, rich},
};
use wasm_bindgen::JsCast;

/// Its name on the form; `fixed` ones are read as a list and say what they count.
fn label(size: Size, fixed: bool) -> &'static str {
    match size {
        Size::Queries if fixed => t("size-n-queries"),
        Size::Keys if fixed => t("size-n-keys"),
        Size::Queries => t("size-queries"),
        Size::Keys => t("size-keys"),
        Size::DK => t("size-d-k"),
        Size::DV => t("size-d-v"),
        Size::Heads => t("size-heads"),
        Size::KvHeads => t("size-kv-heads"),
        Size::DModel => t("size-d-model"),
    }
}

/// The first field gets the focus.
fn focus_first() {
    let selector = format!("input[data-name='{}']", Size::ALL[0].field());
    let field = document().query_selector(&selector).ok().flatten();
    if let Some(field) = field.and_then(|f| f.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = field.focus();
    }
}

/// Sizes to set, or those that a real head fixes; and which of several heads is shown.
#[component]
pub fn SizesInput() -> impl IntoView {
    let ctx = Ctx::get();
    let free = memo(move || ctx.session(|s| s.sizes_are_free()));
    let tokens = memo(move || ctx.session(|s| matches!(s.data, Data::Tokens { .. })));
    let side = move || {
        (!free.get()).then(|| {
            view! {
                {t("sizes-fixed")}
                " "
                <button
                    type="button"
                    class="text-button"
                    data-name="take-as-typed"
                    title=t("take-as-typed-help")
                    on:click=move |event| {
                        ctx.act(Action::SetSource(SourceKind::Typed));
                        // The button gives way to the fields: a keyboard's focus goes to the first of them.
                        if event.detail() == 0 {
                            after_frame(focus_first);
                        }
                    }
                >
                    {t("take-as-typed")}
                </button>
            }
        })
    };
    view! {
        <Group title=t("sizes") side=view! { <span class="group-side hint">{move || side()}</span> }>
            {move || {
                let all = Size::ALL.into_iter().filter(|size| *size != Size::DModel || tokens.get());
                if free.get() {
                    let fields = all.map(|size| view! { <SizeField size /> }).collect_view();
                    view! { <div class="sizes">{fields}</div> <HeadInput /> }
                } else {
                    let facts = all.map(|size| view! { <SizeFact size /> }).collect_view();
                    view! { <dl class="sizes">{facts}</dl> }
                }
            }}
        </Group>
    }
}

#[component]
fn SizeField(size: Size) -> impl IntoView {
    let ctx = Ctx::get();
    let value = memo(move || ctx.session(|s| size.of(s) as f64));
    let commit = move |to: f64| {
        // What no count can hold is named as it was written.
        if !(0.0..=1e9).contains(&to) {
            let (most, got) = (size.most(), format::exact(to));
            return ctx.note(
                size.field(),
                tf("size-negative", &[("most", &most), ("got", &got)]),
            );
        }
        ctx.act(Action::SetSize(size, to as usize));
    };
    view! {
        <NumberField name=size.field() value=value commit=commit integer=true min=1.0 max=size.most() as f64 chars=4>
            {rich(label(size, false))}
        </NumberField>
    }
}

#[component]
fn SizeFact(size: Size) -> impl IntoView {
    let ctx = Ctx::get();
    let value = memo(move || ctx.session(|s| size.of(s)));
    view! {
        <div class="size-fact">
            <dt>{rich(label(size, true))}</dt>
            <dd data-read=size.field() data-value=move || value.get()>{move || value.get()}</dd>
        </div>
    }
}
