//! The page: a Leptos application that draws traces and computes no attention.
//!
//! One direction: control → [`session::Action`] → [`session::Session`] → job → engine → trace → scene → canvas.

pub mod canvas;
pub mod ctx;
pub mod format;
pub mod session;
pub mod source;
pub mod text;
