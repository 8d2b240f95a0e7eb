//! MathML in a few words: strings that are already safe to set as HTML, because only these functions make them.

use crate::labs::bench::inspector::names::Name;

/// A piece of presentation MathML.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Math(String);

/// Which tensor a piece belongs to: its hue, by class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hue {
    /// Queries.
    Q,
    /// Keys.
    K,
    /// Values.
    V,
    /// Weights.
    A,
}

impl Hue {
    fn class(self) -> &'static str {
        match self {
            Hue::Q => "q",
            Hue::K => "k",
            Hue::V => "v",
            Hue::A => "a",
        }
    }
}

fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

fn element(tag: &str, content: &str) -> Math {
    Math(format!("<{tag}>{content}</{tag}>"))
}

/// An identifier; one letter is set in italics by the browser.
pub fn id(text: &str) -> Math {
    element("mi", &escape(text))
}

/// A number.
pub fn number(text: &str) -> Math {
    element("mn", &escape(text))
}

/// A thin space, as between a number and a function.
pub fn space() -> Math {
    Math("<mspace width=\"0.17em\"></mspace>".to_owned())
}

/// An operator or relation.
pub fn op(text: &str) -> Math {
    element("mo", &escape(text))
}

/// "+ …": stays with what it continues.
pub fn and_so_on() -> Math {
    row([op("+").infix(), op("…")])
}

/// Upright words.
pub fn words(text: &str) -> Math {
    element("mtext", &escape(text))
}

/// Pieces in a row.
pub fn row(pieces: impl IntoIterator<Item = Math>) -> Math {
    let inside: String = pieces.into_iter().map(|m| m.0).collect();
    element("mrow", &inside)
}

/// A fraction.
pub fn frac(above: Math, below: Math) -> Math {
    element("mfrac", &(above.0 + &below.0))
}

/// A subscript.
pub fn sub(base: Math, below: Math) -> Math {
    element("msub", &(base.0 + &below.0))
}

/// A power.
pub fn power(base: Math, exponent: Math) -> Math {
    element("msup", &(base.0 + &exponent.0))
}

/// A square root.
pub fn root(inside: Math) -> Math {
    element("msqrt", &inside.0)
}

/// A sum over an index, which stands below it.
pub fn sum(index: &str) -> Math {
    Math(format!(
        "<munder><mo movablelimits=\"false\">∑</mo><mi>{}</mi></munder>",
        escape(index)
    ))
}

/// e to a power.
pub fn exp(exponent: Math) -> Math {
    power(id("e"), exponent)
}

/// Two indices at a letter: s₁₁,₁₃.
pub fn at(letter: &str, query: usize, key: usize) -> Math {
    sub(
        id(letter),
        row([
            number(&query.to_string()),
            op(","),
            number(&key.to_string()),
        ]),
    )
}

/// A letter with the name of a token or an index below it.
pub fn named(letter: &str, name: &Name) -> Math {
    match name {
        Name::Token { text, .. } => sub(id(letter), words(text)),
        Name::Index(_, index) => sub(id(letter), number(&index.to_string())),
    }
}

impl Math {
    /// In the hue of a tensor.
    pub fn hue(self, hue: Hue) -> Math {
        Math(format!("<mrow class=\"{}\">{}</mrow>", hue.class(), self.0))
    }

    /// A whole formula in display style.
    pub fn formula(self) -> String {
        format!(
            "<math display=\"block\" displaystyle=\"true\">{}</math>",
            self.0
        )
    }

    fn infix(self) -> Math {
        Math(self.0.replacen("<mo>", "<mo form=\"infix\">", 1))
    }

    /// Whether a line may end before this piece: at a relation, an arrow, or between the terms of a sum.
    fn begins_a_line(&self) -> bool {
        ["=", "→", "+"].into_iter().any(|sign| *self == op(sign))
    }
}

/// A formula that may take several lines: a piece of MathML for each part between the signs at which it may turn.
pub fn formula(pieces: impl IntoIterator<Item = Math>) -> String {
    let mut parts: Vec<Vec<Math>> = vec![Vec::new()];
    for piece in pieces {
        let last = parts.last();
        // What follows an arrow is one step.
        let step = last.is_some_and(|p| p.first() == Some(&op("→").infix()));
        let turns = last.is_some_and(|p| !p.is_empty())
            && if step {
                piece == op("→")
            } else {
                piece.begins_a_line()
            };
        if turns {
            parts.push(Vec::new());
        }
        if let Some(part) = parts.last_mut() {
            // At the beginning of a part too, a sign stands between two others.
            part.push(if turns { piece.infix() } else { piece });
        }
    }
    parts.into_iter().map(|part| row(part).formula()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether tags open and close in order.
    pub(crate) fn well_formed(xml: &str) -> bool {
        let mut open: Vec<&str> = Vec::new();
        for tag in xml.split('<').skip(1) {
            let Some((inside, _)) = tag.split_once('>') else {
                return false;
            };
            if let Some(name) = inside.strip_prefix('/') {
                if open.pop() != Some(name) {
                    return false;
                }
            } else {
                open.push(inside.split(' ').next().unwrap_or_default());
            }
        }
        open.is_empty()
    }

    #[test]
    fn words_of_the_reader_stay_words() {
        let name = Name::Token {
            text: "</mtext><script>&\"'".into(),
            word: false,
        };
        let math = named("v", &name).hue(Hue::V).formula();
        assert!(math.contains("&lt;/mtext&gt;&lt;script&gt;&amp;"), "{math}");
        assert!(well_formed(&math), "{math}");
    }

    #[test]
    fn a_formula_turns_at_its_signs_and_nowhere_else() {
        let inside = frac(row([number("1"), op("+"), id("x")]), number("2"));
        let text = formula([
            id("s"),
            op("="),
            inside,
            op("="),
            number("3"),
            op("·"),
            id("y"),
        ]);
        assert_eq!(text.matches("<math ").count(), 3, "{text}");
        let step = formula([
            id("s"),
            op("="),
            number("1"),
            op("→"),
            number("2"),
            op("="),
            number("3"),
        ]);
        assert_eq!(step.matches("<math ").count(), 3, "{step}");
        assert!(well_formed(&text));
        for part in text.split_inclusive("</math>").skip(1) {
            assert!(part.contains("<mrow><mo form=\"infix\">=</mo>"), "{part}");
        }
    }

    #[test]
    fn pieces_nest() {
        let math = frac(
            row([number("1"), op("+"), id("x")]),
            root(sub(id("d"), id("k"))),
        )
        .formula();
        assert_eq!(
            math,
            "<math display=\"block\" displaystyle=\"true\"><mfrac><mrow><mn>1</mn><mo>+</mo><mi>x</mi></mrow>\
             <msqrt><msub><mi>d</mi><mi>k</mi></msub></msqrt></mfrac></math>"
        );
    }
}
