//! The boards on the page: a canvas, a focusable place for each matrix, the editor over a cell, the line below.

mod below;
mod board;
mod editor;

use self::{
    below::{Running, StageLine, StageProblems},
    board::Board,
};
use super::{
    Fold, Window,
    board::{self as boards, Same},
    hands::Hands,
    layout::{Layout, Matrix, Room},
    names,
    scene::{self, Heats, Show},
    tables,
};
use crate::prelude::*;
use crate::{
    ctx::Ctx,
    part,
    session::Data,
    text::{t, tf},
    widgets::{Gloss, measured},
};
use attention::Shape;
use leptos::html;
use protocol::Trace;
use wasm_bindgen::JsCast;

/// The width of an element, kept true.
fn width_of(element: NodeRef<html::Div>) -> Memo<f64> {
    let size = measured(move || element.get().map(|e| e.unchecked_into()));
    memo(move || size.get().0)
}

fn shape_of(trace: &Trace) -> Shape {
    let s = trace.shape;
    Shape {
        heads: s.heads,
        kv_heads: s.kv_heads,
        n_q: s.n_q,
        n_k: s.n_k,
        d_k: s.d_k,
        d_v: s.d_v,
    }
}

/// The pipeline.
#[component]
pub fn Pipeline(
    /// How the page folds.
    fold: Memo<Fold>,
    /// The stage shown on a phone.
    stage: RwSignal<Matrix>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let Window(window) = expect_context::<Window>();
    let hands = Hands::new(ctx, Matrix::S);
    provide_context(hands);
    let outer = NodeRef::<html::Div>::new();
    let width = width_of(outer);

    // The masks' cells change with the session, not with the pointer.
    let masks = memo(move || ctx.session(|s| (s.shape, s.masks.clone(), s.drawn.clone())));
    let seen = memo(move || {
        masks.with(|_| ());
        Same::new(ctx.desk.with_untracked(|d| boards::visibility(d.session())))
    });
    let still = memo(move || {
        let stale = ctx.view.with(|v| v.is_stale());
        ctx.session(|s| {
            let mut show = boards::show(s, ctx.options.get(), &seen.get(), stale);
            show.band = (0, 0);
            show.pinned = false;
            show
        })
    });
    let trace = memo(move || ctx.view.with(|v| v.last().map(|t| Same(t.clone()))));
    let heats = memo(move || {
        let show = still.get();
        trace
            .get()
            .map(|trace| Same::new(Heats::new(&trace, &show)))
    });
    let layout = memo(move || {
        let (shape, w) = (
            trace.with(|t| t.as_ref().map(|t| shape_of(t)))?,
            width.get(),
        );
        if w < 50.0 {
            return None;
        }
        let (queries, keys) = ctx.session(|s| (s.q_labels.clone(), s.k_labels.clone()));
        let text = |labels: &[String]| {
            labels
                .iter()
                .map(|l| names::label(l).text)
                .collect::<Vec<_>>()
        };
        let h = window.get().1;
        Some(if fold.get() == Fold::Phone {
            Layout::stage(
                shape,
                &Room::new(w, (h - 380.0).max(330.0), &text(&queries), &text(&keys)),
                stage.get(),
            )
        } else {
            Layout::wide(
                shape,
                &Room::new(w, (h - 400.0).max(420.0), &text(&queries), &text(&keys)),
            )
        })
    });
    // The picture waits for the trace: an edit by itself does not redraw the old numbers.
    let pin = memo(move || ctx.session(|s| (s.look_at(), s.pin.is_some())));
    let picture = memo(move || {
        let (layout, trace, heats) = (layout.get()?, trace.get()?, heats.get()?);
        let mut show: Show = still.get();
        let (pinned, held) = pin.get();
        let hover = ctx.hover.get();
        let s = shape_of(&trace);
        let (q, k) = hover.unwrap_or(pinned);
        show.band = (q.min(s.n_q - 1), k.min(s.n_k - 1));
        show.pinned = held && hover.is_none_or(|h| h == pinned);
        show.cursor = hands.shown_cursor();
        show.pointed = hands
            .pointed
            .get()
            .filter(|p| !matches!(p.0, Matrix::S | Matrix::A));
        Some(Same::new(scene::pipeline(&layout, &trace, &heats, &show)))
    });
    let label = derive(move || {
        ctx.view.with(|v| {
            v.last().map_or_else(String::new, |t| {
                let s = t.shape;
                tf(
                    "stage-label",
                    &[
                        ("nq", &s.n_q),
                        ("nk", &s.n_k),
                        ("dk", &s.d_k),
                        ("dv", &s.d_v),
                    ],
                )
            })
        })
    });
    let strip = move || {
        Matrix::PIPELINE
            .into_iter()
            .map(|m| {
                let words = if m == Matrix::K { "K" } else { m.symbol() };
                view! {
                    <button
                        type="button"
                        class=format!("stage-tab hue-{}", words.to_ascii_lowercase())
                        data-name=format!("stage-{words}")
                        aria-current=move || if stage.get() == m { "true" } else { "false" }
                        on:click=move |_| stage.set(m)
                    >
                        {words}
                    </button>
                }
            })
            .collect_view()
    };
    view! {
        <Show when=move || fold.get() == Fold::Phone>
            <nav class="stage-tabs" aria-label=t("stage-tabs")>{move || strip()}</nav>
        </Show>
        <div class="stage" node_ref=outer class:stale=move || ctx.view.with(|v| v.is_stale()) data-name="stage">
            <Board
                layout=derive(move || layout.get())
                picture=derive(move || picture.get())
                heats=derive(move || heats.get())
                label
                hands
                swipe=callback(move |forward: bool| {
                    if fold.get_untracked() == Fold::Phone {
                        let at = Matrix::PIPELINE.iter().position(|m| *m == stage.get_untracked()).unwrap_or(0);
                        let to = if forward { (at + 1).min(6) } else { at.saturating_sub(1) };
                        stage.set(Matrix::PIPELINE[to]);
                    }
                })
            />
        </div>
        <div class="below">
        <StageLine
            hands
            heats=derive(move || heats.get())
            hint=derive(move || if fold.get() == Fold::Phone { "" } else { t("stage-hint") })
        />
            <Running/>
            <span class="signs"><Gloss id="gloss-signs" word=t("signs") means=t("gloss-signs")/></span>
            {tools(hands)}
        </div>
        <StageProblems/>
    }
}

