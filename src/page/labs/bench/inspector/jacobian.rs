//! The Jacobian of a row of softmax, diag(α) − ααᵀ, and the gradient at its scores beside it.

use super::{digits::small, facts::Shown, names::Name, shapes};
use crate::canvas::{
    heat::{Heat, Look, Print, Scale},
    scene::{Anchor, Ink, Mark, Rect, Scene, Type},
};
use crate::labs::bench::names::fit;
use std::sync::Arc;

/// No entry of a Jacobian of softmax is larger in size than α(1 − α) at α = ½, so colours keep their meaning from row
/// to row, and a saturated row looks empty.
pub const LARGEST_ENTRY: f64 = 0.25;

/// Where the cells are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    /// Left.
    pub x: f64,
    /// Top.
    pub y: f64,
    /// Width of a column.
    pub w: f64,
    /// Height of a row.
    pub h: f64,
    /// Whether numbers stand in the cells, and names beside them.
    pub numbers: bool,
    /// Rows, columns.
    pub n: usize,
}

impl Grid {
    /// The small view in an inspector of this width. With few keys it takes all of the width and has numbers.
    pub fn small(width: f64, n: usize, tokens: bool) -> Grid {
        let names = if tokens { 58.0 } else { 26.0 };
        let w = ((width - names - 6.0) / n as f64).floor().min(56.0);
        if w >= 43.0 {
            return Grid {
                x: names,
                y: 4.0,
                w,
                h: if n <= 5 { 30.0 } else { 24.0 },
                numbers: true,
                n,
            };
        }
        let side = (width * 0.375).floor();
        let cell = side / n as f64;
        let cell = if cell >= 1.0 {
            cell.floor().min(16.0)
        } else {
            cell
        };
        Grid {
            x: 4.0,
            y: 4.0,
            w: cell,
            h: cell,
            numbers: false,
            n,
        }
    }

    /// Where the gradient begins beside a small view without numbers.
    pub fn beside(width: f64) -> f64 {
        if width < 320.0 {
            128.0
        } else {
            (width / 2.0).floor()
        }
    }

    /// The large view, at most `side` wide, with names at its left and above.
    pub fn large(side: f64, n: usize) -> Grid {
        let names = 70.0;
        let cell = ((side - names - 8.0) / n as f64).max(0.1);
        let cell = if cell >= 1.0 {
            cell.floor().min(64.0)
        } else {
            cell
        };
        Grid {
            x: names,
            y: names - 4.0,
            w: cell,
            h: if cell >= 43.0 { cell.min(34.0) } else { cell },
            numbers: cell >= 43.0,
            n,
        }
    }

    /// The whole of it.
    pub fn rect(&self) -> Rect {
        let gap = |pitch: f64| if pitch >= 7.0 { 1.0 } else { 0.0 };
        Rect::new(
            self.x,
            self.y,
            self.w * self.n as f64 - gap(self.w),
            self.h * self.n as f64 - gap(self.h),
        )
    }

    /// Middle of a row.
    pub fn row(&self, row: usize) -> f64 {
        self.y + (row as f64 + 0.5) * self.h
    }

    /// The cell at a point; the nearest where the point is in a gap or just outside.
    pub fn at(&self, x: f64, y: f64) -> Option<(usize, usize)> {
        let place = |p: f64, from: f64, pitch: f64| {
            let i = ((p - from) / pitch).floor();
            (i > -2.0 && i < self.n as f64 + 1.0)
                .then(|| (i.max(0.0) as usize).min(self.n.saturating_sub(1)))
        };
        Some((place(y, self.y, self.h)?, place(x, self.x, self.w)?))
    }
}

/// What each entry is: both keys have to be visible, and none underflowed, for it to be a number.
pub fn looks(row: &[Look]) -> Vec<Look> {
    let plain = |l: Look| matches!(l, Look::Plain | Look::Overflow);
    if row.iter().all(|l| plain(*l)) {
        return Vec::new();
    }
    let strongest = |a: Look, b: Look| {
        let rank = |l| match l {
            Look::Empty => 3,
            Look::Masked | Look::MaskedByHand => 2,
            Look::Underflow => 1,
            Look::Plain | Look::Overflow => 0,
        };
        let l = if rank(a) >= rank(b) { a } else { b };
        if plain(l) { Look::Plain } else { l }
    };
    row.iter()
        .flat_map(|a| row.iter().map(move |b| strongest(*a, *b)))
        .collect()
}

