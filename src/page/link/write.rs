//! Session → text.

use super::{VERSION, tensors, untouched};
use crate::{ctx::ViewOptions, session::Session, source::Source, text::tf};
use protocol::options::{self, number};

/// A link, and what did not fit into it.
#[derive(Clone, Debug, PartialEq)]
pub struct Written {
    /// The fragment, without `#`.
    pub text: String,
    /// What the reader should know about it.
    pub left_out: Option<String>,
}

/// Writes a session. Numbers that take more than `room` letters are left out, and that is said.
pub fn write(session: &Session, view: ViewOptions, room: usize) -> Written {
    let mut pairs = vec![
        format!("v={VERSION}"),
        "lab=bench".to_owned(),
        format!("src={}", source(&session.source)),
    ];
    let fixed = !session.sizes_are_free();
    let config = session.config();
    let pairs_of_config = options::to_pairs(&config)
        .into_iter()
        .filter(|(key, _)| !(fixed && options::by_key(key).is_some_and(|p| p.is_size())));
    pairs.extend(pairs_of_config.map(|(key, value)| format!("{key}={value}")));
    if session.head > 0 {
        pairs.push(format!("head={}", session.head));
    }
    if let Some((query, key)) = session.pin {
        pairs.push(format!("pin={query},{key}"));
    }
    if let Some(d_out) = &session.d_out {
        pairs.push(format!("dout={}", list(d_out)));
    }
    for (key, on) in [("root", view.root_weights), ("used", view.as_used)] {
        if on {
            pairs.push(format!("{key}=1"));
        }
    }
    let typed = session.source == Source::Typed;
    if typed && !session.q_labels.is_empty() && session.q_labels == session.k_labels {
        let words: Vec<String> = session.q_labels.iter().map(|w| escaped(w)).collect();
        pairs.push(format!("words={}", words.join(",")));
    }
    let numbers = if typed {
        all(session)
    } else {
        changed(session)
    };
    let letters: usize = numbers.iter().map(|n| n.len() + 1).sum();
    let left_out = (letters > room).then(|| {
        let key = if typed {
            "link-typed-too-long"
        } else {
            "link-edits-too-long"
        };
        tf(key, &[("letters", &letters), ("most", &room)])
    });
    if left_out.is_none() {
        pairs.extend(numbers);
    } else if typed {
        // Who opens it is told that the zeros are not the writer's.
        pairs.push("Q=".to_owned());
    }
    Written {
        text: pairs.join("&"),
        left_out,
    }
}

fn source(source: &Source) -> String {
    match source {
        Source::Typed => "typed".to_owned(),
        Source::Random { seed, sigma } => format!("random({seed},{})", number(*sigma)),
        Source::Tokens { seed, d_model } => format!("tokens({seed},{d_model})"),
        Source::Example(layer) => format!("example({},{})", layer.sentence, layer.layer),
    }
}

fn list(numbers: &[f64]) -> String {
    numbers
        .iter()
        .map(|x| number(*x))
        .collect::<Vec<_>>()
        .join(",")
}

/// Every number; a tensor of zeros is what there is without any.
fn all(session: &Session) -> Vec<String> {
    let tensors = tensors(&session.data).into_iter();
    tensors
        .filter(|(_, numbers)| numbers.iter().any(|x| x.to_bits() != 0))
        .map(|(name, numbers)| format!("{name}={}", list(&numbers)))
        .collect()
}

/// The cells that are not as the source has them.
fn changed(session: &Session) -> Vec<String> {
    let Some(before) = (session.edited > 0).then(|| untouched(session)).flatten() else {
        return Vec::new();
    };
    let pairs = tensors(&session.data).into_iter().zip(tensors(&before));
    let cells: Vec<String> = pairs
        .flat_map(|((name, now), (_, before))| {
            let at = now.iter().zip(before.iter()).enumerate();
            at.filter(|(_, (now, before))| now.to_bits() != before.to_bits())
                .map(|(at, (now, _))| format!("{name}:{at}:{}", number(*now)))
                .collect::<Vec<_>>()
        })
        .collect();
    match cells.is_empty() {
        true => Vec::new(),
        false => vec![format!("edit={}", cells.join(","))],
    }
}

/// A word with nothing in it that an address or a list takes for its own.
fn escaped(word: &str) -> String {
    let mut text = String::new();
    for byte in word.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push('%');
            for half in [byte >> 4, byte & 15] {
                text.push(char::from(b"0123456789ABCDEF"[usize::from(half)]));
            }
        }
    }
    text
}
