//! Errors that teach: what was expected, what came, what to do.

use std::error::Error;
use std::fmt;

/// One thing that is wrong with a [`Config`](crate::Config).
///
/// Its `Display` is a sentence or two: "K/V heads: expected a divisor of 6, got 4. Choose 1, 2, 3 or 6."
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// The field by its name in [`Shape`](crate::Shape) or [`Config`](crate::Config), or a parameter's key: says
    /// where on a form the message belongs.
    pub field: &'static str,
    /// The id of the mask or position scheme whose parameter it is; `None` for a field of the config itself.
    pub scheme: Option<&'static str>,
    /// The field's name in prose.
    pub label: &'static str,
    /// What would have been right, to follow the word "expected".
    pub expected: String,
    /// What came instead, to follow the word "got".
    pub got: String,
    /// What to do, a whole sentence.
    pub hint: String,
}

impl SpecError {
    pub(crate) fn new(field: &'static str, label: &'static str) -> Self {
        Self {
            field,
            scheme: None,
            label,
            expected: String::new(),
            got: String::new(),
            hint: String::new(),
        }
    }

    pub(crate) fn of(mut self, scheme: &'static str) -> Self {
        self.scheme = Some(scheme);
        self
    }

    pub(crate) fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    pub(crate) fn got(mut self, got: impl Into<String>) -> Self {
        self.got = got.into();
        self
    }

    /// A number that came, with an exponent where it would be all zeros.
    pub(crate) fn got_number(self, got: f64) -> Self {
        let text = format!("{got:?}");
        self.got(text.strip_suffix(".0").unwrap_or(&text).replace('-', "−"))
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected {}, got {}.",
            self.label, self.expected, self.got
        )?;
        if self.hint.is_empty() {
            Ok(())
        } else {
            write!(f, " {}", self.hint)
        }
    }
}

impl Error for SpecError {}

/// What is wrong with the numbers given to a valid spec.
#[derive(Clone, Debug, PartialEq)]
pub enum InputError {
    /// A tensor has another number of cells than the shape says.
    Length {
        /// "q", "k", "v", "d_out", "x" or "w".
        tensor: &'static str,
        /// Cells that the shape asks for.
        expected: usize,
        /// Cells that came.
        got: usize,
    },
    /// A cell is NaN or infinite.
    NotFinite {
        /// "q", "k", "v", "d_out", "x" or "w".
        tensor: &'static str,
        /// Index along each axis, outermost first: `[head, row, column]`, or `[row, column]` of a matrix.
        index: Vec<usize>,
        /// The value, `NaN` or ±∞.
        value: f64,
    },
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Length {
                tensor,
                expected,
                got,
            } => {
                write!(
                    f,
                    "{tensor}: expected {expected} numbers, got {got}. Give it the shape that the sizes say."
                )
            }
            Self::NotFinite {
                tensor,
                index,
                value,
            } => {
                let shown = if value.is_nan() {
                    "no number (NaN)"
                } else if *value > 0.0 {
                    "+∞"
                } else {
                    "−∞"
                };
                let at: Vec<String> = index.iter().map(usize::to_string).collect();
                write!(
                    f,
                    "{tensor}[{}]: expected a finite number, got {shown}. Type one.",
                    at.join(", ")
                )
            }
        }
    }
}

impl Error for InputError {}

/// What is wrong with tokens for a [`Cache`](crate::Cache), or with a call on it.
#[derive(Clone, Debug, PartialEq)]
pub enum CacheError {
    /// A tensor has another number of cells than the shape says, or one that is not finite.
    Input(InputError),
    /// There is no room for so many tokens.
    Full {
        /// Tokens that fit in beside those that are there.
        room: usize,
        /// Tokens that came.
        got: usize,
    },
    /// The keys went through another norm or rotation than the call asks for.
    OtherPlaces,
}

impl fmt::Display for CacheError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Full { room, got } => write!(
                f,
                "tokens: expected at most {room}, got {got}. Make a cache of more capacity, or shorten this one."
            ),
            Self::OtherPlaces => f.write_str(
                "k: expected the norm and rotation that the cache's keys went through, got another. Use those of the cache.",
            ),
        }
    }
}

impl Error for CacheError {}

impl From<InputError> for CacheError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}
