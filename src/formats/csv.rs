//! `.csv`, `.tsv`, `.txt`: one matrix as text, read by [`crate::table`].

use crate::table;
use crate::tensor::{Data, FormatError, Tensor};

/// Whether the bytes may be a table: text whose first mark begins a number or a quote.
pub fn sniff(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
    // A true minus begins with 0xE2.
    bytes
        .iter()
        .find(|b| !b.is_ascii_whitespace())
        .is_some_and(|b| b.is_ascii_digit() || matches!(b, b'-' | b'+' | b'.' | b'"' | 0xE2))
}

/// Reads one matrix and gives it the name `name`. Fails with the sentence of [`table::TableError`].
pub fn parse(bytes: &[u8], name: &str) -> Result<Tensor, FormatError> {
    let text = std::str::from_utf8(bytes).map_err(|e| {
        FormatError::new(
            "text in UTF-8",
            format!("a byte that is none at {}", e.valid_up_to()),
            "Save the table as CSV in UTF-8.",
        )
    })?;
    let t = table::parse(text).map_err(|e| {
        FormatError::new("a table of numbers", "a text that is none", e.to_string())
    })?;
    Tensor::new(name, vec![t.rows, t.cols], Data::F64(t.values))
}

/// Rows as lines, cells parted by commas, numbers written so that reading gives the same bits. Axes before the last become
/// rows. Infinities and NaN are written as such, though [`parse`] refuses them.
pub fn write(tensor: &Tensor) -> String {
    let cols = tensor.shape.last().copied().unwrap_or(1).max(1);
    let mut out = String::new();
    for row in tensor.data.to_f64().chunks(cols) {
        for (i, x) in row.iter().enumerate() {
            out.push_str(if i > 0 { "," } else { "" });
            out.push_str(&format!("{x:?}"));
        }
        out.push('\n');
    }
    out
}
