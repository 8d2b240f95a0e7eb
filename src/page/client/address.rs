//! Where the files of the page lie.

/// The folder of an address, with its last slash: without the page's name, its query and its fragment.
pub fn folder(address: &str) -> &str {
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
