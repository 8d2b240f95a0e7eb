//! A [`Config`] as text and back: `h=1&g=1&nq=6&nk=6&dk=4&dv=4&mask=causal(align=top_left)&scale=0.5`.
//!
//! One table, [`PROPERTIES`], says which key stands for what; schemes and their parameters come from the registries of
//! the attention crate, so a new one needs nothing here. The sizes are always written, the rest where it is not at its
//! default. Numbers are the shortest that read back to the same bits. Written text holds nothing that an address would
//! have to escape. Nothing unknown is passed over: what cannot be read is an error that names it.
//!
//! Ranges are not looked at here, for a wish may be anything; `AttentionSpec::new` does.

use crate::drawing;
use attention::masks::{self, MaskUse};
use attention::param::{Param, ParamKind};
use attention::positions::{self, PositionUse};
use attention::{Config, Hidden, Scale, Shape};
use std::fmt;

/// What cannot be read, and what would have been right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionsError {
    /// The key, as it was written.
    pub key: String,
    /// To follow the word "expected".
    pub expected: String,
    /// To follow the word "got".
    pub got: String,
}

impl fmt::Display for OptionsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}: expected {}, got {}. Correct it or leave it out.",
            self.key, self.expected, self.got
        )
    }
}

impl std::error::Error for OptionsError {}

/// One key of the text.
pub struct Property {
    /// The key.
    pub key: &'static str,
    /// The field of [`Config`] or [`Shape`] that it stands for, named as in `SpecError::field`.
    pub field: &'static str,
    /// How often the key has to, and may, come.
    times: Times,
    /// The values to write; none where the field is at its default.
    write: fn(&Config) -> Vec<String>,
    /// Takes one value in, or says what was expected.
    read: fn(&mut Config, &str) -> Result<(), Problem>,
}

impl Property {
    /// Whether it is one of the sizes, which are always written.
    pub fn is_size(&self) -> bool {
        self.times == Times::Once
    }

    /// Whether its key may come more than once: each adds one to a list.
    pub fn is_list(&self) -> bool {
        self.times == Times::Often
    }

    /// Takes one value into a config; a list grows by one. Fails where the value cannot be read, with the config as it
    /// was.
    pub fn take(&self, config: &mut Config, value: &str) -> Result<(), OptionsError> {
        (self.read)(config, value).map_err(|problem| OptionsError {
            key: self.key.to_owned(),
            expected: problem.expected,
            got: quoted(problem.got.as_deref().unwrap_or(value)),
        })
    }
}

impl PartialEq for Property {
    fn eq(&self, other: &Property) -> bool {
        self.key == other.key
    }
}

impl fmt::Debug for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

fn quoted(text: &str) -> String {
    format!("“{text}”")
}

#[derive(Clone, Copy, PartialEq)]
enum Times {
    Once,
    AtMostOnce,
    Often,
}

/// What was expected; and what came, where it is not the whole value.
#[derive(Debug)]
struct Problem {
    expected: String,
    got: Option<String>,
}

impl Problem {
    fn expected(expected: impl Into<String>) -> Self {
        Problem {
            expected: expected.into(),
            got: None,
        }
    }

    fn got(self, got: &str) -> Self {
        Problem {
            got: Some(got.to_owned()),
            ..self
        }
    }
}

macro_rules! size {
    ($key:literal, $field:ident) => {
        Property {
            key: $key,
            field: stringify!($field),
            times: Times::Once,
            write: |c| vec![c.shape.$field.to_string()],
            read: |c, text| {
                c.shape.$field = text
                    .parse()
                    .map_err(|_| Problem::expected("a whole number"))?;
                Ok(())
            },
        }
    };
}

macro_rules! optional_number {
    ($key:literal, $field:ident) => {
        Property {
            key: $key,
            field: stringify!($field),
            times: Times::AtMostOnce,
            write: |c| c.$field.map(number).into_iter().collect(),
            read: |c, text| {
                c.$field = Some(read_number(text)?);
                Ok(())
            },
        }
    };
}

