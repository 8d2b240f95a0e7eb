//! The words of the interface, which stand in `www/text/*.ftl` and not in the code.
//!
//! The files are a subset of Fluent: `key = words`, with `{ $name }` for what is filled in; a line that begins with
//! white space goes on with the words above. A test holds every key that the code asks for against them.
//! `en.ftl` is there from the start; the words of what comes after the first picture come with it (see lazy.rs).

use crate::order;
use std::sync::LazyLock;
#[cfg(feature = "parts")]
use std::sync::OnceLock;

/// Keys and words, in the order of the keys.
type Words = Vec<(&'static str, String)>;

#[cfg(all(feature = "parts", target_arch = "wasm32"))]
static FIRST: LazyLock<Words> =
    LazyLock::new(|| parse(include_str!(concat!(env!("OUT_DIR"), "/en.ftl"))));
/// All of them, where the page is in one piece, as in native tests.
#[cfg(not(all(feature = "parts", target_arch = "wasm32")))]
static FIRST: LazyLock<Words> = LazyLock::new(|| {
    parse(concat!(
        include_str!(concat!(env!("OUT_DIR"), "/en.ftl")),
        include_str!(concat!(env!("OUT_DIR"), "/beside.ftl")),
        include_str!(concat!(env!("OUT_DIR"), "/inputs.ftl")),
        include_str!(concat!(env!("OUT_DIR"), "/bench.ftl")),
    ))
});

#[cfg(feature = "parts")]
static LATER: [OnceLock<Words>; 3] = [const { OnceLock::new() }; 3];

/// For each file of `part!` a function that brings its words: whoever calls it has them in the same file of wasm.
#[cfg(feature = "parts")]
pub mod bring {
    use super::{LATER, parse};

    /// Those beside the picture.
    pub fn beside() {
        LATER[0].get_or_init(|| parse(include_str!(concat!(env!("OUT_DIR"), "/beside.ftl"))));
    }

    /// Those around the picture in a page of its own.
    pub fn bench() {
        LATER[2].get_or_init(|| parse(include_str!(concat!(env!("OUT_DIR"), "/bench.ftl"))));
    }

    /// Those of the inputs.
    pub fn inputs() {
        LATER[1].get_or_init(|| parse(include_str!(concat!(env!("OUT_DIR"), "/inputs.ftl"))));
    }
}

fn parse(source: &'static str) -> Words {
    let mut words: Words = Vec::new();
    for line in source.lines().filter(|l| !l.trim_start().starts_with('#')) {
        if line.starts_with([' ', '\t']) {
            if let Some((_, text)) = words.last_mut() {
                text.push(' ');
                text.push_str(line.trim());
            }
        } else if let Some((key, text)) = line.split_once('=') {
            words.push((key.trim(), text.trim().to_owned()));
        }
    }
    order::sorted(&words, &|a, b| a.0.cmp(b.0))
}

fn words(key: &str) -> Option<&'static str> {
    let among = |words: &'static Words| {
        let at = words.binary_search_by(|(k, _)| k.cmp(&key)).ok()?;
        Some(words[at].1.as_str())
    };
    let first = among(&FIRST);
    #[cfg(feature = "parts")]
    return first.or_else(|| LATER.iter().filter_map(OnceLock::get).find_map(among));
    #[cfg(not(feature = "parts"))]
    first
}

/// The words of a key; the key itself where the file has none.
pub fn t(key: &'static str) -> &'static str {
    words(key).unwrap_or(key)
}

/// The words of a key, with `{ $name }` filled in.
pub fn tf(key: &'static str, with: &[(&str, &dyn std::fmt::Display)]) -> String {
    with.iter().fold(t(key).to_owned(), |text, (name, value)| {
        text.replace(&format!("{{ ${name} }}"), &value.to_string())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn keys_in(folder: &Path, keys: &mut Vec<(String, String)>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                keys_in(&path, keys);
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with("text.rs") {
                let code = std::fs::read_to_string(&path).unwrap();
                for call in ["t(\"", "tf(\""] {
                    for (at, _) in code.match_indices(call) {
                        let before = code[..at].chars().next_back();
                        if before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '.') {
                            continue;
                        }
                        let key: String = code[at + call.len()..]
                            .chars()
                            .take_while(|c| *c != '"')
                            .collect();
                        keys.push((key, path.display().to_string()));
                    }
                }
            }
        }
    }

    /// Files with words, and the sources with whose code they come; the first are there for all.
    const FILES: [(&str, &[&str]); 4] = [
        (include_str!("../../www/text/en.ftl"), &[""]),
        (
            include_str!("../../www/text/beside.ftl"),
            &[
                "/labs/bench/inspector",
                "/labs/bench/waterfall",
                "/labs/bench/formulas",
                "/labs/bench/tables",
            ],
        ),
        (
            include_str!("../../www/text/inputs.ftl"),
            &["/labs/bench/inputs"],
        ),
        (
            include_str!("../../www/text/bench.ftl"),
            &[
                "/header/",
                "/labs/bench/invite",
                "/labs/bench/whole",
                "/widgets/sheet",
            ],
        ),
    ];

    #[test]
    fn every_key_in_the_code_has_words_where_its_code_is() {
        let mut keys = Vec::new();
        keys_in(Path::new(env!("CARGO_MANIFEST_DIR")), &mut keys);
        let known = FILES.map(|(source, beside)| (parse(source), beside));
        let missing: Vec<_> = keys
            .iter()
            .filter(|(key, path)| {
                let path = path.replace('\\', "/");
                !known.iter().any(|(words, beside)| {
                    words.iter().any(|(k, _)| k == key)
                        && beside.iter().any(|place| path.contains(place))
                })
            })
            .collect();
        assert!(missing.is_empty(), "no words in www/text for {missing:?}");
    }

    #[test]
    fn no_key_stands_twice() {
        let mut keys: Vec<&str> = FILES
            .iter()
            .flat_map(|(source, _)| source.lines())
            .filter(|l| !l.starts_with([' ', '\t', '#']))
            .filter_map(|l| l.split_once('=').map(|(key, _)| key.trim()))
            .collect();
        keys.sort_unstable();
        let twice: Vec<_> = keys
            .windows(2)
            .filter(|w| w[0] == w[1])
            .map(|w| w[0])
            .collect();
        assert!(twice.is_empty(), "{twice:?}");
    }

    #[test]
    fn what_is_filled_in_appears() {
        let said = parse("b = { $x } = 3\na = one\n  two\n# no\n");
        let expected = [("a", "one two"), ("b", "{ $x } = 3")];
        assert!(said.iter().map(|(k, v)| (*k, v.as_str())).eq(expected));
    }
}
