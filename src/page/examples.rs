//! Heads of a real model, fetched from `www/examples` as they are wanted and kept.
//!
//! The files are described in `www/examples/README.md`. Addresses are relative to the folder of the page's
//! files, so the page may lie under any path. What does not arrive or cannot be read is a sentence.

mod fetch;
mod index;
pub mod shelf;

pub use shelf::{FIELD, Shelf, Wish};

use crate::{source::ExampleLayer, text::tf};
use std::{cell::RefCell, collections::HashMap, sync::Arc};

/// Where the examples lie.
pub const FOLDER: &str = "www/examples/minilm/";

/// What there is.
#[derive(Clone, Debug, PartialEq)]
pub struct Index {
    /// Name of the model.
    pub model: String,
    /// Layers.
    pub layers: usize,
    /// Heads of a layer.
    pub heads: usize,
    /// Width of queries, keys and values.
    pub d: usize,
    /// The sentences.
    pub sentences: Vec<Sentence>,
}

/// A sentence that the model has read.
#[derive(Clone, Debug, PartialEq)]
pub struct Sentence {
    /// Name in file names and links.
    pub name: String,
    /// Its beginning, for a menu.
    pub title: String,
    /// All of it.
    pub text: String,
    /// Number of word pieces.
    pub n: usize,
    /// Word pieces.
    pub tokens: Vec<String>,
    /// One file for each layer.
    pub layers: Vec<File>,
    /// The weights of all heads, to choose from.
    pub maps: MapFile,
    /// The head that opens the sentence, by itself.
    pub opening: Opening,
    /// Heads worth a look; the first opens the sentence.
    pub suggested: Vec<Suggestion>,
}

/// A file of the folder.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    /// Its name.
    pub file: String,
    /// Its length.
    pub bytes: usize,
}

/// See [`Maps`].
#[derive(Clone, Debug, PartialEq)]
pub struct MapFile {
    /// Its name.
    pub file: String,
    /// Its length.
    pub bytes: usize,
    /// Cells along a side of a map.
    pub side: usize,
    /// Tokens along a side of a cell.
    pub tokens_per_cell: usize,
}

/// A head in a file of its own, so that a page that opens with it need not wait for its whole layer.
#[derive(Clone, Debug, PartialEq)]
pub struct Opening {
    /// Its name.
    pub file: String,
    /// Its length.
    pub bytes: usize,
    /// The head's layer.
    pub layer: usize,
    /// The head.
    pub head: usize,
}

/// A head that shows a pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Suggestion {
    /// Its layer.
    pub layer: usize,
    /// Its head.
    pub head: usize,
    /// A row to look at.
    pub row: usize,
    /// The key with the largest weight in it.
    pub key: usize,
    /// What there is to see.
    pub why: String,
}

/// The weights of all heads of a sentence, as small pictures.
#[derive(Debug, PartialEq)]
pub struct Maps {
    /// Layers.
    pub layers: usize,
    /// Heads of a layer.
    pub heads: usize,
    /// Cells along a side.
    pub side: usize,
    bytes: Vec<u8>,
}

impl Maps {
    /// A weight of a map, 0 to 1: the largest of the pairs that its cell stands for.
    pub fn weight(&self, layer: usize, head: usize, row: usize, col: usize) -> f64 {
        let at = ((layer * self.heads + head) * self.side + row) * self.side + col;
        self.bytes
            .get(at)
            .map_or(0.0, |&b| (f64::from(b) / 255.0).powi(2))
    }
}

impl Index {
    /// The sentence of that name.
    pub fn sentence(&self, name: &str) -> Option<&Sentence> {
        self.sentences.iter().find(|s| s.name == name)
    }
}

impl Sentence {
    /// What there is to see in a head, if it is one of the suggested ones.
    pub fn suggestion(&self, layer: usize, head: usize) -> Option<&Suggestion> {
        self.suggested
            .iter()
            .find(|s| (s.layer, s.head) == (layer, head))
    }
}

fn bad_file(file: &str, why: &dyn std::fmt::Display) -> String {
    tf("example-bad-file", &[("file", &file), ("why", why)])
}

fn read_index(text: &str) -> Result<Index, String> {
    Index::parse(text).map_err(|error| bad_file("index.json", &error))
}

fn read_layer(
    bytes: &[u8],
    index: &Index,
    sentence: &Sentence,
    layer: usize,
) -> Result<ExampleLayer, String> {
    let file = sentence.layers.get(layer).map_or("", |f| f.file.as_str());
    let [q, k, v] = read_qkv(bytes, file, [index.heads, sentence.n, index.d])?;
    Ok(ExampleLayer {
        sentence: sentence.name.clone(),
        layer,
        heads: index.heads,
        tokens: sentence.tokens.clone().into(),
        d: index.d,
        only: None,
        q: Arc::new(q),
        k: Arc::new(k),
        v: Arc::new(v),
    })
}

/// The opening head in its place among the heads of its layer. The others are zeros until the layer is fetched, which
/// happens before any of them is shown.
fn read_opening(bytes: &[u8], index: &Index, sentence: &Sentence) -> Result<ExampleLayer, String> {
    let opening = &sentence.opening;
    let cells = sentence.n * index.d;
    let place = |head: Vec<f64>| {
        let mut all = vec![0.0; index.heads.max(opening.head + 1) * cells];
        all[opening.head * cells..(opening.head + 1) * cells].copy_from_slice(&head);
        Arc::new(all)
    };
    let [q, k, v] = read_qkv(bytes, &opening.file, [1, sentence.n, index.d])?;
    Ok(ExampleLayer {
        sentence: sentence.name.clone(),
        layer: opening.layer,
        heads: index.heads,
        tokens: sentence.tokens.clone().into(),
        d: index.d,
        only: Some(opening.head),
        q: place(q),
        k: place(k),
        v: place(v),
    })
}

