//! A session as the fragment of an address and back: `v=1&lab=bench&src=example(coreference,4)&head=5&pin=9,0`.
//!
//! | key | value |
//! | --- | --- |
//! | `v` | version of the link; 1 |
//! | `lab` | id of the lab |
//! | `src` | `example(sentence,layer)`, `random(seed,sigma)`, `tokens(seed,d_model)` or `typed` |
//! | `h` … `sink` | sizes and options as `protocol::options` writes them; no sizes for an example, which has its own |
//! | `head` | the shown head, from 0 |
//! | `pin` | query and key of the pinned cell |
//! | `dout` | a typed gradient at the output |
//! | `Q` `K` `V` | all numbers of a typed session, row by row |
//! | `edit` | `K:17:1.5,…`: cells changed by hand, counted from 0 through all heads |
//! | `words` | names on the axes, where they are not those of an example |
//! | `root`, `used` | how weights, and Q and K, are drawn |
//!
//! Reading takes what it can: whatever is unknown, out of range or cut off is left out, and a sentence says so. Keys
//! of an embedded page ([`EMBED`]) are not this module's affair and pass.

mod open;
mod read;
mod write;

pub use open::Opened;
pub use read::{Origin, Wanted, read, unescaped};
pub use write::{Written, write};

use crate::session::{Data, Session, Tensor};
use attention::{Config, Shape};
use protocol::options;
use std::sync::Arc;

/// The version that is written, and the newest that is known.
pub const VERSION: u32 = 1;
/// Letters that are read at most; what is beyond is cut off.
pub const LONGEST: usize = 1 << 16;
/// Letters that the numbers of a written link may take: browsers and course systems carry such links whole.
pub const ROOM: usize = 6000;
/// Keys that say how an embedded page looks.
pub const EMBED: [&str; 7] = [
    "embed", "show", "controls", "fixed", "lock", "theme", "title",
];

/// The tensors of a session by the names they have in links.
const TENSORS: [(&str, Tensor); 7] = [
    ("Q", Tensor::Q),
    ("K", Tensor::K),
    ("V", Tensor::V),
    ("X", Tensor::X),
    ("WQ", Tensor::Wq),
    ("WK", Tensor::Wk),
    ("WV", Tensor::Wv),
];

/// The tensors that a session has, all heads.
fn tensors(data: &Data) -> Vec<(&'static str, Arc<Vec<f64>>)> {
    TENSORS
        .iter()
        .filter_map(|&(name, tensor)| Some((name, data.array(tensor)?.clone())))
        .collect()
}

/// `into` with the changes that `new` makes: its keys take the place of the same ones, a key with nothing after its `=`
/// goes, and a new source takes the place of all numbers.
pub fn merged(into: &str, new: &str) -> String {
    let new = new.strip_prefix('#').unwrap_or(new);
    let key = |pair: &str| pair.split('=').next().unwrap_or(pair).to_owned();
    let given: Vec<String> = new.split('&').map(key).collect();
    let elsewhere = given.iter().any(|k| k == "src");
    let kept = into.split('&').filter(|pair| {
        let k = key(pair);
        let of_source =
            ["Q", "K", "V", "edit", "words", "head", "pin", "dout"].contains(&k.as_str());
        let size = ["h", "g", "nq", "nk", "dk", "dv", "sink"].contains(&k.as_str());
        !given.contains(&k) && !(elsewhere && (of_source || size))
    });
    let new = new
        .split('&')
        .filter(|pair| !pair.is_empty() && !is_default(pair));
    kept.chain(new).collect::<Vec<_>>().join("&")
}

/// Whether a change puts an option back to its default: `mask=`.
fn is_default(pair: &str) -> bool {
    let key = pair.strip_suffix('=');
    key.is_some_and(|key| options::by_key(key).is_some())
}

/// A change by link taken apart: what of it can be read, and the sentences about the rest, which changes nothing.
pub fn readable(change: &str) -> (String, Vec<String>) {
    let mut good = Vec::new();
    let mut notes = Vec::new();
    let change = change.strip_prefix('#').unwrap_or(change);
    for pair in change.split('&').filter(|pair| !pair.is_empty()) {
        if is_default(pair) {
            good.push(pair);
            continue;
        }
        let wanted = read(pair);
        let mut wrong = wanted.notes.sentences();
        for (property, value) in wanted.options {
            let taken = property.take(&mut Config::new(Shape::square(1, 1)), &value);
            wrong.extend(taken.err().map(|error| error.to_string()));
        }
        match wrong.is_empty() {
            true => good.push(pair),
            false => notes.extend(wrong),
        }
    }
    (good.join("&"), notes)
}

/// The session of a source as it was before anything was changed by hand; `None` for a typed one.
fn untouched(session: &Session) -> Option<Data> {
    use crate::source::Source;
    Some(match &session.source {
        Source::Typed => return None,
        Source::Random { seed, sigma } => Session::random(session.shape, *seed, *sigma).data,
        Source::Tokens { seed, d_model } => Session::tokens(session.shape, *seed, *d_model).data,
        Source::Example(layer) => Session::example(layer.clone(), 0).data,
    })
}

#[cfg(test)]
mod fuzz;
#[cfg(test)]
mod tests;
