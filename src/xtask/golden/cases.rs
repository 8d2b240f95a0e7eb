//! Reads a folder of reference cases: `cases.json` with `golden.safetensors`, or a real model's `.npz` files with
//! `tokens.json`.

use super::options::to_config;
use crate::{Result, home};
use attention::{Config, Shape};
use formats::{Tensor, npz, safetensors};
use std::path::Path;

/// The file that says which cases there are, in the one kind of folder.
const CASES: &str = "cases.json";
/// Their tensors.
const TENSORS: &str = "golden.safetensors";
/// The file that says which sentences there are, in the other.
const TOKENS: &str = "tokens.json";

/// One call of attention and what it has to give.
pub struct Case {
    /// As in the folder; `sentence/layer` for a real model.
    pub name: String,
    /// The call.
    pub config: Config,
    /// `[heads, n_q, d_k]`.
    pub q: Vec<f64>,
    /// `[kv_heads, n_k, d_k]`.
    pub k: Vec<f64>,
    /// `[kv_heads, n_k, d_v]`.
    pub v: Vec<f64>,
    /// `[heads, n_q, d_v]`; zeros where the case has no gradients.
    pub d_out: Vec<f64>,
    /// What each stage has to be, by the names of [`protocol::Stages`].
    pub expected: Vec<(String, Vec<f64>)>,
    /// Whether q, k and v were rounded to float32 after the expected values had been computed from them.
    pub rounded_inputs: bool,
}

/// Every case of the folder. Fails at the first file that cannot be read and at the first option that is not known.
pub fn read(folder: &Path) -> Result<Vec<Case>> {
    if folder.join(CASES).is_file() {
        golden(folder)
    } else if folder.join(TOKENS).is_file() {
        model(folder)
    } else {
        Err(format!(
            "{} has neither {CASES} nor {TOKENS}: expected a folder of reference cases.",
            folder.display()
        ))
    }
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| format!("cannot read {}: {e}.", path.display()))
}

fn json(path: &Path) -> Result<serde_json::Value> {
    serde_json::from_str(&home::read(path)?).map_err(|e| format!("{}: {e}.", path.display()))
}

fn golden(folder: &Path) -> Result<Vec<Case>> {
    let path = folder.join(TENSORS);
    let tensors =
        safetensors::parse(&bytes(&path)?).map_err(|e| format!("{}: {e}", path.display()))?;
    let listed = json(&folder.join(CASES))?;
    let listed = listed
        .as_array()
        .ok_or_else(|| format!("{CASES}: expected an array of cases."))?;
    listed
        .iter()
        .map(|options| golden_case(options, &tensors))
        .collect()
}

fn golden_case(options: &serde_json::Value, tensors: &[Tensor]) -> Result<Case> {
    let name = options["name"]
        .as_str()
        .ok_or_else(|| format!("{CASES}: a case has no name."))?;
    let config = to_config(options).map_err(|e| format!("{CASES}, case \"{name}\": {e}"))?;
    let prefix = format!("{name}/");
    let mut given: Vec<(String, Vec<f64>)> = tensors
        .iter()
        .filter_map(|t| Some((t.name.strip_prefix(&prefix)?.to_owned(), t.data.to_f64())))
        .collect();
    let mut take = |tensor: &str| {
        let at = given.iter().position(|(stage, _)| stage == tensor);
        let at = at.ok_or_else(|| format!("{TENSORS} has no tensor {name}/{tensor}."))?;
        Ok::<_, String>(given.swap_remove(at).1)
    };
    let [q, k, v, d_out] = [take("q")?, take("k")?, take("v")?, take("d_out")?];
    given.sort_by(|a, b| a.0.cmp(&b.0));
    if given.is_empty() {
        return Err(format!(
            "{TENSORS} has the inputs of {name} and nothing to compare with."
        ));
    }
    Ok(Case {
        name: name.into(),
        config,
        q,
        k,
        v,
        d_out,
        expected: given,
        rounded_inputs: false,
    })
}

/// A real model's heads: one case for each sentence and layer, plain attention, the outputs to compare with.
fn model(folder: &Path) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for sentence in sentences(folder)? {
        for layer in 0..sentence.layers {
            cases.push(sentence.case(layer));
        }
    }
    Ok(cases)
}

