//! Words with variables in them, as the text file writes them: `**strong**`, `*d_k*` for a variable with its index.

use crate::prelude::*;

#[derive(Debug, PartialEq, Eq)]
enum Piece<'a> {
    Plain(&'a str),
    Strong(&'a str),
    /// A letter and its index, which may be empty.
    Variable(&'a str, &'a str),
}

fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find('*') {
        let (before, marked) = rest.split_at(at);
        let mark = if marked.starts_with("**") { "**" } else { "*" };
        let inside = &marked[mark.len()..];
        let Some(end) = inside.find(mark) else { break };
        if !before.is_empty() {
            found.push(Piece::Plain(before));
        }
        let words = &inside[..end];
        found.push(match (mark, words.split_once('_')) {
            ("**", _) => Piece::Strong(words),
            (_, Some((letter, index))) => Piece::Variable(letter, index),
            (_, None) => Piece::Variable(words, ""),
        });
        rest = &inside[end + mark.len()..];
    }
    if !rest.is_empty() {
        found.push(Piece::Plain(rest));
    }
    found
}

/// The words as elements.
pub fn rich(text: &str) -> AnyView {
    pieces(text)
        .into_iter()
        .map(|piece| match piece {
            Piece::Plain(words) => words.to_owned().into_any(),
            Piece::Strong(words) => view! { <b>{words.to_owned()}</b> },
            Piece::Variable(letter, "") => view! { <var>{letter.to_owned()}</var> },
            Piece::Variable(letter, index) => {
                view! { <var>{letter.to_owned()}<sub>{index.to_owned()}</sub></var> }
            }
        })
        .collect_view()
        .into_any()
}

/// The words without their marks, for accessible names: `1/√d_k`.
pub fn plain(text: &str) -> String {
    text.replace('*', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_told_apart() {
        assert_eq!(
            pieces("1/√*d_k*"),
            [Piece::Plain("1/√"), Piece::Variable("d", "k")]
        );
        assert_eq!(
            pieces("**Layer 3.** *n* heads"),
            [
                Piece::Strong("Layer 3."),
                Piece::Plain(" "),
                Piece::Variable("n", ""),
                Piece::Plain(" heads")
            ]
        );
        assert_eq!(pieces("2 * 3"), [Piece::Plain("2 * 3")]);
        assert_eq!(pieces(""), []);
        assert_eq!(plain("1/√*d_k*"), "1/√d_k");
    }
}
