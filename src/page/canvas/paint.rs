//! Puts a [`Scene`] on a canvas: the only code that draws, apart from [`super::chart`]'s plots.

use super::{
    colour::Rgb,
    heat::{Heat, Look, Print},
    images,
    palette::Palette,
    scene::{Anchor, Ink, Mark, Rect, Run, Scene, Type},
};
use crate::format;
use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
};
use web_sys::CanvasRenderingContext2d as Context;

/// Families of the two fonts on canvases, as in `style/tokens.css`.
#[derive(Clone, Debug, PartialEq)]
pub struct Fonts {
    /// Interface.
    pub ui: String,
    /// Variables.
    pub prose: String,
}

/// Draws the whole scene. The context's transform maps device pixels one to one; `ratio` is devicePixelRatio.
pub fn paint(context: &Context, scene: &Scene, palette: &Palette, fonts: &Fonts, ratio: f64) {
    let _ = context.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
    context.clear_rect(
        0.0,
        0.0,
        scene.width * ratio + 1.0,
        scene.height * ratio + 1.0,
    );
    context.set_text_baseline("middle");
    let brush = Brush {
        context,
        palette,
        fonts,
        ratio,
        held: Held::default(),
    };
    for mark in &scene.marks {
        brush.mark(mark);
    }
    context.set_global_alpha(1.0);
}

struct Brush<'a> {
    context: &'a Context,
    palette: &'a Palette,
    fonts: &'a Fonts,
    ratio: f64,
    held: Held,
}

/// What the context was set to last in this picture: setting it to the same again costs more than asking.
#[derive(Default)]
struct Held {
    fill: Cell<Option<Rgb>>,
    font: Cell<Option<Type>>,
    anchor: Cell<Option<Anchor>>,
}

/// Widths of texts that were measured, in parts of a device pixel: few texts come in many pictures.
#[derive(Default)]
struct Measured {
    ratio: f64,
    widths: HashMap<String, usize>,
}

/// Parts of a device pixel.
const PARTS: f64 = 1024.0;
/// Beyond so many the measured widths are forgotten.
const MEASURED: usize = 2000;

thread_local! {
    static MEASURED_WIDTHS: RefCell<Measured> = RefCell::default();
}

/// Texts are measured anew: a font has come.
pub fn forget_widths() {
    MEASURED_WIDTHS.with_borrow_mut(|measured| measured.widths.clear());
}