fn heat(shown: &Shown, grid: &Grid) -> Heat {
    Heat {
        x: grid.x,
        y: grid.y,
        cell_w: grid.w,
        cell_h: grid.h,
        rows: grid.n,
        cols: grid.n,
        values: Arc::new(shown.looked().row.jacobian.clone()),
        transposed: false,
        looks: Arc::new(looks(&shown.looks())),
        scale: Scale::Signed { max: LARGEST_ENTRY },
        print: grid.numbers.then_some(Print::Fine),
        stale: false,
    }
}

/// The Jacobian with the row of the looked-at key framed.
pub fn scene(shown: &Shown, grid: &Grid) -> Scene {
    let all = grid.rect();
    let mut scene = Scene::new(all.right() + 5.0, all.bottom() + 5.0);
    scene.marks.push(Mark::Heat(Box::new(heat(shown, grid))));
    shapes::brackets(&mut scene, all, Ink::A);
    if grid.numbers {
        row_names(&mut scene, shown, grid, shown.key());
    }
    frame_row(&mut scene, grid, shown.key());
    scene
}

fn frame_row(scene: &mut Scene, grid: &Grid, row: usize) {
    let all = grid.rect();
    let h = if grid.h < 3.0 { 4.0 } else { grid.h + 1.0 };
    let y = (grid.row(row) - h / 2.0 - if grid.h >= 7.0 { 0.5 } else { 0.0 })
        .clamp(0.0, (scene.height - h).max(0.0));
    scene.frame(Rect::new(all.x - 1.0, y, all.w + 2.0, h), Ink::Cursor, 1.0);
}

fn row_names(scene: &mut Scene, shown: &Shown, grid: &Grid, bold: usize) {
    // Below 13 px only every few rows can have a name.
    let every = (13.0 / grid.h).ceil().max(1.0) as usize;
    for key in (0..grid.n).filter(|k| k % every == 0 || *k == bold) {
        if key != bold && every > 1 && key.abs_diff(bold) < every {
            continue;
        }
        let name = shown.setting.names.key(key);
        let ink = match name {
            Name::Index(..) => Ink::KText,
            Name::Token { .. } => Ink::Ink2,
        };
        let half = 7.0;
        let y = grid.row(key).clamp(half, scene.height - half);
        name.draw(
            scene,
            (grid.x - 8.0, y),
            Anchor::End,
            ink,
            key == bold,
            grid.x - 10.0,
        );
    }
}

fn col_names(scene: &mut Scene, shown: &Shown, grid: &Grid, bold: usize) {
    let every = (15.0 / grid.w).ceil().max(1.0) as usize;
    for key in (0..grid.n).filter(|k| k % every == 0 || *k == bold) {
        if key != bold && every > 1 && key.abs_diff(bold) < every {
            continue;
        }
        let name = shown.setting.names.key(key);
        let x = (grid.x + (key as f64 + 0.5) * grid.w).clamp(8.0, scene.width - 8.0);
        if let Name::Index(..) = name {
            // Two letters wide, they stand upright where there is room for them.
            if grid.w * every as f64 >= name.width(true) + 4.0 || key == bold {
                let x = x.min(scene.width - name.width(true) / 2.0);
                name.draw(
                    scene,
                    (x, grid.y - 14.0),
                    Anchor::Middle,
                    Ink::KText,
                    key == bold,
                    grid.x,
                );
            }
            continue;
        }
        let font = name.font(key == bold);
        let text = fit(&name.to_string(), font, grid.y - 12.0);
        let ink = if key == bold { Ink::Ink } else { Ink::Ink2 };
        scene.marks.push(Mark::Text {
            x,
            y: grid.y - 8.0,
            text,
            font,
            ink,
            anchor: Anchor::Start,
            up: true,
        });
    }
}

