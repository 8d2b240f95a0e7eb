//! `cargo xtask golden DIR`: reference cases through every path.

use crate::Result;

/// Reads the folder of cases and checks each one.
pub fn command(_args: &[String]) -> Result {
    Err("the reference cases are not wired up yet.".into())
}
