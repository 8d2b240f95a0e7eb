//! Bytes to tensors and back: one file for each format.
//!
//! Knows no file system and no browser. Whatever it is given, it returns tensors or a sentence, and takes memory in
//! proportion to what it was given.

pub mod number;
pub mod table;
