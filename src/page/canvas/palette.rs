//! The colours of the theme in force, read from the style sheet by name.

use super::{colour::Rgb, heat, scene::Ink};

/// Every colour that canvases use.
#[derive(Clone, Debug, PartialEq)]
pub struct Palette {
    inks: [Rgb; INKS.len()],
    weights: Ramp,
    minus: Ramp,
    plus: Ramp,
}

/// Colours with the names of their properties in `style/tokens.css`.
const INKS: [(Ink, &str); 21] = [
    (Ink::Paper, "--paper"),
    (Ink::Ground, "--ground"),
    (Ink::Ink, "--ink"),
    (Ink::Ink2, "--ink2"),
    (Ink::Ink3, "--ink3"),
    (Ink::Rule, "--rule"),
    (Ink::Q, "--q"),
    (Ink::QText, "--q-text"),
    (Ink::K, "--k"),
    (Ink::KText, "--k-text"),
    (Ink::V, "--v"),
    (Ink::VText, "--v-text"),
    (Ink::A, "--a"),
    (Ink::AText, "--a-text"),
    (Ink::Accent, "--accent"),
    (Ink::Band, "--band"),
    (Ink::Cursor, "--cursor"),
    (Ink::Error, "--error"),
    (Ink::Hatch, "--hatch"),
    (Ink::Plus, "--plus-mid"),
    (Ink::Minus, "--minus-mid"),
];

/// 256 colours from ground to an end.
#[derive(Clone, Debug, PartialEq)]
struct Ramp(Vec<Rgb>);

impl Ramp {
    fn new(ground: Rgb, middle: Rgb, at: f64, end: Rgb) -> Ramp {
        Ramp(
            (0..256)
                .map(|i| {
                    let t = f64::from(i) / 255.0;
                    if t < at {
                        ground.mix(middle, t / at)
                    } else {
                        middle.mix(end, (t - at) / (1.0 - at))
                    }
                })
                .collect(),
        )
    }

    fn at(&self, t: f64) -> Rgb {
        let index = (t.clamp(0.0, 1.0) * 255.0).round() as usize;
        self.0.get(index).copied().unwrap_or_default()
    }
}

impl Palette {
    /// From a look-up of custom properties. A property that is missing or unreadable becomes a middle grey, so that a
    /// broken style sheet shows and does not hide.
    pub fn read(property: impl Fn(&str) -> String) -> Palette {
        let colour = |name: &str| Rgb::parse(&property(name)).unwrap_or(Rgb([128, 128, 128]));
        let ground = colour("--ground");
        Palette {
            inks: INKS.map(|(_, name)| colour(name)),
            weights: Ramp::new(ground, colour("--weight-mid"), 0.45, colour("--weight-end")),
            minus: Ramp::new(ground, colour("--minus-mid"), 0.45, colour("--minus-end")),
            plus: Ramp::new(ground, colour("--plus-mid"), 0.45, colour("--plus-end")),
        }
    }

    /// A colour by its role.
    pub fn ink(&self, ink: Ink) -> Rgb {
        INKS.iter()
            .zip(self.inks)
            .find(|((i, _), _)| *i == ink)
            .map_or(Rgb([128, 128, 128]), |(_, c)| c)
    }

    /// The colour of a place on a scale, −1 to 1.
    pub fn on_scale(&self, scale: heat::Scale, place: f64) -> Rgb {
        match scale {
            heat::Scale::Weights { .. } => self.weights.at(place),
            heat::Scale::Signed { .. } if place < 0.0 => self.minus.at(-place),
            heat::Scale::Signed { .. } => self.plus.at(place),
        }
    }

    /// The colour of a number on a scale.
    pub fn colour(&self, scale: heat::Scale, value: f64) -> Rgb {
        self.on_scale(scale, scale.place(value))
    }

    /// Near-black where it can be read on a cell's colour, else black or white, whichever contrasts more.
    pub fn text_on(&self, cell: Rgb) -> Rgb {
        let (soft, dark, light) = (Rgb([0x14, 0x15, 0x18]), Rgb([0; 3]), Rgb([255; 3]));
        if cell.contrast(soft) >= 4.5 {
            soft
        } else if cell.contrast(dark) >= cell.contrast(light) {
            dark
        } else {
            light
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// The palette of a theme as the style sheet has it.
    pub(crate) fn theme(dark: bool) -> Palette {
        let css = include_str!("../../../style/tokens.css");
        let block = if dark {
            css.split("data-theme=\"dark\"]").last().unwrap()
        } else {
            css.split("@media").next().unwrap()
        };
        Palette::read(|name| {
            let at = block
                .find(&format!("{name}:"))
                .unwrap_or_else(|| panic!("no {name}"));
            block[at + name.len() + 1..]
                .split(';')
                .next()
                .unwrap()
                .to_owned()
        })
    }

    #[test]
    fn text_has_contrast_in_both_themes() {
        for dark in [false, true] {
            let p = theme(dark);
            for ink in [
                Ink::Ink,
                Ink::Ink2,
                Ink::Ink3,
                Ink::QText,
                Ink::KText,
                Ink::VText,
                Ink::AText,
                Ink::Error,
            ] {
                let c = p.ink(ink).contrast(p.ink(Ink::Paper));
                assert!(c >= 4.5, "{ink:?} on paper, dark {dark}: {c:.2}");
            }
            for ink in [Ink::Ink, Ink::Ink2] {
                let c = p.ink(ink).contrast(p.ink(Ink::Band));
                assert!(c >= 4.5, "{ink:?} on the band, dark {dark}: {c:.2}");
            }
        }
    }

    #[test]
    fn numbers_in_cells_have_contrast_everywhere_on_the_scales() {
        for dark in [false, true] {
            let p = theme(dark);
            for scale in [
                heat::Scale::Weights {
                    max: 1.0,
                    root: false,
                },
                heat::Scale::Signed { max: 1.0 },
            ] {
                for i in -100..=100 {
                    let cell = p.on_scale(scale, f64::from(i) / 100.0);
                    let c = cell.contrast(p.text_on(cell));
                    assert!(c >= 4.5, "{scale:?} at {i} %, dark {dark}: {c:.2}");
                }
            }
        }
    }

    #[test]
    fn scales_go_one_way_in_lightness() {
        for dark in [false, true] {
            let p = theme(dark);
            let scale = heat::Scale::Signed { max: 1.0 };
            for sign in [-1.0, 1.0] {
                let steps: Vec<f64> = (0..=20)
                    .map(|i| p.on_scale(scale, sign * f64::from(i) / 20.0).luminance())
                    .collect();
                assert!(
                    steps
                        .windows(2)
                        .all(|w| if dark { w[1] >= w[0] } else { w[1] <= w[0] }),
                    "dark {dark}, sign {sign}: {steps:?}"
                );
            }
        }
    }
}
