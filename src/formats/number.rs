//! One number as a reader types it.

use std::fmt;

/// Why a text is not a number. `Display` gives a whole sentence that says what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NumberError {
    /// Nothing but white space.
    Empty,
    /// Not the spelling of a number; the text as it was given, shortened.
    NotANumber(String),
    /// Infinity or NaN in one of their spellings.
    NotFinite(String),
    /// Beyond ±1.8e308.
    TooLarge(String),
    /// Not zero, but so small that float64 would make it zero.
    TooSmall(String),
    /// A comma that may be a decimal sign or group thousands, as in `1,250`: the text and its two readings.
    Ambiguous {
        /// As given.
        text: String,
        /// The comma taken for the decimal sign.
        decimal: String,
        /// The comma taken for a separator of thousands.
        grouped: String,
    },
    /// Groups of thousands, as in `1,250.5` or `1.250,5`.
    Grouped(String),
}

impl fmt::Display for NumberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NumberError::Empty => f.write_str(
                "a number is expected here, and nothing was given. Write 0 if you mean zero.",
            ),
            NumberError::NotANumber(t) => {
                write!(f, "\"{t}\" is not a number. Write 0.5, −2 or 3e−4.")
            }
            NumberError::NotFinite(t) => write!(
                f,
                "\"{t}\" is not a finite number. Write a number up to 1.8e308; to hide a key, use the mask."
            ),
            NumberError::TooLarge(t) => {
                write!(
                    f,
                    "\"{t}\" is beyond the largest float64, 1.8e308. Write a number closer to zero."
                )
            }
            NumberError::TooSmall(t) => {
                write!(
                    f,
                    "\"{t}\" is closer to zero than float64 can hold (5e−324). Write 0 or a larger number."
                )
            }
            NumberError::Ambiguous {
                text,
                decimal,
                grouped,
            } => {
                write!(
                    f,
                    "\"{text}\" can mean {decimal} or {grouped}. Write one of these two."
                )
            }
            NumberError::Grouped(t) => {
                write!(
                    f,
                    "\"{t}\" is not a number that is sure to be understood. Write it without separators of thousands, as 1250.5."
                )
            }
        }
    }
}

impl std::error::Error for NumberError {}

/// What a comma between digits means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Comma {
    /// The decimal sign, always.
    Decimal,
    /// The decimal sign, but refused where it may group thousands (`1,250`).
    DecimalIfSure,
}

/// Reads a number: `0.5`, `.5`, `5.`, `-2`, `−2` (the true minus), `+1`, `3e-4`, `3E−4`, and `0,5` where the comma can only be the
/// decimal sign. White space around it is ignored. The result is finite and correctly rounded.
///
/// Fails with a sentence for everything else, `inf`, `nan`, `1e999` and `1e-999` included.
pub fn parse(text: &str) -> Result<f64, NumberError> {
    parse_with(text, Comma::DecimalIfSure)
}

pub(crate) fn parse_with(text: &str, comma: Comma) -> Result<f64, NumberError> {
    let text = trim(text);
    if text.is_empty() {
        return Err(NumberError::Empty);
    }
    // No spelling of a float64 needs more; a longer text is not worth copying.
    if text.len() > 2000 {
        return Err(NumberError::NotANumber(shorten(text)));
    }
    let plain: String = text
        .chars()
        .map(|c| if is_minus(c) { '-' } else { c })
        .collect();
    let plain = match (plain.find(','), comma) {
        (None, _) => plain,
        (Some(at), comma) => decimal_comma(text, &plain, at, comma)?,
    };
    read(text, &plain)
}

/// The rest of the work once the decimal sign is a point.
fn read(text: &str, plain: &str) -> Result<f64, NumberError> {
    let unsigned = plain.strip_prefix(['-', '+']).unwrap_or(plain);
    if !unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.') {
        let names = [
            "inf", "infinity", "nan", "∞", "1.#inf", "#nan", "#num!", "#div/0!",
        ];
        let known = names.iter().any(|name| unsigned.eq_ignore_ascii_case(name));
        return Err(if known {
            NumberError::NotFinite(shorten(text))
        } else {
            NumberError::NotANumber(shorten(text))
        });
    }
    let mantissa = unsigned.split(['e', 'E']).next().unwrap_or_default();
    if mantissa.matches('.').count() > 1 && grouped(mantissa, '.') {
        return Err(NumberError::Grouped(shorten(text)));
    }
    let value =
        crate::decimal::parse(plain).ok_or_else(|| NumberError::NotANumber(shorten(text)))?;
    if !value.is_finite() {
        return Err(NumberError::TooLarge(shorten(text)));
    }
    if value == 0.0 && mantissa.contains(|c: char| ('1'..='9').contains(&c)) {
        return Err(NumberError::TooSmall(shorten(text)));
    }
    Ok(value)
}

/// Turns the comma at `at` into a point, or says why not.
fn decimal_comma(text: &str, plain: &str, at: usize, comma: Comma) -> Result<String, NumberError> {
    let (head, tail) = (&plain[..at], &plain[at + 1..]);
    let body = plain.trim_start_matches(['-', '+']);
    let mantissa = body.split(['e', 'E']).next().unwrap_or_default();
    if !mantissa
        .chars()
        .all(|c| c.is_ascii_digit() || c == ',' || c == '.')
    {
        return Err(NumberError::NotANumber(shorten(text)));
    }
    if tail.contains(',') || mantissa.contains('.') {
        let whole = |s: char| mantissa.split(s).next().unwrap_or_default();
        let looks = grouped(whole('.'), ',') || grouped(whole(','), '.');
        return Err(if looks {
            NumberError::Grouped(shorten(text))
        } else {
            NumberError::NotANumber(shorten(text))
        });
    }
    let decimal = format!("{head}.{tail}");
    let leading = head.trim_start_matches(['-', '+']);
    if comma == Comma::DecimalIfSure
        && tail.len() == 3
        && !leading.starts_with('0')
        && grouped(mantissa, ',')
    {
        let sign = |s: &str| s.replace('-', "−");
        return Err(NumberError::Ambiguous {
            text: shorten(text),
            decimal: sign(&decimal),
            grouped: sign(&format!("{head}{tail}")),
        });
    }
    Ok(decimal)
}

/// Whether `text` is digits in groups of three, as `1,250` or `12.345.678`.
fn grouped(text: &str, separator: char) -> bool {
    let mut groups = text.split(separator);
    let first = groups.next().unwrap_or_default();
    let mut rest = groups.peekable();
    let digits = |g: &str| g.bytes().all(|b| b.is_ascii_digit());
    (1..=3).contains(&first.len())
        && digits(first)
        && rest.peek().is_some()
        && rest.all(|g| g.len() == 3 && digits(g))
}

/// The hyphen-minus is left to the caller; these are the others that stand for a minus in text.
fn is_minus(c: char) -> bool {
    matches!(
        c,
        '\u{2212}' | '\u{2013}' | '\u{2012}' | '\u{2010}' | '\u{2011}' | '\u{FE63}' | '\u{FF0D}'
    )
}

/// White space of any kind, and the invisible marks that editors and spreadsheets leave around a cell.
pub(crate) fn trim(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, '\u{FEFF}' | '\u{200B}' | '\u{200E}' | '\u{200F}' | '\0')
    })
}

/// At most 24 characters, so that a sentence stays a sentence.
pub(crate) fn shorten(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut short: String = chars.by_ref().take(24).collect();
    if chars.next().is_some() {
        short.push('…');
    }
    short
}
