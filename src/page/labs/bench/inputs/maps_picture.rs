//! The pixels of the picture of all heads.

use crate::{canvas::colour::Rgb, examples::Maps};

/// Where the maps lie: squares of `pitch` − 1 px with 1 px between them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Grid {
    pub(super) layers: usize,
    pub(super) heads: usize,
    /// From one map to the next, whole CSS px.
    pub(super) pitch: f64,
}

const GAP: f64 = 1.0;

impl Grid {
    /// As large as fits into a width.
    pub(super) fn new(layers: usize, heads: usize, width: f64) -> Grid {
        let pitch = ((width + GAP) / heads.max(1) as f64)
            .floor()
            .clamp(6.0, 33.0);
        Grid {
            layers,
            heads,
            pitch,
        }
    }

    pub(super) fn left(self, index: usize) -> f64 {
        index as f64 * self.pitch
    }

    pub(super) fn middle(self, index: usize) -> f64 {
        self.left(index) + (self.pitch - GAP) / 2.0
    }

    pub(super) fn width(self) -> f64 {
        self.left(self.heads) - GAP
    }

    pub(super) fn height(self) -> f64 {
        self.left(self.layers) - GAP
    }
}

/// Width, height and RGBA of the picture in device pixels; between the maps it is transparent. A pixel that covers
/// several cells shows the largest, so that a single strong weight is never lost.
pub(super) fn pixels(
    maps: &Maps,
    grid: Grid,
    dpr: f64,
    colour: impl Fn(f64) -> Rgb,
) -> (u32, u32, Vec<u8>) {
    let device = |css: f64| (css * dpr).round() as usize;
    let (width, height) = (device(grid.width()), device(grid.height()));
    let mut rgba = vec![0; width * height * 4];
    let ramp: Vec<Rgb> = (0..256).map(|i| colour(f64::from(i) / 255.0)).collect();
    for layer in 0..grid.layers {
        let (top, bottom) = (device(grid.left(layer)), device(grid.left(layer + 1) - GAP));
        for head in 0..grid.heads {
            let (left, right) = (device(grid.left(head)), device(grid.left(head + 1) - GAP));
            for y in top..bottom.min(height) {
                let rows = cells(y - top, bottom - top, maps.side);
                for x in left..right.min(width) {
                    let cols = cells(x - left, right - left, maps.side);
                    let mut weight = 0.0_f64;
                    for row in rows.clone() {
                        for col in cols.clone() {
                            weight = weight.max(maps.weight(layer, head, row, col));
                        }
                    }
                    let Rgb(rgb) = ramp
                        .get((weight * 255.0).round() as usize)
                        .copied()
                        .unwrap_or_default();
                    let at = (y * width + x) * 4;
                    if let Some([r, g, b, a]) = rgba.get_mut(at..at + 4) {
                        [*r, *g, *b] = rgb;
                        *a = 255;
                    }
                }
            }
        }
    }
    (width as u32, height as u32, rgba)
}

/// The cells of `side` that pixel `at` of `size` covers: one where cells are larger than pixels.
fn cells(at: usize, size: usize, side: usize) -> std::ops::Range<usize> {
    let size = size.max(1);
    let from = at * side / size;
    let to = if side > size {
        ((at + 1) * side).div_ceil(size)
    } else {
        from + 1
    };
    from..to.min(side).max(from + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_column_of_the_page_holds_a_pixel_a_weight() {
        let grid = Grid::new(6, 12, 204.0);
        assert_eq!(
            (grid.pitch, grid.width(), grid.height()),
            (17.0, 203.0, 101.0)
        );
        for at in 0..16 {
            assert_eq!(cells(at, 16, 16), at..at + 1);
            assert_eq!(cells(at, 32, 16), at / 2..at / 2 + 1);
        }
    }

    #[test]
    fn no_cell_is_lost_where_pixels_are_larger() {
        for (size, side) in [(16, 18), (16, 30), (12, 16), (6, 30)] {
            let mut seen = vec![false; side];
            for at in 0..size {
                for cell in cells(at, size, side) {
                    seen[cell] = true;
                }
            }
            assert!(seen.iter().all(|s| *s), "{size} pixels, {side} cells");
        }
    }
}
