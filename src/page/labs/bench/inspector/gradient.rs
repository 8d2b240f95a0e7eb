//! Which loss the gradient at the scores belongs to: ½|o − v|², or a gradient at the output typed by the reader.

use super::facts::Shown;
use crate::prelude::*;
use crate::{
    ctx::Ctx,
    format,
    session::Action,
    text::{t, tf},
};

/// Reads a typed or pasted gradient at the output of `d_v` numbers: a row, a column, or a printed array.
pub fn parse(text: &str, d_v: usize) -> Result<Vec<f64>, String> {
    let table = formats::table::parse(text).map_err(|e| tf("d-out-unread", &[("why", &e)]))?;
    if table.values.len() == d_v && (table.rows == 1 || table.cols == 1) {
        return Ok(table.values);
    }
    let got = if table.rows == 1 || table.cols == 1 {
        table.values.len().to_string()
    } else {
        format!("{} × {}", table.rows, table.cols)
    };
    Err(tf("d-out-count", &[("expected", &d_v), ("got", &got)]))
}

/// The heading's second line: what the gradient is of, as a button that opens the field.
#[component]
pub fn LossLine(
    /// What is shown.
    shown: Memo<Option<Shown>>,
    /// Whether the field is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let words = move || {
        shown.with(|s| {
            s.as_ref().map(|s| match &s.setting.typed {
                Some(_) => view! { <span>{t("gradient-typed")}</span> },
                None => view! {
                    <span>
                        {t("gradient-of")} " ½|" <var>"o"</var> " − "
                        <span class="v"><var>"v"</var></span> {value_name(s)} "|²"
                    </span>
                },
            })
        })
    };
    view! {
        <button
            class="loss"
            data-name="d_out-open"
            aria-expanded=move || if open.get() { "true" } else { "false" }
            aria-controls="d-out-field"
            title=t("gradient-change")
            on:click=move |_| open.update(|o| *o = !*o)
        >
            {move || words()}
        </button>
    }
}

fn value_name(shown: &Shown) -> AnyView {
    match shown.setting.names.value(shown.key()) {
        super::names::Name::Index(_, i) => view! { <sub>{i}</sub> },
        name => view! { "(" {name.view()} ")" },
    }
}

/// The field for a typed gradient.
#[component]
pub fn LossField(
    /// What is shown.
    shown: Memo<Option<Shown>>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let d_v = move || ctx.session(|s| s.shape.d_v);
    let now = move || {
        let typed = ctx.session(|s| s.d_out.clone());
        let numbers =
            typed.or_else(|| shown.with(|s| s.as_ref().map(|s| s.looked().row.d_out.clone())));
        numbers
            .unwrap_or_default()
            .iter()
            .map(|x| format::exact(*x))
            .collect::<Vec<_>>()
            .join("; ")
    };
    // What the reader has typed and not yet entered; `None` while the field shows what is in force.
    let draft = RwSignal::new(None::<String>);
    let enter = move || {
        let Some(text) = draft.get_untracked() else {
            return;
        };
        match parse(&text, ctx.desk.with_untracked(|d| d.session().shape.d_v)) {
            Ok(numbers) => {
                draft.set(None);
                ctx.clear("d_out");
                ctx.act(Action::SetDOut(Some(numbers)));
            }
            Err(why) => ctx.note("d_out", why),
        }
    };
    let problem = move || ctx.problem("d_out");
    view! {
        <div class="d-out" id="d-out-field">
            <label for="d-out">{move || tf("d-out-label", &[("n", &d_v())])}</label>
            <input
                id="d-out"
                type="text"
                data-name="d_out"
                spellcheck="false"
                autocomplete="off"
                class:wrong=move || problem().is_some()
                aria-invalid=move || problem().map(|_| "true")
                aria-describedby="d-out-problem"
                prop:value=move || draft.get().unwrap_or_else(now)
                on:input=move |event| draft.set(Some(event_target_value(&event)))
                on:change=move |_| enter()
                on:keydown=move |event| {
                    event.stop_propagation();
                    match event.key().as_str() {
                        "Enter" => enter(),
                        "Escape" => {
                            draft.set(None);
                            ctx.clear("d_out");
                        }
                        _ => {}
                    }
                }
            />
            <p id="d-out-problem" class="problem" data-problem="d_out" role="alert" hidden=move || problem().is_none()>
                {move || problem()}
            </p>
            <button
                class="quiet"
                data-name="d_out-back"
                // Not `disabled`, which would take the keyboard's focus away.
                aria-disabled=move || ctx.session(|s| s.d_out.is_none()).then_some("true")
                on:click=move |_| {
                    draft.set(None);
                    ctx.clear("d_out");
                    if ctx.desk.with_untracked(|d| d.session().d_out.is_some()) {
                        ctx.act(Action::SetDOut(None));
                    }
                }
            >
                {t("d-out-back")}
            </button>
        </div>
    }
}
