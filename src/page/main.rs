//! The page: a Leptos application that draws traces and computes no attention.

use leptos::prelude::*;

fn main() {
    console_error_panic_hook::set_once();
    leptos::mount::mount_to_body(|| view! { <h1>"Attention Lab"</h1> });
}
