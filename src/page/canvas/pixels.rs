//! A matrix as device pixels: every cell begins and ends on one, at any devicePixelRatio.

use super::{
    colour::Rgb,
    heat::{Heat, Look, Scale},
    palette::Palette,
    scene::Ink,
};

/// An image, RGBA, rows from the top. Gaps between cells are paper.
#[derive(Clone, Debug, PartialEq)]
pub struct Pixels {
    /// Left edge on the canvas, device pixels.
    pub x: i32,
    /// Top edge on the canvas, device pixels.
    pub y: i32,
    /// Width.
    pub w: usize,
    /// Height.
    pub h: usize,
    /// 4·w·h bytes.
    pub rgba: Vec<u8>,
}

/// The cells under each device pixel of one axis.
struct Axis {
    origin: i32,
    /// First and one past the last device pixel of each cell, gap left out, from the origin.
    edges: Vec<(usize, usize)>,
    len: usize,
}

impl Axis {
    fn new(at: f64, pitch: f64, count: usize, ratio: f64) -> Axis {
        let edge = |i: usize| ((at + i as f64 * pitch) * ratio).round() as i32;
        let origin = edge(0);
        let gap = if pitch >= 7.0 {
            ratio.round().max(1.0) as i32
        } else {
            0
        };
        let edges: Vec<(usize, usize)> = (0..count)
            .map(|i| {
                let (a, b) = (edge(i) - origin, edge(i + 1) - origin);
                (a as usize, (b - gap).max(a) as usize)
            })
            .collect();
        let len = edges.last().map_or(0, |e| e.1.max(1));
        Axis { origin, edges, len }
    }

    /// Cells that share a device pixel, for pitches under one device pixel: runs of first and one past the last cell.
    fn runs(&self) -> Vec<(usize, usize, usize, usize)> {
        let mut runs: Vec<(usize, usize, usize, usize)> = Vec::new();
        for (i, &(a, b)) in self.edges.iter().enumerate() {
            let (a, b) = (
                a.min(self.len.saturating_sub(1)),
                b.max(a + 1).min(self.len),
            );
            match runs.last_mut() {
                Some((_, end, from, to))
                    if *from == a
                        && (*to == b || self.edges[*end - 1].0 == self.edges[*end - 1].1) =>
                {
                    *end = i + 1;
                    *to = (*to).max(b);
                }
                _ => runs.push((i, i + 1, a, b)),
            }
        }
        runs
    }
}

struct Art<'a> {
    heat: &'a Heat,
    hatch: Rgb,
    ground: Rgb,
    paper: Rgb,
    ink3: Rgb,
    ink: Rgb,
    unit: usize,
}

/// The pixels of a matrix, on paper. Where several cells share a pixel it shows the largest of them in size.
pub fn render(heat: &Heat, palette: &Palette, ratio: f64) -> Pixels {
    render_rows(heat, palette, ratio, 0..heat.rows).1
}

