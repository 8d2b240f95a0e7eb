//! `.npy`: one NumPy array.
//!
//! Format: numpy.lib.format, versions 1 to 3. Both byte orders and both memory orders are read; row-major little-endian
//! is written.

use crate::tensor::{Data, FormatError, Tensor, elements, numbers};

const MAGIC: &[u8] = b"\x93NUMPY";

/// Whether the bytes begin as a `.npy` file does.
pub fn sniff(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

struct Header {
    /// As in `<f4`: byte order, kind and width.
    descr: String,
    fortran: bool,
    shape: Vec<usize>,
}

/// Reads the array and gives it the name `name`.
///
/// Fails where the header is damaged, the kind of number is not a real one (complex, text, objects), or bytes are missing.
pub fn parse(bytes: &[u8], name: &str) -> Result<Tensor, FormatError> {
    let (header, body) = split(bytes)?;
    let header = read_header(header)?;
    let mut chars = header.descr.chars();
    let order = chars.next().unwrap_or('?');
    let code: String = chars.collect();
    let width = match code.as_str() {
        "f8" | "i8" | "u8" => 8,
        "f4" | "i4" | "u4" => 4,
        "f2" | "i2" | "u2" => 2,
        "i1" | "u1" | "b1" => 1,
        _ => {
            return Err(FormatError::new(
                format!("real numbers in \"{name}\""),
                format!("the NumPy type {}", crate::number::shorten(&header.descr)),
                "Save x.astype(numpy.float32) instead.",
            ));
        }
    };
    let n = elements(&header.shape)
        .filter(|n| n.checked_mul(width).is_some_and(|len| len <= body.len()))
        .ok_or_else(|| {
            bad(
                &format!(
                    "an array of shape {:?} with {width} bytes a number",
                    header.shape
                ),
                format!("{} bytes", body.len()),
            )
        })?;
    let bytes = &body[..n * width];
    let data = match (order, width) {
        ('<' | '|' | '=', _) | (_, 1) => decode(&code, bytes),
        ('>', _) => {
            let swapped: Vec<u8> = bytes
                .chunks_exact(width)
                .flat_map(|c| c.iter().rev().copied())
                .collect();
            decode(&code, &swapped)
        }
        _ => return Err(bad("a byte order, < or >", format!("\"{order}\""))),
    };
    let data = if header.fortran {
        row_major(data, &header.shape)
    } else {
        data
    };
    Tensor::new(name, header.shape, data)
}

fn decode(code: &str, bytes: &[u8]) -> Data {
    match code {
        "f8" => Data::F64(numbers(bytes, f64::from_le_bytes)),
        "f4" => Data::F32(numbers(bytes, f32::from_le_bytes)),
        "f2" => Data::F16(numbers(bytes, u16::from_le_bytes)),
        "i8" => Data::Int(numbers(bytes, i64::from_le_bytes)),
        // Beyond 2⁶³ a count is no longer one; it saturates.
        "u8" => Data::Int(numbers(bytes, |b| {
            i64::try_from(u64::from_le_bytes(b)).unwrap_or(i64::MAX)
        })),
        "i4" => Data::Int(numbers(bytes, |b| i32::from_le_bytes(b).into())),
        "u4" => Data::Int(numbers(bytes, |b| u32::from_le_bytes(b).into())),
        "i2" => Data::Int(numbers(bytes, |b| i16::from_le_bytes(b).into())),
        "u2" => Data::Int(numbers(bytes, |b| u16::from_le_bytes(b).into())),
        "i1" => Data::Int(bytes.iter().map(|&b| i64::from(b as i8)).collect()),
        _ => Data::Int(bytes.iter().map(|&b| b.into()).collect()),
    }
}

/// From column-major to row-major.
fn row_major(data: Data, shape: &[usize]) -> Data {
    fn reorder<T: Copy>(x: &[T], shape: &[usize]) -> Vec<T> {
        let mut strides = Vec::with_capacity(shape.len());
        let mut stride = 1;
        for &axis in shape {
            strides.push(stride);
            stride *= axis;
        }
        let mut place = vec![0_usize; shape.len()];
        let mut at = 0;
        let mut out = Vec::with_capacity(x.len());
        while out.len() < x.len() {
            out.extend(x.get(at).copied());
            // Counts up as the rows do: the last axis fastest.
            for axis in (0..shape.len()).rev() {
                place[axis] += 1;
                at += strides[axis];
                if place[axis] < shape[axis] {
                    break;
                }
                at -= strides[axis] * shape[axis];
                place[axis] = 0;
            }
        }
        out
    }
    match data {
        Data::F64(x) => Data::F64(reorder(&x, shape)),
        Data::F32(x) => Data::F32(reorder(&x, shape)),
        Data::F16(x) => Data::F16(reorder(&x, shape)),
        Data::BF16(x) => Data::BF16(reorder(&x, shape)),
        Data::Int(x) => Data::Int(reorder(&x, shape)),
    }
}

fn split(bytes: &[u8]) -> Result<(&str, &[u8]), FormatError> {
    let short = || bad("a NumPy header", format!("{} bytes in all", bytes.len()));
    let rest = bytes.strip_prefix(MAGIC).ok_or_else(short)?;
    let (version, rest) = rest.split_first_chunk::<2>().ok_or_else(short)?;
    let (length, rest) = match version[0] {
        1 => rest
            .split_first_chunk()
            .map(|(n, r)| (u32::from(u16::from_le_bytes(*n)), r)),
        2 | 3 => rest
            .split_first_chunk()
            .map(|(n, r)| (u32::from_le_bytes(*n), r)),
        v => return Err(bad("version 1, 2 or 3 of the format", format!("{v}"))),
    }
    .ok_or_else(short)?;
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let (header, body) = rest.split_at_checked(length).ok_or_else(short)?;
    let header = std::str::from_utf8(header)
        .map_err(|_| bad("a header in text", "bytes that are none".into()))?;
    Ok((header, body))
}

/// The header is a Python dictionary with three known keys.
fn read_header(text: &str) -> Result<Header, FormatError> {
    let after = |key: &str| {
        let quoted = [format!("'{key}'"), format!("\"{key}\"")];
        quoted
            .iter()
            .find_map(|q| text.split_once(q.as_str()))
            .and_then(|(_, rest)| rest.trim_start().strip_prefix(':'))
            .map(str::trim_start)
            .ok_or_else(|| bad(&format!("\"{key}\" in the header"), "none".into()))
    };
    let descr = after("descr")?;
    let quote = descr.chars().next().filter(|c| matches!(c, '\'' | '"'));
    let descr = quote
        .and_then(|q| descr[1..].split_once(q))
        .map(|(d, _)| d.to_owned())
        .ok_or_else(|| bad("one kind of number", "a record of several".into()))?;
    let fortran = after("fortran_order")?.starts_with("True");
    let shape = after("shape")?
        .strip_prefix('(')
        .and_then(|s| s.split_once(')'))
        .map(|(s, _)| s)
        .ok_or_else(|| bad("a shape in parentheses", "none".into()))?;
    let shape = shape
        .split(',')
        .map(|n| n.trim().trim_end_matches('L'))
        .filter(|n| !n.is_empty())
        .map(|n| {
            n.parse()
                .map_err(|_| bad("whole numbers in the shape", format!("\"{n}\"")))
        })
        .collect::<Result<Vec<usize>, _>>()?;
    // NumPy knows no more than 64 axes.
    if shape.len() > 64 {
        return Err(bad("at most 64 axes", format!("{}", shape.len())));
    }
    Ok(Header {
        descr,
        fortran,
        shape,
    })
}

fn bad(expected: &str, got: String) -> FormatError {
    FormatError::new(
        expected,
        got,
        "The file is damaged or cut short: save it again with numpy.save.",
    )
}

/// Writes a tensor as version 1. bfloat16, which NumPy has not, becomes float32.
pub fn write(tensor: &Tensor) -> Vec<u8> {
    let (code, body): (_, Vec<u8>) = match &tensor.data {
        Data::F64(x) => ("f8", x.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::F32(x) => ("f4", x.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::F16(x) => ("f2", x.iter().flat_map(|x| x.to_le_bytes()).collect()),
        Data::BF16(_) => (
            "f4",
            tensor
                .data
                .to_f32()
                .iter()
                .flat_map(|x| x.to_le_bytes())
                .collect(),
        ),
        Data::Int(x) => ("i8", x.iter().flat_map(|x| x.to_le_bytes()).collect()),
    };
    let axes: String = tensor.shape.iter().map(|n| format!("{n}, ")).collect();
    let axes = if tensor.shape.len() == 1 {
        axes.trim_end()
    } else {
        axes.trim_end_matches(", ")
    };
    let mut header = format!("{{'descr': '<{code}', 'fortran_order': False, 'shape': ({axes}), }}");
    // The numbers start at a multiple of 64; the header ends with a line feed.
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let length = u16::try_from(header.len()).unwrap_or(u16::MAX);
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(length.to_le_bytes());
    bytes.extend(header.bytes());
    bytes.extend(body);
    bytes
}
