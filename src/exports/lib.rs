//! The float32 path for other people's pages: plain functions on numbers and buffers, under `www/attention.js`.
//!
//! [`call`] turns a row of numbers into a valid [`attention::AttentionSpec`]; [`session`] holds the [`buffers`] that
//! JavaScript writes inputs into and reads results from, and caches of keys and values, and computes; [`runner`] says who takes which rows, with
//! [`pool`] as the helpers that never make their caller wait asleep, since a page's main thread must not. `browser` is
//! the boundary: integers and pointers, no strings and no objects, so that a call of sixteen tokens takes a microsecond.
//!
//! Deliberately absent: the float64 oracle's stages, messages, jobs, everything that [`attention`] leaves out.

pub mod buffers;
mod caches;
pub mod call;
pub mod pool;
pub mod runner;
pub mod session;

#[cfg(target_arch = "wasm32")]
pub mod browser;
