//! What a link asks for → a session, as far as it can be had.

use super::read::{Notes, Origin, Wanted, short};
use crate::{
    ctx::ViewOptions,
    session::{Data, Session, Size, limits},
    source::{ExampleLayer, Source},
    text::{t, tf},
};
use attention::{AttentionSpec, Config, Shape};
use std::sync::Arc;

/// A link that was opened.
#[derive(Clone, Debug, PartialEq)]
pub struct Opened {
    /// The session, valid whatever the link said.
    pub session: Session,
    /// How it is drawn.
    pub view: ViewOptions,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

impl Wanted {
    /// The example that has to be fetched first: sentence (empty: the first), layer and head (none: the suggested).
    pub fn example(&self) -> Option<(String, Option<(usize, usize)>)> {
        match &self.origin {
            None => Some((String::new(), None)),
            Some(Origin::Example(sentence, usize::MAX)) => Some((sentence.clone(), None)),
            Some(Origin::Example(sentence, layer)) => {
                Some((sentence.clone(), Some((*layer, self.head.unwrap_or(0)))))
            }
            Some(_) => None,
        }
    }

    /// Whether one head of the example is enough to open it.
    pub fn needs_one_head(&self) -> bool {
        self.edits.is_empty() && self.tensors.is_empty()
    }

    /// The session, on the layer that [`Wanted::example`] named; `None` for other sources.
    pub fn open(&self, layer: Option<(&Arc<ExampleLayer>, usize)>) -> Opened {
        let mut notes = self.notes.clone();
        let mut session = self.begin(layer, &mut notes);
        self.set_options(&mut session, &mut notes);
        self.set_numbers(&mut session, &mut notes);
        self.set_looks(&mut session, &mut notes);
        Opened {
            session,
            view: self.view,
            notes: notes.sentences(),
        }
    }

    /// The source at its size, no option set.
    fn begin(&self, layer: Option<(&Arc<ExampleLayer>, usize)>, notes: &mut Notes) -> Session {
        if let Some((layer, head)) = layer {
            return Session::example(layer.clone(), head);
        }
        let default = match &self.origin {
            Some(Origin::Random(..)) => Shape::square(16, 64),
            _ => Shape::square(6, 4),
        };
        let mut shape = self.shape(default, notes);
        match self.origin {
            Some(Origin::Random(seed, sigma)) => Session::random(shape, seed, sigma),
            Some(Origin::Tokens(seed, d_model)) => {
                if shape.n_k != shape.n_q {
                    shape.n_k = shape.n_q;
                    notes.push(t("link-tokens-square").to_owned());
                }
                let most = Size::DModel.most();
                let fits = (1..=most).contains(&d_model)
                    && shape.heads * d_model * shape.d_k.max(shape.d_v) <= limits::CELLS;
                if !fits {
                    notes.push(tf(
                        "link-value",
                        &[
                            ("key", &"src"),
                            ("expected", &format!("d_model 1–{most}")),
                            ("got", &d_model),
                        ],
                    ));
                }
                Session::tokens(shape, seed, if fits { d_model } else { 8 })
            }
            _ => Session::plain(shape),
        }
    }

    /// The sizes that the link gives, where they are within the bench's limits.
    fn shape(&self, default: Shape, notes: &mut Notes) -> Shape {
        let mut config = Config::new(default);
        for (property, value) in self.options.iter().filter(|(p, _)| p.is_size()) {
            let before = config.shape;
            if let Err(error) = property.take(&mut config, value) {
                notes.push(left_out(property.key, &error.expected, &short(value)));
                continue;
            }
            let size = Size::ALL.into_iter().find(|s| s.field() == property.field);
            let most = size.map_or(limits::TOKENS, Size::most);
            let value = size.map_or(1, |s| s.of_shape(config.shape));
            if !(1..=most).contains(&value) {
                notes.push(left_out(
                    property.key,
                    &format!("1–{most}"),
                    &value.to_string(),
                ));
                config.shape = before;
            } else if property.key == "h" && !self.options.iter().any(|(p, _)| p.key == "g") {
                config.shape.kv_heads = value;
            }
        }
        let s = config.shape;
        let cells = s.q_len().max(s.k_len()).max(s.v_len());
        if cells > limits::CELLS {
            notes.push(tf(
                "link-cells",
                &[("most", &limits::CELLS), ("got", &cells)],
            ));
            return default;
        }
        match AttentionSpec::check(&Config::new(s)).into_iter().next() {
            Some(error) => {
                notes.push(tf("link-option", &[("why", &error)]));
                default
            }
            None => s,
        }
    }