part! {
    /// What a hand finds once the picture stands: the button of the tables, and pastes.
    fn tools(hands: Hands) in beside {
        board::listen_for_pastes(".stage:not(.tokens) .place:focus", hands);
        view! { <tables::Tables/> }
    }
}

/// Tokens and projections, for the source that has them.
#[component]
pub fn Tokens() -> impl IntoView {
    let ctx = Ctx::get();
    let hands = Hands::new(ctx, Matrix::X);
    let shown = memo(move || ctx.session(|s| matches!(s.data, Data::Tokens { .. })));
    view! {
        <Show when=move || shown.get()>
            {tokens(hands)}
        </Show>
    }
}

part! {
    /// The board of the tokens.
    fn tokens(hands: Hands) in beside {
        view! { <TokensBoard hands/> }
    }
}

#[component]
fn TokensBoard(hands: Hands) -> impl IntoView {
    let ctx = Ctx::get();
    board::listen_for_pastes(".stage.tokens .place:focus", hands);
    let outer = NodeRef::<html::Div>::new();
    let width = width_of(outer);
    let placed =
        memo(move || ctx.session(|s| s.positions.iter().any(|p| p.scheme.id == "sinusoidal")));
    let layout = memo(move || {
        let w = width.get();
        (w >= 50.0)
            .then(|| {
                ctx.session(|s| match s.data {
                    Data::Tokens { d_model, .. } => Some(Layout::tokens(
                        s.shape,
                        d_model,
                        &Room::new(w, 170.0, &[], &[]),
                    )),
                    Data::Given { .. } => None,
                })
            })
            .flatten()
    });
    let picture = memo(move || {
        let layout = layout.get()?;
        let hover = ctx.hover.get();
        Some(ctx.session(|s| {
            let band = hover.unwrap_or_else(|| s.look_at());
            Same::new(boards::tokens(
                &layout,
                s,
                band,
                hands.shown_cursor(),
                hands.pointed.get(),
            ))
        }))
    });
    view! {
        <h2 class="tokens-title">
            {t("tokens-title")}
            {move || match placed.get() {
                false => view! { " Q = X W" <sub>"Q"</sub> ", K = X W" <sub>"K"</sub> ", V = X W" <sub>"V"</sub> },
                true => view! {
                    " Q = (X + P) W" <sub>"Q"</sub> ", K = (X + P) W" <sub>"K"</sub> ", V = (X + P) W" <sub>"V"</sub> ". " {t("tokens-placed")}
                },
            }}
        </h2>
        <div class="stage tokens" node_ref=outer data-name="tokens-stage">
            <Board
                layout=derive(move || layout.get())
                picture=derive(move || picture.get())
                heats=derive(|| None)
                label=derive(|| t("tokens-label").to_owned())
                hands
                swipe=callback(|_| ())
            />
        </div>
        <StageLine hands heats=derive(|| None) hint=""/>
    }
}
