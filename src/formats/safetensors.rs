//! `.safetensors`: eight bytes that give the length of a JSON header, the header, and the numbers.
//!
//! Format: the README of huggingface/safetensors. As there, the tensors' bytes must follow each other without holes.

use crate::json::Reader;
use crate::tensor::{Data, FormatError, Tensor, elements, numbers};

/// The format's own limit for the header.
const MAX_HEADER: u64 = 100_000_000;

/// Whether the bytes may be a safetensors file: a plausible length, then a brace.
pub fn sniff(bytes: &[u8]) -> bool {
    let length = bytes.first_chunk().map(|b| u64::from_le_bytes(*b));
    bytes.get(8) == Some(&b'{') && length.is_some_and(|n| (2..=MAX_HEADER).contains(&n))
}

struct Entry {
    name: String,
    kind: String,
    shape: Vec<usize>,
    span: (usize, usize),
}

/// Reads every tensor, in the order of the header.
///
/// Fails where the header is damaged, the spans leave the file, overlap or leave holes, or a kind of number is unknown.
pub fn parse(bytes: &[u8]) -> Result<Vec<Tensor>, FormatError> {
    let (header, body) = split(bytes)?;
    let entries = entries(header)?;
    let mut spans: Vec<_> = entries.iter().map(|e| e.span).collect();
    spans.sort_unstable();
    let mut end = 0;
    for (from, to) in spans {
        if from != end || to < from || to > body.len() {
            return Err(bad(
                "tensors that follow each other without a hole",
                format!(
                    "one from byte {from} to {to}, where {end} is next and {} is the end",
                    body.len()
                ),
            ));
        }
        end = to;
    }
    if end != body.len() {
        return Err(bad(
            &format!("{end} bytes of numbers"),
            format!("{}", body.len()),
        ));
    }
    entries.into_iter().map(|e| tensor(e, body)).collect()
}

fn split(bytes: &[u8]) -> Result<(&str, &[u8]), FormatError> {
    let (length, rest) = bytes
        .split_first_chunk()
        .ok_or_else(|| bad("at least 8 bytes", format!("{}", bytes.len())))?;
    let length = u64::from_le_bytes(*length);
    let (header, body) = usize::try_from(length)
        .ok()
        .filter(|_| length <= MAX_HEADER)
        .and_then(|n| rest.split_at_checked(n))
        .ok_or_else(|| {
            bad(
                &format!("a header of {length} bytes"),
                format!("{} bytes in all", rest.len()),
            )
        })?;
    let header = std::str::from_utf8(header)
        .map_err(|_| bad("a header in UTF-8", "bytes that are none".into()))?;
    Ok((header, body))
}

fn entries(header: &str) -> Result<Vec<Entry>, FormatError> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut r = Reader::new(header);
    r.object(|r, name| {
        if name == "__metadata__" {
            return r.skip(0);
        }
        let (mut kind, mut shape, mut span) = (None, None, None);
        r.object(|r, key| {
            match key.as_str() {
                "dtype" => kind = Some(r.string()?),
                "shape" => shape = Some(lengths(r)?),
                "data_offsets" => span = <[usize; 2]>::try_from(lengths(r)?).ok(),
                _ => r.skip(0)?,
            }
            Ok(())
        })?;
        let (Some(kind), Some(shape), Some([from, to])) = (kind, shape, span) else {
            return Err(bad(
                &format!("dtype, shape and data_offsets of \"{name}\""),
                "less than these".into(),
            ));
        };
        entries.push(Entry {
            name,
            kind,
            shape,
            span: (from, to),
        });
        Ok(())
    })?;
    // The header is padded with spaces.
    r.end()?;
    Ok(entries)
}

fn lengths(r: &mut Reader) -> Result<Vec<usize>, FormatError> {
    let mut lengths = Vec::new();
    r.array(|r| {
        let x = r.number()?;
        // Every whole number up to 2⁵³ is exact, and no file is as long.
        if !(0.0..=9e15).contains(&x) || x.fract() != 0.0 {
            return Err(bad("a whole number from 0 on", format!("{x}")));
        }
        lengths.push(x as usize);
        Ok(())
    })?;
    Ok(lengths)
}

