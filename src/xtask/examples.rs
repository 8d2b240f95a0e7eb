//! `cargo xtask examples DIR`: the real heads of www/examples, from a folder of captured sentences.
//!
//! For each sentence one file a layer with its Q, K and V, one with small maps of every head's weights for the picker,
//! and an entry in index.json that names heads worth looking at, found by computing and not by eye.

use crate::golden::cases::{self, Sentence};
use crate::run::say;
use crate::{Result, home, no_more};
use attention::{AttentionSpec, Inputs, naive};
use formats::{Data, Tensor, safetensors};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A pattern that holds less of the mean weight than this is not pointed out.
const CLEAR: f64 = 0.4;

/// Maps are at most this wide; longer sentences are pooled.
const MAP_SIDE: usize = 32;

/// What the captured folder does not say: name, title, text.
const TEXTS: [(&str, &str, &str); 3] = [
    (
        "coreference",
        "The animal didn’t cross …",
        "The animal didn't cross the street because it was too tired.",
    ),
    (
        "copying",
        "The red fox saw …",
        "The red fox saw the blue bird and the red fox saw the green frog.",
    ),
    (
        "paragraph",
        "A library keeps every book …",
        "A library keeps every book on a numbered shelf. To find one, a reader writes a request, the clerk compares it \
         with the label of each shelf, and brings back a stack in which the best matches weigh the most. When nothing \
         fits, the clerk still has to bring something, so a blank notebook near the door is handed out again and again. \
         Nobody reads it, and yet it leaves the building more often than any novel.",
    ),
];

/// A pronoun and its noun: the head that joins them most closely opens the sentence, at the row of the third word.
const REFERENCE: (&str, &str, &str, &str) = ("coreference", "it", "animal", "was");

/// Writes `www/examples/minilm` anew.
pub fn command(args: &[String]) -> Result {
    let [folder] = args else {
        no_more(args.get(1..).unwrap_or_default())?;
        return Err("expected a folder with tokens.json and the .npz files that it names.".into());
    };
    let to = home::root()?.join("www/examples/minilm");
    home::remove(&to)?;
    let mut sentences = cases::sentences(Path::new(folder))?;
    sentences.sort_by_key(|s| TEXTS.iter().position(|(name, ..)| *name == s.name));
    let Some(first) = sentences.first() else {
        return Err("tokens.json names no sentence.".into());
    };
    let (layers, heads, width) = (first.layers, first.heads, first.width);
    let entries: Vec<Value> = sentences
        .iter()
        .map(|s| write(s, &to))
        .collect::<Result<_>>()?;
    let index = json!({
        "model": "all-MiniLM-L6-v2",
        "license": "Apache-2.0",
        "layers": layers,
        "heads": heads,
        "d": width,
        "sentences": entries,
    });
    let mut text = serde_json::to_string(&index).map_err(|e| e.to_string())?;
    text.push('\n');
    home::write(&to.join("index.json"), text)
}

/// The files of one sentence, and its entry in the index.
fn write(s: &Sentence, to: &Path) -> Result<Value> {
    let n = s.tokens.len();
    let known = TEXTS.iter().find(|(name, ..)| *name == s.name);
    let joined = s.tokens.join(" ");
    let (title, text) = known.map_or((s.name.as_str(), joined.as_str()), |(_, title, text)| {
        (title, text)
    });
    let weights = weights(s)?;

    let mut files = Vec::new();
    for layer in 0..s.layers {
        let tensor = |name: &str, x: &[f32]| {
            Tensor::new(
                name,
                vec![s.heads, n, s.width],
                Data::F32(s.layer(x, layer).to_vec()),
            )
            .map_err(|e| e.to_string())
        };
        let tensors = [tensor("q", &s.q)?, tensor("k", &s.k)?, tensor("v", &s.v)?];
        files.push(file(
            to.join(format!("{}-layer-{layer}.safetensors", s.name)),
            &safetensors::write(&tensors),
        )?);
    }
    let pool = n.div_ceil(MAP_SIDE);
    let maps: Vec<u8> = weights.heads.iter().flat_map(|w| map(w, n, pool)).collect();
    let mut maps = file(to.join(format!("{}-heads.bin", s.name)), &maps)?;
    maps["side"] = json!(n.div_ceil(pool));
    maps["tokens_per_cell"] = json!(pool);
    let suggested = suggest(s, &weights);
    for head in &suggested {
        say(&format!(
            "{}: layer {}, head {}: {}",
            s.name,
            head["layer"],
            head["head"],
            head["why"].as_str().unwrap_or_default()
        ));
    }
    let opening = opening(s, &suggested, to)?;
    Ok(json!({
        "name": s.name,
        "title": title,
        "text": text,
        "n": n,
        "tokens": s.tokens,
        "layers": files,
        "maps": maps,
        "opening": opening,
        "suggested": suggested,
    }))
}

