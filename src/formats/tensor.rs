//! A named array, and what can be wrong with a file of them.

use std::fmt;

/// A named array, row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// Its name in the file; the file's own name where the format has none.
    pub name: String,
    /// Its axes; empty for a single number.
    pub shape: Vec<usize>,
    /// Its numbers, as many as the product of the axes.
    pub data: Data,
}

/// Numbers in the precision in which the file has them.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    /// float64.
    F64(Vec<f64>),
    /// float32.
    F32(Vec<f32>),
    /// float16, as bits.
    F16(Vec<u16>),
    /// bfloat16, as bits.
    BF16(Vec<u16>),
    /// Integers of any width, and truth values as 0 and 1.
    Int(Vec<i64>),
}

impl Data {
    /// How many numbers.
    pub fn len(&self) -> usize {
        match self {
            Data::F64(x) => x.len(),
            Data::F32(x) => x.len(),
            Data::F16(x) | Data::BF16(x) => x.len(),
            Data::Int(x) => x.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What the precision is called.
    pub fn kind(&self) -> &'static str {
        match self {
            Data::F64(_) => "float64",
            Data::F32(_) => "float32",
            Data::F16(_) => "float16",
            Data::BF16(_) => "bfloat16",
            Data::Int(_) => "integer",
        }
    }

    /// The numbers in float64: exact but for integers beyond ±2⁵³. May hold infinities and NaN if the file does.
    pub fn to_f64(&self) -> Vec<f64> {
        match self {
            Data::F64(x) => x.clone(),
            Data::F32(x) => x.iter().map(|&x| f64::from(x)).collect(),
            Data::F16(x) => x.iter().map(|&x| f64::from(half(x))).collect(),
            Data::BF16(x) => x.iter().map(|&x| f64::from(bfloat(x))).collect(),
            Data::Int(x) => x.iter().map(|&x| x as f64).collect(),
        }
    }

    /// The numbers in float32, rounded to nearest where the file has more.
    pub fn to_f32(&self) -> Vec<f32> {
        match self {
            Data::F32(x) => x.clone(),
            other => other.to_f64().into_iter().map(|x| x as f32).collect(),
        }
    }
}

impl Tensor {
    /// A tensor whose shape agrees with its data. Fails where it does not.
    pub fn new(
        name: impl Into<String>,
        shape: Vec<usize>,
        data: Data,
    ) -> Result<Tensor, FormatError> {
        let name = name.into();
        match elements(&shape) {
            Some(n) if n == data.len() => Ok(Tensor { name, shape, data }),
            _ => Err(FormatError::new(
                format!("as many numbers as the shape {shape:?} of \"{name}\" says"),
                format!("{}", data.len()),
                "Write the file again.",
            )),
        }
    }

    /// The numbers in float64, or the first one that is infinite or NaN, with its place.
    pub fn finite(&self) -> Result<Vec<f64>, FormatError> {
        let values = self.data.to_f64();
        match values.iter().position(|x| !x.is_finite()) {
            None => Ok(values),
            Some(at) => Err(FormatError::new(
                format!("finite numbers in \"{}\"", self.name),
                format!("{} at {:?}", values[at], index(at, &self.shape)),
                "Take the file that was written before something overflowed.",
            )),
        }
    }
}

/// The number of elements of `shape`; `None` beyond what can be addressed.
pub(crate) fn elements(shape: &[usize]) -> Option<usize> {
    shape
        .iter()
        .try_fold(1_usize, |n, &axis| n.checked_mul(axis))
}

/// Where element `at` lies along each axis.
fn index(mut at: usize, shape: &[usize]) -> Vec<usize> {
    let mut place: Vec<usize> = shape
        .iter()
        .rev()
        .map(|&axis| {
            let axis = axis.max(1);
            let here = at % axis;
            at /= axis;
            here
        })
        .collect();
    place.reverse();
    place
}

/// IEEE float16: 1 sign, 5 exponent and 10 fraction bits.
fn half(bits: u16) -> f32 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from(bits >> 10 & 31), f32::from(bits & 1023));
    match exponent {
        0 => sign * fraction * 2_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        e => sign * (1024.0 + fraction) * 2_f32.powi(e - 25),
    }
}

/// bfloat16: the upper half of a float32.
fn bfloat(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// Why bytes are not tensors. `Display` gives whole sentences: expected, got, what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError {
    /// What is expected, without "Expected".
    pub expected: String,
    /// What is there instead.
    pub got: String,
    /// A sentence that says what to do.
    pub advice: String,
}

impl FormatError {
    pub(crate) fn new(
        expected: impl Into<String>,
        got: impl Into<String>,
        advice: impl Into<String>,
    ) -> FormatError {
        FormatError {
            expected: expected.into(),
            got: got.into(),
            advice: advice.into(),
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "Expected {}, got {}. {}",
            self.expected, self.got, self.advice
        )
    }
}

impl std::error::Error for FormatError {}

/// Little-endian numbers of `N` bytes; bytes beyond the last whole one are ignored.
pub(crate) fn numbers<const N: usize, T>(bytes: &[u8], read: impl Fn([u8; N]) -> T) -> Vec<T> {
    bytes
        .as_chunks::<N>()
        .0
        .iter()
        .map(|&chunk| read(chunk))
        .collect()
}
