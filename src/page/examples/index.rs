//! Reads the index. Members that the page does not use are passed over.

use super::{File, Index, MapFile, Opening, Sentence, Suggestion};
use formats::{FormatError, json::Value};

impl Index {
    pub(super) fn parse(text: &str) -> Result<Index, FormatError> {
        let index = Value::parse(text)?;
        Ok(Index {
            model: index.text("model")?,
            layers: index.whole("layers")?,
            heads: index.whole("heads")?,
            d: index.whole("d")?,
            sentences: index.list("sentences", sentence)?,
        })
    }
}

fn sentence(of: &Value) -> Result<Sentence, FormatError> {
    let (maps, opening) = (of.member("maps")?, of.member("opening")?);
    Ok(Sentence {
        name: of.text("name")?,
        title: of.text("title")?,
        text: of.text("text")?,
        n: of.whole("n")?,
        tokens: of.list("tokens", token)?,
        layers: of.list("layers", file)?,
        maps: MapFile {
            file: maps.text("file")?,
            bytes: maps.whole("bytes")?,
            side: maps.whole("side")?,
            tokens_per_cell: maps.whole("tokens_per_cell")?,
        },
        opening: Opening {
            file: opening.text("file")?,
            bytes: opening.whole("bytes")?,
            layer: opening.whole("layer")?,
            head: opening.whole("head")?,
        },
        suggested: of.list("suggested", suggestion)?,
    })
}

fn token(of: &Value) -> Result<String, FormatError> {
    of.as_text("a token")
}

fn file(of: &Value) -> Result<File, FormatError> {
    Ok(File {
        file: of.text("file")?,
        bytes: of.whole("bytes")?,
    })
}

fn suggestion(of: &Value) -> Result<Suggestion, FormatError> {
    Ok(Suggestion {
        layer: of.whole("layer")?,
        head: of.whole("head")?,
        row: of.whole("row")?,
        key: of.whole("key")?,
        why: of.text("why")?,
    })
}
