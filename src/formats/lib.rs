//! Bytes to tensors and back: one file for each format.
//!
//! Knows no file system and no browser. Whatever it is given, it returns tensors or a sentence, and takes memory in
//! proportion to what it was given. A format is one file with `sniff` and `parse`, and one line in [`ALL`].

pub mod csv;
pub mod decimal;
pub mod json;
pub mod npy;
pub mod npz;
pub mod number;
pub mod safetensors;
pub mod table;
mod tensor;

pub use tensor::{Data, FormatError, Tensor};

/// A file format.
pub struct Format {
    /// What it is called.
    pub name: &'static str,
    /// What its files end in, without the point.
    pub extensions: &'static [&'static str],
    /// Whether bytes may be of this format, from their beginning alone.
    pub sniff: fn(&[u8]) -> bool,
    /// Reads the bytes. The text names a tensor where the format has no names.
    pub parse: fn(&[u8], &str) -> Result<Vec<Tensor>, FormatError>,
}

/// Every format. The first that [`Format::sniff`]s a file reads it.
pub const ALL: &[Format] = &[
    Format {
        name: "NumPy archive",
        extensions: &["npz"],
        sniff: npz::sniff,
        parse: |b, _| npz::parse(b),
    },
    Format {
        name: "NumPy array",
        extensions: &["npy"],
        sniff: npy::sniff,
        parse: |b, n| one(npy::parse(b, n)),
    },
    Format {
        name: "safetensors",
        extensions: &["safetensors"],
        sniff: safetensors::sniff,
        parse: |b, _| safetensors::parse(b),
    },
    Format {
        name: "JSON",
        extensions: &["json"],
        sniff: json::sniff,
        parse: json::parse,
    },
    Format {
        name: "table",
        extensions: &["csv", "tsv", "txt"],
        sniff: csv::sniff,
        parse: |b, n| one(csv::parse(b, n)),
    },
];

fn one(tensor: Result<Tensor, FormatError>) -> Result<Vec<Tensor>, FormatError> {
    tensor.map(|t| vec![t])
}

/// Reads a file of any known format: by its bytes, and where they tell nothing by the end of its name.
///
/// Fails where no format fits, or as the format's own `parse` does.
pub fn read(bytes: &[u8], file_name: &str) -> Result<Vec<Tensor>, FormatError> {
    let (stem, extension) = file_name.rsplit_once('.').unwrap_or((file_name, ""));
    let extension = extension.to_ascii_lowercase();
    let format = ALL.iter().find(|f| (f.sniff)(bytes)).or_else(|| {
        ALL.iter()
            .find(|f| f.extensions.contains(&extension.as_str()))
    });
    let Some(format) = format else {
        let endings: Vec<_> = ALL
            .iter()
            .flat_map(|f| f.extensions)
            .map(|e| format!(".{e}"))
            .collect();
        return Err(FormatError::new(
            format!("a file of numbers ({})", endings.join(" ")),
            format!("\"{}\", which is none of them", number::shorten(file_name)),
            "Choose such a file.",
        ));
    };
    if bytes.is_empty() {
        return Err(FormatError::new(
            format!("a {} file", format.name),
            "an empty one",
            "Choose another.",
        ));
    }
    (format.parse)(bytes, stem)
}
