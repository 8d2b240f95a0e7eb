//! The plane in which a row's values spread most: principal components under the row's weights.
//!
//! Values are points v_j, weighted by α_j. The two directions of largest weighted variance span the plane. With the
//! weights of another row the plane stays a plane; what share of that row's spread it shows is worked out anew.

use crate::{order, source::Stream};

/// Two directions in the space of the values, and the middle that they pass through.
#[derive(Clone, Debug, PartialEq)]
pub struct Plane {
    /// Weighted mean of the values, `[d]`.
    middle: Vec<f64>,
    /// One or two orthonormal directions, `[d]` each.
    axes: Vec<Vec<f64>>,
}

/// Directions that are iterated together; two are wanted, more make it converge sooner.
const TOGETHER: usize = 6;
/// Iterations at most. Each shrinks what is foreign by the ratio of the seventh variance to the second.
const ROUNDS: usize = 60;
/// After so many it is asked whether the variances still grow.
const SOME_ROUNDS: usize = 5;

impl Plane {
    /// The plane of `values` `[n, d]` under `weights` `[n]`. Signs are such that the largest component of each direction
    /// is positive, or, where there is a plane `before`, that each points as its predecessor does.
    ///
    /// Where the weights leave a direction open (one key has all the weight), the unweighted spread decides.
    /// `None` where there is no value or a number is not finite.
    pub fn of(values: &[f64], weights: &[f64], d: usize, before: Option<&Plane>) -> Option<Plane> {
        let n = weights.len();
        if d == 0 || n == 0 || values.len() != n * d {
            return None;
        }
        let largest = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        let total: f64 = weights.iter().sum();
        if !largest.is_finite() || !total.is_finite() {
            return None;
        }
        let unit = if largest > 0.0 { largest } else { 1.0 };
        // A trace of equal weights decides what the row's own weights leave open.
        let trace = if total > 0.0 { 1e-9 * total } else { 1.0 } / n as f64;
        let w: Vec<f64> = weights
            .iter()
            .map(|x| (x + trace) / (total + trace * n as f64))
            .collect();
        let middle = mean(values, &w, d);
        let mut points: Vec<f64> = values
            .chunks_exact(d)
            .flat_map(|v| v.iter().zip(&middle).map(|(x, m)| x / unit - m / unit))
            .collect();
        for (point, w) in points.chunks_exact_mut(d).zip(&w) {
            let root = w.sqrt();
            point.iter_mut().for_each(|x| *x *= root);
        }
        let mut axes = principal(&points, d);
        for (i, axis) in axes.iter_mut().enumerate() {
            let like_before = before
                .and_then(|b| b.axes.get(i))
                .filter(|b| b.len() == d)
                .map(|b| dot(b, axis));
            let towards = match like_before {
                Some(likeness) if likeness.abs() > 0.3 => likeness,
                _ => axis.iter().copied().fold(
                    0.0,
                    |m: f64, x| if x.abs() > m.abs() + 1e-12 { x } else { m },
                ),
            };
            if towards < 0.0 {
                axis.iter_mut().for_each(|x| *x = -*x);
            }
        }
        Some(Plane { middle, axes })
    }

    /// Where a value lies in the plane; the second number is 0 where values have one component.
    pub fn place(&self, value: &[f64]) -> (f64, f64) {
        let along = |axis: &Vec<f64>| {
            axis.iter()
                .zip(value)
                .zip(&self.middle)
                .map(|((a, v), m)| a * (v - m))
                .sum()
        };
        (
            self.axes.first().map_or(0.0, along),
            self.axes.get(1).map_or(0.0, along),
        )
    }

    /// Width of the values that it was made for.
    pub fn width(&self) -> usize {
        self.middle.len()
    }

    /// Directions: 1 or 2.
    pub fn directions(&self) -> usize {
        self.axes.len()
    }

