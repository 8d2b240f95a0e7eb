//! A scene on a canvas, sharp at any devicePixelRatio and in any theme.

use super::{
    paint::{self, Fonts},
    scene::Scene,
};
use crate::ctx::Ctx;
use crate::prelude::*;
use leptos::html::Canvas;
use std::sync::Arc;
use wasm_bindgen::JsCast;

/// devicePixelRatio as a signal; the app keeps it true.
#[derive(Clone, Copy)]
pub struct Ratio(pub RwSignal<f64>);

/// The fonts of canvases; the app reads them from the style sheet.
#[derive(Clone)]
pub struct CanvasFonts(pub Arc<Fonts>);

/// The 2d context of a canvas, its backing store made to fit. A new size clears it, so it is set only when it changes.
pub fn fitted(
    canvas: &web_sys::HtmlCanvasElement,
    width: f64,
    height: f64,
    ratio: f64,
) -> Option<web_sys::CanvasRenderingContext2d> {
    let (w, h) = (
        (width * ratio).round() as u32,
        (height * ratio).round() as u32,
    );
    if canvas.width() != w {
        canvas.set_width(w);
    }
    if canvas.height() != h {
        canvas.set_height(h);
    }
    canvas.get_context("2d").ok().flatten()?.dyn_into().ok()
}

/// Draws a scene on a canvas of the scene's size. To a screen reader it is an image with `label` as its words.
#[component]
pub fn Picture(
    /// What to draw.
    #[prop(into)]
    scene: Signal<Arc<Scene>>,
    /// What it shows, in words.
    #[prop(into)]
    label: Signal<String>,
    /// Class of the canvas.
    #[prop(optional)]
    class: &'static str,
) -> impl IntoView {
    let ctx = Ctx::get();
    let Ratio(ratio) = expect_context::<Ratio>();
    let CanvasFonts(fonts) = expect_context::<CanvasFonts>();
    let canvas = NodeRef::<Canvas>::new();
    // Painted at once: an answer that comes before the end of a frame is in that frame. What did not change costs
    // little, since images are kept.
    effect(move || {
        let Some(canvas) = canvas.get() else { return };
        let (scene, palette, ratio) = (scene.get(), ctx.palette.get(), ratio.get());
        if let Some(context) = fitted(&canvas, scene.width, scene.height, ratio) {
            paint::paint(&context, &scene, &palette, &fonts, ratio);
        }
    });
    view! {
        <canvas
            node_ref=canvas
            class=class
            role="img"
            aria-label=move || label.get()
            style:width=move || format!("{}px", scene.with(|s| s.width))
            style:height=move || format!("{}px", scene.with(|s| s.height))
        ></canvas>
    }
}
