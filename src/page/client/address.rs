//! Where the files of the page lie.

use wasm_bindgen::JsCast;

/// The script that starts the page, in the folder of its files.
const BOOT: &str = "www/boot.js";

/// The folder that holds engines/ and www/: beside the page, or wherever its first script was loaded from.
pub fn files() -> String {
    let document = web_sys::window().and_then(|w| w.document());
    let Some(document) = document else {
        return String::new();
    };
    let script = document
        .query_selector("script[data-wasm]")
        .ok()
        .flatten()
        .and_then(|s| s.dyn_into::<web_sys::HtmlScriptElement>().ok())
        .map(|s| s.src())
        .unwrap_or_default();
    match script.split('?').next().and_then(|s| s.strip_suffix(BOOT)) {
        Some(folder) => folder.to_owned(),
        None => folder(&document.base_uri().ok().flatten().unwrap_or_default()).to_owned(),
    }
}

/// The folder of an address, with its last slash: without the page's name, its query and its fragment.
fn folder(address: &str) -> &str {
    let path = address
        .find(['?', '#'])
        .and_then(|end| address.get(..end))
        .unwrap_or(address);
    path.rfind('/')
        .and_then(|slash| path.get(..=slash))
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn files_are_looked_for_beside_the_page_whatever_its_address_says_beyond_its_folder() {
        for address in [
            "http://host/lab/",
            "http://host/lab/index.html",
            "http://host/lab/?engine=simd",
            "http://host/lab/index.html?from=a/b#bench",
            "http://host/lab/#bench",
        ] {
            assert_eq!(folder(address), "http://host/lab/", "{address}");
        }
    }
}
