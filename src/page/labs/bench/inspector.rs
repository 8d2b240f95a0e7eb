//! The row under the cursor: its scores and weights, what they amount to, their Jacobian, the gradient at the scores,
//! and the output among the values.

mod bars;
mod dialog;
pub mod digits;
pub mod facts;
#[cfg(test)]
pub(crate) mod fixture;
mod gradient;
mod jacobian;
mod jacobian_view;
mod mix;
pub mod names;
mod output;
mod plane;
mod readouts;
mod shapes;
mod width;

pub use dialog::Dialog;
pub use width::of as width_of;

use super::{Window, tables};
use crate::prelude::*;
use crate::{
    beside::Beside,
    canvas::{heat::Scale, picture::Picture},
    ctx::Ctx,
    format,
    links::Frame,
    part,
    session::Action,
    text::{t, tf},
    widgets::Gloss,
};
use facts::{Setting, Shown};
use jacobian::Grid;
use leptos::html::Div;
use plane::Plane;
use std::sync::Arc;

/// A number as JavaScript reads it back, every bit of it.
pub fn js(x: f64) -> String {
    if x.is_infinite() {
        return if x > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    format!("{x:?}")
}

/// Trace, row, cell and setting, as soon as they fit each other.
pub fn shown() -> Memo<Option<Shown>> {
    let (ctx, beside) = (Ctx::get(), Beside::get());
    let setting = memo(move || Arc::new(ctx.session(Setting::of)));
    memo(move || {
        let (trace, stale, looked) =
            beside.with(|n| (n.view.last().cloned(), n.view.is_stale(), n.looked.clone()));
        Shown::new(trace?, looked?, setting.get(), stale)
    })
}

/// For `aria-busy`: whether the numbers shown here follow those of the picture in the next frame.
pub fn busy() -> impl Fn() -> Option<&'static str> + Copy + Send + Sync + 'static {
    let beside = Beside::get();
    move || beside.is_behind().then_some("true")
}

/// What of it an embedded page can show by itself.
pub const PARTS: [&str; 5] = ["weights", "readouts", "jacobian", "gradient", "output"];

/// Width that is assumed until the column is measured.
const COLUMN: f64 = 256.0;

part! {
    /// What its column holds; on a narrow screen its sheet.
    pub fn part(narrow: Signal<bool>) in beside {
        view! { <Row narrow=narrow /> }
    }
}

/// What the column holds.
#[component]
fn Row(narrow: Signal<bool>) -> impl IntoView {
    let shown = shown();
    let frame = Frame::get();
    let derivatives = frame.shows("jacobian") || frame.shows("gradient");
    let place = NodeRef::<Div>::new();
    let width = width_of(place, COLUMN);
    let have = memo(move || shown.with(Option::is_some));
    let stale = move || shown.with(|s| s.as_ref().is_some_and(|s| s.stale));
    view! {
        <div class="row-inspector" node_ref=place class:stale=stale aria-busy=busy()>
            <Show when=move || have.get() fallback=|| view! { <p class="note">{t("inspector-waiting")}</p> }>
                <Title shown=shown narrow=narrow />
                {frame.shows("weights").then(|| view! { <Bars shown=shown width=width /> })}
                {frame.shows("readouts").then(|| view! {
                    <readouts::Reads
                        label=t("read-row-label")
                        lines=derive(move || shown.with(|s| s.as_ref().map(readouts::row).unwrap_or_default()))
                    />
                    <readouts::Reads
                        label=t("read-all-label")
                        lines=derive(move || shown.with(|s| s.as_ref().map(readouts::all).unwrap_or_default()))
                    />
                })}
                {derivatives.then(|| view! { <Derivatives shown=shown width=width /> })}
                {frame.shows("output").then(|| view! { <Output shown=shown width=width /> })}
            </Show>
        </div>
    }
}

#[component]
fn Title(shown: Memo<Option<Shown>>, narrow: Signal<bool>) -> impl IntoView {
    let ctx = Ctx::get();
    let place = memo(move || {
        shown.with(|s| {
            s.as_ref()
                .map(|s| (s.query(), s.key(), s.setting.names.query(s.query())))
        })
    });
    let heading = move || {
        place.get().map(|(query, key, name)| match name {
            names::Name::Index(..) => view! {
                {t("inspector-row-index")} " " <mark>{query}</mark> ", "
                <span class="plain">{tf("inspector-row-key", &[("key", &key)])}</span>
            },
            name => {
                view! { {tf("inspector-row", &[("row", &query)])} " " <mark>{name.view()}</mark> }
            }
        })
    };
    let hint = move || {
        // A click pins what the pointer is on: from then on it follows only when it goes on.
        match (ctx.hover.get(), ctx.session(|s| s.pin)) {
            (hover, Some(pin)) if hover.is_none_or(|h| h == pin) => t("inspector-pinned"),
            (Some(_), _) => t("inspector-following"),
            (None, _) => t("inspector-free"),
        }
    };
    let step = move |by: isize| {
        let Some((query, key, _)) = place.get_untracked() else {
            return;
        };
        let n = ctx.desk.with_untracked(|d| d.session().shape.n_q);
        let next = query.saturating_add_signed(by).min(n.saturating_sub(1));
        ctx.hover.set(None);
        ctx.act(Action::Pin(Some((next, key))));
    };
    view! {
        <header class="row-title">
            <h2 data-read="row" data-value=move || place.get().map(|(q, k, _)| format!("{q},{k}"))>
                {move || heading()}
            </h2>
            <Show
                when=move || narrow.get()
                fallback=move || view! { <span class="hint">{move || hint()}</span> }
            >
                <span class="steps">
                    <button class="text-button" data-name="previous-row" on:click=move |_| step(-1)>{t("inspector-previous")}</button>
                    <button class="text-button" data-name="next-row" on:click=move |_| step(1)>{t("inspector-next")}</button>
                </span>
            </Show>
        </header>
    }
}

#[component]
fn Bars(shown: Memo<Option<Shown>>, width: ReadSignal<f64>) -> impl IntoView {
    let trace = Memo::new_with_compare(
        move |_| shown.with(|s| s.as_ref().map(|s| s.shared().clone())),
        |a, b| match (a, b) {
            (Some(Some(a)), Some(Some(b))) => !Arc::ptr_eq(a, b),
            _ => true,
        },
    );
    // The scale of S, so that bars and cells tell the same; once a trace, not once a hover.
    let end = memo(move || {
        trace.with(|t| match t.as_ref().map(|t| Scale::signed_for(&t.scores)) {
            Some(Scale::Signed { max }) => max,
            _ => 1.0,
        })
    });
    let lines = memo(move || shown.with(|s| s.as_ref().map(Shown::lines).unwrap_or_default()));
    let rest = move || shown.with(|s| s.as_ref().and_then(|s| s.rest(&lines.get())));
    let nothing = memo(move || shown.with(|s| s.as_ref().is_some_and(Shown::sees_nothing)));
    let scene = memo(move || {
        shown.with(|s| {
            Arc::new(
                s.as_ref()
                    .map(|s| bars::scene(s, &lines.get(), width.get(), end.get()))
                    .unwrap_or_default(),
            )
        })
    });
    let wanted = tables::Wanted::get();
    let in_table = move |_| {
        let row = shown.with_untracked(|s| s.as_ref().map_or(0, Shown::query));
        wanted.ask(tables::matrix::Matrix::A, row, 0);
    };
    let label = move || {
        shown.with(|s| {
            s.as_ref().map_or(String::new(), |s| {
                tf("bars-label", &[("row", &s.query()), ("n", &s.n_k())])
            })
        })
    };
    view! {
        <div class="bars">
            <Picture scene=scene label=derive(label) />
            <Show when=move || nothing.get()>
                <p class="note sees-nothing" data-read="sees_nothing">{t("inspector-sees-nothing")}</p>
            </Show>
            <Show when=move || rest().is_some()>
                <p class="note rest">
                    <span data-read="rest" data-value=move || rest().map(|(_, together)| js(together))>
                        {move || {
                            rest()
                                .map(|(more, together)| {
                                    let together = digits::weight(together);
                                    tf("inspector-rest", &[("n", &more), ("together", &together)])
                                })
                        }}
                    </span>
                    <button class="quiet" data-name="row-in-table" on:click=in_table>
                        {t("inspector-all")}
                    </button>
                </p>
            </Show>
            <Spoken shown=shown lines=lines />
        </div>
    }
}

/// The bars as a table, for screen readers and for tests.
#[component]
fn Spoken(shown: Memo<Option<Shown>>, lines: Memo<Vec<facts::Line>>) -> impl IntoView {
    let rows = move || {
        shown.with(|s| {
            let s = s.as_ref()?;
            let rows = lines.get().into_iter().map(|l| {
                view! {
                    <tr data-key=l.key data-score=js(l.logit) data-weight=js(l.weight)>
                        <th scope="row">{s.setting.names.key(l.key).to_string()}</th>
                        <td>{format::in_cell(l.logit)}</td>
                        <td>{format::fixed(l.weight, 3)} " " {tables::word(l.look)}</td>
                    </tr>
                }
            });
            Some(rows.collect_view())
        })
    };
    view! {
        <table class="visually-hidden" data-name="row-table">
            <thead>
                <tr>
                    <th scope="col">{t("inspector-key")}</th>
                    <th scope="col">{t("inspector-score")}</th>
                    <th scope="col">{t("inspector-weight")}</th>
                </tr>
            </thead>
            <tbody>{move || rows()}</tbody>
        </table>
    }
}

/// Jacobian and gradient at the scores, side by side or, with numbers in the cells, one below the other.
#[component]
fn Derivatives(shown: Memo<Option<Shown>>, width: ReadSignal<f64>) -> impl IntoView {
    let (ctx, frame) = (Ctx::get(), Frame::get());
    let grid = memo(move || {
        shown.with(|s| {
            s.as_ref()
                .map(|s| Grid::small(width.get(), s.n_k(), s.setting.names.tokens()))
        })
    });
    let numbers = memo(move || grid.get().is_some_and(|g| g.numbers));
    let scene_of = move |draw: fn(&Shown, &Grid) -> crate::canvas::scene::Scene| {
        memo(move || {
            shown.with(|s| match (s, grid.get()) {
                (Some(s), Some(g)) if g.n == s.n_k() => Arc::new(draw(s, &g)),
                _ => Arc::default(),
            })
        })
    };
    let jacobian = scene_of(jacobian::scene);
    let gradient = memo(move || {
        let across = if numbers.get() {
            width.get()
        } else {
            width.get() - Grid::beside(width.get())
        };
        shown.with(|s| match (s, grid.get()) {
            (Some(s), Some(g)) if g.n == s.n_k() => Arc::new(jacobian::gradient(s, &g, across)),
            _ => Arc::default(),
        })
    });
    let norm = move || shown.with(|s| s.as_ref().map_or(0.0, |s| s.looked().row.jacobian_norm));
    let underflowed = move || {
        shown.with(|s| {
            s.as_ref()
                .is_some_and(|s| s.line(s.key()).look == crate::canvas::heat::Look::Underflow)
        })
    };
    let (large, field) = (RwSignal::new(false), RwSignal::new(false));
    let gradient_label = move || {
        shown.with(|s| {
            s.as_ref().map_or(String::new(), |s| {
                let g = s.looked().row.d_scores.get(s.key()).copied().unwrap_or(0.0);
                tf(
                    "gradient-label",
                    &[
                        ("key", &s.setting.names.key(s.key())),
                        ("value", &digits::small(g)),
                    ],
                )
            })
        })
    };
    let exact = move || {
        shown.with(|s| {
            s.as_ref().map(|s| {
                s.looked()
                    .row
                    .d_scores
                    .iter()
                    .map(|x| js(*x))
                    .collect::<Vec<_>>()
                    .join(",")
            })
        })
    };
    // A field with a typed gradient or with a problem does not hide.
    let field_open = move || field.get() || ctx.problem("d_out").is_some();
    view! {
        <div
            class="derivatives"
            class:wide=move || numbers.get()
            style:--jacobian=move || format!("{}px", Grid::beside(width.get()))
        >
            <section class="jacobian" hidden=!frame.shows("jacobian")>
                <h3>
                    <Gloss id="gloss-jacobian" word=t("jacobian") means=t("gloss-jacobian")/> " " <span class="soft" class:below=move || !numbers.get()>
                        {t("jacobian-norm")} " "
                        <b data-read="jacobian_norm" data-value=move || js(norm())>{move || format::fixed(norm(), 3)}</b>
                        ", " <abbr title=t("jacobian-most")>{t("jacobian-max")}</abbr>
                    </span>
                </h3>
                <button
                    class="enlarge"
                    data-name="jacobian-open"
                    aria-label=t("jacobian-enlarge")
                    title=t("jacobian-enlarge")
                    on:click=move |_| large.set(true)
                >
                    <Picture scene=jacobian label=derive(|| t("jacobian-picture").to_owned()) />
                </button>
                <Show when=underflowed>
                    <p class="note">{t("jacobian-underflow")}</p>
                </Show>
            </section>
            <section class="gradient" hidden=!frame.shows("gradient")>
                <h3>
                    <Gloss id="gloss-gradient" word=t("gradient") means=t("gloss-gradient")/> " " <span class="below">
                        <gradient::LossLine shown=shown open=field />
                    </span>
                </h3>
                <div data-read="d_scores" data-value=exact>
                    <Picture scene=gradient label=derive(gradient_label) />
                </div>
            </section>
        </div>
        <Show when=field_open>
            <gradient::LossField shown=shown />
        </Show>
        <jacobian_view::Large shown=shown open=large />
    }
}

/// The output in the plane of the row's values, or written out as a sum.
#[component]
fn Output(shown: Memo<Option<Shown>>, width: ReadSignal<f64>) -> impl IntoView {
    let Window(window) = expect_context::<Window>();
    let fits = memo(move || shown.with(|s| s.as_ref().is_some_and(mix::fits)));
    // The plane belongs to the row to which the hand returns, so that it holds still while the pointer moves.
    let basis = Memo::new_with_compare(
        move |_| shown.with(|s| s.as_ref().map(|s| (s.shared().clone(), s.setting.home))),
        |a, b| match (a, b) {
            (Some(Some(a)), Some(Some(b))) => a.1 != b.1 || !Arc::ptr_eq(&a.0, &b.0),
            _ => true,
        },
    );
    let plane = Memo::new(move |before: Option<&Option<Arc<Plane>>>| {
        if fits.get() {
            return None;
        }
        basis.with(|b| {
            let (trace, home) = b.as_ref()?;
            let s = trace.shape;
            let home = (*home).min(s.n_q.saturating_sub(1));
            let weights = trace.weights.get(home * s.n_k..(home + 1) * s.n_k)?;
            Plane::of(&trace.v, weights, s.d_v, before.and_then(Option::as_deref)).map(Arc::new)
        })
    });
    let picture = memo(move || {
        shown.with(|s| match (s, plane.get()) {
            (Some(s), Some(plane)) if plane.width() == s.trace().shape.d_v => {
                let height = plane_height(width.get(), window.get().1);
                Arc::new(output::scene(s, &plane, width.get(), height))
            }
            _ => Arc::default(),
        })
    });
    let caption =
        move || shown.with(|s| s.as_ref().map(|s| plane_words(s, plane.get().as_deref())));
    let heading = move || {
        shown.with(|s| {
            s.as_ref().map(|s| match fits.get() {
                true => tf("output-of-row", &[("row", &s.query())]),
                false => tf("output-among", &[("n", &s.n_k())]),
            })
        })
    };
    let sum = move || shown.with(|s| s.as_ref().map(|s| mix::view(s).into_any()));
    view! {
        <section class="output">
            <h3>{t("output")} " " <span class="plain">{move || heading()}</span></h3>
            <Show when=move || fits.get() fallback=move || view! {
                <p class="soft">{caption}</p>
                <Picture scene=picture label=derive(move || t("output-picture").to_owned()) />
            }>
                {move || sum()}
            </Show>
        </section>
    }
}

/// In the column as high as a window of the usual height leaves room for, and what a higher one has besides.
fn plane_height(width: f64, window: f64) -> f64 {
    if width >= 320.0 {
        190.0
    } else {
        (112.0 + (window - 900.0)).clamp(112.0, 200.0).floor()
    }
}

/// What the plane shows of the row.
fn plane_words(shown: &Shown, plane: Option<&Plane>) -> String {
    let Some(plane) = plane else {
        return t("plane-none").to_owned();
    };
    let weights = shown.weights_of(shown.query());
    let share = plane
        .share(&shown.trace().v, weights)
        .map(|s| (s * 100.0).round());
    let held = shown.query() != shown.setting.home;
    match (share, held) {
        (None, _) if shown.sees_nothing() => t("plane-nothing").to_owned(),
        (None, _) => t("plane-one-point").to_owned(),
        (Some(_), _) if plane.directions() == 1 => t("plane-line").to_owned(),
        (Some(share), false) => tf("plane-own", &[("share", &share)]),
        (Some(share), true) => tf(
            "plane-held",
            &[("share", &share), ("row", &shown.setting.home)],
        ),
    }
}

#[cfg(test)]
mod tests;