    /// One option after the other; one that does not fit is left out.
    fn set_options(&self, session: &mut Session, notes: &mut Notes) {
        let fixed = !session.sizes_are_free();
        for (property, value) in &self.options {
            if property.is_size() {
                if fixed {
                    notes.push(tf("link-fixed-size", &[("key", &property.key)]));
                }
                continue;
            }
            let mut config = session.config();
            if let Err(error) = property.take(&mut config, value) {
                notes.push(left_out(property.key, &error.expected, &short(value)));
                continue;
            }
            let projected = matches!(session.data, Data::Tokens { .. });
            if !projected && config.positions.iter().any(|p| p.scheme.id == "sinusoidal") {
                notes.push(left_out(property.key, t("link-sinusoidal"), &short(value)));
                continue;
            }
            match AttentionSpec::check(&config).into_iter().next() {
                Some(error) => notes.push(tf("link-option", &[("why", &error)])),
                None => session.configure(config),
            }
        }
    }

    fn set_numbers(&self, session: &mut Session, notes: &mut Notes) {
        if self.numbers_missing {
            notes.push(t("link-numbers-missing").to_owned());
        }
        let typed = session.source == Source::Typed;
        for (tensor, numbers) in &self.tensors {
            let name = tensor.symbol();
            let Some(array) = session.data.array_mut(*tensor).filter(|_| typed) else {
                notes.push(tf("link-not-typed", &[("key", &name)]));
                continue;
            };
            if array.len() != numbers.len() {
                notes.push(left_short(name, array.len(), numbers.len()));
            }
            for (slot, number) in array.iter_mut().zip(numbers) {
                *slot = *number;
            }
        }
        for &(tensor, at, value) in &self.edits {
            match session.data.array_mut(tensor).and_then(|a| a.get_mut(at)) {
                Some(slot) => {
                    *slot = value;
                    session.edited += 1;
                }
                None => notes.push(tf(
                    "link-no-cell",
                    &[("tensor", &tensor.symbol()), ("at", &at)],
                )),
            }
        }
    }

    fn set_looks(&self, session: &mut Session, notes: &mut Notes) {
        let s = session.shape;
        let example = matches!(session.source, Source::Example(_));
        if let Some(head) = self.head
            && (!example || self.example().is_some_and(|(_, at)| at.is_some()))
        {
            if head < s.heads {
                session.head = head;
            } else {
                let expected = format!("0–{}", s.heads - 1);
                notes.push(left_out("head", &expected, &head.to_string()));
            }
        }
        if let Some((query, key)) = self.pin {
            if query < s.n_q && key < s.n_k {
                session.pin = Some((query, key));
            } else {
                let expected = format!("0–{}, 0–{}", s.n_q - 1, s.n_k - 1);
                notes.push(left_out("pin", &expected, &format!("{query}, {key}")));
            }
        }
        if let Some(d_out) = &self.d_out {
            if d_out.len() == s.d_v {
                session.d_out = Some(d_out.clone());
            } else {
                notes.push(left_short("dout", s.d_v, d_out.len()));
            }
        }
        if !self.words.is_empty() && session.source == Source::Typed {
            if self.words.len() == s.n_q && s.n_q == s.n_k {
                let words: Arc<[String]> = self.words.iter().cloned().collect();
                session.q_labels = words.clone();
                session.k_labels = words;
            } else {
                notes.push(left_short("words", s.n_q, self.words.len()));
            }
        }
    }
}

fn left_out(key: &str, expected: &str, got: &str) -> String {
    tf(
        "link-value",
        &[("key", &key), ("expected", &expected), ("got", &got)],
    )
}

fn left_short(key: &str, expected: usize, got: usize) -> String {
    tf(
        "link-count",
        &[("key", &key), ("expected", &expected), ("got", &got)],
    )
}
