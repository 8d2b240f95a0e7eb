//! Bytes to tensors and back: one file for each format.
