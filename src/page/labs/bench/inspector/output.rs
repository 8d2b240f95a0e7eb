//! The output of a row among the values that it mixes.

use super::{facts::Shown, plane::Plane};
use crate::{
    canvas::scene::{Anchor, Ink, Mark, Rect, Scene, Type},
    order,
};

/// Values that get a name.
const MOST_NAMES: usize = 6;

/// Values lighter than this have no line to the output.
const LINE: f64 = 0.02;

#[derive(Clone)]
struct Point {
    x: f64,
    y: f64,
    r: f64,
    key: usize,
    weight: f64,
}

/// Values as points sized by weight, lines to the output, names of the heaviest.
pub fn scene(shown: &Shown, plane: &Plane, width: f64, height: f64) -> Scene {
    let mut scene = Scene::new(width, height);
    let weights = shown.weights_of(shown.query());
    let places: Vec<(f64, f64)> = (0..shown.n_k())
        .map(|k| plane.place(shown.value(k)))
        .collect();
    let out = plane.place(shown.out());
    // With a sink, or in a row that sees nothing, the output can leave the hull of the values, towards the origin.
    let origin = plane.place(&vec![0.0; plane.width()]);
    let sinks = shown.sink().is_some() || shown.sees_nothing();
    let all = places
        .iter()
        .copied()
        .chain(sinks.then_some(origin))
        .chain([out]);
    let Some(map) = fit(all, width, height) else {
        return scene;
    };
    let points: Vec<Point> = places
        .iter()
        .zip(weights)
        .enumerate()
        .map(|(key, (place, weight))| {
            let (x, y) = map(*place);
            Point {
                x,
                y,
                r: (1.3 + 13.0 * weight.powf(0.75)).min(9.0),
                key,
                weight: *weight,
            }
        })
        .collect();
    let (ox, oy) = map(out);
    if plane.directions() > 1 {
        let places: Vec<(f64, f64)> = points.iter().map(|p| (p.x, p.y)).collect();
        let hull = hull(&places);
        if hull.len() > 2 {
            let closed: Vec<(f64, f64)> = hull.iter().chain(hull.first()).copied().collect();
            scene.line(&closed, Ink::Rule, 1.0);
        }
    } else {
        scene.line(&[(8.0, oy), (width - 8.0, oy)], Ink::Rule, 1.0);
    }
    let points = order::sorted(&points, &|a, b| {
        b.weight.total_cmp(&a.weight).then(a.key.cmp(&b.key))
    });
    for p in points.iter().rev().filter(|p| p.weight >= LINE) {
        let width = (0.5 + 7.0 * p.weight).min(4.0);
        scene.marks.push(Mark::Line {
            points: vec![(ox, oy), (p.x, p.y)],
            ink: Ink::A,
            width,
            alpha: 1.0,
            arrow: false,
        });
    }
    for p in points.iter().rev() {
        scene.marks.push(Mark::Disc {
            x: p.x,
            y: p.y,
            r: p.r + 1.0,
            ink: Ink::Paper,
        });
        scene.marks.push(Mark::Disc {
            x: p.x,
            y: p.y,
            r: p.r,
            ink: Ink::V,
        });
    }
    scene.marks.push(Mark::Disc {
        x: ox,
        y: oy,
        r: 6.5,
        ink: Ink::Paper,
    });
    scene.marks.push(Mark::Disc {
        x: ox,
        y: oy,
        r: 5.0,
        ink: Ink::Ink,
    });
    names(&mut scene, shown, &points, (ox, oy));
    scene
}

/// From places in the plane to places on the picture, one unit as long in both directions.
fn fit(
    places: impl Iterator<Item = (f64, f64)>,
    width: f64,
    height: f64,
) -> Option<impl Fn((f64, f64)) -> (f64, f64)> {
    let (mut lo, mut hi) = (
        (f64::INFINITY, f64::INFINITY),
        (f64::NEG_INFINITY, f64::NEG_INFINITY),
    );
    for (x, y) in places.filter(|(x, y)| x.is_finite() && y.is_finite()) {
        lo = (lo.0.min(x), lo.1.min(y));
        hi = (hi.0.max(x), hi.1.max(y));
    }
    if !(lo.0.is_finite() && hi.0.is_finite()) {
        return None;
    }
    // Room for names at the sides, for discs above and below.
    let (mx, my) = ((width * 0.2).min(60.0), 11.0);
    let (w, h) = (hi.0 / 2.0 - lo.0 / 2.0, hi.1 / 2.0 - lo.1 / 2.0);
    let unit = ((width / 2.0 - mx) / w).min((height / 2.0 - my) / h);
    let unit = if unit.is_finite() { unit } else { 0.0 };
    let middle = (lo.0 / 2.0 + hi.0 / 2.0, lo.1 / 2.0 + hi.1 / 2.0);
    Some(move |(x, y): (f64, f64)| {
        let on = |p: f64, m: f64, size: f64, sign: f64| {
            let at = size / 2.0 + sign * (p - m) * unit;
            if at.is_finite() {
                at.clamp(4.0, size - 4.0)
            } else {
                size / 2.0
            }
        };
        (on(x, middle.0, width, 1.0), on(y, middle.1, height, -1.0))
    })
}

