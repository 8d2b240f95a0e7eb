//! What a typed number means, and what a step away from it is.

use crate::{
    format,
    text::{t, tf},
};

/// Reads what stands in a field; the sentence to show where it is no number, or no whole one where that is needed.
pub fn read_number(text: &str, integer: bool) -> Result<f64, String> {
    let value = formats::number::parse(text).map_err(|error| match (integer, text.trim()) {
        // The advice for numbers of any kind names fractions.
        (true, "") => t("number-empty-whole").to_owned(),
        (true, got) => tf("number-none-whole", &[("got", &got)]),
        (false, _) => error.to_string(),
    })?;
    if integer && value.fract() != 0.0 {
        let (low, high) = (format::exact(value.floor()), format::exact(value.ceil()));
        return Err(tf(
            "number-whole",
            &[("got", &text.trim()), ("low", &low), ("high", &high)],
        ));
    }
    Ok(value)
}

/// `value` moved by `count` steps within limits. A whole number's step is 1; another's is a tenth of its leading
/// digit's place, so that 0.17 goes to 0.18 and 10000 to 11000, and the result has no more digits than that.
pub fn stepped(value: f64, count: f64, integer: bool, min: f64, max: f64) -> f64 {
    let moved = if integer {
        value.round() + count
    } else {
        let place = if value == 0.0 {
            -1
        } else {
            value.abs().log10().floor() as i32 - 1
        };
        let step = 10f64.powi(place.clamp(-300, 300));
        let moved = value + count * step;
        if moved.abs() < step / 2.0 {
            0.0
        } else {
            decimal(moved, place)
        }
    };
    moved.clamp(min, max)
}

/// Rounded to a decimal place, as the nearest float64 to the decimal number.
fn decimal(x: f64, place: i32) -> f64 {
    let digits = (x.abs().log10().floor() as i32 - place).clamp(0, 17) as usize;
    formats::decimal::parse(&format!("{x:.digits$e}")).unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: (f64, f64) = (f64::NEG_INFINITY, f64::INFINITY);

    #[test]
    fn numbers_are_read_as_the_formats_crate_reads_them() {
        assert_eq!(read_number(" −0,5 ", false), Ok(-0.5));
        assert_eq!(read_number("16", true), Ok(16.0));
        assert!(read_number("0.5x", false).is_err_and(|e| e.contains("0.5x")));
        for odd in ["", "x", "7 or 8"] {
            assert!(
                read_number(odd, true).is_err_and(|e| e.contains("Write 7") && !e.contains("0.5"))
            );
        }
        assert!(read_number("2.5", true).is_err_and(|e| e.contains("2.5")));
    }

    #[test]
    fn steps_follow_the_size_of_the_number() {
        assert_eq!(stepped(0.17, 1.0, false, ALL.0, ALL.1), 0.18);
        assert_eq!(stepped(0.1, -10.0, false, ALL.0, ALL.1), 0.0);
        assert_eq!(stepped(0.0, 1.0, false, ALL.0, ALL.1), 0.1);
        assert_eq!(stepped(0.0, -3.0, false, ALL.0, ALL.1), -0.3);
        assert_eq!(stepped(10000.0, 1.0, false, ALL.0, ALL.1), 11000.0);
        assert_eq!(stepped(1e-6, 1.0, false, ALL.0, ALL.1), 1.1e-6);
        assert_eq!(stepped(1e300, 1.0, false, ALL.0, ALL.1), 1.1e300);
        assert!(stepped(f64::MAX, 10.0, false, -1e30, 1e30) <= 1e30);
    }

    #[test]
    fn whole_numbers_stay_whole_and_within_their_limits() {
        assert_eq!(stepped(16.0, 1.0, true, 1.0, 512.0), 17.0);
        assert_eq!(stepped(1.0, -10.0, true, 1.0, 512.0), 1.0);
        assert_eq!(stepped(509.0, 10.0, true, 1.0, 512.0), 512.0);
    }

    #[test]
    fn many_steps_up_and_down_leave_no_dust() {
        let mut x = 0.1;
        for _ in 0..7 {
            x = stepped(x, 1.0, false, ALL.0, ALL.1);
        }
        assert_eq!(x, 0.17);
    }
}
