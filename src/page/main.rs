//! The binary that Trunk builds; everything is in the library.

fn main() {}
