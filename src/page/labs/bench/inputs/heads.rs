//! The picture of all heads of a sentence, each drawn as its own weights; a click or the arrow keys choose one.

use super::maps_picture::{Grid, pixels};
use crate::prelude::*;
use crate::{
    canvas::{heat::Scale, picture::Ratio},
    ctx::Ctx,
    examples::{Shelf, Wish},
    session::Action,
    source::Source,
    text::{t, tf},
    widgets::{measured, rich},
};
use leptos::{ev, html};
use wasm_bindgen::{Clamped, JsCast};

/// Layers down, heads across.
#[component]
pub fn HeadPicker() -> impl IntoView {
    let ctx = Ctx::get();
    let shelf = Shelf::get();
    let frame = NodeRef::<html::Div>::new();
    let canvas = NodeRef::<html::Canvas>::new();
    let width = measured(move || frame.get().map(|e| e.unchecked_into()));
    let ratio = use_context::<Ratio>();
    let density = memo(move || ratio.map_or(width.get().1, |Ratio(now)| now.get()));
    let maps = memo(move || {
        shelf
            .maps
            .with(|m| m.as_ref().map(|(_, maps)| maps.clone()))
    });
    let grid = memo(move || {
        let (layers, heads) = maps.with(|m| m.as_ref().map_or((6, 12), |m| (m.layers, m.heads)));
        Grid::new(layers, heads, width.get().0)
    });
    let chosen = chosen_head(ctx, shelf);

    Effect::new(move |_| {
        let (Some(canvas), Some(maps)) = (canvas.get(), maps.get()) else {
            return;
        };
        let (grid, dpr, palette) = (grid.get(), density.get(), ctx.palette.get());
        let root = ctx.options.with(|o| o.root_weights);
        let (w, h, rgba) = pixels(&maps, grid, dpr, |weight| {
            palette.colour(Scale::Weights { max: 1.0, root }, weight)
        });
        canvas.set_width(w);
        canvas.set_height(h);
        let context = canvas.get_context("2d").ok().flatten();
        let Some(context) =
            context.and_then(|c| c.dyn_into::<web_sys::CanvasRenderingContext2d>().ok())
        else {
            return;
        };
        // Fails only for an empty picture, and then there is nothing to draw.
        if let Ok(image) =
            web_sys::ImageData::new_with_u8_clamped_array_and_sh(Clamped(&rgba), w, h)
        {
            let _ = context.put_image_data(&image, 0.0, 0.0);
        }
    });

    let choose = move |layer: usize, head: usize| {
        let shown = ctx
            .desk
            .with_untracked(|desk| match &desk.session().source {
                Source::Example(l) => Some((
                    l.sentence.clone(),
                    l.layer,
                    l.only.is_none_or(|only| only == head),
                )),
                _ => None,
            });
        let waiting = shelf.wish.with_untracked(Option::is_some);
        match shown {
            Some((_, now, here)) if now == layer && here && !waiting => {
                ctx.act(Action::SetHead(head))
            }
            Some((sentence, ..)) => shelf.open(ctx, Wish::head(&sentence, layer, head)),
            None => {}
        }
    };
    let on_key = move |event: ev::KeyboardEvent| {
        let Some((layer, head)) = chosen.get_untracked() else {
            return;
        };
        let Grid { layers, heads, .. } = grid.get_untracked();
        let Some((layer, head)) = stepped(&event.key(), (layer, head), (layers, heads)) else {
            return;
        };
        event.prevent_default();
        event.stop_propagation();
        choose(layer, head);
        let button = frame.get_untracked().and_then(|f| {
            f.query_selector(&format!("[data-head='{layer}.{head}']"))
                .ok()
                .flatten()
        });
        if let Some(button) = button.and_then(|b| b.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = button.focus();
        }
    };
    let step = move |by: isize| {
        let Some((layer, head)) = chosen.get_untracked() else {
            return;
        };
        let Grid { layers, heads, .. } = grid.get_untracked();
        let all = (layers * heads).max(1) as isize;
        let next = ((layer * heads + head) as isize + by).rem_euclid(all) as usize;
        choose(next / heads, next % heads);
    };
    view! {
        <div class="heads" style:--pitch=move || format!("{}px", grid.get().pitch)>
            <div class="heads-layers" aria-hidden="true">
                {move || {
                    let now = chosen.get();
                    (0..grid.get().layers)
                        .map(|layer| view! { <span class:now=now.is_some_and(|(l, _)| l == layer)>{layer}</span> })
                        .collect_view()
                }}
            </div>
            <div class="heads-frame" node_ref=frame>
                <div
                    class="heads-maps"
                    role="radiogroup"
                    aria-label=t("heads-picture")
                    data-name="head"
                    on:keydown=on_key
                    style:width=move || format!("{}px", grid.get().width())
                    style:height=move || format!("{}px", grid.get().height())
                >
                    <canvas
                        node_ref=canvas
                        aria-hidden="true"
                        style:width=move || format!("{}px", grid.get().width())
                        style:height=move || format!("{}px", grid.get().height())
                    ></canvas>
                    {move || {
                        let Grid { layers, heads, .. } = grid.get();
                        (0..layers)
                            .flat_map(|layer| (0..heads).map(move |head| (layer, head)))
                            .map(|(layer, head)| {
                                view! { <MapButton grid layer head chosen choose=move || choose(layer, head) /> }
                            })
                            .collect_view()
                    }}
                </div>
                <HeadAxis grid chosen />
            </div>
        </div>
        <p class="caption" data-read="head">
            {move || chosen.get().map(|(layer, head)| {
                let all = maps.with(|m| m.as_ref().map_or(0, |m| m.layers * m.heads));
                rich(&tf("heads-caption", &[("layer", &layer), ("head", &head), ("all", &all)]))
            })}
        </p>
        <div class="heads-steps">
            <button type="button" class="text-button" data-name="previous-head" on:click=move |_| step(-1)>{t("previous-head")}</button>
            <button type="button" class="text-button" data-name="next-head" on:click=move |_| step(1)>{t("next-head")}</button>
        </div>
    }
}

