//! The line above the picture: one gesture to make, or what a reader should know of the row that they look at.

use super::{Fold, Window, names};
use crate::prelude::*;
use crate::{
    ctx::{Ctx, Sheet},
    format,
    text::{t, tf},
};

/// What the line says.
#[derive(Clone, Debug, PartialEq)]
enum Words {
    /// Move the scale and watch a row.
    Try { row: String, keys: String },
    /// Rows that see no key: one of them, and how many there are.
    Empty { row: String, rows: usize },
    /// Scores of a row left the range of floating point.
    Overflow { row: String },
    /// What the scale has done so far, in two numbers.
    Means {
        row: String,
        keys: String,
        top: f64,
        norm: f64,
    },
}

/// The line.
#[component]
pub fn Invite() -> impl IntoView {
    let ctx = Ctx::get();
    let words = memo(move || {
        let row = ctx.session(|s| s.look_at().0);
        // A word among words is quoted: whoever listens does not see the marks around it.
        let name_of = |row: usize| {
            ctx.session(|s| {
                let label = names::label(&s.query_name(row));
                if label.mark || s.q_labels.is_empty() {
                    label.text
                } else {
                    tf("invite-row", &[("row", &label.text)])
                }
            })
        };
        let name = name_of(row);
        ctx.view.with(|v| {
            let trace = v.last()?;
            let facts = trace
                .rows
                .get(row.min(trace.rows.len().saturating_sub(1)))?;
            Some(
                if let Some(i) = trace.rows.iter().position(|r| r.overflowed) {
                    Words::Overflow { row: name_of(i) }
                } else if facts.visible == 0 || trace.summary.empty_rows > 0 {
                    let row = if facts.visible == 0 {
                        row
                    } else {
                        trace.rows.iter().position(|r| r.visible == 0)?
                    };
                    Words::Empty {
                        row: name_of(row),
                        rows: trace.summary.empty_rows,
                    }
                } else if ctx.invited.get() || facts.entropy < 0.25 {
                    Words::Means {
                        row: name.clone(),
                        keys: format::fixed(facts.entropy.exp(), 1),
                        top: trace.summary.mean_top_weight,
                        norm: trace.summary.mean_jacobian_norm,
                    }
                } else {
                    Words::Try {
                        row: name.clone(),
                        keys: format::fixed(facts.entropy.exp(), 1),
                    }
                },
            )
        })
    });
    let Window(window) = expect_context::<Window>();
    let fold = memo(move || Fold::of(window.get()));
    let phone = memo(move || fold.get() == Fold::Phone);
    // Where the scale is in a sheet, the words open it.
    let gesture = move || match fold.get() {
        Fold::Phone => t("invite-do-phone").into_any(),
        Fold::Tablet => view! {
            <button
                type="button"
                class="text-button"
                data-name="invite-open"
                on:click=move |_| ctx.sheet.set(Sheet::Inputs)
            >
                {t("invite-do-tablet")}
            </button>
        },
        _ => t("invite-do").into_any(),
    };
    dynamic(move || {
        let line = match words.get()? {
            Words::Try { row, keys } => view! {
                <b>{t("invite-try")}</b>
                " "
                <mark>{gesture()}</mark>
                " "
                {t("invite-watch")}
                " "
                <mark>{row}</mark>
                {if phone.get() { t("invite-swipe").to_owned() } else { tf("invite-reads", &[("keys", &keys)]) }}
            },
            Words::Empty { row, rows } => {
                let key = if rows > 1 {
                    "invite-empty-several"
                } else {
                    "invite-empty"
                };
                view! { <b>{tf(key, &[("row", &row), ("rows", &rows)])}</b> " " {t("invite-empty-why")} }
            }
            Words::Overflow { row } => {
                view! { <b>{tf("invite-overflow", &[("row", &row)])}</b> " " {t("invite-overflow-why")} }
            }
            Words::Means {
                row,
                keys,
                top,
                norm,
            } => view! {
                <mark>{row}</mark>
                " "
                {tf("invite-now", &[("keys", &keys)])}
                " "
                {t("invite-means")}
                " "
                <b>{format::fixed(top, 3)}</b>
                // Two numbers take a third line on a phone, and its inspector has both.
                {(!phone.get()).then(|| view! {
                    {t("invite-means-norm")}
                    " "
                    <b>{format::fixed(norm, 3)}</b>
                })}
                "."
            },
        };
        Some(view! { <p class="invite" data-name="invite">{line}</p> })
    })
}
