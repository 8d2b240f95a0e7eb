//! What the first interaction costs over the wire.

use crate::home;
use crate::run::{self, which};
use crate::{Result, page};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes, brotli at its best: what a reader waits for at most. 400 KB, as set for the first interaction.
const LIMIT: u64 = 400_000;

/// One line of the table: what it is, and the files of dist/ whose names begin and end so.
struct Part {
    what: &'static str,
    folder: &'static str,
    starts: &'static str,
    ends: &'static [&'static str],
    /// Whether the page must have it.
    needed: bool,
}

const fn part(
    what: &'static str,
    folder: &'static str,
    starts: &'static str,
    ends: &'static [&'static str],
) -> Part {
    Part {
        what,
        folder,
        starts,
        ends,
        needed: true,
    }
}

const fn if_there(part: Part) -> Part {
    Part {
        needed: false,
        ..part
    }
}

/// What every reader loads before the first interaction. The example is the one that the page opens with.
const PAGE: [Part; 8] = [
    part("shell", "", "index", &[".html"]),
    part("page, script", "", "page", &[".js"]),
    part("page, wasm", "", "page", &[".wasm"]),
    part("styles", "", "", &[".css"]),
    part("start script and workers", "www", "", &[".js"]),
    if_there(part("fonts", "www/fonts", "", &[".woff2"])),
    if_there(part("words", "www/text", "en", &[".ftl"])),
    if_there(part("first example", "www/examples", "coreference", &[""])),
];

/// The engine, of which a reader loads one.
const ENGINES: [[Part; 2]; 2] = [
    [
        part("engine simd, script", "engines/simd", "engine.", &[".js"]),
        part("engine simd, wasm", "engines/simd", "engine_", &[".wasm"]),
    ],
    [
        part(
            "engine threads, scripts",
            "engines/simd-threads",
            "",
            &[".js"],
        ),
        part(
            "engine threads, wasm",
            "engines/simd-threads",
            "",
            &[".wasm"],
        ),
    ],
];

/// Files of www/ that a reader's first load does not ask for.
const LATER: [&str; 1] = ["embed.js"];

/// `cargo xtask sizes`
pub fn command() -> Result {
    let dist = page::dist(&home::root()?)?;
    println!("{:<28}{:>12}{:>12}", "", "bytes", "brotli");
    let page = table(&dist, &PAGE)?;
    let mut worst = 0;
    for engine in &ENGINES {
        worst = worst.max(table(&dist, engine)?);
    }
    let total = page + worst;
    println!("{:<40}{:>12}", "first load with the larger engine", total);
    if total <= LIMIT {
        println!("{:<40}{:>12}", "limit", LIMIT);
        Ok(())
    } else {
        Err(format!(
            "the first load is {total} bytes of brotli: expected {LIMIT} at most. The table says where they are."
        ))
    }
}

/// Prints a line for each part; returns the sum of their brotli bytes.
fn table(dist: &Path, parts: &[Part]) -> Result<u64> {
    let mut sum = 0;
    for part in parts {
        let files = part.files(dist)?;
        if files.is_empty() {
            if part.needed {
                return Err(format!(
                    "dist/ has no {}: the page cannot start.",
                    part.what
                ));
            }
            continue;
        }
        let (plain, packed) = weigh(&files)?;
        println!("{:<28}{plain:>12}{packed:>12}", part.what);
        sum += packed;
    }
    Ok(sum)
}

impl Part {
    fn files(&self, dist: &Path) -> Result<Vec<PathBuf>> {
        let folder = dist.join(self.folder);
        if !folder.is_dir() {
            return Ok(Vec::new());
        }
        // dist/ itself without its folders; the folders with what lies in them.
        let mut files = home::files_under(&folder)?;
        files.retain(|file| {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let deep = self.folder.starts_with("engines") || file.parent() == Some(&folder);
            deep && name.starts_with(self.starts)
                && self.ends.iter().any(|end| name.ends_with(end))
                && !LATER.contains(&&*name)
        });
        Ok(files)
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