/// Layer and head on their way, or shown.
pub(super) fn chosen_head(ctx: Ctx, shelf: Shelf) -> Memo<Option<(usize, usize)>> {
    memo(move || {
        let wished = shelf.wish.with(|w| w.as_ref().and_then(|w| w.head));
        wished.or_else(|| {
            ctx.session(|s| match &s.source {
                Source::Example(layer) => Some((layer.layer, s.head)),
                _ => None,
            })
        })
    })
}

#[component]
fn MapButton(
    grid: Memo<Grid>,
    layer: usize,
    head: usize,
    chosen: Memo<Option<(usize, usize)>>,
    choose: impl Fn() + 'static,
) -> impl IntoView {
    let is = memo(move || chosen.get() == Some((layer, head)));
    let name = tf("head-name", &[("layer", &layer), ("head", &head)]);
    view! {
        <button
            type="button"
            role="radio"
            class="map"
            data-head=format!("{layer}.{head}")
            aria-label=name.clone()
            title=name
            aria-checked=move || if is.get() { "true" } else { "false" }
            tabindex=move || if is.get() || (chosen.get().is_none() && layer + head == 0) { "0" } else { "-1" }
            style:left=move || format!("{}px", grid.get().left(head))
            style:top=move || format!("{}px", grid.get().left(layer))
            on:click=move |_| choose()
        ></button>
    }
}

/// Numbers of the first, the chosen and the last head, and the word between them where it has room.
#[component]
fn HeadAxis(grid: Memo<Grid>, chosen: Memo<Option<(usize, usize)>>) -> impl IntoView {
    view! {
        <div class="heads-axis" aria-hidden="true" style:width=move || format!("{}px", grid.get().width())>
            {move || {
                let grid = grid.get();
                let now = chosen.get().map(|(_, head)| head);
                let last = grid.heads.saturating_sub(1);
                // Numbers of two digits take more room.
                let room = |n: usize| if n > 9 { 20 } else { 14 };
                let near = |head: usize| {
                    now.is_some_and(|n| n != head && n.abs_diff(head) * (grid.pitch as usize) < room(n.max(head)))
                };
                let word = if now.is_some_and(|n| n.abs_diff(last / 2) < 3) { last / 4 } else { last / 2 };
                let word = if now.is_some_and(|n| n.abs_diff(word) < 2) { last * 3 / 4 } else { word };
                let numbers = [0, last].into_iter().filter(|head| !near(*head) && now != Some(*head));
                let number = |head: usize, now: bool| {
                    view! { <span class:now=now style:left=format!("{}px", grid.middle(head))>{head}</span> }
                };
                (
                    numbers.map(|head| number(head, false)).collect_view(),
                    now.map(|head| number(head, true)),
                    view! { <span class="heads-word" style:left=format!("{}px", grid.middle(word))>{t("head")}</span> },
                )
            }}
        </div>
    }
}

/// Where a key leads on the picture.
fn stepped(
    key: &str,
    (layer, head): (usize, usize),
    (layers, heads): (usize, usize),
) -> Option<(usize, usize)> {
    let (last_layer, last_head) = (layers.saturating_sub(1), heads.saturating_sub(1));
    Some(match key {
        "ArrowLeft" => (layer, head.saturating_sub(1)),
        "ArrowRight" => (layer, (head + 1).min(last_head)),
        "ArrowUp" => (layer.saturating_sub(1), head),
        "ArrowDown" => ((layer + 1).min(last_layer), head),
        "Home" => (layer, 0),
        "End" => (layer, last_head),
        "PageUp" => (0, head),
        "PageDown" => (last_layer, head),
        _ => return None,
    })
}
