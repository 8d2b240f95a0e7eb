//! The page: a Leptos application that draws traces and computes no attention.
//!
//! One direction: control → [`session::Action`] → [`session::Session`] → job → engine → trace → scene → canvas.

pub mod app;
pub mod beside;
pub mod canvas;
pub mod client;
pub mod ctx;
pub mod examples;
pub mod format;
pub mod header;
pub mod labs;
pub mod lazy;
pub mod link;
pub mod links;
pub mod order;
pub mod prelude;
pub mod session;
pub mod soon;
pub mod source;
pub mod text;
pub mod widgets;

/// Puts the page into the document.
pub fn start() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(app::App);
}
