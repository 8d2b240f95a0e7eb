//! Numbers in formulas and beside marks.

use crate::format;

/// A number as one would write it down: all of its digits where they are few (−759.025, 0.5, 2), four significant
/// ones otherwise (15.68).
pub fn brief(x: f64) -> String {
    // Twelve digits: what rounding added to 0.1 + 0.2 is not there.
    let rounded = formats::decimal::parse(&format!("{x:.11e}"));
    let all = format::exact(rounded.unwrap_or(x));
    if all.chars().filter(char::is_ascii_digit).count() <= 6 && !all.contains('e') {
        return all;
    }
    let short = format::short(x);
    let (digits, power) = short
        .split_once('e')
        .map_or((short.as_str(), ""), |(d, e)| (d, e));
    let digits = if digits.contains('.') {
        digits.trim_end_matches('0').trim_end_matches('.')
    } else {
        digits
    };
    if power.is_empty() {
        digits.to_owned()
    } else {
        format!("{digits}e{power}")
    }
}

/// A number that may be small: two decimals, or its leading digits.
pub fn small(x: f64) -> String {
    if x != 0.0 && x.abs() < 0.005 && x.is_finite() {
        format!("{x:.1e}").replace('-', "−")
    } else {
        format::in_cell(x)
    }
}

/// A weight: three decimals, its leading digits where they would all be 0.
pub fn weight(x: f64) -> String {
    if x != 0.0 && x < 0.0005 {
        format!("{x:.0e}").replace('-', "−")
    } else {
        format::fixed(x, 3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_digits_stay_and_many_are_cut() {
        let cases = [
            (-759.025, "−759.025"),
            (-1518.05, "−1518.05"),
            (2.0, "2"),
            (0.1 + 0.2, "0.3"),
            (15.679_123, "15.68"),
            (2.771_96, "2.77196"),
            (0.176_776_695, "0.1768"),
            (1.0 / 3.0, "0.3333"),
            (2.5e-7, "2.5e−7"),
            (1e38, "1e38"),
            (0.0, "0"),
            (f64::NEG_INFINITY, "−∞"),
            (f64::NAN, "–"),
        ];
        for (x, text) in cases {
            assert_eq!(brief(x), text, "{x}");
        }
    }

    #[test]
    fn weights_are_never_0_000() {
        assert_eq!(
            (weight(0.12), weight(6.6e-4), weight(3.2e-5), weight(0.0)),
            ("0.120".into(), "0.001".into(), "3e−5".into(), "0".into())
        );
    }

    #[test]
    fn small_numbers_keep_their_size() {
        assert_eq!(
            (small(0.52), small(-1.2e-5), small(0.0)),
            ("0.52".into(), "−1.2e−5".into(), "0".into())
        );
    }
}
