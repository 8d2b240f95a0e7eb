//! What can be wrong with a call.

use crate::error::{CacheError, InputError};
use crate::rows::Stopped;

/// Why a call has no result.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// A tensor is of another length, or not finite.
    Input(InputError),
    /// The inputs are a cache's, and not made for this call.
    Cache(CacheError),
    /// The runner said to stop.
    Stopped,
}

impl std::fmt::Display for CallError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Cache(error) => error.fmt(f),
            Self::Stopped => Stopped.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

impl From<InputError> for CallError {
    fn from(error: InputError) -> Self {
        Self::Input(error)
    }
}

impl From<CacheError> for CallError {
    fn from(error: CacheError) -> Self {
        Self::Cache(error)
    }
}

/// Refuses a tensor of another length.
pub(super) fn check_length(
    tensor: &'static str,
    cells: &[f32],
    expected: usize,
) -> Result<(), InputError> {
    if cells.len() == expected {
        return Ok(());
    }
    Err(InputError::Length {
        tensor,
        expected,
        got: cells.len(),
    })
}
