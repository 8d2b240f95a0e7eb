//! The reader of decimals against the standard library's.

use formats::decimal::parse;
use proptest::prelude::*;

fn agrees(text: &str) {
    let expected = text.parse::<f64>().ok();
    let got = parse(text);
    // NaN has many spellings in bits.
    let bits = |x: Option<f64>| x.map(|x| if x.is_nan() { u64::MAX } else { x.to_bits() });
    assert_eq!(
        bits(got),
        bits(expected),
        "{text}: {got:?}, not {expected:?}"
    );
}

#[test]
fn edges_are_read_as_the_standard_library_reads_them() {
    for text in [
        "0",
        "-0",
        "+0",
        "00.00",
        "1",
        "-1.5",
        "+2",
        ".5",
        "5.",
        "0.1",
        "1e5",
        "1E+5",
        "1e-5",
        "1e22",
        "1e23",
        "9007199254740993",
        "9007199254740992.99999999999",
        "9007199254740993.0001",
        "4.9406564584124654e-324",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324",
        "1e-323",
        "1e-324",
        "1e-400",
        "0e999999999999999999999",
        "1e999999999999999999999",
        "1e-999999999999999999999",
        "2.2250738585072011e-308",
        "2.2250738585072012e-308",
        "2.2250738585072014e-308",
        "1.7976931348623157e308",
        "1.7976931348623158e308",
        "1.7976931348623159e308",
        "1e308",
        "1e309",
        "123456789012345678901234567890",
        "inf",
        "-inf",
        "Infinity",
        "-INFINITY",
        "nan",
        "-NaN",
        "",
        "+",
        "-",
        ".",
        "e5",
        ".e5",
        "1e",
        "1e+",
        "1.2.3",
        "--1",
        "+-1",
        "1 ",
        " 1",
        "1e5.0",
        "1_000",
        "0x10",
        "infinit",
        "１",
        "1e−5",
    ] {
        agrees(text);
    }
}

/// The digits of `factor` times a power of five.
fn digits(factor: u64, fives: u32) -> String {
    let mut digits: Vec<u64> = factor
        .to_string()
        .bytes()
        .rev()
        .map(|b| u64::from(b - b'0'))
        .collect();
    for _ in 0..fives {
        let mut carry = 0;
        for digit in &mut digits {
            let product = *digit * 5 + carry;
            (*digit, carry) = (product % 10, product / 10);
        }
        if carry > 0 {
            digits.push(carry);
        }
    }
    digits.iter().rev().map(u64::to_string).collect()
}

/// Halfway between two neighbours, all digits written out, and a little more and less.
#[test]
fn halves_go_to_the_even_neighbour() {
    let top = 1_u64 << 52;
    for odd in [1, 3, 5, 2 * top - 1, 2 * top + 1, 4 * top - 1] {
        // odd · 2^-n is odd · 5^n · 10^-n; with n = 1075 that is half of a least number off.
        for n in [1075, 1074, 1000, 60, 1] {
            let half = digits(odd, n);
            agrees(&format!("{half}e-{n}"));
            agrees(&format!("{half}.{}1e-{n}", "0".repeat(2000)));
            let less = half.strip_suffix('5').unwrap();
            agrees(&format!("{less}4{}e-{}", "9".repeat(2000), n + 2000));
        }
    }
}

proptest! {
    #[test]
    fn every_float_comes_back(bits in any::<u64>()) {
        let x = f64::from_bits(bits);
        agrees(&format!("{x:?}"));
        agrees(&format!("{x:e}"));
        agrees(&format!("{x:.40e}"));
    }

    #[test]
    fn any_digits_agree(text in "[+-]?[0-9]{0,25}(\\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?") {
        agrees(&text);
    }

    #[test]
    fn any_text_agrees(text in "[-+.eE0-9infa ]{0,8}") {
        agrees(&text);
    }
}
