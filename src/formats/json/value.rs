//! JSON as a tree, for files whose members are known by name.

use super::{MAX_DEPTH, Reader, bad};
use crate::FormatError;

/// A piece of JSON.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Members, in the order of the file.
    Object(Vec<(String, Value)>),
    /// Elements.
    Array(Vec<Value>),
    /// A string.
    Text(String),
    /// A number, finite.
    Number(f64),
    /// `true`, `false` or `null`.
    Word,
}

impl Value {
    /// Reads a whole file. Fails where it is not JSON.
    pub fn parse(text: &str) -> Result<Value, FormatError> {
        let mut reader = Reader::new(text);
        let value = Value::read(&mut reader, 0)?;
        reader.end()?;
        Ok(value)
    }

    fn read(r: &mut Reader, depth: usize) -> Result<Value, FormatError> {
        if depth > MAX_DEPTH {
            return Err(r.fail("at most 32 levels", "more"));
        }
        Ok(match r.peek() {
            Some(b'{') => {
                let mut members = Vec::new();
                r.object(|r, key| {
                    members.push((key, Value::read(r, depth + 1)?));
                    Ok(())
                })?;
                Value::Object(members)
            }
            Some(b'[') => {
                let mut elements = Vec::new();
                r.array(|r| {
                    elements.push(Value::read(r, depth + 1)?);
                    Ok(())
                })?;
                Value::Array(elements)
            }
            Some(b'"') => Value::Text(r.string()?),
            Some(b't' | b'f' | b'n') => {
                r.skip(depth)?;
                Value::Word
            }
            _ => Value::Number(r.number()?),
        })
    }

    /// A member of an object. Fails where there is none of that name.
    pub fn member(&self, name: &str) -> Result<&Value, FormatError> {
        match self {
            Value::Object(members) => members.iter().find(|(key, _)| key == name),
            _ => None,
        }
        .map(|(_, value)| value)
        .ok_or_else(|| bad(&format!("a member \"{name}\""), "none".into()))
    }

    /// The string that this is; `name` says what of, where it is none.
    pub fn as_text(&self, name: &str) -> Result<String, FormatError> {
        match self {
            Value::Text(text) => Ok(text.clone()),
            _ => Err(wrong(name, "a string")),
        }
    }

    /// A member that is a string.
    pub fn text(&self, name: &str) -> Result<String, FormatError> {
        self.member(name)?.as_text(name)
    }

    /// A member that is a whole number, 0 or above.
    pub fn whole(&self, name: &str) -> Result<usize, FormatError> {
        match self.member(name)? {
            Value::Number(x) if *x >= 0.0 && *x <= 9e15 && x.fract() == 0.0 => Ok(*x as usize),
            _ => Err(wrong(name, "a whole number")),
        }
    }

    /// A member that is an array, each element read by `each`.
    pub fn list<T>(
        &self,
        name: &str,
        each: fn(&Value) -> Result<T, FormatError>,
    ) -> Result<Vec<T>, FormatError> {
        match self.member(name)? {
            Value::Array(elements) => elements.iter().map(each).collect(),
            _ => Err(wrong(name, "an array")),
        }
    }
}

fn wrong(name: &str, expected: &str) -> FormatError {
    bad(
        &format!("{expected} as \"{name}\""),
        "something else".into(),
    )
}