/// Every key, in the order in which they are written.
pub static PROPERTIES: &[Property] = &[
    size!("h", heads),
    size!("g", kv_heads),
    size!("nq", n_q),
    size!("nk", n_k),
    size!("dk", d_k),
    size!("dv", d_v),
    Property {
        key: "scale",
        field: "scale",
        times: Times::AtMostOnce,
        write: |c| match c.scale {
            Scale::InverseSqrt => Vec::new(),
            Scale::Custom(scale) => vec![number(scale)],
        },
        read: |c, text| {
            c.scale = Scale::Custom(read_number(text)?);
            Ok(())
        },
    },
    optional_number!("cap", soft_cap),
    Property {
        key: "mask",
        field: "masks",
        times: Times::Often,
        write: |c| c.masks.iter().map(write_mask).collect(),
        read: |c, text| {
            c.masks.push(read_mask(text)?);
            Ok(())
        },
    },
    Property {
        key: "hidden",
        field: "hidden",
        times: Times::AtMostOnce,
        write: |c| match c.hidden {
            Hidden::NegInfinity => Vec::new(),
            Hidden::Finite(constant) => vec![number(constant)],
        },
        read: |c, text| {
            c.hidden = Hidden::Finite(read_number(text)?);
            Ok(())
        },
    },
    Property {
        key: "pos",
        field: "positions",
        times: Times::Often,
        write: |c| {
            c.positions
                .iter()
                .map(|p| write_use(p.scheme.id, p.scheme.params, &p.values, None))
                .collect()
        },
        read: |c, text| {
            c.positions.push(read_position(text)?);
            Ok(())
        },
    },
    optional_number!("norm", qk_norm),
    Property {
        key: "sink",
        field: "sink",
        times: Times::AtMostOnce,
        write: |c| {
            c.sink
                .iter()
                .map(|s| s.iter().map(|&x| number(x)).collect::<Vec<_>>().join(","))
                .collect()
        },
        read: |c, text| {
            let logits = text
                .split(',')
                .filter(|_| !text.is_empty())
                .map(read_number);
            c.sink = Some(logits.collect::<Result<_, _>>()?);
            Ok(())
        },
    },
];

/// The property of that key.
pub fn by_key(key: &str) -> Option<&'static Property> {
    PROPERTIES.iter().find(|p| p.key == key)
}

/// The keys and values of a config, in the order of [`PROPERTIES`].
pub fn to_pairs(config: &Config) -> Vec<(&'static str, String)> {
    PROPERTIES
        .iter()
        .flat_map(|p| (p.write)(config).into_iter().map(|value| (p.key, value)))
        .collect()
}

/// A config from keys and values. Fails at the first that is unknown, unreadable, missing or there twice.
pub fn from_pairs<'a>(
    pairs: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Result<Config, OptionsError> {
    let mut config = Config::new(Shape::square(0, 0));
    let mut seen = vec![false; PROPERTIES.len()];
    for (key, value) in pairs {
        let Some((property, seen)) = PROPERTIES.iter().zip(&mut seen).find(|(p, _)| p.key == key)
        else {
            let known: Vec<&str> = PROPERTIES.iter().map(|p| p.key).collect();
            let expected = format!("one of the options {}", known.join(", "));
            return Err(OptionsError {
                key: key.to_owned(),
                expected,
                got: quoted(key),
            });
        };
        if std::mem::replace(seen, true) && property.times != Times::Often {
            return Err(OptionsError {
                key: key.to_owned(),
                expected: "it once".into(),
                got: "it twice".into(),
            });
        }
        property.take(&mut config, value)?;
    }
    match PROPERTIES
        .iter()
        .zip(seen)
        .find(|(p, seen)| p.times == Times::Once && !seen)
    {
        Some((missing, _)) => Err(OptionsError {
            key: missing.key.to_owned(),
            expected: "a whole number".into(),
            got: "nothing".into(),
        }),
        None => Ok(config),
    }
}

/// A config as `key=value&key=value`.
///
/// ```
/// use attention::{Config, Shape, masks::MaskUse};
/// let mut config = Config::new(Shape::square(6, 4));
/// config.masks.push(MaskUse::new("causal", &[("prefix", 3.into())])?);
/// config.soft_cap = Some(5.0);
/// let text = protocol::options::to_text(&config);
/// assert_eq!(text, "h=1&g=1&nq=6&nk=6&dk=4&dv=4&cap=5&mask=causal(prefix=3)");
/// assert_eq!(protocol::options::from_text(&text).unwrap(), config);
/// # Ok::<(), attention::SpecError>(())
/// ```
pub fn to_text(config: &Config) -> String {
    let pairs: Vec<String> = to_pairs(config)
        .into_iter()
        .map(|(key, value)| format!("{key}={value}"))
        .collect();
    pairs.join("&")
}

/// A config from what [`to_text`] wrote. Fails as [`from_pairs`] does.
pub fn from_text(text: &str) -> Result<Config, OptionsError> {
    from_pairs(
        text.split('&')
            .map(|pair| pair.split_once('=').unwrap_or((pair, ""))),
    )
}

