//! The worker: takes jobs, computes traces, newest revision first.
//!
//! Everything but `browser` and [`pool`] is plain Rust, tested natively: [`queue`] decides what is next, [`run`]
//! turns a job into its reply in steps, [`view`], [`check`] and [`look`] are the steps, [`limits`] says what is too much.
//! Deliberately absent: anything of the page, and any thread but [`pool`]'s.

pub mod check;
pub mod limits;
pub mod look;
pub mod numbers;
pub mod pool;
pub mod queue;
pub mod run;
pub mod view;
pub mod worker;

#[cfg(target_arch = "wasm32")]
pub mod browser;
