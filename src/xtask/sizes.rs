//! What the first interaction costs over the wire.

use crate::run::{self, which};
use crate::{Result, home, no_more, page, take_flag};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes, brotli at its best: what a reader of a page of its own should wait for at most before the first interaction.
const GOAL: u64 = 400_000;
/// The same for a view in somebody else's page. ARCHITECTURE.md says what keeps it small.
const EMBED_GOAL: u64 = 300_000;
/// This keeps what is reached for a view; lower it with every step.
const LIMIT: u64 = 301_000;

/// One line of the table: what it is, and its files in dist/. A `*` stands for any letters; what begins with `?` may be
/// missing.
struct Part(&'static str, &'static [&'static str]);

/// What every reader loads before the first interaction: the picture stands, and answers to pointer, keys and typed
/// numbers. The example is the one that the page opens with. (tests/browser/bytes.test.mjs holds these lists against
/// what a browser asks for.)
const FIRST: [Part; 8] = [
    Part("shell", &["index.html"]),
    Part("page, script", &["page-*.js"]),
    Part("page, wasm", &["page-*.wasm"]),
    Part("page, script of the parts", &["parts-*.js"]),
    Part("styles", &["tokens-*.css", "page-*.css", "controls-*.css"]),
    Part(
        "start script and worker",
        &["www/boot.js", "www/engine-worker.js"],
    ),
    Part(
        "engine",
        &["engines/simd/engine.js", "engines/simd/engine_bg.wasm"],
    ),
    Part(
        "first example",
        &[
            "www/examples/minilm/index.json",
            "www/examples/minilm/coreference-opening.safetensors",
        ],
    ),
];

/// And in somebody else's page: how it is dressed, and what speaks with the page around it.
const FRAMED: [Part; 1] = [Part(
    "frame",
    &[
        "www/embed-view.js",
        "www/embed.css",
        "www/frame.js",
        "www/parts.js",
        "www/words.js",
        "www/text/embed.ftl",
    ],
)];

/// And in a page of its own: head, sheets, the line above the picture.
const WHOLE: [Part; 1] = [Part("around the picture", &["bench-*.wasm"])];

/// What comes by itself as soon as the first picture is painted. A view without inputs does not load the last line.
const BESIDE: [Part; 3] = [
    Part(
        "beside the picture",
        &["part-beside-*.wasm", "inspector-*.css"],
    ),
    Part("beside and inputs", &["?part-shared-*.wasm"]),
    Part("inputs", &["part-inputs-*.wasm", "inputs-*.css"]),
];

/// What a view loads for the first of these, and a page of its own has by then.
const SHARED: [Part; 1] = [Part("beside and around", &["?bench-beside-*.wasm"])];

/// What comes while the reader is at it already: the picture does not wait for it.
const LATER: [Part; 4] = [
    Part(
        "float32 check",
        &["engines/proof/engine.js", "engines/proof/engine_bg.wasm"],
    ),
    Part("engine with threads", &["engines/simd-threads/*"]),
    Part("fonts", &["www/fonts/*.woff2"]),
    Part(
        "head picker",
        &["www/examples/minilm/coreference-heads.bin"],
    ),
];

/// `cargo xtask sizes [--list]`: the table, or the files behind it, one on each line.
pub fn command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let list = take_flag(&mut args, "--list");
    no_more(&args)?;
    let dist = page::dist(&home::root()?)?;
    let all = relative_files(&dist)?;
    if list {
        let parts = FIRST.iter().chain(&FRAMED).chain(&WHOLE);
        for part in parts.chain(&BESIDE).chain(&LATER) {
            for file in part.files(&all)? {
                println!("{file}");
            }
        }
        return Ok(());
    }
    let lines = |parts: &[Part]| -> Result<u64> {
        let mut total = 0;
        for part in parts {
            total += line(&dist, &all, part)?;
        }
        Ok(total)
    };
    let sum = |what: &str, bytes: u64| println!("{what:<40}{bytes:>12}");
    println!("{:<28}{:>12}{:>12}", "", "bytes", "brotli");
    let first = lines(&FIRST)?;
    println!("In somebody else's page:");
    let framed = first + lines(&FRAMED)?;
    sum("first interaction", framed);
    sum("goal", EMBED_GOAL);
    sum("limit", LIMIT);
    println!("In a page of its own:");
    let whole = first + lines(&WHOLE)?;
    sum("first interaction", whole);
    sum("goal", GOAL);
    println!("When the first picture is painted:");
    let [beside, both, inputs] = BESIDE;
    let near = lines(&[beside, both])?;
    sum(
        "all there, page of its own",
        whole + near + lines(&[inputs])?,
    );
    sum(
        "all there, view without inputs",
        framed + near + lines(&SHARED)?,
    );
    println!("Later, and not waited for:");
    lines(&LATER)?;
    if framed > LIMIT {
        return Err(format!(
            "the first load of a view is {framed} bytes of brotli: expected {LIMIT} at most. The table says where they \
             are."
        ));
    }
    if whole > GOAL {
        return Err(format!(
            "the first load is {whole} bytes of brotli: expected {GOAL} at most. The table says where they are."
        ));
    }
    Ok(())
}

/// Prints one line of the table; returns its brotli bytes.
fn line(dist: &Path, all: &[String], part: &Part) -> Result<u64> {
    let files: Vec<PathBuf> = part
        .files(all)?
        .iter()
        .map(|file| dist.join(file))
        .collect();
    let (plain, packed) = weigh(&files)?;
    println!("{:<28}{plain:>12}{packed:>12}", part.0);
    Ok(packed)
}

/// Every file of dist/ as the page names it.
fn relative_files(dist: &Path) -> Result<Vec<String>> {
    let files = home::files_under(dist)?;
    Ok(files.iter().map(|file| name_in(dist, file)).collect())
}

/// A file's name in a folder, with `/` on every machine.
pub fn name_in(folder: &Path, file: &Path) -> String {
    let inner = file.strip_prefix(folder).unwrap_or(file);
    inner.to_string_lossy().replace('\\', "/")
}

/// The files, of all of dist/, that every reader loads before the first interaction.
#[cfg(feature = "dist")]
pub fn first_load(all: &[String]) -> Result<Vec<String>> {
    let mut files = Vec::new();
    for part in FIRST.iter().chain(&WHOLE) {
        files.extend(part.files(all)?.into_iter().map(str::to_owned));
    }
    Ok(files)
}

impl Part {
    /// The part's files; a pattern that fits none is an error, for then the table would leave something out.
    fn files<'a>(&self, all: &'a [String]) -> Result<Vec<&'a str>> {
        let mut files = Vec::new();
        for pattern in self.1 {
            let (pattern, needed) = match pattern.strip_prefix('?') {
                Some(pattern) => (pattern, false),
                None => (*pattern, true),
            };
            let before = files.len();
            files.extend(
                all.iter()
                    .filter(|file| fits(file, pattern))
                    .map(String::as_str),
            );
            if needed && files.len() == before {
                return Err(format!(
                    "dist/ has no {pattern} ({}): build it with `cargo xtask build`, or mend the table in \
                     src/xtask/sizes.rs.",
                    self.0
                ));
            }
        }
        Ok(files)
    }
}