/// The large view, with the entry under the cursor framed.
pub fn large(shown: &Shown, grid: &Grid, cursor: Option<(usize, usize)>) -> Scene {
    let (row, col) = cursor.unwrap_or((shown.key(), shown.key()));
    let all = grid.rect();
    let mut scene = Scene::new(all.right() + 6.0, all.bottom() + 6.0);
    scene.marks.push(Mark::Heat(Box::new(heat(shown, grid))));
    shapes::brackets(&mut scene, all, Ink::A);
    row_names(&mut scene, shown, grid, row);
    col_names(&mut scene, shown, grid, col);
    frame_row(&mut scene, grid, row);
    let side = grid.w.max(3.0);
    let cell = Rect::new(
        grid.x + (col as f64 + 0.5) * grid.w - side / 2.0,
        grid.row(row) - grid.h.max(3.0) / 2.0,
        side,
        grid.h.max(3.0),
    );
    scene.frame(cell.grown(1.0), Ink::Cursor, 2.0);
    scene
}

/// The gradient at the scores as bars. With `grid.numbers` one line a key with its number; otherwise the lines are
/// those of the Jacobian beside it, and the two largest are labelled.
pub fn gradient(shown: &Shown, grid: &Grid, width: f64) -> Scene {
    let g = &shown.looked().row.d_scores;
    let largest = g
        .iter()
        .filter(|x| x.is_finite())
        .fold(0.0_f64, |m, x| m.max(x.abs()));
    if grid.numbers {
        gradient_lines(shown, g, largest, width)
    } else {
        gradient_bars(shown, g, largest, grid, width)
    }
}

fn gradient_lines(shown: &Shown, g: &[f64], largest: f64, width: f64) -> Scene {
    let pitch = 18.0;
    let mut scene = Scene::new(width, pitch * g.len() as f64 + 2.0);
    let names = if shown.setting.names.tokens() {
        52.0
    } else {
        20.0
    };
    let number = width - 2.0;
    let axis = ((names + number - 50.0) / 2.0).round();
    let reach = axis - names - 8.0;
    for (k, x) in g.iter().enumerate() {
        let y = pitch * (k as f64 + 0.5) + 1.0;
        bar(&mut scene, axis, y, *x, reach, largest, 9.0);
        let here = k == shown.key();
        let name = shown.setting.names.key(k);
        let ink = if matches!(name, Name::Index(..)) {
            Ink::KText
        } else {
            Ink::Ink2
        };
        name.draw(&mut scene, (names, y), Anchor::End, ink, here, names);
        let font = if here { Type::STRONG } else { Type::LABEL };
        scene.text(
            number,
            y,
            small(*x),
            font,
            if here { Ink::Ink } else { Ink::Ink2 },
            Anchor::End,
        );
    }
    scene.line(&[(axis, 0.0), (axis, scene.height)], Ink::Ink3, 1.0);
    scene
}

