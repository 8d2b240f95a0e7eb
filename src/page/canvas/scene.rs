//! A picture as data. Scenes are pure functions of numbers; [`super::paint`] puts them on a canvas.
//!
//! Lengths are CSS pixels, y down. Colours are names of the palette, never values.

use super::heat::Heat;

/// A colour by its role. The palette says what it is in light, dark and forced colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ink {
    /// The page.
    Paper,
    /// Zero.
    Ground,
    /// Text.
    Ink,
    /// Quieter text.
    Ink2,
    /// The quietest text.
    Ink3,
    /// Hairlines.
    Rule,
    /// Queries: brackets and marks, and their text.
    Q,
    /// Text about queries.
    QText,
    /// Keys.
    K,
    /// Text about keys.
    KText,
    /// Values.
    V,
    /// Text about values.
    VText,
    /// Weights.
    A,
    /// Text about weights.
    AText,
    /// The marker.
    Accent,
    /// The marker drawn over a band.
    Band,
    /// Frame of a cursor.
    Cursor,
    /// Error.
    Error,
    /// Hatch of masked cells.
    Hatch,
    /// Positive numbers (middle of the scale).
    Plus,
    /// Negative numbers (middle of the scale).
    Minus,
}

/// How text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Type {
    /// Size in px, never under 12.
    pub size: f64,
    /// Bold.
    pub bold: bool,
    /// Italic serif: a variable. Upright system font otherwise.
    pub variable: bool,
    /// Italic system font: a word that names a mark.
    pub italic: bool,
}

impl Type {
    /// Labels and cells.
    pub const LABEL: Type = Type {
        size: 12.0,
        bold: false,
        variable: false,
        italic: false,
    };
    /// Emphasised labels.
    pub const STRONG: Type = Type {
        bold: true,
        ..Type::LABEL
    };
    /// Titles of matrices.
    pub const TITLE: Type = Type {
        size: 14.0,
        bold: true,
        variable: false,
        italic: false,
    };
    /// Variables.
    pub const VARIABLE: Type = Type {
        size: 14.0,
        bold: false,
        variable: true,
        italic: false,
    };

    /// Width of a text in px, on the safe side of common interface fonts.
    pub fn width(self, text: &str) -> f64 {
        let units: f64 = text
            .chars()
            .map(|c| match c {
                'i' | 'j' | 'l' | '\'' | '.' | ',' | ':' | ';' | '|' | '!' | ' ' => 0.30,
                'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '"' => 0.40,
                'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.90,
                'A'..='Z' => 0.70,
                '0'..='9' => 0.62,
                '₀'..='₉' => 0.42,
                '\u{2003}' => 1.0,
                '−' | '+' | '=' | '×' | '∞' | '·' => 0.64,
                _ => 0.58,
            })
            .sum();
        units * self.size * if self.bold { 1.08 } else { 1.0 }
    }
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// Begins there.
    Start,
    /// Centred there.
    Middle,
    /// Ends there.
    End,
}

/// One thing to draw. Later ones cover earlier ones.
#[derive(Clone, Debug, PartialEq)]
pub enum Mark {
    /// A filled rectangle.
    Fill {
        /// x, y, width, height.
        at: Rect,
        /// Colour.
        ink: Ink,
        /// Opacity.
        alpha: f64,
    },
    /// A frame drawn inside of its rectangle.
    Frame {
        /// x, y, width, height.
        at: Rect,
        /// Colour.
        ink: Ink,
        /// Thickness.
        width: f64,
        /// Dotted.
        dotted: bool,
    },
    /// A polyline.
    Line {
        /// Points.
        points: Vec<(f64, f64)>,
        /// Colour.
        ink: Ink,
        /// Thickness.
        width: f64,
        /// Opacity.
        alpha: f64,
        /// A head at the last point.
        arrow: bool,
    },
    /// A filled disc.
    Disc {
        /// Centre.
        x: f64,
        /// Centre.
        y: f64,
        /// Radius.
        r: f64,
        /// Colour.
        ink: Ink,
    },
    /// Text; its middle line is at y.
    Text {
        /// Where.
        x: f64,
        /// Middle of the line.
        y: f64,
        /// Words.
        text: String,
        /// How it looks.
        font: Type,
        /// Colour.
        ink: Ink,
        /// Which end is at x.
        anchor: Anchor,
        /// Turned a quarter to the left, reading upwards.
        up: bool,
    },
    /// Texts of several kinds in one line, each where the one before ends.
    Runs {
        /// Where the first begins.
        x: f64,
        /// Middle of the line.
        y: f64,
        /// The texts.
        runs: Vec<Run>,
        /// Which end of the whole line is at x.
        anchor: Anchor,
    },
    /// A matrix of cells.
    Heat(Box<Heat>),
}

/// A text of a line, see [`Mark::Runs`].
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Words.
    pub text: String,
    /// How they look.
    pub font: Type,
    /// Colour.
    pub ink: Ink,
    /// Moved down (negative: up), for indices.
    pub drop: f64,
}