/// The first suggested head by itself: a page that opens with it need not wait for its whole layer.
fn opening(s: &Sentence, suggested: &[Value], to: &Path) -> Result<Value> {
    let number = |key: &str| suggested.first().and_then(|head| head[key].as_u64());
    let (Some(layer), Some(head)) = (number("layer"), number("head")) else {
        return Ok(Value::Null);
    };
    let (layer, head) = (layer as usize, head as usize);
    let cells = s.tokens.len() * s.width;
    let tensor = |name: &str, x: &[f32]| {
        let numbers = s.layer(x, layer)[head * cells..(head + 1) * cells].to_vec();
        Tensor::new(name, vec![1, s.tokens.len(), s.width], Data::F32(numbers))
            .map_err(|e| e.to_string())
    };
    let tensors = [tensor("q", &s.q)?, tensor("k", &s.k)?, tensor("v", &s.v)?];
    let mut entry = file(
        to.join(format!("{}-opening.safetensors", s.name)),
        &safetensors::write(&tensors),
    )?;
    entry["layer"] = json!(layer);
    entry["head"] = json!(head);
    Ok(entry)
}

fn file(path: PathBuf, bytes: &[u8]) -> Result<Value> {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    home::write(&path, bytes)?;
    Ok(json!({"file": name, "bytes": bytes.len()}))
}

/// The weights of every head, as the core computes them.
struct Weights {
    /// `[n, n]` for each head of each layer.
    heads: Vec<Vec<f64>>,
    n: usize,
    per_layer: usize,
}

fn weights(s: &Sentence) -> Result<Weights> {
    let spec = AttentionSpec::new(s.config()).map_err(|e| e.to_string())?;
    let n = s.tokens.len();
    let mut heads = Vec::new();
    for layer in 0..s.layers {
        let [q, k, v] = [&s.q, &s.k, &s.v].map(|x| s.layer(x, layer));
        let inputs = Inputs::new(&spec, q, k, v).map_err(|e| e.to_string())?;
        heads.extend(
            naive::forward(&spec, &inputs)
                .weights
                .chunks(n * n)
                .map(<[f64]>::to_vec),
        );
    }
    Ok(Weights {
        heads,
        n,
        per_layer: s.heads,
    })
}

/// One head's weights as bytes: the largest of each `pool` × `pool` cells, as 255·√w, so that a weight of 0.01 is still 26.
fn map(weights: &[f64], n: usize, pool: usize) -> Vec<u8> {
    let side = n.div_ceil(pool);
    let mut cells = vec![0.0_f64; side * side];
    for (at, &w) in weights.iter().enumerate() {
        let cell = &mut cells[at / n / pool * side + at % n / pool];
        *cell = cell.max(w);
    }
    cells
        .into_iter()
        .map(|w| (255.0 * w.sqrt()).round() as u8)
        .collect()
}

impl Weights {
    /// The head with the largest `score`, and the score.
    fn best(&self, score: impl Fn(&[f64]) -> f64) -> (usize, f64) {
        let scores = self.heads.iter().map(|w| score(w)).enumerate();
        scores
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or((0, 0.0))
    }

