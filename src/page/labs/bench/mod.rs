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

use crate::prelude::*;
use crate::{
    ctx::{Ctx, Sheet},
    links::Frame,
    widgets::SheetPane,
};
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

/// The lab.
#[component]
pub fn Bench() -> impl IntoView {
    tables::Wanted::provide();
    let ctx = Ctx::get();
    let Window(window) = expect_context::<Window>();
    let frame = Frame::get();
    let fold = memo(move || match frame.embedded {
        true => Fold::framed(window.get().0),
        false => Fold::of(window.get()),
    });
    // An embedded page has no sheets: what it shows stands below each other.
    let narrow = derive(move || !frame.embedded && fold.get() != Fold::Wide);
    let phone = derive(move || !frame.embedded && fold.get() == Fold::Phone);
    let stage = RwSignal::new(layout::Matrix::A);
    let pipeline = frame.shows("stage") || frame.shows("waterfall");
    let inspector = inspector::PARTS.iter().any(|part| frame.shows(part));
    in_sight::keep_row_in_sight(fold);
    view! {
        <main class="bench" id="bench" tabindex="-1" data-layout=move || fold.get().name()>
            {frame.controls.then(|| view! {
                <SheetPane which=Sheet::Inputs label=crate::text::t("sheet-inputs") class="inputs" narrow>
                    {inputs::part()}
                </SheetPane>
            })}
            {pipeline.then(|| view! {
                <section class="pipeline" aria-label=move || crate::text::t("stage-region")>
                    {(!frame.embedded).then(|| view! { <invite::Invite/> })}
                    {frame.shows("stage").then(|| view! { <Pipeline fold stage/> <Tokens/> })}
                    {frame.shows("waterfall").then(waterfall::part)}
                    <Show when=move || phone.get()>
                        {inputs::scale_part()}
                    </Show>
                </section>
            })}
            {inspector.then(|| view! { <inspector::Inspector narrow=phone/> })}
            {frame.shows("formula").then(formulas::part)}
            <Show when=move || phone.get()>
                <footer class="sheets">
                    <button type="button" data-name="open-inputs" on:click=move |_| ctx.sheet.set(Sheet::Inputs)>
                        {crate::text::t("sheet-inputs")}
                    </button>
                    <button type="button" data-name="open-inspector" on:click=move |_| ctx.sheet.set(Sheet::Inspector)>
                        {move || {
                            let (query, name) = ctx.session(|s| {
                                let q = s.look_at().0;
                                (q, names::label(&s.query_name(q)).text)
                            });
                            crate::text::tf("sheet-row", &[("row", &query), ("name", &name)])
                        }}
                    </button>
                </footer>
            </Show>
        </main>
    }
}

pub mod formulas;
pub mod inputs;
pub mod inspector;
pub mod tables;
pub mod waterfall;