impl Brush<'_> {
    fn px(&self, x: f64) -> f64 {
        (x * self.ratio).round()
    }

    /// Thickness of at least one device pixel.
    fn thick(&self, width: f64) -> f64 {
        (width * self.ratio).round().max(1.0)
    }

    fn fill_style(&self, colour: Rgb) {
        if self.held.fill.replace(Some(colour)) != Some(colour) {
            self.context.set_fill_style_str(&colour.css());
        }
    }

    fn set_font(&self, font: Type) {
        if self.held.font.replace(Some(font)) != Some(font) {
            self.context.set_font(&self.font(font));
        }
    }

    fn set_anchor(&self, anchor: Anchor) {
        if self.held.anchor.replace(Some(anchor)) != Some(anchor) {
            self.context.set_text_align(match anchor {
                Anchor::Start => "left",
                Anchor::Middle => "center",
                Anchor::End => "right",
            });
        }
    }

    /// Width of a text in CSS pixels.
    fn width(&self, text: &str, font: Type) -> f64 {
        MEASURED_WIDTHS.with_borrow_mut(|measured| {
            if measured.ratio != self.ratio || measured.widths.len() > MEASURED {
                measured.widths.clear();
                measured.ratio = self.ratio;
            }
            let kind = |yes: bool, sign| if yes { sign } else { ' ' };
            let mut key = text.to_owned();
            key.extend([
                char::from(font.size as u8),
                kind(font.bold, 'b'),
                kind(font.variable, 'v'),
                kind(font.italic, 'i'),
            ]);
            let parts = *measured.widths.entry(key).or_insert_with(|| {
                self.set_font(font);
                let width = self.context.measure_text(text);
                let width = width.map_or_else(|_| font.width(text) * self.ratio, |m| m.width());
                (width * PARTS).round() as usize
            });
            parts as f64 / PARTS / self.ratio
        })
    }

    fn mark(&self, mark: &Mark) {
        let c = self.context;
        match mark {
            Mark::Fill { at, ink, alpha } => {
                c.set_global_alpha(*alpha);
                self.fill_style(self.palette.ink(*ink));
                let (x, y) = (self.px(at.x), self.px(at.y));
                c.fill_rect(x, y, self.px(at.right()) - x, self.px(at.bottom()) - y);
                c.set_global_alpha(1.0);
            }
            Mark::Frame {
                at,
                ink,
                width,
                dotted,
            } => self.frame(*at, self.palette.ink(*ink), *width, *dotted),
            Mark::Line {
                points,
                ink,
                width,
                alpha,
                arrow,
            } => {
                c.set_global_alpha(*alpha);
                self.line(points, self.palette.ink(*ink), *width, *arrow);
                c.set_global_alpha(1.0);
            }
            Mark::Disc { x, y, r, ink } => {
                self.fill_style(self.palette.ink(*ink));
                c.begin_path();
                let _ = c.arc(
                    x * self.ratio,
                    y * self.ratio,
                    r * self.ratio,
                    0.0,
                    std::f64::consts::TAU,
                );
                c.fill();
            }
            Mark::Text {
                x,
                y,
                text,
                font,
                ink,
                anchor,
                up,
            } => {
                self.text((*x, *y), text, *font, self.palette.ink(*ink), *anchor, *up);
            }
            Mark::Runs { x, y, runs, anchor } => self.runs((*x, *y), runs, *anchor),
            Mark::Heat(heat) => self.heat(heat),
        }
    }

    fn frame(&self, at: Rect, colour: Rgb, width: f64, dotted: bool) {
        let c = self.context;
        let t = self.thick(width);
        let (x0, y0, x1, y1) = (
            self.px(at.x),
            self.px(at.y),
            self.px(at.right()),
            self.px(at.bottom()),
        );
        if dotted {
            c.set_stroke_style_str(&colour.css());
            c.set_line_width(t);
            let _ = c.set_line_dash(&js_sys::Array::of2(
                &(2.0 * self.ratio).into(),
                &(2.0 * self.ratio).into(),
            ));
            c.stroke_rect(x0 + t / 2.0, y0 + t / 2.0, x1 - x0 - t, y1 - y0 - t);
            let _ = c.set_line_dash(&js_sys::Array::new());
            return;
        }
        self.fill_style(colour);
        c.fill_rect(x0, y0, x1 - x0, t);
        c.fill_rect(x0, y1 - t, x1 - x0, t);
        c.fill_rect(x0, y0, t, y1 - y0);
        c.fill_rect(x1 - t, y0, t, y1 - y0);
    }

    fn line(&self, points: &[(f64, f64)], colour: Rgb, width: f64, arrow: bool) {
        let c = self.context;
        let t = self.thick(width);
        let straight = points
            .windows(2)
            .all(|w| w[0].0 == w[1].0 || w[0].1 == w[1].1);
        if straight {
            // Rectangles on whole pixels: sharp at any ratio.
            self.fill_style(colour);
            let half = (t / 2.0).floor();
            for w in points.windows(2) {
                let (x0, x1) = (self.px(w[0].0.min(w[1].0)), self.px(w[0].0.max(w[1].0)));
                let (y0, y1) = (self.px(w[0].1.min(w[1].1)), self.px(w[0].1.max(w[1].1)));
                if w[0].1 == w[1].1 {
                    c.fill_rect(x0 - half, y0 - half, x1 - x0 + t, t);
                } else {
                    c.fill_rect(x0 - half, y0 - half, t, y1 - y0 + t);
                }
            }
        } else {
            c.set_stroke_style_str(&colour.css());
            c.set_line_width(width * self.ratio);
            c.begin_path();
            for (i, (x, y)) in points.iter().enumerate() {
                let (x, y) = (x * self.ratio, y * self.ratio);
                if i == 0 {
                    c.move_to(x, y)
                } else {
                    c.line_to(x, y)
                }
            }
            c.stroke();
        }
        if arrow && let [.., from, to] = points {
            self.head(*from, *to, colour);
        }
    }

    fn head(&self, from: (f64, f64), to: (f64, f64), colour: Rgb) {
        let c = self.context;
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let len = dx.hypot(dy).max(1e-9);
        let (ux, uy) = (dx / len * self.ratio, dy / len * self.ratio);
        let (x, y) = (self.px(to.0) + 0.5 * ux, self.px(to.1) + 0.5 * uy);
        let (long, wide) = (6.0, 3.0);
        self.fill_style(colour);
        c.begin_path();
        c.move_to(x, y);
        c.line_to(x - long * ux - wide * uy, y - long * uy + wide * ux);
        c.line_to(x - long * ux + wide * uy, y - long * uy - wide * ux);
        c.close_path();
        c.fill();
    }

    fn text(
        &self,
        (x, y): (f64, f64),
        text: &str,
        font: Type,
        colour: Rgb,
        anchor: Anchor,
        up: bool,
    ) {
        let c = self.context;
        self.fill_style(colour);
        self.set_font(font);
        self.set_anchor(anchor);
        let (px, py) = (x * self.ratio, (y * self.ratio).round() + 0.5);
        if up {
            let _ = c.set_transform(0.0, -1.0, 1.0, 0.0, self.px(x) + 0.5, y * self.ratio);
            let _ = c.fill_text(text, 0.0, 0.0);
            let _ = c.set_transform(1.0, 0.0, 0.0, 1.0, 0.0, 0.0);
        } else {
            let _ = c.fill_text(text, px, py);
        }
    }

    fn runs(&self, (x, y): (f64, f64), runs: &[Run], anchor: Anchor) {
        let widths: Vec<f64> = runs
            .iter()
            .map(|run| self.width(&run.text, run.font))
            .collect();
        let whole: f64 = widths.iter().sum();
        let mut at = match anchor {
            Anchor::Start => x,
            Anchor::Middle => x - whole / 2.0,
            Anchor::End => x - whole,
        };
        for (run, width) in runs.iter().zip(widths) {
            let ink = self.palette.ink(run.ink);
            self.text(
                (at, y + run.drop),
                &run.text,
                run.font,
                ink,
                Anchor::Start,
                false,
            );
            at += width;
        }
    }

    fn font(&self, font: Type) -> String {
        let style = if font.variable || font.italic {
            "italic "
        } else {
            ""
        };
        let weight = if font.bold { "600 " } else { "" };
        let family = if font.variable {
            &self.fonts.prose
        } else {
            &self.fonts.ui
        };
        format!("{style}{weight}{:.2}px {family}", font.size * self.ratio)
    }

    fn heat(&self, heat: &Heat) {
        images::with(heat, self.palette, self.ratio, |image, x, y| {
            let _ = self.context.put_image_data(image, x, y);
        });
        if let Some(print) = heat.print {
            self.numbers(heat, print);
        }
    }

    fn numbers(&self, heat: &Heat, print: Print) {
        // Narrow cells: digits a little closer, so that neighbours do not touch. Browsers that cannot, ignore it.
        if heat.cell_w < 38.0 {
            self.spacing(-0.35);
        }
        for row in 0..heat.rows {
            for col in 0..heat.cols {
                let cell = heat.cell(row, col);
                let (value, look) = (heat.value(row, col), heat.look(row, col));
                let text = text_in_cell(value, look, print, cell.w);
                let ground = match look {
                    Look::Plain | Look::Overflow => self.palette.colour(heat.scale, value),
                    _ => self.palette.ink(Ink::Ground),
                };
                if text.is_empty() {
                    continue;
                }
                let colour = self.palette.text_on(ground);
                let at = (cell.x + cell.w / 2.0, cell.y + cell.h / 2.0);
                if matches!(look, Look::Masked | Look::MaskedByHand | Look::Empty) {
                    // A clear patch in the hatch, so that the text can be read.
                    let w = Type::LABEL.width(&text) + 4.0;
                    self.fill_style(ground);
                    self.context.fill_rect(
                        self.px(at.0 - w / 2.0),
                        self.px(at.1 - 7.0),
                        self.px(w),
                        self.px(14.0),
                    );
                }
                self.fill_style(colour);
                self.set_font(Type::LABEL);
                self.set_anchor(Anchor::Middle);
                // A number that is too wide for its cell is set narrower: it never touches its neighbour.
                let (x, y) = (at.0 * self.ratio, (at.1 * self.ratio).round() + 0.5);
                let room = (cell.w - 3.0).max(1.0) * self.ratio;
                let _ = self.context.fill_text_with_max_width(&text, x, y, room);
            }
        }
        self.spacing(0.0);
    }

    fn spacing(&self, px: f64) {
        let value = format!("{:.2}px", px * self.ratio);
        let _ = js_sys::Reflect::set(self.context, &"letterSpacing".into(), &value.into());
    }
}

/// What stands in a cell: the number in the fewest digits that are true and fit, a state's sign otherwise.
pub fn text_in_cell(value: f64, look: Look, print: Print, width: f64) -> String {
    match (print, look) {
        // Nothing depends on a hidden score: the hatch says it.
        (Print::Fine, Look::Masked | Look::MaskedByHand | Look::Empty) => String::new(),
        (Print::Mask, Look::Masked | Look::MaskedByHand) => "−∞".into(),
        (_, Look::Masked | Look::MaskedByHand | Look::Empty | Look::Underflow) => "0".into(),
        (Print::Typed, _) => {
            let all = format::exact(value);
            if Type::LABEL.width(&all) <= width - 2.0 {
                all
            } else {
                format::in_cell(value)
            }
        }
        (Print::Fine, _) => format::fixed(value, 3),
        // A finite stand-in for −∞ as it is set: −1e4.
        (Print::Mask, _) if value.abs() >= 1000.0 => format!("{value:e}").replace('-', "−"),
        (Print::Computed | Print::Mask, _) => format::in_cell(value),
    }
}
