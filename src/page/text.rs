//! The words of the interface, which stand in `www/text/en.ftl` and not in the code.
//!
//! The file is a subset of Fluent: `key = words`, with `{ $name }` for what is filled in; a line that begins with
//! white space goes on with the words above. A test holds every key that the code asks for against the file.

use std::{collections::HashMap, sync::LazyLock};

static ENGLISH: LazyLock<HashMap<&'static str, String>> =
    LazyLock::new(|| parse(include_str!("../../www/text/en.ftl")));

fn parse(source: &'static str) -> HashMap<&'static str, String> {
    let mut words: HashMap<&'static str, String> = HashMap::new();
    let mut last = None;
    for line in source.lines().filter(|l| !l.trim_start().starts_with('#')) {
        if line.starts_with([' ', '\t']) {
            if let Some(text) = last.and_then(|key| words.get_mut(key)) {
                text.push(' ');
                text.push_str(line.trim());
            }
        } else if let Some((key, text)) = line.split_once('=') {
            last = Some(key.trim());
            words.insert(key.trim(), text.trim().to_owned());
        }
    }
    words
}

/// The words of a key; the key itself where the file has none.
pub fn t(key: &'static str) -> &'static str {
    ENGLISH.get(key).map_or(key, String::as_str)
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
            .filter(|(key, _)| !ENGLISH.contains_key(key.as_str()))
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
        assert_eq!(
            parse("a = one\n  two\n# no\nb = { $x } = 3")["a"],
            "one two"
        );
        assert_eq!(parse("b = { $x } = 3")["b"], "{ $x } = 3");
    }
}
