//! `_headers`, for hosts that read it (Netlify, Cloudflare Pages and their like).

use crate::server::ISOLATION;

/// What the page needs and no more: nothing inline, nothing of another host.
pub const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; \
     style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; font-src 'self'";

/// The file's text. `top`: names of the files at the top, which keep theirs from version to version; `folder`: the
/// hashed one. Rules that fit one file add up, so each header is given once for each file.
pub fn text(top: &[&str], folder: &str) -> String {
    let mut text = String::from("/*\n");
    for (name, value) in ISOLATION {
        text += &format!("  {name}: {value}\n");
    }
    text += "  Access-Control-Allow-Origin: *\n  X-Content-Type-Options: nosniff\n";
    text += &format!("  Content-Security-Policy: {POLICY}\n");
    text += &format!("/{folder}/*\n  Cache-Control: public, max-age=31536000, immutable\n");
    for name in std::iter::once(&"").chain(top) {
        text += &format!("/{name}\n  Cache-Control: no-cache\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_file_is_given_a_header_twice() {
        let text = text(&["index.html", "embed.js"], "v-1");
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
