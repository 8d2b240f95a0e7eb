//! Parameters of masks and positions as data, so that a menu, a link and the tests read one table.

use crate::error::SpecError;

/// One number or choice that a scheme can be given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Param {
    /// Short name for links and code, unique within its scheme.
    pub key: &'static str,
    /// Name on a form.
    pub label: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// What values it takes.
    pub kind: ParamKind,
    /// Value where none is given; a choice counts its options from 0.
    pub default: f64,
}

/// What values a [`Param`] takes. Limits are inclusive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParamKind {
    /// A whole number.
    Integer {
        /// Least value.
        min: f64,
        /// Greatest value; a scheme may narrow it further by the shape.
        max: f64,
    },
    /// A real number.
    Real {
        /// Least value.
        min: f64,
        /// Greatest value.
        max: f64,
    },
    /// One of these names; its value is its index.
    Choice(&'static [&'static str]),
}

/// A value for a [`Param`]: a number, or the name of a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number; for a choice, the index of the option.
    Number(f64),
    /// The name of an option of a [`ParamKind::Choice`].
    Choice(&'a str),
}

impl From<f64> for Value<'_> {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<i32> for Value<'_> {
    fn from(value: i32) -> Self {
        Self::Number(f64::from(value))
    }
}

impl From<usize> for Value<'_> {
    fn from(value: usize) -> Self {
        Self::Number(value as f64)
    }
}

impl<'a> From<&'a str> for Value<'a> {
    fn from(value: &'a str) -> Self {
        Self::Choice(value)
    }
}

/// Puts `given` into the order of `params`, defaults for the rest.
///
/// Fails where a key is unknown, or a choice has no such name. Ranges are not looked at here but in [`check`].
pub(crate) fn fill(
    owner: &'static str,
    params: &'static [Param],
    given: &[(&str, Value<'_>)],
) -> Result<Vec<f64>, SpecError> {
    let mut values: Vec<f64> = params.iter().map(|p| p.default).collect();
    for &(key, value) in given {
        let Some((param, slot)) = params.iter().zip(&mut values).find(|(p, _)| p.key == key) else {
            let known: Vec<&str> = params.iter().map(|p| p.key).collect();
            return Err(SpecError::new(owner, "parameter")
                .of(owner)
                .expected(if known.is_empty() {
                    "no parameter".to_owned()
                } else {
                    format!("one of {}", known.join(", "))
                })
                .got(format!("“{key}”"))
                .hint("Leave it out, or spell it as listed."));
        };
        *slot = match (value, param.kind) {
            (Value::Number(number), _) => number,
            (Value::Choice(name), ParamKind::Choice(options)) => {
                match options.iter().position(|o| *o == name) {
                    Some(index) => index as f64,
                    None => return Err(bad_choice(owner, param, options, format!("“{name}”"))),
                }
            }
            (Value::Choice(name), _) => {
                return Err(SpecError::new(param.key, param.label)
                    .of(owner)
                    .expected("a number")
                    .got(format!("“{name}”"))
                    .hint("Type a number."));
            }
        };
    }
    Ok(values)
}

/// Every value of `values` that is outside what its parameter takes, in the order of `params`.
pub(crate) fn check(
    owner: &'static str,
    params: &'static [Param],
    values: &[f64],
) -> Vec<SpecError> {
    let mut errors = Vec::new();
    if values.len() != params.len() {
        errors.push(
            SpecError::new(owner, "parameters")
                .of(owner)
                .expected(format!("{} values", params.len()))
                .got(values.len().to_string())
                .hint("Make the entry from the registry's table of parameters."),
        );
        return errors;
    }
    for (param, &value) in params.iter().zip(values) {
        let (min, max, what) = match param.kind {
            ParamKind::Integer { min, max } => (min, max, "a whole number"),
            ParamKind::Real { min, max } => (min, max, "a number"),
            ParamKind::Choice(options) => {
                if value.fract() != 0.0 || !(0.0..options.len() as f64).contains(&value) {
                    errors.push(bad_choice(owner, param, options, format!("option {value}")));
                }
                continue;
            }
        };
        let whole = !matches!(param.kind, ParamKind::Integer { .. }) || value.fract() == 0.0;
        if !(min..=max).contains(&value) || !whole {
            errors.push(
                SpecError::new(param.key, param.label)
                    .of(owner)
                    .expected(format!("{what} from {min} to {max}"))
                    .got_number(value)
                    .hint(format!("The usual value is {}.", param.default)),
            );
        }
    }
    errors
}

fn bad_choice(owner: &'static str, param: &Param, options: &[&str], got: String) -> SpecError {
    SpecError::new(param.key, param.label)
        .of(owner)
        .expected(format!("one of {}", options.join(", ")))
        .got(got)
        .hint("Choose one of these.")
}
