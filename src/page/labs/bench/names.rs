//! Names of rows and columns as they stand on the axes.

use crate::canvas::scene::Type;

/// A label: its text, and whether it is the name of a mark rather than a word of the sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What stands on the axis.
    pub text: String,
    /// A mark's name, set in italics: "full stop", not ".".
    pub mark: bool,
}

/// The label of a token. Punctuation is named, since a dot in quotes reads badly on an axis.
pub fn label(token: &str) -> Label {
    let name = match token {
        "." => "full stop",
        "," => "comma",
        "'" | "’" => "apostr.",
        "\"" | "“" | "”" => "quote",
        ":" => "colon",
        ";" => "semicolon",
        "!" => "exclam.",
        "?" => "question",
        "-" | "–" | "—" => "dash",
        "(" | ")" => "bracket",
        "" | " " => "blank",
        _ => {
            return Label {
                text: token.to_owned(),
                mark: false,
            };
        }
    };
    Label {
        text: name.to_owned(),
        mark: true,
    }
}

/// The text cut with an ellipsis where it is wider than `room`.
pub fn fit(text: &str, font: Type, room: f64) -> String {
    if font.width(text) <= room {
        return text.to_owned();
    }
    let mut out: String = text.to_owned();
    while out.pop().is_some() {
        let cut = format!("{}…", out.trim_end());
        if font.width(&cut) <= room {
            return cut;
        }
    }
    "…".to_owned()
}

/// Which of `count` labels `pitch` apart have room when each needs `need`: every one, or every second, fifth, tenth, …
pub fn step(pitch: f64, need: f64) -> usize {
    [1, 2, 5, 10, 20, 50, 100, 200, 500]
        .into_iter()
        .find(|s| *s as f64 * pitch >= need)
        .unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_are_named_and_words_stay() {
        assert_eq!(
            label("."),
            Label {
                text: "full stop".into(),
                mark: true
            }
        );
        assert_eq!(
            label("[CLS]"),
            Label {
                text: "[CLS]".into(),
                mark: false
            }
        );
    }

    #[test]
    fn long_words_are_cut() {
        let cut = fit("internationalisation", Type::LABEL, 60.0);
        assert!(
            cut.ends_with('…') && Type::LABEL.width(&cut) <= 60.0,
            "{cut}"
        );
        assert_eq!(fit("the", Type::LABEL, 60.0), "the");
    }

    #[test]
    fn labels_thin_out() {
        assert_eq!(
            (
                step(14.0, 13.0),
                step(7.0, 13.0),
                step(3.0, 13.0),
                step(0.44, 13.0)
            ),
            (1, 2, 5, 50)
        );
    }
}