/// The tensors q, k and v of a file, each of this shape.
fn read_qkv(bytes: &[u8], file: &str, shape: [usize; 3]) -> Result<[Vec<f64>; 3], String> {
    let tensors = formats::safetensors::parse(bytes).map_err(|error| bad_file(file, &error))?;
    let tensor = |name: &str| {
        let found = tensors.iter().find(|t| t.name == name && t.shape == shape);
        let found = found.ok_or_else(|| {
            let got: Vec<String> = tensors
                .iter()
                .map(|t| format!("{} {:?}", t.name, t.shape))
                .collect();
            let wanted = format!("{name} {shape:?}");
            bad_file(
                file,
                &tf(
                    "example-tensor",
                    &[("expected", &wanted), ("got", &got.join(", "))],
                ),
            )
        })?;
        found.finite().map_err(|error| bad_file(file, &error))
    };
    Ok([tensor("q")?, tensor("k")?, tensor("v")?])
}

fn read_maps(bytes: Vec<u8>, index: &Index, sentence: &Sentence) -> Result<Maps, String> {
    let side = sentence.maps.side;
    let expected = index.layers * index.heads * side * side;
    if bytes.len() != expected {
        let got = bytes.len();
        let why = tf("example-length", &[("expected", &expected), ("got", &got)]);
        return Err(bad_file(&sentence.maps.file, &why));
    }
    Ok(Maps {
        layers: index.layers,
        heads: index.heads,
        side,
        bytes,
    })
}

/// What has arrived. The page has one thread; nothing of it is ever thrown away, since all of it is 3 MB.
#[derive(Default)]
struct Cache {
    index: Option<Arc<Index>>,
    layers: HashMap<(String, usize), Arc<ExampleLayer>>,
    maps: HashMap<String, Arc<Maps>>,
}

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

/// The index. Fails with a sentence; a later call tries again.
pub async fn index() -> Result<Arc<Index>, String> {
    if let Some(index) = CACHE.with_borrow(|c| c.index.clone()) {
        return Ok(index);
    }
    let bytes = fetch::bytes(&format!("{FOLDER}index.json"), "index.json").await?;
    let index = Arc::new(read_index(&String::from_utf8_lossy(&bytes))?);
    CACHE.with_borrow_mut(|c| c.index = Some(index.clone()));
    Ok(index)
}

fn known<'a>(index: &'a Index, sentence: &str) -> Result<&'a Sentence, String> {
    index.sentence(sentence).ok_or_else(|| {
        let names: Vec<&str> = index.sentences.iter().map(|s| s.name.as_str()).collect();
        tf(
            "example-unknown",
            &[("name", &sentence), ("names", &names.join(", "))],
        )
    })
}

/// A layer of a sentence. Fails with a sentence; a later call tries again.
pub async fn load(sentence: &str, layer: usize) -> Result<Arc<ExampleLayer>, String> {
    let key = (sentence.to_owned(), layer);
    if let Some(found) = CACHE.with_borrow(|c| c.layers.get(&key).cloned()) {
        return Ok(found);
    }
    let index = index().await?;
    let sentence = known(&index, sentence)?;
    let Some(file) = sentence.layers.get(layer) else {
        return Err(tf(
            "example-layer",
            &[
                ("got", &layer),
                ("most", &(sentence.layers.len().saturating_sub(1))),
            ],
        ));
    };
    let bytes = fetch::bytes(&format!("{FOLDER}{}", file.file), &file.file).await?;
    let read = Arc::new(read_layer(&bytes, &index, sentence, layer)?);
    CACHE.with_borrow_mut(|c| c.layers.insert(key, read.clone()));
    Ok(read)
}

/// The head that opens a sentence. Fails with a sentence; a later call tries again.
pub async fn opening(sentence: &Sentence) -> Result<Arc<ExampleLayer>, String> {
    let index = index().await?;
    let key = (sentence.name.clone(), sentence.opening.layer);
    if let Some(whole) = CACHE.with_borrow(|c| c.layers.get(&key).cloned()) {
        return Ok(whole);
    }
    let file = &sentence.opening.file;
    let bytes = fetch::bytes(&format!("{FOLDER}{file}"), file).await?;
    Ok(Arc::new(read_opening(&bytes, &index, sentence)?))
}

/// The pictures of all heads of a sentence. Fails with a sentence; a later call tries again.
pub async fn maps(sentence: &str) -> Result<Arc<Maps>, String> {
    if let Some(found) = CACHE.with_borrow(|c| c.maps.get(sentence).cloned()) {
        return Ok(found);
    }
    let index = index().await?;
    let sentence = known(&index, sentence)?;
    let bytes = fetch::bytes(
        &format!("{FOLDER}{}", sentence.maps.file),
        &sentence.maps.file,
    )
    .await?;
    let read = Arc::new(read_maps(bytes, &index, sentence)?);
    CACHE.with_borrow_mut(|c| c.maps.insert(sentence.name.clone(), read.clone()));
    Ok(read)
}

#[cfg(test)]
mod tests;
