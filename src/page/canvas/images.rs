//! The images of matrices, kept: a pointer that moves over the picture makes none of them anew, and an edit makes anew
//! only the rows of cells that it changed.

use super::{
    heat::Heat,
    palette::Palette,
    pixels::{self, Pixels},
};
use js_sys::Uint8ClampedArray;
use std::{cell::RefCell, sync::Arc};
use web_sys::ImageData;

/// How many are kept: those of two pictures.
const KEPT: usize = 16;
/// Smaller matrices are drawn faster than found.
const WORTH: usize = 256;

struct Entry {
    /// What the image shows. Holds the numbers, so that their address is theirs alone.
    heat: Heat,
    ratio: f64,
    image: ImageData,
    /// The bytes of the image itself.
    bytes: Uint8ClampedArray,
    at: (f64, f64),
}

impl Entry {
    fn new(heat: &Heat, palette: &Palette, ratio: f64) -> Option<Entry> {
        let pixels = pixels::render(heat, palette, ratio);
        // A copy of its own: an image made over the wasm memory would show whatever comes to lie there later.
        let bytes = Uint8ClampedArray::from(&pixels.rgba[..]);
        let size = (pixels.w as u32, pixels.h as u32);
        let image = ImageData::new_with_js_u8_clamped_array_and_sh(&bytes, size.0, size.1).ok()?;
        Some(Entry {
            heat: heat.clone(),
            ratio,
            image,
            bytes,
            at: (f64::from(pixels.x), f64::from(pixels.y)),
        })
    }

    /// Whether a matrix of the same size, colours and place is shown, whatever its numbers.
    fn fits(&self, heat: &Heat, ratio: f64) -> bool {
        let (a, b) = (&self.heat, heat);
        self.ratio == ratio
            && (a.x, a.y, a.cell_w, a.cell_h) == (b.x, b.y, b.cell_w, b.cell_h)
            && (a.rows, a.cols, a.transposed, a.stale) == (b.rows, b.cols, b.transposed, b.stale)
            && a.scale == b.scale
            && (a.values.len(), a.looks.len()) == (b.values.len(), b.looks.len())
    }

    /// Takes over what a matrix of the same size, colours and place shows otherwise.
    fn follow(&mut self, heat: &Heat, palette: &Palette) {
        if let Some((first, last)) = changed_rows(&self.heat, heat) {
            let (from, Pixels { rgba, .. }) =
                pixels::render_rows(heat, palette, self.ratio, first..last + 1);
            let from = from as u32;
            self.bytes
                .subarray(from, from + rgba.len() as u32)
                .copy_from(&rgba);
        }
        self.heat.values = heat.values.clone();
        self.heat.looks = heat.looks.clone();
    }
}

/// The first and the last row of cells in which two matrices of the same size differ.
fn changed_rows(a: &Heat, b: &Heat) -> Option<(usize, usize)> {
    let mut rows = None::<(usize, usize)>;
    let mut differs = |i: usize| {
        let row = if b.transposed {
            i % b.rows.max(1)
        } else {
            i / b.cols.max(1)
        };
        let (first, last) = rows.unwrap_or((row, row));
        rows = Some((first.min(row), last.max(row)));
    };
    if !Arc::ptr_eq(&a.values, &b.values) {
        let pairs = a.values.iter().zip(b.values.iter()).enumerate();
        pairs
            .filter(|(_, (x, y))| x != y)
            .for_each(|(i, _)| differs(i));
    }
    if !Arc::ptr_eq(&a.looks, &b.looks) {
        let pairs = a.looks.iter().zip(b.looks.iter()).enumerate();
        pairs
            .filter(|(_, (x, y))| x != y)
            .for_each(|(i, _)| differs(i));
    }
    rows
}

#[derive(Default)]
struct Shelf {
    palette: Option<Palette>,
    entries: Vec<Entry>,
}

thread_local! {
    static SHELF: RefCell<Shelf> = RefCell::default();
}

/// Hands the image of a matrix to `put`, with its place in device pixels.
pub fn with(heat: &Heat, palette: &Palette, ratio: f64, put: impl FnOnce(&ImageData, f64, f64)) {
    if heat.rows * heat.cols < WORTH {
        if let Some(entry) = Entry::new(heat, palette, ratio) {
            put(&entry.image, entry.at.0, entry.at.1);
        }
        return;
    }
    SHELF.with_borrow_mut(|shelf| {
        if shelf.palette.as_ref() != Some(palette) {
            shelf.entries.clear();
            shelf.palette = Some(palette.clone());
        }
        let found = shelf.entries.iter().position(|e| e.fits(heat, ratio));
        if let Some(at) = found {
            // The newest stand last.
            let mut entry = shelf.entries.remove(at);
            entry.follow(heat, palette);
            shelf.entries.push(entry);
        } else if let Some(entry) = Entry::new(heat, palette, ratio) {
            if shelf.entries.len() >= KEPT {
                shelf.entries.remove(0);
            }
            shelf.entries.push(entry);
        } else {
            return;
        }
        if let Some(entry) = shelf.entries.last() {
            put(&entry.image, entry.at.0, entry.at.1);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canvas::heat::{Look, Scale};

    fn heat(transposed: bool) -> Heat {
        Heat {
            x: 3.0,
            y: 4.0,
            cell_w: 9.0,
            cell_h: 8.0,
            rows: 3,
            cols: 4,
            values: Arc::new((0..12).map(f64::from).collect()),
            transposed,
            looks: Arc::new(vec![Look::Plain; 12]),
            scale: Scale::Signed { max: 8.0 },
            print: None,
            stale: false,
        }
    }

    #[test]
    fn what_changed_is_found_row_by_row_of_the_screen() {
        for transposed in [false, true] {
            let before = heat(transposed);
            assert_eq!(changed_rows(&before, &heat(transposed)), None);
            for (row, col) in [(0, 3), (1, 0), (2, 2)] {
                let mut after = heat(transposed);
                let at = after.index(row, col);
                Arc::make_mut(&mut after.values)[at] = -9.0;
                assert_eq!(changed_rows(&before, &after), Some((row, row)));
                let other = after.index(1, 1);
                Arc::make_mut(&mut after.looks)[other] = Look::Masked;
                assert_eq!(
                    changed_rows(&before, &after),
                    Some((row.min(1), row.max(1)))
                );
            }
        }
    }
}
