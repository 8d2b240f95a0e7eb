//! A message on the wire: a serialised head and large arrays beside it.

use serde::{Serialize, de::DeserializeOwned};
use std::fmt;

/// A message ready for `postMessage`: `head` as a `Uint8Array`, each of `arrays` as a transferred `Float64Array`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// The small part, in postcard's format.
    pub head: Vec<u8>,
    /// The large part, in the order in which the message type lists its arrays.
    pub arrays: Vec<Vec<f64>>,
}

/// Why a frame could not be read. Page and engine of one build never see it; a stale engine in a cache may.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameError(pub String);

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "The page and its engine do not understand each other ({}). Reload the page to get a matching pair.",
            self.0
        )
    }
}

impl std::error::Error for FrameError {}

/// A message type: says which of its fields are the large arrays.
pub(crate) trait Message: Serialize + DeserializeOwned {
    /// The large arrays, always the same number in the same order for one variant.
    fn arrays(&mut self) -> Vec<&mut Vec<f64>>;
}

impl Frame {
    pub(crate) fn write<M: Message>(mut message: M) -> Frame {
        let arrays = message.arrays().into_iter().map(std::mem::take).collect();
        // Postcard fails only for sequences of unknown length, and no message has one.
        let head = postcard::to_allocvec(&message).unwrap_or_default();
        Frame { head, arrays }
    }

    pub(crate) fn read<M: Message>(self) -> Result<M, FrameError> {
        let mut message: M =
            postcard::from_bytes(&self.head).map_err(|e| FrameError(e.to_string()))?;
        let slots = message.arrays();
        if slots.len() != self.arrays.len() {
            return Err(FrameError(format!(
                "{} arrays expected, {} came",
                slots.len(),
                self.arrays.len()
            )));
        }
        for (slot, array) in slots.into_iter().zip(self.arrays) {
            *slot = array;
        }
        Ok(message)
    }

    /// The frame as one run of bytes (little endian), for files and tests.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(
            16 + self.head.len() + self.arrays.iter().map(|a| 8 + 8 * a.len()).sum::<usize>(),
        );
        bytes.extend((self.head.len() as u64).to_le_bytes());
        bytes.extend((self.arrays.len() as u64).to_le_bytes());
        bytes.extend(&self.head);
        for array in &self.arrays {
            bytes.extend((array.len() as u64).to_le_bytes());
            array.iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        }
        bytes
    }

    /// Reads what [`Frame::to_bytes`] wrote. Fails where the bytes end early.
    pub fn from_bytes(bytes: &[u8]) -> Result<Frame, FrameError> {
        let mut rest = bytes;
        let mut take = |n: usize| -> Result<&[u8], FrameError> {
            let (head, tail) = rest
                .split_at_checked(n)
                .ok_or_else(|| FrameError("the message ends early".into()))?;
            rest = tail;
            Ok(head)
        };
        let word = |b: &[u8]| {
            usize::try_from(u64::from_le_bytes(
                b.first_chunk::<8>().copied().unwrap_or_default(),
            ))
            .unwrap_or(usize::MAX)
        };
        let head_len = word(take(8)?);
        let count = word(take(8)?);
        let head = take(head_len)?.to_vec();
        let mut arrays = Vec::new();
        for _ in 0..count {
            let len = word(take(8)?);
            let raw = take(
                len.checked_mul(8)
                    .ok_or_else(|| FrameError("an array is too long".into()))?,
            )?;
            arrays.push(
                raw.chunks_exact(8)
                    .map(|c| f64::from_le_bytes(c.first_chunk::<8>().copied().unwrap_or_default()))
                    .collect(),
            );
        }
        Ok(Frame { head, arrays })
    }
}