    /// The share of the weighted variance of `values` that shows in the plane, 0 to 1. `None` where there is none.
    pub fn share(&self, values: &[f64], weights: &[f64]) -> Option<f64> {
        let d = self.width();
        let total: f64 = weights.iter().sum();
        let unit = values.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        if !(total > 0.0 && unit > 0.0 && unit.is_finite()) || values.len() != weights.len() * d {
            return None;
        }
        let w: Vec<f64> = weights.iter().map(|x| x / total).collect();
        let middle = mean(values, &w, d);
        let (mut all, mut seen) = (0.0, 0.0);
        for (v, w) in values.chunks_exact(d).zip(&w).filter(|(_, w)| **w > 0.0) {
            let away: Vec<f64> = v
                .iter()
                .zip(&middle)
                .map(|(x, m)| x / unit - m / unit)
                .collect();
            all += w * dot(&away, &away);
            seen += self
                .axes
                .iter()
                .map(|a| w * dot(a, &away).powi(2))
                .sum::<f64>();
        }
        (all > 1e-24).then(|| (seen / all).clamp(0.0, 1.0))
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

fn mean(values: &[f64], weights: &[f64], d: usize) -> Vec<f64> {
    let mut mean = vec![0.0; d];
    for (v, w) in values.chunks_exact(d).zip(weights) {
        mean.iter_mut().zip(v).for_each(|(m, x)| *m += w * x);
    }
    mean
}

/// The one or two directions of largest variance of rows `[n, d]` whose mean is 0: orthogonal iteration from a fixed
/// start, then the exact directions within what was found.
fn principal(points: &[f64], d: usize) -> Vec<Vec<f64>> {
    let wanted = d.min(2);
    let together = d.min(TOGETHER);
    let mut stream = Stream::new(1);
    let mut basis: Vec<Vec<f64>> = (0..together).map(|_| stream.normals(d, 1.0)).collect();
    orthonormal(&mut basis);
    let covariance = (points.len() / d > d).then(|| gram(points, d));
    let apply = |x: &[f64]| -> Vec<f64> {
        match &covariance {
            Some(c) => c.chunks_exact(d).map(|row| dot(row, x)).collect(),
            None => {
                let mut y = vec![0.0; d];
                for p in points.chunks_exact(d) {
                    let along = dot(p, x);
                    y.iter_mut().zip(p).for_each(|(y, p)| *y += along * p);
                }
                y
            }
        }
    };
    let within = |basis: &[Vec<f64>]| {
        let images: Vec<Vec<f64>> = basis.iter().map(|b| apply(b)).collect();
        let small: Vec<f64> = basis
            .iter()
            .flat_map(|b| images.iter().map(move |i| dot(b, i)))
            .collect();
        order::sorted(&eigen(&small, together), &|a, b| b.0.total_cmp(&a.0))
    };
    let mut found = within(&basis);
    // Below as many components as directions the basis is all of the space, and turning it changes nothing.
    let rounds = if together < d { ROUNDS } else { 0 };
    for _ in 0..rounds / SOME_ROUNDS {
        for _ in 0..SOME_ROUNDS {
            basis = basis.iter().map(|b| apply(b)).collect();
            orthonormal(&mut basis);
        }
        let seen = |found: &[(f64, Vec<f64>)]| found.iter().take(wanted).map(|e| e.0).sum::<f64>();
        let before = seen(&found);
        found = within(&basis);
        // Variances settle twice as fast as directions.
        if (seen(&found) - before).abs() <= 1e-11 * before.abs() {
            break;
        }
    }
    found
        .iter()
        .take(wanted)
        .map(|(_, mix)| {
            let mut axis = vec![0.0; d];
            for (b, m) in basis.iter().zip(mix) {
                axis.iter_mut().zip(b).for_each(|(a, b)| *a += m * b);
            }
            axis
        })
        .collect()
}

/// Pᵀ·P of rows `[n, d]`.
fn gram(points: &[f64], d: usize) -> Vec<f64> {
    let mut c = vec![0.0; d * d];
    for p in points.chunks_exact(d) {
        for (row, x) in c.chunks_exact_mut(d).zip(p) {
            if *x != 0.0 {
                row.iter_mut().zip(p).for_each(|(c, y)| *c += x * y);
            }
        }
    }
    c
}

/// Gram and Schmidt, twice over. A direction that vanishes is replaced by an axis that is still free.
fn orthonormal(basis: &mut [Vec<f64>]) {
    for i in 0..basis.len() {
        let (done, rest) = basis.split_at_mut(i);
        let Some(b) = rest.first_mut() else { return };
        let mut next_axis = 0;
        loop {
            let before = dot(b, b).sqrt();
            if before > 0.0 {
                b.iter_mut().for_each(|x| *x /= before);
                for _ in 0..2 {
                    for other in done.iter() {
                        let along = dot(other, b);
                        b.iter_mut().zip(other).for_each(|(x, o)| *x -= along * o);
                    }
                }
                let left = dot(b, b).sqrt();
                if left > 1e-10 {
                    b.iter_mut().for_each(|x| *x /= left);
                    break;
                }
            }
            if next_axis >= b.len() {
                break;
            }
            b.iter_mut()
                .enumerate()
                .for_each(|(j, x)| *x = f64::from(u8::from(j == next_axis)));
            next_axis += 1;
        }
    }
}

/// Eigenvalues and eigenvectors of a small symmetric matrix `[m, m]` by Jacobi's rotations.
fn eigen(matrix: &[f64], m: usize) -> Vec<(f64, Vec<f64>)> {
    let mut a = matrix.to_vec();
    let mut v: Vec<f64> = (0..m * m)
        .map(|i| f64::from(u8::from(i % (m + 1) == 0)))
        .collect();
    for _ in 0..30 {
        for p in 0..m {
            for q in p + 1..m {
                let off = (a[p * m + q] + a[q * m + p]) / 2.0;
                if off == 0.0 {
                    continue;
                }
                let theta = (a[q * m + q] - a[p * m + p]) / (2.0 * off);
                let t = if theta.is_finite() {
                    theta.signum() / (theta.abs() + theta.hypot(1.0))
                } else {
                    0.0
                };
                let t = if theta == 0.0 { 1.0 } else { t };
                let c = 1.0 / t.hypot(1.0);
                let s = t * c;
                for k in 0..m {
                    let (x, y) = (a[k * m + p], a[k * m + q]);
                    (a[k * m + p], a[k * m + q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..m {
                    let (x, y) = (a[p * m + k], a[q * m + k]);
                    (a[p * m + k], a[q * m + k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k * m + p], v[k * m + q]);
                    (v[k * m + p], v[k * m + q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (0..m)
        .map(|j| (a[j * m + j], (0..m).map(|k| v[k * m + j]).collect()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_directions_are_those_of_largest_spread() {
        // Spread 3 along (1, 1)/√2 and 1 along (1, −1)/√2, none elsewhere.
        let r = 0.5_f64.sqrt();
        let mut values = Vec::new();
        for (a, b) in [(3.0, 0.0), (-3.0, 0.0), (0.0, 1.0), (0.0, -1.0)] {
            values.extend([r * (a + b), r * (a - b), 5.0]);
        }
        let plane = Plane::of(&values, &[0.25; 4], 3, None).unwrap();
        let (x, y) = plane.place(&values[..3]);
        assert!((x.abs() - 3.0).abs() < 1e-6 && y.abs() < 1e-6, "{x} {y}");
        assert_eq!(
            plane.share(&values, &[0.25; 4]).map(|s| (s * 1e9).round()),
            Some(1e9)
        );
    }

    #[test]
    fn signs_and_places_do_not_depend_on_chance() {
        let mut stream = Stream::new(3);
        let values = stream.normals(20 * 32, 1.0);
        let weights: Vec<f64> = (0..20).map(|_| stream.uniform()).collect();
        let a = Plane::of(&values, &weights, 32, None).unwrap();
        let b = Plane::of(&values, &weights, 32, None).unwrap();
        assert_eq!(a, b);
        let flipped = Plane {
            axes: a
                .axes
                .iter()
                .map(|x| x.iter().map(|y| -y).collect())
                .collect(),
            ..a.clone()
        };
        let c = Plane::of(&values, &weights, 32, Some(&flipped)).unwrap();
        assert!(
            dot(&c.axes[0], &flipped.axes[0]) > 0.99,
            "keeps the side of the plane before"
        );
    }

    #[test]
    fn it_agrees_with_all_eigenvalues() {
        let mut stream = Stream::new(5);
        let (n, d) = (40, 6);
        let values = stream.normals(n * d, 2.0);
        let weights = vec![1.0 / n as f64; n];
        let plane = Plane::of(&values, &weights, d, None).unwrap();
        let middle = mean(&values, &weights, d);
        let centred: Vec<f64> = values
            .chunks(d)
            .flat_map(|v| {
                v.iter()
                    .zip(&middle)
                    .map(|(x, m)| x - m)
                    .collect::<Vec<_>>()
            })
            .collect();
        let mut all: Vec<f64> = eigen(&gram(&centred, d), d)
            .into_iter()
            .map(|e| e.0)
            .collect();
        all.sort_by(|a, b| b.total_cmp(a));
        let share = (all[0] + all[1]) / all.iter().sum::<f64>();
        assert!((plane.share(&values, &weights).unwrap() - share).abs() < 1e-9);
    }

    #[test]
    fn hostile_inputs_give_finite_places_or_none() {
        let far = [1e38, -1e38, 3e38, 0.0];
        let plane = Plane::of(&far, &[1.0, 0.0], 2, None).unwrap();
        assert!(plane.place(&far[..2]).0.is_finite());
        let one = Plane::of(&[4.0, 5.0], &[0.5, 0.5], 1, None).unwrap();
        assert_eq!(one.directions(), 1);
        assert!(
            Plane::of(&[0.0; 6], &[0.0; 3], 2, None).is_some(),
            "all zeros, no weight"
        );
        assert!(Plane::of(&[f64::INFINITY, 0.0], &[1.0], 2, None).is_none());
        assert!(Plane::of(&[], &[], 2, None).is_none());
        assert_eq!(
            plane.share(&[1.0, 2.0], &[1.0]),
            None,
            "one point has no spread"
        );
    }

    #[test]
    fn one_key_with_all_the_weight_still_gives_a_plane() {
        let mut stream = Stream::new(9);
        let values = stream.normals(8 * 16, 1.0);
        let mut weights = vec![0.0; 8];
        weights[3] = 1.0;
        let plane = Plane::of(&values, &weights, 16, None).unwrap();
        let (x, y) = plane.place(&values[3 * 16..4 * 16]);
        assert!(x.hypot(y) < 1e-6, "the key itself is the middle: {x} {y}");
        assert!(
            values
                .chunks(16)
                .map(|v| plane.place(v))
                .any(|(x, y)| x.hypot(y) > 0.5)
        );
    }
}
