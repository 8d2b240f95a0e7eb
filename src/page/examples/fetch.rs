//! One request.

use crate::{client::files, text::tf};
use leptos::prelude::window;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// The bytes at an address relative to the folder of the page's files. Fails with a sentence that names the file.
pub(super) async fn bytes(url: &str, file: &str) -> Result<Vec<u8>, String> {
    let lost = |_: JsValue| tf("example-no-answer", &[("file", &file)]);
    let response = JsFuture::from(window().fetch_with_str(&format!("{}{url}", files())))
        .await
        .map_err(lost)?;
    let Ok(response) = response.dyn_into::<web_sys::Response>() else {
        return Err(lost(JsValue::NULL));
    };
    if !response.ok() {
        return Err(tf(
            "example-status",
            &[("file", &file), ("status", &response.status())],
        ));
    }
    let body = JsFuture::from(response.array_buffer().map_err(lost)?)
        .await
        .map_err(lost)?;
    Ok(js_sys::Uint8Array::new(&body).to_vec())
}
