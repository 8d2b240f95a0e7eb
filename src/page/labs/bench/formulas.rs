//! The formulas of the cell looked at, with its numbers put in.

pub mod build;
pub mod mathml;

use super::inspector::{self, facts::Shown};
use crate::part;
use crate::prelude::*;
use build::{Body, Formula, Word};

part! {
    /// The formulas of the cell: at the end of the page, and written after the picture.
    pub fn part() in beside {
        view! { <Formulas/> }
    }
}

/// The strip below the bench: score, weight, output row.
#[component]
fn Formulas() -> impl IntoView {
    let shown = inspector::shown();
    let formulas = memo(move || shown.get().as_ref().map(build::formulas));
    let stale = move || shown.with(|s| s.as_ref().is_some_and(|s| s.stale));
    let values = move |name: &'static str| shown.with(|s| s.as_ref().map(|s| value_of(s, name)));
    view! {
        <section class="formulas" class:stale=stale aria-busy=inspector::busy() aria-label=crate::text::t("formulas-label")>
            {move || {
                formulas
                    .get()
                    .map(|all| {
                        all.into_iter()
                            .zip(["score", "weight", "output"])
                            .map(|(formula, name)| {
                                let exact = values(name).unwrap_or_default();
                                one(formula, name, exact)
                            })
                            .collect_view()
                    })
            }}
        </section>
    }
}

/// What the formula ends in, exactly.
fn value_of(shown: &Shown, name: &str) -> String {
    match name {
        "score" => inspector::js(shown.line(shown.key()).logit),
        "weight" => inspector::js(shown.line(shown.key()).weight),
        _ => shown
            .out()
            .iter()
            .map(|x| inspector::js(*x))
            .collect::<Vec<_>>()
            .join(","),
    }
}

fn one(formula: Formula, name: &'static str, exact: String) -> impl IntoView {
    let body = match formula.body {
        Body::Math(math) => {
            view! { <div class="math" tabindex="0" inner_html=math></div> }
        }
        Body::Words(words) => {
            view! { <p class="in-words">{crate::widgets::rich(&words)}</p> }
        }
    };
    view! {
        <div class=format!("formula formula-{name}") data-read=format!("formula-{name}") data-value=exact>
            <p class="caption">{formula.caption.into_iter().map(word).collect_view()}</p>
            {body}
            {formula.note.map(|note| view! { <p class="note">{note}</p> })}
        </div>
    }
}

fn word(word: Word) -> AnyView {
    match word {
        Word::Plain(text) => text.into_any(),
        Word::Name(name) => view! { <b>{name.view()}</b> },
    }
}

#[cfg(test)]
mod tests;
