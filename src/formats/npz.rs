//! `.npz`: a ZIP archive of `.npy` files, as `numpy.savez` and `savez_compressed` write it.
//!
//! Format: APPNOTE.TXT of PKWARE, sections 4.3 and 4.4. Only what NumPy writes is read: stored or deflated entries, no
//! encryption, one disk.

use crate::npy;
use crate::tensor::{FormatError, Tensor};

/// An entry whose unpacked size is beyond this is refused before memory is taken.
const MAX_ENTRY: usize = 1 << 29;
/// All entries together.
const MAX_TOTAL: usize = 1 << 30;
/// Deflate packs at most about 1032 to 1; a directory that promises more lies.
const MAX_RATIO: usize = 1040;

/// Whether the bytes begin as a ZIP archive does.
pub fn sniff(bytes: &[u8]) -> bool {
    bytes.starts_with(b"PK\x03\x04") || bytes.starts_with(b"PK\x05\x06")
}

struct Entry<'a> {
    name: String,
    method: u16,
    crc: u32,
    packed: usize,
    size: usize,
    header_at: usize,
    archive: &'a [u8],
}

/// Reads every array of the archive, named without `.npy`.
///
/// Fails where the directory is damaged, an entry does not match its checksum, or is no array.
pub fn parse(bytes: &[u8]) -> Result<Vec<Tensor>, FormatError> {
    let mut total = 0_usize;
    let mut tensors = Vec::new();
    for entry in directory(bytes)? {
        let Some(name) = entry.name.strip_suffix(".npy") else {
            continue;
        };
        total = total.saturating_add(entry.size);
        if entry.size > MAX_ENTRY || total > MAX_TOTAL || entry.size / MAX_RATIO > entry.packed {
            return Err(FormatError::new(
                "arrays of at most 512 MiB, 1 GiB together",
                format!("{} bytes in \"{name}\"", entry.size),
                "Save a smaller part of the data.",
            ));
        }
        tensors.push(npy::parse(&entry.unpack()?, name)?);
    }
    if tensors.is_empty() {
        return Err(bad("at least one .npy array in the archive", "none".into()));
    }
    Ok(tensors)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|b| u16::from_le_bytes(*b))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..)?
        .first_chunk()
        .map(|b| u32::from_le_bytes(*b))
}

fn size_at(bytes: &[u8], at: usize) -> Option<usize> {
    u32_at(bytes, at).and_then(|n| usize::try_from(n).ok())
}

/// The central directory, found from the end of the file.
fn directory(bytes: &[u8]) -> Result<Vec<Entry<'_>>, FormatError> {
    let damaged = || {
        bad(
            "a whole ZIP archive",
            "one whose directory is missing".into(),
        )
    };
    // The last record is 22 bytes and a comment of at most 65535.
    let first = bytes.len().saturating_sub(22 + 65535);
    let tail = bytes.get(first..).unwrap_or_default();
    let end = first
        + tail
            .windows(4)
            .rposition(|w| w == b"PK\x05\x06")
            .ok_or_else(damaged)?;
    let count = u16_at(bytes, end + 10).ok_or_else(damaged)?;
    let mut at = size_at(bytes, end + 16).ok_or_else(damaged)?;
    let mut entries = Vec::new();
    for _ in 0..count {
        let entry = bytes
            .get(at..)
            .filter(|e| e.starts_with(b"PK\x01\x02"))
            .ok_or_else(damaged)?;
        let length = |at| u16_at(entry, at).map(usize::from).ok_or_else(damaged);
        let (name, extra, comment) = (length(28)?, length(30)?, length(32)?);
        let read = || {
            Some(Entry {
                name: String::from_utf8_lossy(entry.get(46..46 + name)?).into_owned(),
                method: u16_at(entry, 10)?,
                crc: u32_at(entry, 16)?,
                packed: size_at(entry, 20)?,
                size: size_at(entry, 24)?,
                header_at: size_at(entry, 42)?,
                archive: bytes,
            })
        };
        let flags = length(8)?;
        let entry = read().ok_or_else(damaged)?;
        let unread = if flags & 1 == 1 {
            Some("an encrypted one")
        } else if [entry.packed, entry.size, entry.header_at].contains(&(u32::MAX as usize)) {
            Some("one of 4 GiB or more")
        } else {
            None
        };
        if let Some(got) = unread {
            return Err(FormatError::new(
                format!(
                    "a plain entry for \"{}\"",
                    crate::number::shorten(&entry.name)
                ),
                got,
                "Write the file again with numpy.savez, smaller if need be.",
            ));
        }
        entries.push(entry);
        at = at.saturating_add(46 + name + extra + comment);
    }
    Ok(entries)
}

impl Entry<'_> {
    fn unpack(&self) -> Result<Vec<u8>, FormatError> {
        let damaged = |got: &str| {
            bad(
                &format!("the array \"{}\"", crate::number::shorten(&self.name)),
                got.into(),
            )
        };
        let packed = self
            .packed_bytes()
            .ok_or_else(|| damaged("bytes that end early"))?;
        let bytes = match self.method {
            0 => packed.to_vec(),
            8 => miniz_oxide::inflate::decompress_to_vec_with_limit(packed, self.size)
                .map_err(|_| damaged("bytes that do not unpack"))?,
            m => return Err(damaged(&format!("the packing method {m}"))),
        };
        if bytes.len() != self.size || crc32(&bytes) != self.crc {
            return Err(damaged("bytes that do not match their checksum"));
        }
        Ok(bytes)
    }

    fn packed_bytes(&self) -> Option<&[u8]> {
        let local = self.archive.get(self.header_at..)?;
        if !local.starts_with(b"PK\x03\x04") {
            return None;
        }
        let start = 30 + usize::from(u16_at(local, 26)?) + usize::from(u16_at(local, 28)?);
        local.get(start..)?.get(..self.packed)
    }
}

/// The checksum of ZIP (reflected polynomial 0xEDB88320), half a byte at a time.
fn crc32(bytes: &[u8]) -> u32 {
    const fn row(mut x: u32) -> u32 {
        let mut i = 0;
        while i < 4 {
            x = if x & 1 == 1 {
                x >> 1 ^ 0xEDB8_8320
            } else {
                x >> 1
            };
            i += 1;
        }
        x
    }
    const TABLE: [u32; 16] = {
        let mut table = [0; 16];
        let mut i = 0;
        while i < 16 {
            table[i] = row(i as u32);
            i += 1;
        }
        table
    };
    let step = |crc: u32, nibble: u32| crc >> 4 ^ TABLE[(crc ^ nibble) as usize & 15];
    !bytes
        .iter()
        .fold(!0, |crc, &b| step(step(crc, b.into()), u32::from(b) >> 4))
}

fn bad(expected: &str, got: String) -> FormatError {
    FormatError::new(
        expected,
        got,
        "The file is damaged or cut short: save it again with numpy.savez.",
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn checksum_of_the_standard_text() {
        assert_eq!(super::crc32(b"123456789"), 0xCBF4_3926);
        assert_eq!(super::crc32(b""), 0);
    }
}