/// The lines of pixels of some rows of cells, and at which byte of the whole image they begin.
///
/// A line of pixels is made once for each row of cells and copied down; only cells that are not plain are then drawn
/// pixel by pixel.
pub fn render_rows(
    heat: &Heat,
    palette: &Palette,
    ratio: f64,
    wanted: std::ops::Range<usize>,
) -> (usize, Pixels) {
    let xs = Axis::new(heat.x, heat.cell_w, heat.cols, ratio);
    let ys = Axis::new(heat.y, heat.cell_h, heat.rows, ratio);
    let w = xs.len;
    let (cols, mut rows) = (xs.runs(), ys.runs());
    // Rows of cells that share pixels with wanted ones are drawn with them; a gap belongs to the rows above it.
    let first = rows.iter().position(|r| r.1 > wanted.start).unwrap_or(0);
    let last = rows.iter().rposition(|r| r.0 < wanted.end);
    let begin = if first == 0 { 0 } else { rows[first].2 };
    let end = last
        .and_then(|last| rows.get(last + 1))
        .map_or(ys.len, |next| next.2);
    rows.truncate(last.map_or(0, |last| last + 1));
    let art = Art::new(heat, palette, ratio);
    let paper = opaque(art.paper);
    let blank: Vec<u8> = paper.repeat(w);
    let mut rgba: Vec<u8> = Vec::with_capacity(4 * w * (end - begin));
    let mut line = blank.clone();
    let mut odd: Vec<(usize, usize, usize, usize)> = Vec::new();
    for &(r0, r1, top, bottom) in rows.iter().skip(first) {
        while rgba.len() < 4 * w * (top - begin) {
            rgba.extend_from_slice(&blank);
        }
        odd.clear();
        for &(c0, c1, left, right) in &cols {
            let (row, col) = largest(heat, r0..r1, c0..c1);
            let (value, look) = (heat.value(row, col), heat.look(row, col));
            if look == Look::Plain && !heat.scale.clips(value) {
                let colour = opaque(art.faded(palette.colour(heat.scale, value)));
                for pixel in line[4 * left..4 * right].chunks_exact_mut(4) {
                    pixel.copy_from_slice(&colour);
                }
            } else {
                odd.push((row, col, left, right));
            }
        }
        for py in top..bottom {
            let from = rgba.len();
            rgba.extend_from_slice(&line);
            for &(row, col, left, right) in &odd {
                let (value, look) = (heat.value(row, col), heat.look(row, col));
                let base = match look {
                    Look::Plain | Look::Overflow => palette.colour(heat.scale, value),
                    _ => art.ground,
                };
                for px in left..right {
                    let (at, size) = ((px - left, py - top), (right - left, bottom - top));
                    let colour = art.faded(art.pixel(base, value, look, at, size, (px, py)));
                    rgba[from + 4 * px..from + 4 * px + 4].copy_from_slice(&opaque(colour));
                }
            }
        }
    }
    while rgba.len() < 4 * w * (end - begin) {
        rgba.extend_from_slice(&blank);
    }
    let pixels = Pixels {
        x: xs.origin,
        y: ys.origin,
        w,
        h: end - begin,
        rgba,
    };
    (4 * w * begin, pixels)
}

fn opaque(colour: Rgb) -> [u8; 4] {
    let [r, g, b] = colour.0;
    [r, g, b, 255]
}

fn largest(
    heat: &Heat,
    rows: std::ops::Range<usize>,
    cols: std::ops::Range<usize>,
) -> (usize, usize) {
    let first = (rows.start, cols.start);
    if rows.len() <= 1 && cols.len() <= 1 {
        return first;
    }
    let mut best = (first, -1.0);
    for r in rows {
        for c in cols.clone() {
            let size = if matches!(heat.look(r, c), Look::Plain | Look::Overflow) {
                heat.value(r, c).abs()
            } else {
                -0.5
            };
            if size > best.1 {
                best = ((r, c), size);
            }
        }
    }
    best.0
}

