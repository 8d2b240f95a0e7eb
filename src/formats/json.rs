//! `.json`: nested arrays of numbers, alone or as the members of an object.
//!
//! The reader is our own: the safetensors header and these files need little of JSON, and a page that is small does
//! not carry a general one.

mod value;

pub use value::Value;

use crate::tensor::{Data, FormatError, Tensor, elements};

/// Arrays and objects nest at most this deep.
const MAX_DEPTH: usize = 32;

/// Whether the bytes may be JSON: the first that is no white space opens an array or an object.
pub fn sniff(bytes: &[u8]) -> bool {
    matches!(text_start(bytes), Some(b'[' | b'{'))
}

fn text_start(bytes: &[u8]) -> Option<u8> {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    bytes.iter().copied().find(|b| !b.is_ascii_whitespace())
}

/// Reads one array, or every array of numbers inside an object (`"inputs": {"q": …}` becomes `inputs/q`). Members of other
/// kinds are passed over.
///
/// Fails where it is not JSON, rows differ in length, a cell is no finite number, or there is no array at all.
pub fn parse(bytes: &[u8], name: &str) -> Result<Vec<Tensor>, FormatError> {
    let text =
        std::str::from_utf8(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)).map_err(|e| {
            bad(
                "text in UTF-8",
                format!("a byte that is none at {}", e.valid_up_to()),
            )
        })?;
    let mut reader = Reader::new(text);
    let mut tensors = Vec::new();
    match reader.peek() {
        Some(b'{') => members(&mut reader, "", 0, &mut tensors)?,
        _ => tensors.push(array(&mut reader, name)?),
    }
    reader.end()?;
    if tensors.is_empty() {
        return Err(bad(
            "an array of numbers, as [[1, 2], [3, 4]]",
            "none in the whole file".into(),
        ));
    }
    Ok(tensors)
}

fn members(
    r: &mut Reader,
    path: &str,
    depth: usize,
    tensors: &mut Vec<Tensor>,
) -> Result<(), FormatError> {
    if depth > MAX_DEPTH {
        return Err(r.fail("at most 32 levels", "more"));
    }
    r.object(|r, key| {
        let full = if path.is_empty() {
            key
        } else {
            format!("{path}/{key}")
        };
        // A path longer than any real one would be copied for each of its members.
        if full.len() > 4096 {
            return Err(r.fail("names of at most 4096 bytes", "a longer one"));
        }
        match r.peek() {
            Some(b'{') => members(r, &full, depth + 1, tensors),
            Some(b'[') if r.array_of_numbers() => {
                tensors.push(array(r, &full)?);
                Ok(())
            }
            _ => r.skip(0),
        }
    })
}

/// Nested arrays: all of one length on each level.
fn array(r: &mut Reader, name: &str) -> Result<Tensor, FormatError> {
    let mut values = Vec::new();
    let mut shape = Vec::new();
    nested(r, name, &mut vec![], &mut shape, &mut values)?;
    let shape: Vec<usize> = shape.into_iter().map(|n| n.unwrap_or(0)).collect();
    debug_assert_eq!(elements(&shape), Some(values.len()));
    Tensor::new(name, shape, Data::F64(values))
}