/// A sentence and every head's Q, K, V, O in it.
pub struct Sentence {
    /// Name of its file.
    pub name: String,
    /// Its word pieces, n of them.
    pub tokens: Vec<String>,
    /// Layers.
    pub layers: usize,
    /// Heads of a layer.
    pub heads: usize,
    /// Width of a head.
    pub width: usize,
    /// `[layers, heads, n, width]`.
    pub q: Vec<f32>,
    /// `[layers, heads, n, width]`.
    pub k: Vec<f32>,
    /// `[layers, heads, n, width]`.
    pub v: Vec<f32>,
    /// `[layers, heads, n, width]`, float64, from q, k and v before these were rounded to float32.
    pub out: Vec<f64>,
}

impl Sentence {
    /// Plain attention over the heads of one layer.
    pub fn config(&self) -> Config {
        let n = self.tokens.len();
        Config::new(Shape {
            heads: self.heads,
            kv_heads: self.heads,
            n_q: n,
            n_k: n,
            d_k: self.width,
            d_v: self.width,
        })
    }

    /// The part of a tensor that belongs to a layer.
    pub fn layer<'a, T>(&self, tensor: &'a [T], layer: usize) -> &'a [T] {
        let size = self.heads * self.tokens.len() * self.width;
        &tensor[layer * size..(layer + 1) * size]
    }

    fn case(&self, layer: usize) -> Case {
        let wide = |x: &[f32]| {
            self.layer(x, layer)
                .iter()
                .map(|&x| f64::from(x))
                .collect::<Vec<_>>()
        };
        let out = self.layer(&self.out, layer).to_vec();
        Case {
            name: format!("{}/layer {layer}", self.name),
            config: self.config(),
            q: wide(&self.q),
            k: wide(&self.k),
            v: wide(&self.v),
            d_out: vec![0.0; out.len()],
            expected: vec![("out".into(), out)],
            rounded_inputs: true,
        }
    }
}

/// Every sentence of a folder in a real model's format.
pub fn sentences(folder: &Path) -> Result<Vec<Sentence>> {
    let tokens = json(&folder.join(TOKENS))?;
    let tokens = tokens
        .as_object()
        .ok_or_else(|| format!("{TOKENS}: expected an object of sentences."))?;
    tokens
        .iter()
        .map(|(name, tokens)| sentence(folder, name, tokens))
        .collect()
}

fn sentence(folder: &Path, name: &str, tokens: &serde_json::Value) -> Result<Sentence> {
    let path = folder.join(format!("{name}.npz"));
    let fail = |why: &str| format!("{}: {why}", path.display());
    let tokens: Vec<String> = tokens
        .as_array()
        .and_then(|list| list.iter().map(|t| t.as_str().map(str::to_owned)).collect())
        .ok_or_else(|| format!("{TOKENS}, \"{name}\": expected an array of word pieces."))?;
    let tensors = npz::parse(&bytes(&path)?).map_err(|e| fail(&e.to_string()))?;
    let find = |name: &str| {
        let found = tensors.iter().find(|t| t.name == name);
        found.ok_or_else(|| fail(&format!("expected an array \"{name}\", got none.")))
    };
    let shape = &find("q")?.shape;
    let &[layers, heads, n, width] = shape.as_slice() else {
        return Err(fail(&format!(
            "expected q as [layer, head, n, width], got {shape:?}."
        )));
    };
    if n != tokens.len() {
        return Err(fail(&format!(
            "expected {} tokens as in {TOKENS}, got {n}.",
            tokens.len()
        )));
    }
    for other in ["k", "v", "out"] {
        let got = &find(other)?.shape;
        if got != shape {
            return Err(fail(&format!(
                "expected {other} in the shape of q, {shape:?}, got {got:?}."
            )));
        }
    }
    Ok(Sentence {
        name: name.into(),
        tokens,
        layers,
        heads,
        width,
        q: find("q")?.data.to_f32(),
        k: find("k")?.data.to_f32(),
        v: find("v")?.data.to_f32(),
        out: find("out")?.data.to_f64(),
    })
}
