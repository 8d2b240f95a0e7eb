//! The engine without a browser.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod common;
mod oracle;
mod queue;
mod worker;
