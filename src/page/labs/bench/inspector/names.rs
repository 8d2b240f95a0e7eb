//! How queries and keys are called, on canvases, in prose and in formulas.

use crate::prelude::*;
use crate::{
    canvas::scene::{Anchor, Ink, Run, Scene, Type},
    labs::bench::names::{Label, fit, label},
    session::Session,
};
use std::sync::Arc;

/// A query, a key or a value by its token, or by a letter and an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A token; a mark of punctuation by its word, to be set in italics.
    Token {
        /// What to print.
        text: String,
        /// Whether it is a word in place of a mark.
        word: bool,
    },
    /// `q`, `k` or `v` and an index.
    Index(char, usize),
}

/// The words on both axes; empty where queries and keys go by their indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Names {
    queries: Arc<[String]>,
    keys: Arc<[String]>,
}

impl Names {
    /// Of a session.
    pub fn of(session: &Session) -> Names {
        Names {
            queries: session.q_labels.clone(),
            keys: session.k_labels.clone(),
        }
    }

    /// From words.
    pub fn new(queries: &[&str], keys: &[&str]) -> Names {
        let own = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        Names {
            queries: own(queries),
            keys: own(keys),
        }
    }

    /// Whether keys go by tokens.
    pub fn tokens(&self) -> bool {
        !self.keys.is_empty()
    }

    /// A query's name.
    pub fn query(&self, index: usize) -> Name {
        name(&self.queries, 'q', index)
    }

    /// A key's name.
    pub fn key(&self, index: usize) -> Name {
        name(&self.keys, 'k', index)
    }

    /// A value's name: the token of its key.
    pub fn value(&self, index: usize) -> Name {
        name(&self.keys, 'v', index)
    }
}

fn name(words: &[String], letter: char, index: usize) -> Name {
    match words.get(index) {
        Some(token) => {
            let Label { text, mark } = label(token);
            Name::Token { text, word: mark }
        }
        None => Name::Index(letter, index),
    }
}

impl std::fmt::Display for Name {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Name::Token { text, .. } => f.write_str(text),
            Name::Index(letter, index) => {
                write!(f, "{letter}{}", crate::session::subscript(*index))
            }
        }
    }
}

impl Name {
    /// The font of a token.
    pub fn font(&self, bold: bool) -> Type {
        let word = matches!(self, Name::Token { word: true, .. });
        Type {
            italic: word,
            ..if bold { Type::STRONG } else { Type::LABEL }
        }
    }

    /// The width that [`Name::draw`] takes.
    pub fn width(&self, bold: bool) -> f64 {
        match self {
            Name::Token { text, .. } => self.font(bold).width(text),
            Name::Index(letter, index) => {
                let (variable, small) = index_fonts(bold);
                variable.width(&letter.to_string()) + small.width(&index.to_string())
            }
        }
    }

    /// Puts the name on a scene, cut short with "…" where it is wider than `room`. Returns its width.
    pub fn draw(
        &self,
        scene: &mut Scene,
        at: (f64, f64),
        anchor: Anchor,
        ink: Ink,
        bold: bool,
        room: f64,
    ) -> f64 {
        let (x, y) = at;
        match self {
            Name::Token { text, .. } => {
                let font = self.font(bold);
                scene.text(x, y, fit(text, font, room), font, ink, anchor)
            }
            Name::Index(letter, index) => {
                let (letter, index) = (letter.to_string(), index.to_string());
                let (variable, small) = index_fonts(bold);
                let (a, b) = (variable.width(&letter), small.width(&index));
                let left = match anchor {
                    Anchor::Start => x,
                    Anchor::Middle => x - (a + b) / 2.0,
                    Anchor::End => x - a - b,
                };
                // 12 px is the least size, so the index is not smaller than a label; it stands lower.
                let index = Run {
                    drop: 3.0,
                    ..Run::new(index, small, ink)
                };
                scene.runs(left, y - 1.0, vec![Run::new(letter, variable, ink), index]);
                a + b
            }
        }
    }

    /// As HTML.
    pub fn view(&self) -> AnyView {
        match self {
            Name::Token { text, word: true } => view! { <i>{text.clone()}</i> },
            Name::Token { text, .. } => text.clone().into_any(),
            Name::Index(letter, index) => {
                view! { <span class=format!("name {letter}")><var>{letter.to_string()}</var><sub>{*index}</sub></span> }
            }
        }
    }
}

/// Letter and index of a variable.
fn index_fonts(bold: bool) -> (Type, Type) {
    let variable = Type {
        bold,
        ..Type::VARIABLE
    };
    (variable, if bold { Type::STRONG } else { Type::LABEL })
}