/// The convex hull, by Andrew's monotone chain.
fn hull(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut points = order::sorted(points, &|a, b| {
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    });
    points.dedup();
    if points.len() < 3 {
        return points;
    }
    let half = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut chain: Vec<(f64, f64)> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..] {
                if (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    let mut all = half(&mut points.iter().copied());
    all.extend(half(&mut points.iter().rev().copied()));
    all
}

/// Names of the heaviest values and of the one looked at, where there is room.
fn names(scene: &mut Scene, shown: &Shown, points: &[Point], (ox, oy): (f64, f64)) {
    let variable = Type::VARIABLE;
    let frame = Rect::new(0.0, 0.0, scene.width, scene.height);
    let inside = |r: Rect| {
        r.x >= frame.x
            && r.y >= frame.y
            && r.right() <= frame.right()
            && r.bottom() <= frame.bottom()
    };
    let disc = |p: &Point| Rect::new(p.x - p.r, p.y - p.r, 2.0 * p.r, 2.0 * p.r);
    let big: Vec<Rect> = points
        .iter()
        .filter(|p| p.weight >= 0.05)
        .map(disc)
        .collect();
    let small: Vec<Rect> = points
        .iter()
        .filter(|p| p.weight < 0.05)
        .map(disc)
        .collect();
    let o = Rect::new(ox - 5.0, oy - 5.0, 10.0, 10.0);
    let mut taken = vec![o];
    // The name of the output, where no line from a heavy value comes in.
    let o_width = variable.width("o");
    let spots = [
        (8.0, 10.0),
        (-8.0 - o_width, 10.0),
        (8.0, -10.0),
        (-8.0 - o_width, -10.0),
        (-o_width / 2.0, 13.0),
        (-o_width / 2.0, -13.0),
    ];
    let free = spots
        .iter()
        .map(|(dx, dy)| Rect::new(ox + dx, oy + dy - 7.0, o_width, 14.0))
        .filter(|r| inside(*r))
        .min_by_key(|r| {
            big.iter().filter(|b| b.overlaps(*r)).count() * 4
                + small.iter().filter(|s| s.overlaps(*r)).count()
        });
    if let Some(r) = free {
        scene.text(r.x, r.y + 7.0, "o", variable, Ink::Ink, Anchor::Start);
        taken.push(r);
    }
    let wanted = points.iter().filter(|p| p.key == shown.key()).chain(
        points
            .iter()
            .filter(|p| p.key != shown.key() && p.weight >= 0.03)
            .take(MOST_NAMES - 1),
    );
    for p in wanted {
        let name = shown.setting.names.value(p.key);
        let here = p.key == shown.key();
        let (w, h) = (name.width(here), 14.0);
        let gap = p.r + 4.0;
        let mut spots = vec![
            Rect::new(p.x + gap, p.y - h / 2.0, w, h),
            Rect::new(p.x - gap - w, p.y - h / 2.0, w, h),
            Rect::new(p.x - w / 2.0, p.y - gap - h + 2.0, w, h),
            Rect::new(p.x - w / 2.0, p.y + gap - 2.0, w, h),
            Rect::new(p.x + gap - 2.0, p.y + gap - 4.0, w, h),
            Rect::new(p.x - gap - w + 2.0, p.y + gap - 4.0, w, h),
            Rect::new(p.x + gap - 2.0, p.y - gap - h + 6.0, w, h),
            Rect::new(p.x - gap - w + 2.0, p.y - gap - h + 6.0, w, h),
        ];
        // Away from the output first: there the lines are.
        if p.x < ox {
            spots.swap(0, 1);
        }
        let own = disc(p);
        let best = spots
            .into_iter()
            .filter(|r| inside(*r) && !taken.iter().any(|t| t.overlaps(*r)))
            .filter(|r| !big.iter().any(|b| *b != own && b.overlaps(*r)))
            .min_by_key(|r| {
                let dots = small.iter().filter(|s| **s != own && s.overlaps(*r));
                let lines = points
                    .iter()
                    .filter(|p| p.weight >= LINE && crosses((ox, oy), (p.x, p.y), *r));
                2 * dots.count() + lines.count()
            });
        if let Some(r) = best {
            if small.iter().any(|s| *s != own && s.overlaps(r)) {
                // Where points are many, a name must stay readable over those that it covers.
                let at = Rect::new(r.x - 1.0, r.y, r.w + 2.0, r.h);
                scene.marks.push(Mark::Fill {
                    at,
                    ink: Ink::Paper,
                    alpha: 0.8,
                });
            }
            name.draw(
                scene,
                (r.x, r.y + h / 2.0),
                Anchor::Start,
                Ink::VText,
                here,
                w + 1.0,
            );
            // A letter with an index stands a little higher than a word.
            taken.push(r.grown(1.0));
        }
    }
}

/// Whether a line comes near a rectangle.
fn crosses(from: (f64, f64), to: (f64, f64), rect: Rect) -> bool {
    let beyond = from.0.max(to.0) < rect.x
        || from.0.min(to.0) > rect.right()
        || from.1.max(to.1) < rect.y
        || from.1.min(to.1) > rect.bottom();
    !beyond
        && (1..24).any(|i| {
            let t = f64::from(i) / 24.0;
            rect.contains(from.0 + (to.0 - from.0) * t, from.1 + (to.1 - from.1) * t)
        })
}