fn gradient_bars(shown: &Shown, g: &[f64], largest: f64, grid: &Grid, width: f64) -> Scene {
    let all = grid.rect();
    let mut scene = Scene::new(width, all.bottom() + 5.0);
    let axis = (width * 0.43).round();
    let reach = axis - 6.0;
    let thick = (grid.h - 2.0).clamp(1.0, 9.0);
    for (y, x) in per_pixel(g, grid) {
        bar(&mut scene, axis, y, x, reach, largest, thick);
    }
    scene.line(&[(axis, 0.0), (axis, scene.height)], Ink::Ink3, 1.0);
    let mut order: Vec<usize> = (0..g.len()).filter(|k| g[*k] != 0.0).collect();
    crate::order::sort(&mut order, &|a, b| g[b].abs().total_cmp(&g[a].abs()));
    let bars: Vec<Rect> = scene
        .marks
        .iter()
        .filter_map(|m| match m {
            Mark::Fill { at, .. } => Some(*at),
            _ => None,
        })
        .collect();
    let mut labels: Vec<Rect> = Vec::new();
    for &k in order.iter().take(2) {
        let number = small(g[k]);
        let spare = Type::LABEL.width(&number) + 4.0;
        let wanted = spare + shown.setting.names.key(k).width(k == shown.key());
        let long = (reach * g[k].abs() / largest).min(reach);
        // Across the axis from its bar, or beyond the bar's end; above or below where bars are in the way.
        let across = g[k] < 0.0;
        let beyond = if across {
            axis - long - 6.0
        } else {
            axis + long + 6.0
        };
        let sides = [
            (across, if across { axis + 6.0 } else { axis - 6.0 }),
            (!across, beyond),
        ];
        let spots = [0.0, -7.0, 7.0, -14.0, 14.0, -21.0, 21.0]
            .iter()
            .flat_map(|dy| sides.map(|(right, x)| (right, x, *dy)));
        let best = spots
            .filter_map(|(right, x, dy)| {
                let room = if right { width - x } else { x };
                let w = wanted.min(room);
                let y = grid.row(k) + dy;
                let at = Rect::new(if right { x } else { x - w }, y - 7.0, w, 14.0);
                let free = at.y >= 0.0
                    && at.bottom() <= scene.height
                    && !labels.iter().any(|l| l.overlaps(at));
                let enough = room >= Type::LABEL.width(&number);
                let covered = bars.iter().filter(|b| b.overlaps(at)).count();
                // A cut name is worse than a step aside, a number without its name worse than a long step, and a covered
                // bar worse than all.
                let nameless =
                    if name_fits(&shown.setting.names.key(k), room - spare, k == shown.key()) {
                        0.0
                    } else {
                        6.0
                    };
                let cost = covered as f64 * 10.0 + nameless + (wanted - w) / 8.0 + dy.abs() / 7.0;
                (free && enough).then_some((cost, right, x, y, room, at))
            })
            .min_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((_, right, x, y, room, at)) = best {
            labelled(&mut scene, shown, k, &number, (x, y), right, room);
            labels.push(at);
        }
    }
    scene
}

/// An index is whole or not there; a token may be cut.
fn name_fits(name: &Name, room: f64, bold: bool) -> bool {
    name.width(bold) <= room || (matches!(name, Name::Token { .. }) && room > 24.0)
}

/// A key's name and a number, beginning at x to the right or ending there.
fn labelled(
    scene: &mut Scene,
    shown: &Shown,
    key: usize,
    number: &str,
    (x, y): (f64, f64),
    right: bool,
    room: f64,
) {
    let name = shown.setting.names.key(key);
    let number_width = Type::LABEL.width(number);
    let (gap, bold) = (4.0, key == shown.key());
    let room = room - number_width - gap;
    let fits = name_fits(&name, room, bold);
    if right {
        let w = if fits {
            name.draw(scene, (x, y), Anchor::Start, Ink::Ink2, bold, room) + gap
        } else {
            0.0
        };
        scene.text(x + w, y, number, Type::LABEL, Ink::Ink2, Anchor::Start);
    } else {
        scene.text(x, y, number, Type::LABEL, Ink::Ink2, Anchor::End);
        if fits {
            name.draw(
                scene,
                (x - number_width - gap, y),
                Anchor::End,
                Ink::Ink2,
                bold,
                room,
            );
        }
    }
}

/// One bar a key, or where several share a pixel their largest.
fn per_pixel(g: &[f64], grid: &Grid) -> Vec<(f64, f64)> {
    let mut bars: Vec<(f64, f64)> = Vec::new();
    for (k, x) in g.iter().enumerate() {
        let y = grid.row(k);
        match bars.last_mut() {
            Some((at, last)) if grid.h < 1.0 && at.floor() == y.floor() => {
                if x.abs() > last.abs() {
                    *last = *x;
                }
            }
            _ => bars.push((y, *x)),
        }
    }
    bars
}

fn bar(scene: &mut Scene, axis: f64, y: f64, x: f64, reach: f64, largest: f64, thick: f64) {
    if x == 0.0 || largest == 0.0 {
        return;
    }
    let w = (reach * (x.abs() / largest).min(1.0)).max(0.75);
    let (left, ink) = if x < 0.0 {
        (axis - w, Ink::Minus)
    } else {
        (axis, Ink::Plus)
    };
    scene.fill(Rect::new(left, y - thick / 2.0, w, thick), ink);
}