impl Run {
    /// A text on the line.
    pub fn new(text: impl Into<String>, font: Type, ink: Ink) -> Run {
        Run {
            text: text.into(),
            font,
            ink,
            drop: 0.0,
        }
    }
}

/// A rectangle.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rect {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// From its numbers.
    pub const fn new(x: f64, y: f64, w: f64, h: f64) -> Rect {
        Rect { x, y, w, h }
    }

    /// Right edge.
    pub fn right(self) -> f64 {
        self.x + self.w
    }

    /// Bottom edge.
    pub fn bottom(self) -> f64 {
        self.y + self.h
    }

    /// Whether a point is inside.
    pub fn contains(self, x: f64, y: f64) -> bool {
        x >= self.x && x < self.right() && y >= self.y && y < self.bottom()
    }

    /// Larger by `d` on each side.
    pub fn grown(self, d: f64) -> Rect {
        Rect::new(self.x - d, self.y - d, self.w + 2.0 * d, self.h + 2.0 * d)
    }

    /// Whether two rectangles share a point inside.
    pub fn overlaps(self, other: Rect) -> bool {
        self.x < other.right()
            && other.x < self.right()
            && self.y < other.bottom()
            && other.y < self.bottom()
    }
}

/// A picture: its size and its marks in drawing order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scene {
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
    /// What to draw.
    pub marks: Vec<Mark>,
}

impl Scene {
    /// An empty picture.
    pub fn new(width: f64, height: f64) -> Scene {
        Scene {
            width,
            height,
            marks: Vec::new(),
        }
    }

    /// A filled rectangle.
    pub fn fill(&mut self, at: Rect, ink: Ink) {
        self.marks.push(Mark::Fill {
            at,
            ink,
            alpha: 1.0,
        });
    }

    /// A frame inside of a rectangle.
    pub fn frame(&mut self, at: Rect, ink: Ink, width: f64) {
        self.marks.push(Mark::Frame {
            at,
            ink,
            width,
            dotted: false,
        });
    }

    /// A line.
    pub fn line(&mut self, points: &[(f64, f64)], ink: Ink, width: f64) {
        self.marks.push(Mark::Line {
            points: points.to_vec(),
            ink,
            width,
            alpha: 1.0,
            arrow: false,
        });
    }

    /// A line with a head.
    pub fn arrow(&mut self, points: &[(f64, f64)], ink: Ink, width: f64) {
        self.marks.push(Mark::Line {
            points: points.to_vec(),
            ink,
            width,
            alpha: 1.0,
            arrow: true,
        });
    }

    /// A text whose middle line is at y; returns its estimated width.
    pub fn text(
        &mut self,
        x: f64,
        y: f64,
        text: impl Into<String>,
        font: Type,
        ink: Ink,
        anchor: Anchor,
    ) -> f64 {
        let text = text.into();
        let width = font.width(&text);
        self.marks.push(Mark::Text {
            x,
            y,
            text,
            font,
            ink,
            anchor,
            up: false,
        });
        width
    }

    /// Several texts in a line.
    pub fn runs(&mut self, x: f64, y: f64, runs: Vec<Run>) {
        self.runs_at(x, y, runs, Anchor::Start);
    }

    /// Several texts in a line that begins, is centred or ends at x.
    pub fn runs_at(&mut self, x: f64, y: f64, runs: Vec<Run>, anchor: Anchor) {
        self.marks.push(Mark::Runs { x, y, runs, anchor });
    }

    /// Where each text stands, estimated: for tests that texts do not run into each other.
    pub fn text_boxes(&self) -> Vec<(Rect, &str)> {
        self.marks
            .iter()
            .filter_map(|mark| match mark {
                Mark::Runs { x, y, runs, anchor } => {
                    let w: f64 = runs.iter().map(|r| r.font.width(&r.text)).sum();
                    let back = match anchor {
                        Anchor::Start => 0.0,
                        Anchor::Middle => w / 2.0,
                        Anchor::End => w,
                    };
                    let h = runs.iter().map(|r| r.font.size).fold(0.0, f64::max);
                    Some((
                        Rect::new(*x - back, y - h / 2.0, w, h),
                        runs.first().map_or("", |r| r.text.as_str()),
                    ))
                }
                Mark::Text {
                    x,
                    y,
                    text,
                    font,
                    anchor,
                    up,
                    ..
                } => {
                    let (w, h) = (font.width(text), font.size);
                    let back = match anchor {
                        Anchor::Start => 0.0,
                        Anchor::Middle => w / 2.0,
                        Anchor::End => w,
                    };
                    let rect = if *up {
                        Rect::new(x - h / 2.0, y - w + back, h, w)
                    } else {
                        Rect::new(x - back, y - h / 2.0, w, h)
                    };
                    Some((rect, text.as_str()))
                }
                _ => None,
            })
            .collect()
    }
}
