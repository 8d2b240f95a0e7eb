//! The boards on the page: a canvas, a focusable place for each matrix, the editor over a cell, the line below.

use super::{
    Fold, Window,
    board::{self, Same},
    hands::{Hands, Spot},
    layout::{Layout, Matrix, Room},
    names,
    scene::{self, Heats, Show},
};
use crate::{
    app::Stop,
    canvas::{picture::Picture, scene::Scene},
    ctx::Ctx,
    examples::shelf::{self, Shelf},
    session::{Action, Data},
    source::{Source, SourceKind},
    text::{t, tf},
};
use attention::Shape;
use leptos::{html, prelude::*};
use protocol::Trace;
use std::sync::Arc;
use wasm_bindgen::{JsCast, closure::Closure};

/// The width of an element, kept true.
fn width_of(element: NodeRef<html::Div>) -> RwSignal<f64> {
    let width = RwSignal::new(0.0);
    Effect::new(move || {
        let Some(div) = element.get() else { return };
        width.set(f64::from(div.client_width()));
        let seen = Closure::<dyn FnMut(js_sys::Array)>::new(move |entries: js_sys::Array| {
            let now = entries
                .get(0)
                .dyn_into::<web_sys::ResizeObserverEntry>()
                .map(|entry| f64::from(entry.target().client_width()));
            if let Ok(now) = now
                && now != width.get_untracked()
            {
                width.set(now);
            }
        });
        if let Ok(observer) = web_sys::ResizeObserver::new(seen.as_ref().unchecked_ref()) {
            observer.observe(&div);
            let held = StoredValue::new_local((observer, seen));
            on_cleanup(move || held.with_value(|(observer, _)| observer.disconnect()));
        }
    });
    width
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
    let masks = Memo::new(move |_| ctx.session(|s| (s.shape, s.masks.clone(), s.drawn.clone())));
    let seen = Memo::new(move |_| {
        masks.with(|_| ());
        Same::new(ctx.desk.with_untracked(|d| board::visibility(d.session())))
    });
    let still = Memo::new(move |_| {
        let stale = ctx.view.with(|v| v.is_stale());
        ctx.session(|s| {
            let mut show = board::show(s, ctx.options.get(), &seen.get(), stale);
            show.band = (0, 0);
            show.pinned = false;
            show
        })
    });
    let trace = Memo::new(move |_| ctx.view.with(|v| v.last().map(|t| Same(t.clone()))));
    let heats = Memo::new(move |_| {
        let show = still.get();
        trace
            .get()
            .map(|trace| Same::new(Heats::new(&trace, &show)))
    });
    let layout = Memo::new(move |_| {
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
    let picture = Memo::new(move |_| {
        let (layout, trace, heats) = (layout.get()?, trace.get()?, heats.get()?);
        let mut show: Show = still.get();
        let pinned = ctx.session(|s| s.look_at());
        let hover = ctx.hover.get();
        let s = shape_of(&trace);
        let (q, k) = hover.unwrap_or(pinned);
        show.band = (q.min(s.n_q - 1), k.min(s.n_k - 1));
        show.pinned = ctx.session(|s| s.pin.is_some()) && hover.is_none_or(|h| h == pinned);
        show.cursor = hands.shown_cursor();
        show.pointed = hands
            .pointed
            .get()
            .filter(|p| !matches!(p.0, Matrix::S | Matrix::A));
        Some(Same::new(scene::pipeline(&layout, &trace, &heats, &show)))
    });
    let label = Signal::derive(move || {
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
                        class=format!("stage-tab hue-{}", words.to_lowercase())
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
        <leptos::prelude::Show when=move || fold.get() == Fold::Phone>
            <nav class="stage-tabs" aria-label=t("stage-tabs")>{strip}</nav>
        </leptos::prelude::Show>
        <div class="stage" node_ref=outer class:stale=move || ctx.view.with(|v| v.is_stale()) data-name="stage">
            <Board
                layout=Signal::derive(move || layout.get())
                picture=Signal::derive(move || picture.get())
                heats=Signal::derive(move || heats.get())
                label
                hands
                swipe=Callback::new(move |forward: bool| {
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
            heats=Signal::derive(move || heats.get())
            hint=Signal::derive(move || if fold.get() == Fold::Phone { "" } else { t("stage-hint") })
        />
            <Running/>
            <super::tables::Tables/>
        </div>
        <StageProblems/>
    }
}

/// Tokens and projections, for the source that has them.
#[component]
pub fn Tokens() -> impl IntoView {
    let ctx = Ctx::get();
    let hands = Hands::new(ctx, Matrix::X);
    let shown = Memo::new(move |_| ctx.session(|s| matches!(s.data, Data::Tokens { .. })));
    view! {
        <leptos::prelude::Show when=move || shown.get()>
            <TokensBoard hands/>
        </leptos::prelude::Show>
    }
}

#[component]
fn TokensBoard(hands: Hands) -> impl IntoView {
    let ctx = Ctx::get();
    let outer = NodeRef::<html::Div>::new();
    let width = width_of(outer);
    let layout = Memo::new(move |_| {
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
    let picture = Memo::new(move |_| {
        let layout = layout.get()?;
        let hover = ctx.hover.get();
        Some(ctx.session(|s| {
            let band = hover.unwrap_or_else(|| s.look_at());
            Same::new(board::tokens(
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
            " Q = X W" <sub>"Q"</sub> ", K = X W" <sub>"K"</sub> ", V = X W" <sub>"V"</sub>
        </h2>
        <div class="stage tokens" node_ref=outer data-name="tokens-stage">
            <Board
                layout=Signal::derive(move || layout.get())
                picture=Signal::derive(move || picture.get())
                heats=Signal::derive(|| None)
                label=Signal::derive(|| t("tokens-label").to_owned())
                hands
                swipe=Callback::new(|_| ())
            />
        </div>
        <StageLine hands heats=Signal::derive(|| None) hint=""/>
    }
}

/// A canvas with matrices that a hand can work on.
#[component]
fn Board(
    layout: Signal<Option<Layout>>,
    picture: Signal<Option<Same<Scene>>>,
    heats: Signal<Option<Same<Heats>>>,
    label: Signal<String>,
    hands: Hands,
    swipe: Callback<bool>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let wrapper = NodeRef::<html::Div>::new();
    let begun = StoredValue::new(None::<(f64, f64)>);
    let at = move |x: i32, y: i32| {
        wrapper.get_untracked().map(|w| {
            let rect = w.get_bounding_client_rect();
            (f64::from(x) - rect.left(), f64::from(y) - rect.top())
        })
    };
    let moved = move |ev: web_sys::PointerEvent| {
        if ev.pointer_type() == "touch" && begun.get_value().is_none() {
            return;
        }
        if let (Some((x, y)), Some(layout)) =
            (at(ev.client_x(), ev.client_y()), layout.get_untracked())
        {
            hands.move_to(&layout, x, y, ev.shift_key());
        }
    };
    let pressed = move |ev: web_sys::PointerEvent| {
        if ev.button() != 0 || !hands.commit() {
            return;
        }
        let finger = ev.pointer_type() == "touch";
        let Some((x, y)) = at(ev.client_x(), ev.client_y()) else {
            return;
        };
        begun.set_value(Some((x, y)));
        let Some(layout) = layout.get_untracked() else {
            return;
        };
        let focus = heats.with_untracked(|h| hands.press(&layout, h.as_deref(), x, y, finger));
        if let (Some(matrix), Some(div)) = (focus, wrapper.get_untracked()) {
            if !finger {
                let _ = div.set_pointer_capture(ev.pointer_id());
            }
            let place = div
                .query_selector(&format!("[data-matrix='{matrix:?}']"))
                .ok()
                .flatten();
            if let Some(place) = place.and_then(|p| p.dyn_into::<web_sys::HtmlElement>().ok()) {
                let options = web_sys::FocusOptions::new();
                options.set_prevent_scroll(true);
                let _ = place.focus_with_options(&options);
            }
            ev.prevent_default();
        }
    };
    let released = move |ev: web_sys::PointerEvent| {
        let finger = ev.pointer_type() == "touch";
        if let (true, Some((x0, y0)), Some((x, y))) =
            (finger, begun.get_value(), at(ev.client_x(), ev.client_y()))
        {
            if (x - x0).abs() > 48.0 && (x - x0).abs() > 1.5 * (y - y0).abs() {
                begun.set_value(None);
                hands.cancel();
                swipe.run(x < x0);
                return;
            }
        }
        begun.set_value(None);
        hands.release(finger);
    };
    let double = move |ev: web_sys::MouseEvent| {
        if let (Some((x, y)), Some(layout)) =
            (at(ev.client_x(), ev.client_y()), layout.get_untracked())
            && let Some((m, r, c)) = layout.hit(x, y)
            && m.tensor().is_some()
        {
            hands.edit((m, r, c), None);
        }
    };
    let places = move || {
        let matrices: Vec<Matrix> = layout.with(|l| {
            l.as_ref()
                .map_or_else(Vec::new, |l| l.places.iter().map(|(m, _)| *m).collect())
        });
        matrices
            .into_iter()
            .map(|m| view! { <Place matrix=m layout heats hands/> })
            .collect_view()
    };
    let matrices = Memo::new(move |_| {
        layout.with(|l| {
            l.as_ref()
                .map(|l| l.places.iter().map(|(m, _)| *m).collect::<Vec<_>>())
        })
    });
    let scene = Signal::derive(move || picture.get().map_or_else(Arc::default, |p| p.0));
    let _ = ctx;
    view! {
        <div
            class="board"
            node_ref=wrapper
            on:pointermove=moved
            on:pointerdown=pressed
            on:pointerup=released
            on:pointercancel=move |_| { begun.set_value(None); hands.cancel() }
            on:pointerleave=move |_| hands.leave()
            on:dblclick=double
        >
            <Picture scene label/>
            {move || { matrices.with(|_| ()); untrack(places) }}
            <CellEditor layout hands/>
        </div>
    }
}

/// The place of a matrix for the keyboard and for screen readers: transparent, over the canvas.
#[component]
fn Place(
    matrix: Matrix,
    layout: Signal<Option<Layout>>,
    heats: Signal<Option<Same<Heats>>>,
    hands: Hands,
) -> impl IntoView {
    let ctx = Ctx::get();
    let rect = move || {
        layout
            .with(|l| l.as_ref().and_then(|l| l.place(matrix)).map(|p| p.rect))
            .unwrap_or_default()
    };
    let name = move || {
        let (rows, cols) = ctx.session(|s| board::size(s, matrix));
        let symbol = matrix.tensor().map_or(matrix.symbol(), |t| t.symbol());
        let editable = ctx.session(|s| matrix.tensor().is_some_and(|t| s.size_of(t).is_some()));
        let how = match (editable, matrix) {
            (true, _) => t("stage-how-edit"),
            (false, Matrix::M) => t("stage-how-mask"),
            (false, _) => t("stage-how-look"),
        };
        tf(
            "stage-matrix",
            &[
                ("symbol", &symbol),
                ("rows", &rows),
                ("cols", &cols),
                ("how", &how),
            ],
        )
    };
    let key = move |ev: web_sys::KeyboardEvent| {
        if ev.alt_key() || hands.editor.with_untracked(Option::is_some) {
            return;
        }
        let jump = ev.ctrl_key() || ev.meta_key();
        if jump && ev.key() == "c" {
            copy(ctx, heats, matrix);
            ev.prevent_default();
            return;
        }
        let used = heats.with_untracked(|h| hands.key(matrix, h.as_deref(), &ev.key(), jump));
        if used {
            ev.prevent_default();
            ev.stop_propagation();
        }
    };
    view! {
        <div
            class="place"
            tabindex="0"
            role="application"
            aria-roledescription=t("stage-role")
            aria-label=name
            data-matrix=format!("{matrix:?}")
            style:left=move || format!("{}px", rect().x)
            style:top=move || format!("{}px", rect().y)
            style:width=move || format!("{}px", rect().w)
            style:height=move || format!("{}px", rect().h)
            on:keydown=key
            on:focus=move |_| {
                hands.focused.set(Some(matrix));
                let (m, row, col) = hands.cursor.get_untracked();
                let (row, col) = if m == matrix { (row, col) } else { (0, 0) };
                let (rows, cols) = ctx.desk.with_untracked(|d| board::size(d.session(), matrix));
                hands.cursor.set((matrix, row.min(rows.saturating_sub(1)), col.min(cols.saturating_sub(1))));
            }
            on:blur=move |_| {
                hands.focused.set(None);
                if hands.pointed.with_untracked(Option::is_none) {
                    ctx.hover.set(None);
                }
            }
            on:paste=move |ev: web_sys::ClipboardEvent| {
                if let Some(text) = ev.clipboard_data().and_then(|d| d.get_data("text").ok()) {
                    ev.prevent_default();
                    hands.paste(matrix, &text);
                }
            }
        ></div>
    }
}

fn copy(ctx: Ctx, heats: Signal<Option<Same<Heats>>>, matrix: Matrix) {
    let text = ctx.desk.with_untracked(|d| {
        let (rows, cols) = board::size(d.session(), matrix);
        heats.with_untracked(|h| {
            super::edit::to_tsv(rows, cols, |r, c| {
                board::cell(h.as_deref(), d.session(), matrix, r, c).map_or(0.0, |(v, _)| v)
            })
        })
    });
    if let Some(window) = web_sys::window() {
        let _ = window.navigator().clipboard().write_text(&text);
        ctx.say(tf("stage-copied", &[("matrix", &matrix.symbol())]));
    }
}

/// The text field over the cell that is being edited, and what is wrong with its text.
#[component]
fn CellEditor(layout: Signal<Option<Layout>>, hands: Hands) -> impl IntoView {
    let input = NodeRef::<html::Input>::new();
    let spot = Memo::new(move |_| hands.editor.with(|e| e.as_ref().map(|e| e.spot)));
    Effect::new(move || {
        if spot.get().is_some()
            && let Some(field) = input.get()
        {
            let _ = field.focus();
            if hands
                .editor
                .with_untracked(|e| e.as_ref().is_some_and(|e| e.text.chars().count() > 1))
            {
                field.select();
            }
        }
    });
    let back = move |spot: Spot| {
        hands.editor.set(None);
        if let Some(place) = document()
            .query_selector(&format!("[data-matrix='{:?}']", spot.0))
            .ok()
            .flatten()
            && let Ok(place) = place.dyn_into::<web_sys::HtmlElement>()
        {
            let _ = place.focus();
        }
    };
    move || {
        let spot = spot.get()?;
        let place = layout.with(|l| l.as_ref().and_then(|l| l.place(spot.0)).copied())?;
        let cell = place.cell(spot.1, spot.2);
        let w = cell.w.max(64.0);
        let h = cell.h.max(26.0);
        let (x, y) = (
            cell.x + cell.w / 2.0 - w / 2.0,
            cell.y + cell.h / 2.0 - h / 2.0,
        );
        // What is wrong stands left of the cell where there is room, below it elsewhere.
        let beside = x > 230.0;
        let error = move || {
            hands
                .editor
                .with(|e| e.as_ref().and_then(|e| e.error.clone()))
        };
        let text = hands
            .editor
            .with_untracked(|e| e.as_ref().map(|e| e.text.clone()))
            .unwrap_or_default();
        let label = tf(
            "stage-editing",
            &[(
                "cell",
                &super::edit::cell_name(
                    &Ctx::get().desk.with_untracked(|d| d.session().clone()),
                    spot.0,
                    spot.1,
                    spot.2,
                ),
            )],
        );
        Some(view! {
            <div class="cell-editor" class:beside=beside style:left=format!("{x}px") style:top=format!("{y}px")>
                <input
                    node_ref=input
                    type="text"
                    inputmode="decimal"
                    autocomplete="off"
                    spellcheck="false"
                    data-name="cell-editor"
                    aria-label=label
                    aria-invalid=move || if error().is_some() { "true" } else { "false" }
                    aria-describedby="cell-editor-problem"
                    style:width=format!("{w}px")
                    style:height=format!("{h}px")
                    prop:value=text
                    on:input=move |ev| {
                        let text = event_target_value(&ev);
                        hands.editor.update(|e| if let Some(e) = e { e.text = text; e.error = None });
                    }
                    on:keydown=move |ev: web_sys::KeyboardEvent| {
                        ev.stop_propagation();
                        match ev.key().as_str() {
                            "Enter" | "Tab" => {
                                ev.prevent_default();
                                if hands.commit() {
                                    back(spot);
                                }
                            }
                            "Escape" => back(spot),
                            _ => {}
                        }
                    }
                    on:blur=move |_| { hands.commit(); }
                    on:pointerdown=move |ev| ev.stop_propagation()
                />
                <p class="problem" id="cell-editor-problem" role="alert" data-problem="cell" hidden=move || error().is_none()>
                    {move || error().unwrap_or_default()}
                </p>
            </div>
        })
    }
}

/// The line under a board: the cell under the hand, in words; and how to change it.
#[component]
fn StageLine(
    hands: Hands,
    heats: Signal<Option<Same<Heats>>>,
    /// What stands there while no cell is under the hand.
    #[prop(into)]
    hint: Signal<&'static str>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let spot = Memo::new(move |_| hands.pointed.get().or_else(|| hands.shown_cursor()));
    let words = move || match spot.get() {
        Some((m, r, c)) => {
            heats.with(|h| ctx.session(|s| board::describe(h.as_deref(), s, m, r, c)))
        }
        None => hint.get().to_owned(),
    };
    let can_edit = move || {
        let (m, _, _) = hands.cursor.get();
        hands.focused.get().is_some()
            && ctx.session(|s| m.tensor().is_some_and(|t| s.size_of(t).is_some()))
    };
    view! {
        <p class="stage-line" data-name="stage-line">
            <span data-read="cell">{words}</span>
            <button
                type="button"
                class="quiet"
                data-name="edit-cell"
                class:away=move || !can_edit()
                tabindex="-1"
                on:pointerdown=move |ev| ev.prevent_default()
                on:click=move |_| hands.edit(hands.cursor.get_untracked(), None)
            >
                {t("stage-change")}
            </button>
        </p>
    }
}

/// A job that takes long says how far it is and can be stopped; else how well the float32 kernel agrees.
#[component]
fn Running() -> impl IntoView {
    let ctx = Ctx::get();
    let stop = expect_context::<Stop>();
    let progress = Memo::new(move |_| ctx.engine.with(|e| e.progress));
    let check = Memo::new(move |_| ctx.view.with(|v| v.last().and_then(|t| t.fast.clone())));
    move || match (progress.get(), check.get()) {
        (Some((done, total)), _) => {
            let share = 100 * done / total.max(1);
            view! {
                <p class="running" data-name="running">
                    <progress max=total.to_string() value=done.to_string()></progress>
                    " "
                    {tf("running", &[("share", &share)])}
                    " "
                    <button type="button" data-name="stop" on:click=move |_| stop.0.run(())>{t("running-stop")}</button>
                </p>
            }
            .into_any()
        }
        (None, Some(check)) => {
            let words = if check.overflowed > 0 {
                tf("fast-overflow", &[("n", &check.overflowed)])
            } else {
                tf(
                    "fast-agrees",
                    &[("error", &crate::format::rough(check.max_error))],
                )
            };
            view! {
                <p class="running fast" title=t("fast-help") data-read="fast_error" data-value=format!("{:?}", check.max_error)>
                    {words}
                </p>
            }
            .into_any()
        }
        (None, None) => view! { <p class="running fast"></p> }.into_any(),
    }
}

/// What is wrong with an edit of a tensor, and why the picture is not that of the present settings.
#[component]
fn StageProblems() -> impl IntoView {
    let ctx = Ctx::get();
    const FIELDS: [&str; 10] = ["Q", "K", "V", "X", "W_Q", "W_K", "W_V", "S", "A", "O"];
    let failed = move || {
        ctx.view.with(|v| match v {
            crate::ctx::Computed::Failed(last, why) => Some((last.is_some(), why.clone())),
            _ => None,
        })
    };
    let one = move |field: &'static str| {
        let projected = move || {
            matches!(field, "Q" | "K" | "V")
                && ctx.session(|s| matches!(s.data, Data::Tokens { .. }))
        };
        move || {
            ctx.problem(field).map(|words| view! {
                <p class="problem" role="alert" data-problem=field>
                    <span>{words}</span>
                    " "
                    {move || projected().then(|| view! {
                        <button
                            type="button"
                            data-name="take-as-typed-here"
                            on:click=move |_| ctx.act(Action::SetSource(SourceKind::Typed))
                        >
                            {t("stage-take")}
                        </button>
                    })}
                    " "
                    <button type="button" class="quiet" data-name="dismiss" on:click=move |_| ctx.clear(field)>
                        {t("dismiss")}
                    </button>
                </p>
            })
        }
    };
    let shelf = Shelf::get();
    // An example that did not come while another source is shown: its own place in the inputs is not there then.
    let example = move || {
        let shown = ctx.session(|s| matches!(s.source, Source::Example(_)));
        if shown {
            None
        } else {
            ctx.problem(shelf::FIELD)
        }
    };
    // Nothing was ever drawn, because there is no engine to compute it.
    let nothing =
        move || ctx.engine.with(|e| e.failed.is_some()) && ctx.view.with(|v| v.last().is_none());
    view! {
        <div class="stage-problems">
            {FIELDS.into_iter().map(one).collect_view()}
            {move || example().map(|words| view! {
                <p class="problem" role="alert" data-problem="opening">
                    <span>{words}</span>
                    " "
                    <button type="button" data-name="retry-opening" on:click=move |_| shelf.retry(ctx)>
                        {t("try-again")}
                    </button>
                </p>
            })}
            {move || failed().map(|(stale, why)| view! {
                <p class="problem" role="alert" data-problem="view">{why} " " {stale.then(|| t("stage-stale"))}</p>
            })}
            {move || nothing().then(|| view! { <p class="nothing">{t("stage-nothing")}</p> })}
        </div>
    }
}