impl<'a> Art<'a> {
    fn new(heat: &'a Heat, palette: &Palette, ratio: f64) -> Art<'a> {
        Art {
            heat,
            hatch: palette.ink(Ink::Hatch),
            ground: palette.ink(Ink::Ground),
            paper: palette.ink(Ink::Paper),
            ink3: palette.ink(Ink::Ink3),
            ink: palette.ink(Ink::Ink),
            unit: ratio.round().max(1.0) as usize,
        }
    }

    /// The last numbers, while newer ones are on their way, at 45 % of their colour.
    fn faded(&self, colour: Rgb) -> Rgb {
        if !self.heat.stale {
            return colour;
        }
        let mix = |i: usize| {
            ((u32::from(colour.0[i]) * 45 + u32::from(self.paper.0[i]) * 55) / 100) as u8
        };
        Rgb([mix(0), mix(1), mix(2)])
    }

    /// A pixel of a cell that is not plain. `at` counts from the cell's corner, `global` from the matrix's.
    fn pixel(
        &self,
        base: Rgb,
        value: f64,
        look: Look,
        at: (usize, usize),
        size: (usize, usize),
        global: (usize, usize),
    ) -> Rgb {
        let u = self.unit;
        let small = size.0 < 7 * u || size.1 < 7 * u;
        let period = if small { 4 * u } else { 5 * u };
        let rising = (global.0 + global.1) % period < u;
        let falling = (global.0 + period * 4096 - global.1) % period < u;
        match look {
            Look::Masked | Look::MaskedByHand => {
                let dot = if small { u } else { 3 * u };
                if look == Look::MaskedByHand
                    && at.0 >= u
                    && at.1 >= u
                    && at.0 < u + dot
                    && at.1 < u + dot
                {
                    return self.ink;
                }
                if rising { self.hatch } else { self.ground }
            }
            Look::Empty => {
                if rising || falling {
                    self.hatch
                } else {
                    self.ground
                }
            }
            Look::Underflow => self.underflow(at, size, small),
            Look::Plain | Look::Overflow => {
                if small {
                    return base;
                }
                let corner = 6 * u;
                let above = size.0 - at.0 + at.1 < corner;
                let below = size.1 - at.1 + at.0 < corner;
                let (high, low) = match (look, self.heat.scale) {
                    (Look::Overflow, _) => (true, true),
                    (_, Scale::Weights { .. }) => (true, false),
                    _ => (value > 0.0, value < 0.0),
                };
                if (above && high) || (below && low) {
                    self.paper
                } else {
                    base
                }
            }
        }
    }

    fn underflow(&self, at: (usize, usize), size: (usize, usize), small: bool) -> Rgb {
        let u = self.unit;
        if small {
            let middle = at.0 / u == size.0 / u / 2 && at.1 / u == size.1 / u / 2;
            return if middle { self.ink3 } else { self.ground };
        }
        let edge = at.0 < u || at.1 < u || at.0 + u >= size.0 || at.1 + u >= size.1;
        if edge && ((at.0 + at.1) / (2 * u)).is_multiple_of(2) {
            return self.ink3;
        }
        // ▾ in the bottom right corner.
        let (from_right, from_bottom) = (size.0 - at.0, size.1 - at.1);
        let (half, depth) = (3 * u, 3 * u);
        let centre = 3 * u + half;
        if from_bottom > 3 * u && from_bottom <= 3 * u + depth {
            let reach = from_bottom - 3 * u;
            if from_right.abs_diff(centre) <= reach {
                return self.ink3;
            }
        }
        self.ground
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::palette::tests::theme;
    use std::sync::Arc;

    fn heat(rows: usize, cols: usize, pitch: f64, looks: Vec<Look>) -> Heat {
        Heat {
            x: 10.0,
            y: 20.0,
            cell_w: pitch,
            cell_h: pitch,
            rows,
            cols,
            values: Arc::new(
                (0..rows * cols)
                    .map(|i| i as f64 / (rows * cols) as f64)
                    .collect(),
            ),
            transposed: false,
            looks: Arc::new(looks),
            scale: Scale::Weights {
                max: 1.0,
                root: false,
            },
            print: None,
            stale: false,
        }
    }

    #[test]
    fn cells_begin_on_device_pixels_at_every_ratio() {
        for ratio in [1.0, 1.25, 1.5, 2.0, 3.0] {
            let p = render(&heat(16, 16, 14.0, vec![]), &theme(false), ratio);
            assert_eq!(p.rgba.len(), 4 * p.w * p.h);
            assert!(
                (p.w as f64 - (16.0 * 14.0 - 1.0) * ratio).abs() <= 1.5,
                "{} at {ratio}",
                p.w
            );
            assert_eq!(
                (p.x, p.y),
                ((10.0 * ratio).round() as i32, (20.0 * ratio).round() as i32)
            );
        }
    }

    #[test]
    fn more_cells_than_pixels_show_the_largest() {
        let mut h = heat(512, 512, 0.44, vec![]);
        let mut values = vec![0.0; 512 * 512];
        values[100 * 512 + 301] = 1.0;
        h.values = Arc::new(values);
        let p = render(&h, &theme(false), 1.0);
        assert!(p.w <= 226 && p.w >= 224, "{}", p.w);
        let end = theme(false).colour(h.scale, 1.0);
        assert!(
            p.rgba.chunks(4).any(|c| c[..3] == end.0),
            "the one large weight is seen"
        );
    }

    #[test]
    fn some_rows_are_those_of_the_whole() {
        for (rows, pitch, ratio) in [
            (9, 14.0, 1.0),
            (9, 5.3, 1.5),
            (60, 0.7, 1.0),
            (60, 0.7, 2.0),
        ] {
            let looks = (0..rows * 7)
                .map(|i| {
                    if i % 5 == 0 {
                        Look::Masked
                    } else {
                        Look::Plain
                    }
                })
                .collect();
            let h = heat(rows, 7, pitch, looks);
            let whole = render(&h, &theme(false), ratio);
            for from in 0..rows {
                for to in [from + 1, from + 3, rows] {
                    let (at, some) = render_rows(&h, &theme(false), ratio, from..to.min(rows));
                    assert!(!some.rgba.is_empty());
                    assert_eq!(some.rgba, whole.rgba[at..at + some.rgba.len()]);
                }
            }
        }
    }

    #[test]
    fn a_row_that_changed_is_all_that_has_to_be_drawn_anew() {
        for (rows, pitch, ratio) in [(9, 14.0, 1.0), (9, 5.3, 1.5), (60, 0.7, 1.0)] {
            let before = heat(rows, 7, pitch, vec![]);
            for row in 0..rows {
                let mut after = before.clone();
                Arc::make_mut(&mut after.values)[row * 7 + 3] = 0.99;
                let mut image = render(&before, &theme(false), ratio).rgba;
                let (at, some) = render_rows(&after, &theme(false), ratio, row..row + 1);
                image[at..at + some.rgba.len()].copy_from_slice(&some.rgba);
                assert_eq!(image, render(&after, &theme(false), ratio).rgba);
            }
        }
    }

    #[test]
    fn each_look_is_told_apart() {
        for (pitch, ratio) in [(14.0, 1.0), (38.0, 2.0), (4.0, 2.0)] {
            let looks = [
                Look::Plain,
                Look::Masked,
                Look::MaskedByHand,
                Look::Empty,
                Look::Underflow,
            ];
            let images: Vec<Vec<u8>> = looks
                .iter()
                .map(|look| {
                    let mut h = heat(1, 1, pitch, vec![*look]);
                    h.values = Arc::new(vec![0.0]);
                    render(&h, &theme(false), ratio).rgba
                })
                .collect();
            for (i, a) in images.iter().enumerate() {
                for (j, b) in images.iter().enumerate().skip(i + 1) {
                    assert_ne!(
                        a, b,
                        "{:?} and {:?} at {pitch} px × {ratio}",
                        looks[i], looks[j]
                    );
                }
            }
        }
    }

    #[test]
    fn a_clipped_number_has_a_cut_corner() {
        let mut h = heat(1, 1, 14.0, vec![]);
        h.values = Arc::new(vec![7.0]);
        h.scale = Scale::Signed { max: 6.0 };
        let cut = render(&h, &theme(false), 1.0);
        h.values = Arc::new(vec![6.0]);
        assert_ne!(cut.rgba, render(&h, &theme(false), 1.0).rgba);
        let corner = 4 * (cut.w - 1);
        assert_eq!(cut.rgba[corner..corner + 3], theme(false).ink(Ink::Paper).0);
    }
}
