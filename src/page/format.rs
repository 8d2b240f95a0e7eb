//! Numbers as the page prints them: true minus, tabular, never NaN.

/// A computed number with `digits` decimals; an exact zero is "0", infinities "∞" and "−∞", and what is no number an
/// en dash.
pub fn fixed(x: f64, digits: usize) -> String {
    if x.is_nan() {
        return "–".into();
    }
    if x.is_infinite() {
        return if x > 0.0 {
            "∞".into()
        } else {
            "−∞".into()
        };
    }
    if x == 0.0 {
        return "0".into();
    }
    if x.abs() >= 1e6 {
        return scientific(x, 2);
    }
    minus(&format!("{x:.digits$}"))
}

/// About four significant digits, for numbers of any size: 0.1768, 15.68, 3.2e−7.
pub fn short(x: f64) -> String {
    let a = x.abs();
    if x == 0.0 || !x.is_finite() {
        fixed(x, 0)
    } else if !(1e-4..1e6).contains(&a) {
        scientific(x, 3)
    } else {
        let digits = (3 - a.log10().floor() as i32).clamp(0, 7) as usize;
        minus(&format!("{x:.digits$}"))
    }
}

/// Exactly where that is short, else four significant digits: for sentences, which name a number that stands elsewhere.
pub fn brief(x: f64) -> String {
    let all = exact(x);
    if all.chars().count() <= 7 {
        all
    } else {
        short(x)
    }
}

/// Two significant digits, for sizes of errors: 3.9e−7.
pub fn rough(x: f64) -> String {
    let a = x.abs();
    if x == 0.0 || !x.is_finite() {
        fixed(x, 0)
    } else if (0.01..1000.0).contains(&a) {
        fixed(x, 2)
    } else {
        scientific(x, 1)
    }
}

/// Every digit that tells the number from its neighbours, with a true minus.
pub fn exact(x: f64) -> String {
    // An exact zero has no sign: −0 says nothing that a reader can use.
    if !x.is_finite() || x == 0.0 {
        return fixed(x, 0);
    }
    let a = x.abs();
    minus(&if !(1e-5..1e15).contains(&a) {
        format!("{x:e}")
    } else {
        format!("{x}")
    })
}

/// Two decimals in a cell where they fit, fewer where the number is long.
pub fn in_cell(x: f64) -> String {
    let a = x.abs();
    if x == 0.0 || !x.is_finite() {
        fixed(x, 0)
    } else if a < 0.005 {
        if x < 0.0 {
            "−0.00".into()
        } else {
            "0.00".into()
        }
    } else if a < 9.995 {
        fixed(x, 2)
    } else if a < 99.95 {
        fixed(x, 1)
    } else if a < 99999.5 {
        fixed(x, 0)
    } else {
        scientific(x, 0)
    }
}

fn scientific(x: f64, digits: usize) -> String {
    // The largest numbers would round up to one that does not exist: 1.8e308, not 2e308.
    let digits = if x.abs() > 9e307 {
        digits.max(1)
    } else {
        digits
    };
    minus(&format!("{x:.digits$e}"))
}

fn minus(text: &str) -> String {
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        assert_eq!(fixed(-0.5, 2), "−0.50");
        assert_eq!(fixed(0.0, 3), "0");
        assert_eq!(fixed(-0.0, 3), "0");
        assert_eq!(fixed(f64::NAN, 3), "–");
        assert_eq!(fixed(f64::NEG_INFINITY, 3), "−∞");
        assert_eq!(short(0.17677669), "0.1768");
        assert_eq!(short(15.679), "15.68");
        assert_eq!(short(-3.2e-7), "−3.200e−7");
        assert_eq!(exact(0.1), "0.1");
        assert_eq!(exact(-0.0), "0");
        assert_eq!(brief(-0.5720310507136737), "−0.5720");
        assert_eq!(brief(-0.25), "−0.25");
        assert_eq!(in_cell(-759.025), "−759");
        assert_eq!(in_cell(2.125), "2.12");
        assert_eq!(in_cell(1e38), "1e38");
    }
}
