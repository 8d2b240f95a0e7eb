//! Decimal text to float64: to nearest, ties to even, the same bits as `str::parse`.
//!
//! The standard library's reader needs a table of ten kilobytes that no compression makes smaller, and page and engine
//! would load it each. Here a short number takes one exact operation, any other a division of large integers.

use std::cmp::Ordering;

/// The powers of ten that float64 holds exactly.
const POWERS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];
/// Integers of so many digits are exact too.
const SHORT: usize = 15;
/// Halves between two neighbours have 767 digits at most: of what follows only matters whether it is zero.
const DIGITS: usize = 768;

/// Reads what `str::parse::<f64>` reads, `inf` and `nan` included; nothing where that fails.
pub fn parse(text: &str) -> Option<f64> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let is = |name: &str| unsigned.eq_ignore_ascii_case(name);
    let size = if is("inf") || is("infinity") {
        f64::INFINITY
    } else if is("nan") {
        f64::NAN
    } else {
        Decimal::read(unsigned)?.nearest()
    };
    Some(sign * size)
}

/// The integer of these digits, without leading zeros, times ten to a power.
struct Decimal {
    digits: Vec<u8>,
    power: i64,
}

impl Decimal {
    fn read(text: &str) -> Option<Decimal> {
        let (mantissa, power) = match text.split_once(['e', 'E']) {
            Some((mantissa, power)) => (mantissa, exponent(power)?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let all = || whole.bytes().chain(fraction.bytes());
        if all().next().is_none() || !all().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let mut digits: Vec<u8> = all().skip_while(|b| *b == b'0').map(|b| b - b'0').collect();
        let mut power = power - fraction.len() as i64;
        if digits.len() > DIGITS {
            let rest = digits.split_off(DIGITS);
            power += rest.len() as i64;
            if rest.iter().any(|d| *d != 0) {
                digits.push(1);
                power -= 1;
            }
        }
        Some(Decimal { digits, power })
    }

    fn nearest(&self) -> f64 {
        let Decimal { digits, power } = self;
        let size = digits.len() as i64 + power;
        if digits.is_empty() || size < -323 {
            return 0.0;
        }
        if size > 309 {
            return f64::INFINITY;
        }
        let tens = power.unsigned_abs() as usize;
        if let (true, Some(scale)) = (digits.len() <= SHORT, POWERS.get(tens)) {
            let whole = digits.iter().fold(0.0, |n, d| n * 10.0 + f64::from(*d));
            return if *power < 0 {
                whole / scale
            } else {
                whole * scale
            };
        }
        let (mut n, mut m) = (Natural::new(0), Natural::new(1));
        for digit in digits {
            n.times(10, u32::from(*digit));
        }
        let scaled = if *power < 0 { &mut m } else { &mut n };
        (0..tens).for_each(|_| scaled.times(10, 0));
        quotient(n, m)
    }
}

/// A decimal exponent; one that no digits could make up for stays at that.
fn exponent(text: &str) -> Option<i64> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let size = digits.bytes().fold(0, |n: i64, b| {
        (n * 10 + i64::from(b - b'0')).min(i64::MAX / 100)
    });
    Some(sign * size)
}

/// The float64 nearest to n ∕ m, both above 0.
fn quotient(mut n: Natural, mut m: Natural) -> f64 {
    // n ∕ m · 2^exponent with 1 ≤ n ∕ m < 2.
    let mut exponent = n.bits() - m.bits();
    if exponent < 0 {
        n.shift(-exponent);
    } else {
        m.shift(exponent);
    }
    if n.compare(&m) == Ordering::Less {
        n.times(2, 0);
        exponent -= 1;
    }
    if exponent > 1023 {
        return f64::INFINITY;
    }
    // Below the normal numbers fewer bits are kept; it may be none, and then the rest is compared with a half of the
    // least number.
    let kept = 53 + (exponent + 1022).min(0);
    if kept < 0 {
        return 0.0;
    }
    let mut bits = 0_u64;
    for _ in 0..kept {
        bits *= 2;
        if n.compare(&m) != Ordering::Less {
            n.subtract(&m);
            bits += 1;
        }
        n.times(2, 0);
    }
    bits += match n.compare(&m) {
        Ordering::Less => 0,
        Ordering::Equal => bits % 2,
        Ordering::Greater => 1,
    };
    // The first bit, which is not stored, adds 1 to the exponent's field, and so does a carry.
    f64::from_bits(((exponent + 1022).max(0) as u64 * (1 << 52)) + bits)
}

/// A natural number: its words, the least first, the last of them not 0.
struct Natural(Vec<u32>);

impl Natural {
    fn new(n: u32) -> Natural {
        Natural(if n == 0 { vec![] } else { vec![n] })
    }

    fn bits(&self) -> i64 {
        let top = self.0.last().map_or(0, |word| 32 - word.leading_zeros());
        self.0.len().saturating_sub(1) as i64 * 32 + i64::from(top)
    }

    fn times(&mut self, factor: u32, plus: u32) {
        let mut carry = plus;
        for word in &mut self.0 {
            let product = u64::from(*word) * u64::from(factor) + u64::from(carry);
            (*word, carry) = (product as u32, (product >> 32) as u32);
        }
        if carry > 0 {
            self.0.push(carry);
        }
    }

    /// Times two to the power of `by`, which is not negative.
    fn shift(&mut self, by: i64) {
        self.times(1 << (by % 32), 0);
        self.0.splice(0..0, (0..by / 32).map(|_| 0));
    }

    fn compare(&self, other: &Natural) -> Ordering {
        let words = |n: &Natural| n.0.len();
        words(self)
            .cmp(&words(other))
            .then_with(|| self.0.iter().rev().cmp(other.0.iter().rev()))
    }

    /// Takes away a number that is not larger.
    fn subtract(&mut self, other: &Natural) {
        let mut borrow = false;
        for (at, word) in self.0.iter_mut().enumerate() {
            let (less, first) = word.overflowing_sub(other.0.get(at).copied().unwrap_or(0));
            let (less, second) = less.overflowing_sub(u32::from(borrow));
            (*word, borrow) = (less, first || second);
        }
        while self.0.last() == Some(&0) {
            self.0.pop();
        }
    }
}
