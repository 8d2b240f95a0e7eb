//! `_headers`, for hosts that read it (Netlify, Cloudflare Pages and their like).

use crate::Result;
use crate::server::ISOLATION;

/// What the page needs and no more: nothing inline, nothing of another host. In a sandboxed frame, which has no origin,
/// Safari takes `'self'` for nothing, and refuses workers from blobs under the headers above: there the site has to be
/// named, and workers may come from `data:`.
pub const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; \
     style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'";

/// The file's text. `top`: names of the files at the top, which keep theirs from version to version; `folder`: the
/// hashed one; `origin`: where the site will be, if that is known. Rules that fit one file add up, so each header is given
/// once for each file.
pub fn text(top: &[&str], folder: &str, origin: Option<&str>) -> String {
    let mut text = String::from("/*\n");
    for (name, value) in ISOLATION {
        text += &format!("  {name}: {value}\n");
    }
    text += "  Access-Control-Allow-Origin: *\n  X-Content-Type-Options: nosniff\n";
    if let Some(origin) = origin {
        let policy = POLICY
            .replace("'self'", &format!("'self' {origin}"))
            .replace("blob:; style-src", "blob: data:; style-src");
        text += &format!("  Content-Security-Policy: {policy}\n");
    }
    text += &format!("/{folder}/*\n  Cache-Control: public, max-age=31536000, immutable\n");
    for name in std::iter::once(&"").chain(top) {
        text += &format!("/{name}\n  Cache-Control: no-cache\n");
    }
    text
}

/// Scheme, host and port of an address.
pub fn origin(address: &str) -> Result<String> {
    let origin = address.split_once("://").and_then(|(scheme, rest)| {
        let host = rest.split('/').next()?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-:[]".contains(c);
        let is_host = !host.is_empty() && host.chars().all(plain);
        (matches!(scheme, "http" | "https") && is_host).then(|| format!("{scheme}://{host}"))
    });
    origin.ok_or_else(|| {
        format!("--origin {address}: expected an address such as https://lab.example.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_needs_the_address_of_the_site() {
        assert!(!text(&[], "v-1", None).contains("Content-Security-Policy"));
        let named = text(&[], "v-1", Some("https://lab.example"));
        assert!(
            named.contains("script-src 'self' https://lab.example 'wasm-unsafe-eval';"),
            "{named}"
        );
        assert_eq!(
            origin("https://lab.example/x/").unwrap(),
            "https://lab.example"
        );
        assert_eq!(
            origin("http://127.0.0.1:8080").unwrap(),
            "http://127.0.0.1:8080"
        );
        for bad in ["lab.example", "https://", "https://a b/", "https://a;b"] {
            assert!(origin(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_file_is_given_a_header_twice() {
        let text = text(
            &["index.html", "embed.js"],
            "v-1",
            Some("https://lab.example"),
        );
        for (file, control) in [
            ("/", "no-cache"),
            ("/index.html", "no-cache"),
            ("/embed.js", "no-cache"),
            ("/v-1/x/y.js", "public, max-age=31536000, immutable"),
        ] {
            let mut found = Vec::new();
            let mut fits = false;
            for line in text.lines() {
                match line.strip_prefix("  ") {
                    Some(header) if fits => found.push(header),
                    Some(_) => {}
                    None => {
                        fits = line
                            .strip_suffix('*')
                            .map_or(file == line, |start| file.starts_with(start));
                    }
                }
            }
            let names: std::collections::BTreeSet<_> =
                found.iter().filter_map(|h| h.split(':').next()).collect();
            assert_eq!(names.len(), found.len(), "{file}: {found:?}");
            assert_eq!(names.len(), ISOLATION.len() + 4, "{file}: {found:?}");
            assert!(
                found.contains(&format!("Cache-Control: {control}").as_str()),
                "{file}"
            );
        }
    }
}
