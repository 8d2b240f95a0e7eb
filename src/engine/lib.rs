//! The worker: takes jobs, computes traces, newest revision first.
//!
//! Everything but `browser` and [`pool`] is plain Rust, tested natively: [`queue`] decides what is next, [`run`]
//! turns a job into its reply in steps, [`view`], [`look`], [`check`] and [`proof`] are the steps, [`limits`] says what is
//! too much. The feature `view` is what the page needs for a picture; `proof` is what holds it against float32 and the
//! reference cases, and comes later.
//! Deliberately absent: anything of the page, and any thread but [`pool`]'s.

pub mod check;
pub mod limits;
pub mod look;
pub mod numbers;
pub mod pool;
pub mod proof;
pub mod queue;
pub mod run;
pub mod view;
pub mod worker;

#[cfg(target_arch = "wasm32")]
pub mod browser;