fn tensor(entry: Entry, body: &[u8]) -> Result<Tensor, FormatError> {
    let Entry {
        name,
        kind,
        shape,
        span: (from, to),
    } = entry;
    let bytes = body.get(from..to).unwrap_or_default();
    let width = match kind.as_str() {
        "F64" | "I64" | "U64" => 8,
        "F32" | "I32" | "U32" => 4,
        "F16" | "BF16" | "I16" | "U16" => 2,
        "I8" | "U8" | "BOOL" => 1,
        _ => {
            return Err(FormatError::new(
                format!("\"{name}\" in F64, F32, F16, BF16 or integers"),
                crate::number::shorten(&kind),
                "Convert the tensor to float32 and write the file again.",
            ));
        }
    };
    if elements(&shape).and_then(|n| n.checked_mul(width)) != Some(bytes.len()) {
        return Err(bad(
            &format!("the bytes of a {kind} tensor of shape {shape:?} for \"{name}\""),
            format!("{} bytes", bytes.len()),
        ));
    }
    let data = match kind.as_str() {
        "F64" => Data::F64(numbers(bytes, f64::from_le_bytes)),
        "F32" => Data::F32(numbers(bytes, f32::from_le_bytes)),
        "F16" => Data::F16(numbers(bytes, u16::from_le_bytes)),
        "BF16" => Data::BF16(numbers(bytes, u16::from_le_bytes)),
        "I64" => Data::Int(numbers(bytes, i64::from_le_bytes)),
        // Beyond 2⁶³ a count is no longer one; it saturates.
        "U64" => Data::Int(numbers(bytes, |b| {
            i64::try_from(u64::from_le_bytes(b)).unwrap_or(i64::MAX)
        })),
        "I32" => Data::Int(numbers(bytes, |b| i32::from_le_bytes(b).into())),
        "U32" => Data::Int(numbers(bytes, |b| u32::from_le_bytes(b).into())),
        "I16" => Data::Int(numbers(bytes, |b| i16::from_le_bytes(b).into())),
        "U16" => Data::Int(numbers(bytes, |b| u16::from_le_bytes(b).into())),
        "I8" => Data::Int(bytes.iter().map(|&b| i64::from(b as i8)).collect()),
        _ => Data::Int(bytes.iter().map(|&b| b.into()).collect()),
    };
    Tensor::new(name, shape, data)
}

fn bad(expected: &str, got: String) -> FormatError {
    FormatError::new(
        expected,
        got,
        "The file is damaged or cut short: take it from its source again.",
    )
}

/// Writes the tensors. Integers become I64.
pub fn write(tensors: &[Tensor]) -> Vec<u8> {
    let mut header = String::from("{");
    let mut body = Vec::new();
    for t in tensors {
        let from = body.len();
        let kind = match &t.data {
            Data::F64(x) => {
                x.iter().for_each(|x| body.extend(x.to_le_bytes()));
                "F64"
            }
            Data::F32(x) => {
                x.iter().for_each(|x| body.extend(x.to_le_bytes()));
                "F32"
            }
            Data::F16(x) => {
                x.iter().for_each(|x| body.extend(x.to_le_bytes()));
                "F16"
            }
            Data::BF16(x) => {
                x.iter().for_each(|x| body.extend(x.to_le_bytes()));
                "BF16"
            }
            Data::Int(x) => {
                x.iter().for_each(|x| body.extend(x.to_le_bytes()));
                "I64"
            }
        };
        if header.len() > 1 {
            header.push(',');
        }
        let name = t.name.replace('\\', "\\\\").replace('"', "\\\"");
        let name: String = name
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        header.push_str(&format!(
            "\"{name}\":{{\"dtype\":\"{kind}\",\"shape\":{:?},\"data_offsets\":[{from},{}]}}",
            t.shape,
            body.len()
        ));
    }
    header.push('}');
    // Numbers then start at a multiple of eight.
    while header.len() % 8 != 0 {
        header.push(' ');
    }
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.bytes());
    bytes.extend(body);
    bytes
}
