//! The bench: inputs, the pipeline as one picture, the row inspector, and the formula of a cell.

pub mod board;
pub mod edit;
pub mod hands;
pub mod layout;
pub mod names;
pub mod scene;
pub mod stage;

mod in_sight;
mod invite;
pub mod whole;

use crate::prelude::*;
use crate::{links::Frame, text::t};
use stage::{Pipeline, Tokens};

/// How wide the page is: decides how it folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// Three columns.
    Wide,
    /// Inputs in a sheet.
    Tablet,
    /// One stage at a time.
    Phone,
}

impl Fold {
    /// By the size of the window: low ones (a phone on its side) show one stage at a time too.
    pub fn of((width, height): (f64, f64)) -> Fold {
        if width < 1100.0 && height < 500.0 {
            Fold::Phone
        } else if width >= 1100.0 {
            Fold::Wide
        } else if width >= 700.0 {
            Fold::Tablet
        } else {
            Fold::Phone
        }
    }

    /// In a frame: columns are the style sheet's affair there, and only the pipeline folds.
    pub fn framed(width: f64) -> Fold {
        match width < 560.0 {
            true => Fold::Phone,
            false => Fold::Tablet,
        }
    }

    /// Its name in the style sheet.
    pub fn name(self) -> &'static str {
        match self {
            Fold::Wide => "wide",
            Fold::Tablet => "tablet",
            Fold::Phone => "phone",
        }
    }
}

/// The window's size as a signal; the app keeps it true.
#[derive(Clone, Copy)]
pub struct Window(pub RwSignal<(f64, f64)>);

/// The lab as a view in somebody else's page: no head, no sheets; what it shows stands below each other.
#[component]
pub fn Framed() -> impl IntoView {
    let frame = Frame::get();
    let Window(window) = expect_context::<Window>();
    let fold = memo(move || Fold::framed(window.get().0));
    begin(fold);
    let pipeline = frame.shows("stage") || frame.shows("waterfall");
    let inspector = inspector::PARTS.iter().any(|part| frame.shows(part));
    view! {
        <main class="bench" id="bench" tabindex="-1" data-layout=move || fold.get().name()>
            {frame.controls.then(|| pane("inputs", t("sheet-inputs"), inputs::part()))}
            {pipeline.then(|| view! {
                <section class="pipeline" aria-label=move || t("stage-region")>
                    {frame.shows("stage").then(|| picture(fold))}
                    {frame.shows("waterfall").then(waterfall::part)}
                </section>
            })}
            {inspector.then(|| pane("inspector", t("inspector-label"), inspector::part(derive(|| false))))}
            {frame.shows("formula").then(formulas::part)}
        </main>
    }
}

/// A column that is never a sheet.
fn pane(class: &'static str, label: &'static str, inside: AnyView) -> AnyView {
    view! {
        <aside class=class aria-label=label>
            <div class="sheet-inner"><div class="pane">{inside}</div></div>
        </aside>
    }
}

/// What both kinds of page need below them.
fn begin(fold: Memo<Fold>) {
    tables::Wanted::provide();
    in_sight::keep_row_in_sight(fold);
}

/// The pipeline, and the tokens for the source that has them.
fn picture(fold: Memo<Fold>) -> AnyView {
    let stage = RwSignal::new(layout::Matrix::A);
    view! { <Pipeline fold stage/> <Tokens/> }
}

pub mod formulas;
pub mod inputs;
pub mod inspector;
pub mod tables;
pub mod waterfall;