    /// The mean over the rows that have any, of the weight on the keys that `wanted(row, key)` picks.
    fn mean_on(&self, head: &[f64], wanted: impl Fn(usize, usize) -> bool) -> f64 {
        let rows = (0..self.n).filter(|&i| (0..self.n).any(|j| wanted(i, j)));
        let on = rows.map(|i| {
            (0..self.n)
                .filter(|&j| wanted(i, j))
                .map(|j| head[i * self.n + j])
                .sum::<f64>()
        });
        let (count, sum) = on.fold((0, 0.0), |(count, sum), x| (count + 1, sum + x));
        if count == 0 {
            0.0
        } else {
            sum / f64::from(count)
        }
    }

    fn suggestion(&self, head: usize, row: usize, why: String) -> Value {
        let weights = &self.heads[head][row * self.n..][..self.n];
        let key = weights
            .iter()
            .enumerate()
            .max_by(|a, b| a.1.total_cmp(b.1))
            .map_or(0, |(j, _)| j);
        json!({"layer": head / self.per_layer, "head": head % self.per_layer, "row": row, "key": key, "why": why})
    }
}

/// For each pattern the head that shows it most, the sentence's first view first.
fn suggest(s: &Sentence, w: &Weights) -> Vec<Value> {
    let mut found = Vec::new();
    let place = |word: &str| s.tokens.iter().position(|t| t == word);
    let (sentence, pronoun, noun, opening) = REFERENCE;
    if sentence == s.name
        && let (Some(from), Some(to), Some(row)) = (place(pronoun), place(noun), place(opening))
    {
        let (head, weight) = w.best(|a| a[from * w.n + to]);
        let entropy: f64 = w.heads[head][row * w.n..][..w.n]
            .iter()
            .filter(|&&x| x > 0.0)
            .map(|x| -x * x.ln())
            .sum();
        let why = format!(
            "“{pronoun}” puts {weight:.2} of its weight on “{noun}”, more than in any other head; “{opening}” reads from \
             {:.1} keys in effect.",
            entropy.exp()
        );
        found.push(w.suggestion(head, row, why));
    }
    let is_word = |t: &str| t.chars().all(char::is_alphabetic);
    let same = |i: usize, j: usize| i != j && is_word(&s.tokens[i]) && s.tokens[i] == s.tokens[j];
    let mut add = |wanted: &dyn Fn(usize, usize) -> bool, why: &dyn Fn(&str) -> String| {
        let (head, mean) = w.best(|a| w.mean_on(a, wanted));
        // What is barely there is no example.
        if mean >= CLEAR {
            let on = |&i: &usize| -> f64 {
                (0..w.n)
                    .filter(|&j| wanted(i, j))
                    .map(|j| w.heads[head][i * w.n + j])
                    .sum()
            };
            let row = (0..w.n).max_by(|a, b| on(a).total_cmp(&on(b))).unwrap_or(0);
            found.push(w.suggestion(head, row, why(&format!("{mean:.2}"))));
        }
    };
    add(&same, &|x| {
        format!(
            "A word that comes again: {x} of its weight lies on the other places of the same word."
        )
    });
    add(&|_, j| j == 0, &|x| {
        format!(
            "A sink: {x} of all weight lies on {}, the mark before the sentence.",
            s.tokens[0]
        )
    });
    add(&|i, j| j + 1 == i, &|x| {
        format!("Every token reads the one before it: {x} of its weight.")
    });
    add(&|i, j| j == i + 1, &|x| {
        format!("A token reads the one after it: {x} of its weight.")
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_keep_the_largest_weight_of_a_cell() {
        let w = [0.0, 0.25, 0.75, 1.0, 0.0, 0.0, 0.5, 0.5, 0.0];
        assert_eq!(map(&w, 3, 1), [0, 128, 221, 255, 0, 0, 180, 180, 0]);
        assert_eq!(map(&w, 3, 2), [255, 221, 180, 0]);
    }
}