/// The shortest text that reads back to the same bits: `5`, `0.1`, `1e-6`.
pub fn number(x: f64) -> String {
    let text = format!("{x:?}");
    match text.strip_suffix(".0") {
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

fn read_number(text: &str) -> Result<f64, Problem> {
    formats::decimal::parse(text).ok_or_else(|| Problem::expected("a number").got(text))
}

fn write_mask(m: &MaskUse) -> String {
    write_use(
        m.scheme.id,
        m.scheme.params,
        &m.values,
        m.drawn.as_ref().map(drawing::write),
    )
}

/// `id`, or `id(key=value,key=value)` with what is not at its default.
fn write_use(id: &str, params: &[Param], values: &[f64], drawing: Option<String>) -> String {
    let set = params
        .iter()
        .zip(values)
        .filter(|(p, v)| p.default.to_bits() != v.to_bits());
    let mut parts: Vec<String> = set
        .map(|(p, &v)| format!("{}={}", p.key, write_value(p, v)))
        .collect();
    parts.extend(drawing.map(|bits| format!("bits={bits}")));
    if parts.is_empty() {
        id.to_owned()
    } else {
        format!("{id}({})", parts.join(","))
    }
}

fn write_value(param: &Param, value: f64) -> String {
    if let ParamKind::Choice(options) = param.kind
        && let Some((_, name)) = options
            .iter()
            .enumerate()
            .find(|&(at, _)| (at as f64).to_bits() == value.to_bits())
    {
        return (*name).to_owned();
    }
    number(value)
}

fn read_mask(text: &str) -> Result<MaskUse, Problem> {
    let (id, parts) = read_use(text)?;
    let Some(scheme) = masks::by_id(id) else {
        return Err(one_of("the masks", masks::ALL.iter().map(|s| s.id)).got(id));
    };
    let mut drawn = None;
    let mut values = Values::new(scheme.params);
    for (key, value) in parts {
        if key == "bits" && scheme.needs_drawing && drawn.is_none() {
            let bits = drawing::read(value);
            drawn =
                Some(bits.ok_or_else(|| Problem::expected("a drawing such as 2x3.kA").got(value))?);
        } else {
            values.read(key, value)?;
        }
    }
    Ok(MaskUse {
        scheme,
        values: values.values,
        drawn,
    })
}

fn read_position(text: &str) -> Result<PositionUse, Problem> {
    let (id, parts) = read_use(text)?;
    let Some(scheme) = positions::by_id(id) else {
        return Err(one_of("the position schemes", positions::ALL.iter().map(|s| s.id)).got(id));
    };
    let mut values = Values::new(scheme.params);
    for (key, value) in parts {
        values.read(key, value)?;
    }
    Ok(PositionUse {
        scheme,
        values: values.values,
    })
}

fn one_of<'a>(what: &str, names: impl Iterator<Item = &'a str>) -> Problem {
    let names: Vec<&str> = names.collect();
    let names = if names.is_empty() {
        "none".to_owned()
    } else {
        names.join(", ")
    };
    Problem::expected(format!("one of {what} {names}"))
}

/// An id, and the keys and values in its brackets.
type Taken<'a> = (&'a str, Vec<(&'a str, &'a str)>);

/// Takes `id(key=value,…)` apart.
fn read_use(text: &str) -> Result<Taken<'_>, Problem> {
    let Some((id, rest)) = text.split_once('(') else {
        return Ok((text, Vec::new()));
    };
    let inside = rest
        .strip_suffix(')')
        .ok_or_else(|| Problem::expected("a closing bracket at the end"))?;
    let parts = inside.split(',').map(|part| {
        part.split_once('=')
            .ok_or_else(|| Problem::expected("key=value").got(part))
    });
    Ok((id, parts.collect::<Result<_, _>>()?))
}

/// The values of a scheme as they are read.
struct Values {
    params: &'static [Param],
    values: Vec<f64>,
    seen: Vec<bool>,
}

impl Values {
    fn new(params: &'static [Param]) -> Self {
        Values {
            params,
            values: params.iter().map(|p| p.default).collect(),
            seen: vec![false; params.len()],
        }
    }

    fn read(&mut self, key: &str, text: &str) -> Result<(), Problem> {
        let slots = self.values.iter_mut().zip(&mut self.seen);
        let Some((param, (slot, seen))) = self.params.iter().zip(slots).find(|(p, _)| p.key == key)
        else {
            return Err(one_of("the settings", self.params.iter().map(|p| p.key)).got(key));
        };
        if std::mem::replace(seen, true) {
            return Err(Problem::expected(format!("{key} once")).got(&format!("{key} twice")));
        }
        *slot = match param.kind {
            // A number stands for an option that is not there, so that any wish can be written.
            ParamKind::Choice(options) => match options.iter().position(|o| *o == text) {
                Some(at) => at as f64,
                None => read_number(text)
                    .map_err(|_| one_of("the choices", options.iter().copied()).got(text))?,
            },
            ParamKind::Integer { .. } | ParamKind::Real { .. } => read_number(text)?,
        };
        Ok(())
    }
}

/// For `#[serde(with = "options::as_text")]`.
pub mod as_text {
    use super::{from_text, to_text};
    use attention::Config;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    /// Writes the text.
    pub fn serialize<S: Serializer>(config: &Config, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&to_text(config))
    }

    /// Reads the text.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Config, D::Error> {
        from_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}
