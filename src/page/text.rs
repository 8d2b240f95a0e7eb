//! The words of the interface, which stand in `www/text/en.ftl` and not in the code.
//!
//! The file is a subset of Fluent: `key = words`, with `{ $name }` for what is filled in; a line that begins with
//! white space goes on with the words above. A test holds every key that the code asks for against the file.

use crate::order;
use std::sync::LazyLock;

/// Keys and words, in the order of the keys.
static ENGLISH: LazyLock<Vec<(&'static str, String)>> =
    LazyLock::new(|| parse(include_str!("../../www/text/en.ftl")));

fn parse(source: &'static str) -> Vec<(&'static str, String)> {
    let mut words: Vec<(&'static str, String)> = Vec::new();
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
    let at = ENGLISH.binary_search_by(|(k, _)| k.cmp(&key)).ok()?;
    Some(ENGLISH[at].1.as_str())
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

    #[test]
    fn every_key_in_the_code_has_words() {
        let mut keys = Vec::new();
        keys_in(Path::new(env!("CARGO_MANIFEST_DIR")), &mut keys);
        let missing: Vec<_> = keys
            .iter()
            .filter(|(key, _)| words(key).is_none())
            .collect();
        assert!(
            missing.is_empty(),
            "no words in www/text/en.ftl for {missing:?}"
        );
    }

    #[test]
    fn no_key_stands_twice() {
        let source = include_str!("../../www/text/en.ftl");
        let mut keys: Vec<&str> = source
            .lines()
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
