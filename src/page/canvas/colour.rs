//! Colours and how they mix.

/// An opaque sRGB colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rgb(pub [u8; 3]);

impl Rgb {
    /// From `#rgb`, `#rrggbb`, or `rgb(r, g, b)` as a browser writes it.
    pub fn parse(text: &str) -> Option<Rgb> {
        let text = text.trim();
        if let Some(hex) = text.strip_prefix('#') {
            let digits: Vec<u8> = hex
                .chars()
                .map(|c| c.to_digit(16).map(|d| d as u8))
                .collect::<Option<_>>()?;
            return match digits[..] {
                [r, g, b] => Some(Rgb([r * 17, g * 17, b * 17])),
                [a, b, c, d, e, f] | [a, b, c, d, e, f, _, _] => {
                    Some(Rgb([a * 16 + b, c * 16 + d, e * 16 + f]))
                }
                _ => None,
            };
        }
        let inside = text
            .strip_prefix("rgb")?
            .trim_start_matches('a')
            .strip_prefix('(')?
            .strip_suffix(')')?;
        let mut parts = inside
            .split([',', ' ', '/'])
            .filter(|s| !s.is_empty())
            .map(formats::decimal::parse);
        let mut next = || Some(parts.next()??.round().clamp(0.0, 255.0) as u8);
        Some(Rgb([next()?, next()?, next()?]))
    }

    /// As CSS.
    pub fn css(self) -> String {
        let [r, g, b] = self.0;
        format!("#{r:02x}{g:02x}{b:02x}")
    }

    /// As CSS with an opacity.
    pub fn css_alpha(self, alpha: f64) -> String {
        let [r, g, b] = self.0;
        format!("rgba({r},{g},{b},{alpha:.3})")
    }

    /// Relative luminance (WCAG 2).
    pub fn luminance(self) -> f64 {
        let [r, g, b] = self.0.map(linear);
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Contrast ratio (WCAG 2), 1 to 21.
    pub fn contrast(self, other: Rgb) -> f64 {
        let (a, b) = (self.luminance() + 0.05, other.luminance() + 0.05);
        if a > b { a / b } else { b / a }
    }

    /// Mixed in OKLab (Ottosson 2020): `self` at 0, `other` at 1.
    pub fn mix(self, other: Rgb, t: f64) -> Rgb {
        let (a, b) = (self.oklab(), other.oklab());
        let m = |i: usize| a[i] + (b[i] - a[i]) * t;
        Rgb::from_oklab([m(0), m(1), m(2)])
    }

    fn oklab(self) -> [f64; 3] {
        let [r, g, b] = self.0.map(linear);
        let l = (0.412_221_470_8 * r + 0.536_332_536_3 * g + 0.051_445_992_9 * b).cbrt();
        let m = (0.211_903_498_2 * r + 0.680_699_545_1 * g + 0.107_396_956_6 * b).cbrt();
        let s = (0.088_302_461_9 * r + 0.281_718_837_6 * g + 0.629_978_700_5 * b).cbrt();
        [
            0.210_454_255_3 * l + 0.793_617_785_0 * m - 0.004_072_046_8 * s,
            1.977_998_495_1 * l - 2.428_592_205_0 * m + 0.450_593_709_9 * s,
            0.025_904_037_1 * l + 0.782_771_766_2 * m - 0.808_675_766_0 * s,
        ]
    }

    fn from_oklab([l, a, b]: [f64; 3]) -> Rgb {
        let x = (l + 0.396_337_777_4 * a + 0.215_803_757_3 * b).powi(3);
        let y = (l - 0.105_561_345_8 * a - 0.063_854_172_8 * b).powi(3);
        let z = (l - 0.089_484_177_5 * a - 1.291_485_548_0 * b).powi(3);
        Rgb([
            gamma(4.076_741_662_1 * x - 3.307_711_591_3 * y + 0.230_969_929_2 * z),
            gamma(-1.268_438_004_6 * x + 2.609_757_401_1 * y - 0.341_319_396_5 * z),
            gamma(-0.004_196_086_3 * x - 0.703_418_614_7 * y + 1.707_614_701_0 * z),
        ])
    }
}

fn linear(c: u8) -> f64 {
    let c = f64::from(c) / 255.0;
    if c <= 0.04045 {
        c / 12.92
    } else {
        ((c + 0.055) / 1.055).powf(2.4)
    }
}

fn gamma(c: f64) -> u8 {
    let c = if c <= 0.003_130_8 {
        12.92 * c
    } else {
        1.055 * c.powf(1.0 / 2.4) - 0.055
    };
    (c * 255.0).round().clamp(0.0, 255.0) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_read_and_written() {
        assert_eq!(
            Rgb::parse("#0072B2").map(Rgb::css).as_deref(),
            Some("#0072b2")
        );
        assert_eq!(Rgb::parse("rgb(1, 2, 3)"), Some(Rgb([1, 2, 3])));
        assert_eq!(Rgb::parse("rgba(1, 2, 3, 0.5)"), Some(Rgb([1, 2, 3])));
        assert_eq!(Rgb::parse("#fff"), Some(Rgb([255; 3])));
        assert_eq!(Rgb::parse("red-ish"), None);
    }

    #[test]
    fn mixing_keeps_the_ends() {
        let (a, b) = (Rgb([12, 200, 40]), Rgb([240, 3, 99]));
        assert_eq!((a.mix(b, 0.0), a.mix(b, 1.0)), (a, b));
    }
}