/// Whether `name` is `pattern`, in which one `*` may stand for anything.
fn fits(name: &str, pattern: &str) -> bool {
    match pattern.split_once('*') {
        None => name == pattern,
        Some((start, end)) => {
            name.len() >= start.len() + end.len() && name.starts_with(start) && name.ends_with(end)
        }
    }
}

/// Bytes as they are and as brotli, quality 11, of all files together.
fn weigh(files: &[PathBuf]) -> Result<(u64, u64)> {
    // Node.js is here for the browser suite anyway, and has brotli built in.
    const SCRIPT: &str = "const fs = require('fs'), zlib = require('zlib');\
        const opts = {params: {[zlib.constants.BROTLI_PARAM_QUALITY]: 11}};\
        let plain = 0, packed = 0;\
        for (const name of process.argv.slice(1)) {\
          const bytes = fs.readFileSync(name);\
          plain += bytes.length; packed += zlib.brotliCompressSync(bytes, opts).length;\
        }\
        console.log(plain + ' ' + packed);";
    if which("node").is_none() {
        return Err("weighing needs Node.js, which is not on PATH.".into());
    }
    let said = run::ask(Command::new("node").args(["-e", SCRIPT, "--"]).args(files));
    said.as_deref()
        .and_then(|said| said.split_once(' '))
        .and_then(|(plain, packed)| plain.parse().ok().zip(packed.parse().ok()))
        .ok_or_else(|| "node could not weigh the files of dist/.".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        assert!(fits("page-01ab.js", "page-*.js"));
        assert!(fits("engines/simd/engine.js", "engines/simd/engine.js"));
        assert!(!fits("page-01ab.wasm", "page-*.js"));
        assert!(!fits("a", "a*a"));
    }

    #[test]
    fn a_part_without_its_file_is_an_error() {
        let all = ["index.html".to_owned()];
        assert_eq!(FIRST[0].files(&all).unwrap(), ["index.html"]);
        assert!(FIRST[2].files(&all).unwrap_err().contains("page-*.wasm"));
    }

    #[test]
    fn weighing_adds_up() {
        if which("node").is_none() {
            return;
        }
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("sizes.rs");
        let (plain, packed) = weigh(&[file.clone(), file.clone()]).unwrap();
        assert_eq!(plain, 2 * std::fs::metadata(file).unwrap().len());
        assert!(packed < plain / 2);
    }
}