fn nested(
    r: &mut Reader,
    name: &str,
    place: &mut Vec<usize>,
    shape: &mut Vec<Option<usize>>,
    values: &mut Vec<f64>,
) -> Result<(), FormatError> {
    let depth = place.len();
    let is_leaf = r.peek() != Some(b'[');
    let at = |place: &[usize]| format!("\"{name}\" at {place:?}");
    // The first cell decides how many axes there are; from then on leaves lie on that level only.
    let leaf_level = if values.is_empty() && !shape.contains(&Some(0)) {
        None
    } else {
        Some(shape.len())
    };
    if is_leaf {
        if leaf_level.is_some_and(|l| l != depth) {
            return Err(r.fail("an array", &format!("a cell in {}", at(place))));
        }
        let number = r.number().map_err(|e| FormatError {
            expected: format!("{} in {}", e.expected, at(place)),
            ..e
        })?;
        values.push(number);
        return Ok(());
    }
    if depth == MAX_DEPTH || leaf_level.is_some_and(|l| depth >= l) {
        return Err(r.fail("a number", &format!("an array in {}", at(place))));
    }
    if shape.len() == depth {
        shape.push(None);
    }
    let mut n = 0;
    r.array(|r| {
        place.push(n);
        nested(r, name, place, shape, values)?;
        place.pop();
        n += 1;
        Ok(())
    })?;
    match shape[depth] {
        None => shape[depth] = Some(n),
        Some(expected) if expected != n => {
            return Err(r.fail(
                &format!("{expected} cells, as in the array before it"),
                &format!("{n} in {}", at(place)),
            ));
        }
        Some(_) => {}
    }
    Ok(())
}

