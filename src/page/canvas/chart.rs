//! Plots: bars and axis lines drawn by `plotters`. The only place that knows it.
//!
//! A [`Chart`] is data like a [`super::scene::Scene`], in CSS pixels. `plotters` counts in whole pixels, so it gets
//! device pixels: every edge is rounded to one, and bars that touch share theirs. Text stays with the scenes, whose
//! canvas lies on top: `plotters-canvas` measures fonts through the document, which costs a layout for every word.

use super::{
    palette::Palette,
    scene::{Ink, Rect},
};
use plotters::{coord::Shift, prelude::*};

/// A bar from one value to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Left and right edge on the horizontal axis.
    pub x: (f64, f64),
    /// From and to on the vertical axis.
    pub y: (f64, f64),
    /// Colour.
    pub ink: Ink,
}

/// A plot: a rectangle, the ranges that it spans, lines and bars.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// Size of the whole canvas, CSS pixels.
    pub size: (f64, f64),
    /// Where the plot is on it.
    pub at: Rect,
    /// Horizontal range.
    pub x: (f64, f64),
    /// Vertical range, bottom and top.
    pub y: (f64, f64),
    /// Levels with a horizontal line across.
    pub levels: Vec<f64>,
    /// Bars, later ones above.
    pub bars: Vec<Bar>,
    /// Short lines from x to x at a level: joints between bars, the mark at the end.
    pub ticks: Vec<(f64, f64, f64, Ink)>,
}

/// Draws a chart on a plotters area whose pixels are device pixels. Fails where the backend does.
pub fn draw<B: DrawingBackend>(
    area: &DrawingArea<B, Shift>,
    chart: &Chart,
    palette: &Palette,
    ratio: f64,
) -> Result<(), DrawingAreaErrorKind<B::ErrorType>> {
    let px = |x: f64| (x * ratio).round() as i32;
    let (width, height) = area.dim_in_pixel();
    let (left, top) = (px(chart.at.x).max(0), px(chart.at.y).max(0));
    let right = (width as i32 - px(chart.at.right())).max(0);
    let bottom = (height as i32 - px(chart.at.bottom())).max(0);
    let span = |(a, b): (f64, f64)| {
        if a.is_finite() && b.is_finite() && a < b {
            a..b
        } else {
            0.0..1.0
        }
    };
    let (x, y) = (span(chart.x), span(chart.y));
    let mut plot = ChartBuilder::on(area)
        .margin_left(left)
        .margin_right(right)
        .margin_top(top)
        .margin_bottom(bottom)
        .build_cartesian_2d(x.clone(), y.clone())?;
    let style = |ink: Ink| {
        let [r, g, b] = palette.ink(ink).0;
        RGBColor(r, g, b).filled()
    };
    let held = |v: f64| {
        if v.is_finite() {
            v.clamp(y.start, y.end)
        } else {
            y.start
        }
    };
    let thin = ratio.round().max(1.0) as i32;
    // A line is a filled strip: plotters-canvas draws paths between pixels, which blurs them.
    let strip = |x0: f64, x1: f64, level: f64, ink: Ink| {
        EmptyElement::at((x0, held(level)))
            + Rectangle::new(
                [
                    (0, -thin / 2),
                    (length(x1 - x0, &x, chart.at.w * ratio), -thin / 2 + thin),
                ],
                style(ink),
            )
    };
    plot.draw_series(
        chart
            .levels
            .iter()
            .map(|level| strip(x.start, x.end, *level, Ink::Rule)),
    )?;
    plot.draw_series(chart.bars.iter().map(|bar| {
        Rectangle::new(
            [
                (bar.x.0, held(bar.y.0.max(bar.y.1))),
                (bar.x.1, held(bar.y.0.min(bar.y.1))),
            ],
            style(bar.ink),
        )
    }))?;
    plot.draw_series(
        chart
            .ticks
            .iter()
            .map(|(x0, x1, level, ink)| strip(*x0, *x1, *level, *ink)),
    )?;
    area.present()
}

/// Device pixels of a length on the horizontal axis.
fn length(part: f64, all: &std::ops::Range<f64>, pixels: f64) -> i32 {
    (part / (all.end - all.start) * pixels).round().max(1.0) as i32
}

/// Draws a chart on a canvas whose backing store has the chart's size in device pixels.
pub fn on_canvas(
    canvas: web_sys::HtmlCanvasElement,
    chart: &Chart,
    palette: &Palette,
    ratio: f64,
) -> Result<(), String> {
    let backend = plotters_canvas::CanvasBackend::with_canvas_object(canvas)
        .ok_or("this canvas has no 2d context")?;
    let area = backend.into_drawing_area();
    draw(&area, chart, palette, ratio).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests;
