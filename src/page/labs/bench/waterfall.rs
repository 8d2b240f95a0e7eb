//! One cell, written out: how the products of q and k add up to a score.

pub mod scene;

use super::inspector::{self, facts::Shown, names::Name};
use crate::prelude::*;
use crate::{
    canvas::{
        chart,
        picture::{Picture, Ratio, fitted},
    },
    ctx::Ctx,
    part,
    text::{t, tf},
};
use leptos::html;
use scene::Drawn;
use std::sync::Arc;

/// Width that is assumed until the place is measured.
const PLACE: f64 = 872.0;

part! {
    /// The cell written out as bars: below the picture, and drawn after it.
    pub fn part() in beside {
        view! { <Waterfall/> }
    }
}

/// Heading and picture.
#[component]
fn Waterfall() -> impl IntoView {
    let shown = inspector::shown();
    let place = NodeRef::<html::Div>::new();
    let width = inspector::width_of(place, PLACE);
    let drawn =
        memo(move || shown.with(|s| s.as_ref().map(|s| Arc::new(scene::draw(s, width.get())))));
    let top = memo(move || {
        drawn.with(|d| {
            d.as_ref()
                .map_or_else(Arc::default, |d| Arc::new(d.scene.clone()))
        })
    });
    let stale = move || shown.with(|s| s.as_ref().is_some_and(|s| s.stale));
    let heading = move || shown.with(|s| s.as_ref().map(|s| title(s, width.get() < 560.0)));
    let label = move || {
        shown.with(|s| {
            s.as_ref().map_or(String::new(), |s| {
                let c = &s.looked().cell;
                let names = &s.setting.names;
                let (q, k) = (names.query(s.query()), names.key(s.key()));
                let (dot, score) = (crate::format::short(c.dot), crate::format::short(c.score));
                tf(
                    "waterfall-label",
                    &[
                        ("query", &q),
                        ("key", &k),
                        ("n", &c.terms.len()),
                        ("dot", &dot),
                        ("score", &score),
                    ],
                )
            })
        })
    };
    let number = move |name: &'static str, words: &'static str, read: fn(&Shown) -> f64| {
        let number = move || shown.with(|s| s.as_ref().map(read));
        view! {
            <dt>{t(words)}</dt>
            <dd data-read=name data-value=move || number().map(inspector::js)>
                {move || number().map(crate::format::short)}
            </dd>
        }
    };
    view! {
        <section class="waterfall" class:stale=stale aria-busy=inspector::busy() aria-label=t("waterfall-title")>
            <h2>{move || heading()}</h2>
            <div class="layers" node_ref=place>
                <Bars drawn=drawn />
                <Picture scene=top label=derive(label) class="over" />
            </div>
            // What the picture prints, for tests and for whoever listens.
            <dl class="visually-hidden">
                {number("dot", "waterfall-dot", |s| s.looked().cell.dot)}
                {number("scaled", "waterfall-scaled", |s| s.looked().cell.scaled)}
                {number("capped", "waterfall-capped", |s| s.looked().cell.capped)}
                {number("bias", "waterfall-added", |s| s.looked().cell.bias)}
            </dl>
        </section>
    }
}

fn title(shown: &Shown, narrow: bool) -> AnyView {
    let names = &shown.setting.names;
    let (i, j) = (shown.query(), shown.key());
    let n = shown.looked().cell.terms.len();
    let (q, k) = (names.query(i), names.key(j));
    if narrow {
        return view! {
            <b>{q.view()}</b> " " {t("waterfall-asks")} " " <b>{k.view()}</b> " " {t("waterfall-answers")} " "
            <span class="q"><var>"q"</var></span> " · " <span class="k"><var>"k"</var></span> " "
            {tf("waterfall-steps", &[("n", &n)])}
        };
    }
    let of = |letter: &'static str, name: Name| match name {
        Name::Index(_, index) => {
            view! { <span class=letter><var>{letter}</var><sub>{index}</sub></span> }
        }
        name => view! {
            <span class=letter><var>{letter}</var></span> " " {t("waterfall-of")} " " <b>{name.view()}</b>
        },
    };
    let terms = if n == 1 {
        t("waterfall-term").to_owned()
    } else {
        tf("waterfall-terms", &[("n", &n)])
    };
    view! {
        <b>{t("waterfall-title")} "."</b> " " {of("q", q)} " " {t("waterfall-times")} " " {of("k", k)} ", " {terms}
    }
}

/// The layer that `plotters` draws.
#[component]
fn Bars(drawn: Memo<Option<Arc<Drawn>>>) -> impl IntoView {
    let ctx = Ctx::get();
    let Ratio(ratio) = expect_context::<Ratio>();
    let canvas = NodeRef::<html::Canvas>::new();
    let failed = RwSignal::new(None::<String>);
    effect(move || {
        let (Some(canvas), Some(drawn)) = (canvas.get(), drawn.get()) else {
            return;
        };
        let (palette, ratio) = (ctx.palette.get(), ratio.get());
        let (w, h) = drawn.chart.size;
        if let Some(context) = fitted(&canvas, w, h, ratio) {
            context.clear_rect(
                0.0,
                0.0,
                f64::from(canvas.width()),
                f64::from(canvas.height()),
            );
            let problem = chart::on_canvas(canvas, &drawn.chart, &palette, ratio).err();
            if failed.get_untracked() != problem {
                failed.set(problem);
            }
        }
    });
    let size = move |pick: fn((f64, f64)) -> f64| {
        move || drawn.with(|d| format!("{}px", d.as_ref().map_or(0.0, |d| pick(d.chart.size))))
    };
    view! {
        <canvas node_ref=canvas class="under" aria-hidden="true" style:width=size(|s| s.0) style:height=size(|s| s.1)></canvas>
        {move || failed.get().map(|why| view! { <p class="problem" role="alert">{tf("waterfall-failed", &[("why", &why)])}</p> })}
    }
}

#[cfg(test)]
mod tests;
