//! The line of a slider: where a value lies, which values are marked, and which labels have room.

use crate::canvas::scene::Type;

/// A marked value.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// The value.
    pub value: f64,
    /// Its label, with the marks of [`super::rich`].
    pub label: String,
}

impl Tick {
    /// A tick.
    pub fn new(value: f64, label: impl Into<String>) -> Tick {
        Tick {
            value,
            label: label.into(),
        }
    }
}

/// From a value to its place on the line, 0 to 1, and back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// Value at the left end.
    pub min: f64,
    /// Value at the right end.
    pub max: f64,
    /// Whether equal steps are equal factors; both ends are then above 0.
    pub log: bool,
}

/// A handle this near to a tick, as a part of the line, is on it.
const SNAP: f64 = 0.013;

impl Axis {
    /// Equal steps, equal differences.
    pub const fn linear(min: f64, max: f64) -> Axis {
        Axis {
            min,
            max,
            log: false,
        }
    }

    /// Equal steps, equal factors.
    pub const fn log(min: f64, max: f64) -> Axis {
        Axis {
            min,
            max,
            log: true,
        }
    }

    /// Whether a value is on the line.
    pub fn holds(self, value: f64) -> bool {
        (self.min..=self.max).contains(&value)
    }

    /// Where a value lies; values beyond an end lie at it.
    pub fn place(self, value: f64) -> f64 {
        let t = if !self.log {
            (value - self.min) / (self.max - self.min)
        } else if value <= self.min {
            0.0
        } else {
            (value / self.min).ln() / (self.max / self.min).ln()
        };
        if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) }
    }

    /// The value at a place, with no more digits than the line can tell apart.
    pub fn value(self, place: f64) -> f64 {
        let t = place.clamp(0.0, 1.0);
        let value = if self.log {
            self.min * (self.max / self.min).powf(t)
        } else {
            self.min + t * (self.max - self.min)
        };
        let finest = if self.log {
            value * 0.01
        } else {
            (self.max - self.min) * 0.01
        };
        let digits = (-finest.abs().log10().floor()).clamp(0.0, 17.0) as usize;
        let rounded = formats::decimal::parse(&format!("{value:.digits$}")).unwrap_or(value);
        // −0 is 0 for a reader.
        (rounded + 0.0).clamp(self.min, self.max)
    }

    /// The value at a place, or that of a tick which is hardly to be told from it.
    pub fn snapped(self, place: f64, ticks: &[Tick]) -> f64 {
        ticks
            .iter()
            .map(|tick| ((self.place(tick.value) - place).abs(), tick.value))
            .filter(|(away, _)| *away < SNAP)
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or_else(|| self.value(place), |(_, value)| value)
    }

    /// One step of a key from a value: a hundredth of the line, ten with Shift. Never stands still before an end.
    pub fn step(self, value: f64, count: f64) -> f64 {
        let from = self.place(value);
        let next = self.value(from + count * 0.01);
        if next == value {
            self.value(from + count * 0.02)
        } else {
            next
        }
    }
}

/// Which labels are shown on a line of `width` px: earlier ticks come first, a later one that would run into one
/// already there is left out, and so are ticks beyond the ends.
pub(super) fn labelled(axis: Axis, ticks: &[Tick], width: f64) -> Vec<bool> {
    let extent = |tick: &Tick| {
        let middle = axis.place(tick.value) * width;
        let half = Type::LABEL.width(&super::plain(&tick.label).replace('_', "")) / 2.0;
        (middle - half, middle + half)
    };
    let mut taken: Vec<(f64, f64)> = Vec::new();
    ticks
        .iter()
        .map(|tick| {
            let (from, to) = extent(tick);
            let inside = (axis.min..=axis.max).contains(&tick.value);
            let free = inside && taken.iter().all(|(a, b)| to + 5.0 < *a || from > b + 5.0);
            if free {
                taken.push((from, to));
            }
            free
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCALE: Axis = Axis::log(0.01, 4.0);

    #[test]
    fn places_and_values_agree() {
        for axis in [SCALE, Axis::linear(-4.0, 8.0), Axis::log(1.0, 50.0)] {
            for i in 0..=100 {
                let t = f64::from(i) / 100.0;
                assert!(
                    (axis.place(axis.value(t)) - t).abs() < 0.006,
                    "{axis:?} at {t}"
                );
            }
            assert_eq!((axis.value(0.0), axis.value(1.0)), (axis.min, axis.max));
        }
    }

    #[test]
    fn values_beyond_the_ends_lie_at_them() {
        assert_eq!(SCALE.place(100.0), 1.0);
        assert_eq!(SCALE.place(0.0), 0.0);
        assert_eq!(SCALE.place(-3.0), 0.0);
        assert_eq!(SCALE.place(f64::NAN), 0.0);
    }

    #[test]
    fn a_handle_near_a_tick_is_on_it() {
        let root = 1.0 / 32f64.sqrt();
        let ticks = [Tick::new(root, "1/√32"), Tick::new(1.0, "1")];
        assert_eq!(SCALE.snapped(SCALE.place(root) + 0.01, &ticks), root);
        assert_eq!(SCALE.snapped(SCALE.place(1.0) - 0.01, &ticks), 1.0);
        assert_ne!(SCALE.snapped(SCALE.place(1.0) - 0.05, &ticks), 1.0);
    }

    #[test]
    fn every_step_of_a_key_moves() {
        for axis in [SCALE, Axis::linear(-4.0, 8.0), Axis::log(1.0, 50.0)] {
            let mut value = axis.min;
            let mut steps = 0;
            while value < axis.max {
                let next = axis.step(value, 1.0);
                assert!(next > value, "{axis:?} stands at {value}");
                value = next;
                steps += 1;
                assert!(steps < 200, "{axis:?} does not arrive");
            }
        }
    }

    #[test]
    fn labels_never_run_into_each_other() {
        for d_k in [1u32, 2, 4, 8, 16, 32, 64, 128, 256] {
            let root = 1.0 / f64::from(d_k).sqrt();
            let ticks = [
                Tick::new(root, format!("1/√{d_k}")),
                Tick::new(1.0, "1"),
                Tick::new(0.05, "0.05"),
            ];
            let shown = labelled(SCALE, &ticks, 202.0);
            assert!(shown[0], "1/√{d_k}");
            assert_eq!(shown[1], d_k > 2, "1 beside 1/√{d_k}");
            assert_eq!(shown[2], d_k < 64, "0.05 beside 1/√{d_k}");
        }
    }
}