/// Reads JSON piece by piece.
pub(crate) struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Reader { text, at: 0 }
    }

    /// The next byte that is no white space.
    pub(crate) fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let white = rest
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t' | b'\n' | b'\r'))
            .count();
        self.at += white;
        rest.get(white).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.peek() == Some(byte);
        self.at += usize::from(there);
        there
    }

    fn fail(&self, expected: &str, got: &str) -> FormatError {
        let before = &self.text.as_bytes()[..self.at];
        let line = before.iter().filter(|&&b| b == b'\n').count() + 1;
        bad(expected, format!("{got}, line {line}"))
    }

    fn expect(&mut self, byte: u8) -> Result<(), FormatError> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("\"{}\"", byte as char)))
        }
    }

    fn unexpected(&self, expected: &str) -> FormatError {
        match self.text.get(self.at..).and_then(|t| t.chars().next()) {
            Some(c) => self.fail(expected, &format!("\"{}\"", c.escape_debug())),
            None => self.fail(expected, "the end of the file"),
        }
    }

    pub(crate) fn end(&mut self) -> Result<(), FormatError> {
        if self.peek().is_none() {
            Ok(())
        } else {
            Err(self.unexpected("the end of the file"))
        }
    }

    /// Calls `each` at the value of every member.
    pub(crate) fn object(
        &mut self,
        mut each: impl FnMut(&mut Self, String) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.expect(b'{')?;
        if self.take(b'}') {
            return Ok(());
        }
        loop {
            let key = self.string()?;
            self.expect(b':')?;
            each(self, key)?;
            if !self.take(b',') {
                return self.expect(b'}');
            }
        }
    }

    /// Calls `each` at every element.
    pub(crate) fn array(
        &mut self,
        mut each: impl FnMut(&mut Self) -> Result<(), FormatError>,
    ) -> Result<(), FormatError> {
        self.expect(b'[')?;
        if self.take(b']') {
            return Ok(());
        }
        loop {
            each(self)?;
            if !self.take(b',') {
                return self.expect(b']');
            }
        }
    }

    pub(crate) fn string(&mut self) -> Result<String, FormatError> {
        self.expect(b'"')?;
        let mut out = String::new();
        loop {
            let rest = &self.text[self.at..];
            let plain = rest
                .find(['"', '\\'])
                .ok_or_else(|| self.fail("a closing quote", "the end of the file"))?;
            out.push_str(&rest[..plain]);
            self.at += plain + 1;
            if rest.as_bytes()[plain] == b'"' {
                return Ok(out);
            }
            let escape = self.text.as_bytes().get(self.at).copied();
            self.at += usize::from(escape.is_some_and(|b| b.is_ascii()));
            out.push(match escape {
                Some(c @ (b'"' | b'\\' | b'/')) => c as char,
                Some(b'n') => '\n',
                Some(b't') => '\t',
                Some(b'r') => '\r',
                Some(b'b') => '\u{8}',
                Some(b'f') => '\u{c}',
                Some(b'u') => self.unicode()?,
                _ => return Err(self.fail("an escape that JSON knows", "another")),
            });
        }
    }

    /// What follows `\u`, the second half of a pair included.
    fn unicode(&mut self) -> Result<char, FormatError> {
        let unit = |r: &mut Self| {
            let digits = r
                .text
                .get(r.at..r.at + 4)
                .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()));
            r.at += digits.map_or(0, str::len);
            digits.and_then(|d| u16::from_str_radix(d, 16).ok())
        };
        let first =
            unit(self).ok_or_else(|| self.fail("four hexadecimal digits", "something else"))?;
        let mut units = vec![first];
        if (0xD800..0xDC00).contains(&first) && self.text[self.at..].starts_with("\\u") {
            self.at += 2;
            units.extend(unit(self));
        }
        Ok(char::decode_utf16(units)
            .next()
            .and_then(Result::ok)
            .unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    /// A finite number in JSON's spelling, or with a bare point or leading zeros (`1.`, `01`), as some programs write it.
    pub(crate) fn number(&mut self) -> Result<f64, FormatError> {
        self.peek();
        let rest = &self.text[self.at..];
        let is_part = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.');
        let word = &rest[..rest.bytes().take_while(|b| is_part(b)).count()];
        if !word.starts_with(|c: char| c == '-' || c.is_ascii_digit()) {
            let got = match (word, rest.chars().next()) {
                ("", Some(c)) => format!("\"{}\"", c.escape_debug()),
                ("", None) => "the end of the file".into(),
                (word, _) => format!("\"{}\"", crate::number::shorten(word)),
            };
            return Err(self.fail("a number", &got));
        }
        let value = crate::decimal::parse(word).ok_or_else(|| {
            self.fail("a number", &format!("\"{}\"", crate::number::shorten(word)))
        })?;
        if !value.is_finite() {
            return Err(self.fail(
                "a finite number",
                &format!("\"{}\"", crate::number::shorten(word)),
            ));
        }
        self.at += word.len();
        Ok(value)
    }

    /// Passes over any value.
    pub(crate) fn skip(&mut self, depth: usize) -> Result<(), FormatError> {
        if depth > MAX_DEPTH {
            return Err(self.fail("at most 32 levels", "more"));
        }
        match self.peek() {
            Some(b'{') => self.object(|r, _| r.skip(depth + 1)),
            Some(b'[') => self.array(|r| r.skip(depth + 1)),
            Some(b'"') => self.string().map(drop),
            _ => {
                let rest = &self.text[self.at..];
                for word in ["true", "false", "null"] {
                    if rest.starts_with(word) {
                        self.at += word.len();
                        return Ok(());
                    }
                }
                self.number().map(drop)
            }
        }
    }

    /// Whether the array here begins, on whatever level, with a number.
    fn array_of_numbers(&self) -> bool {
        let rest = self.text.as_bytes()[self.at..].iter();
        rest.copied()
            .find(|b| !b.is_ascii_whitespace() && *b != b'[')
            .is_some_and(|b| b == b'-' || b.is_ascii_digit())
    }
}

fn bad(expected: &str, got: String) -> FormatError {
    FormatError::new(
        expected,
        got,
        "Correct the file at this place, or write it again.",
    )
}

/// Nested arrays of the tensor's shape. Numbers are written so that reading gives the same bits; infinities and NaN,
/// which JSON has not, become `null`.
pub fn write(tensor: &Tensor) -> String {
    fn level(shape: &[usize], values: &mut std::slice::Iter<f64>, out: &mut String) {
        let Some((&n, inner)) = shape.split_first() else {
            match values.next() {
                Some(x) if x.is_finite() => out.push_str(&format!("{x:?}")),
                _ => out.push_str("null"),
            }
            return;
        };
        out.push('[');
        for i in 0..n {
            if i > 0 {
                out.push_str(if inner.is_empty() { ", " } else { ",\n " });
            }
            level(inner, values, out);
        }
        out.push(']');
    }
    let mut out = String::new();
    level(&tensor.shape, &mut tensor.data.to_f64().iter(), &mut out);
    out.push('\n');
    out
}
