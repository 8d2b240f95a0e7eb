//! From Trunk's dist/ to the site: what lies at the top, what lies in the hashed folder, and who is told of it.

use super::headers;
use super::pack::{Files, hash};
use crate::{Result, home, sizes};
use std::fmt::Write;
use std::path::Path;

/// Keeps the page for a reader without a network; the first line is written here.
const WORKER: &str = include_str!("sw.js");
/// Where the worker's template expects what it is to keep.
const BLANK: &str = "const SITE = null;";

/// Files with an address that others write down. The rest is only reached through these.
const TOP: [&str; 4] = ["index.html", "attention.js", "embed.js", "embed.d.ts"];

/// The files of the site.
pub struct Site {
    files: Files,
}

impl Site {
    /// What Trunk built. Files that only make other files are left out.
    pub fn read(built: &Path) -> Result<Site> {
        let mut files = Files::new();
        for path in home::files_under(built)? {
            let name = sizes::name_in(built, &path);
            let bytes = std::fs::read(&path)
                .map_err(|e| format!("cannot read {}: {e}.", path.display()))?;
            let hidden = name.split('/').any(|part| part.starts_with('.'));
            if !hidden && !name.ends_with(".py") {
                files.insert(name, bytes);
            }
        }
        Ok(Site { files })
    }

    /// One more file, at the top.
    pub fn add(&mut self, name: &str, bytes: Vec<u8>) {
        self.files.insert(name.to_owned(), bytes);
    }

    /// Every file.
    pub fn files(&self) -> &Files {
        &self.files
    }

    /// Sorts the files into their places and writes those that name others.
    pub fn finish(self, origin: Option<&str>) -> Result<Site> {
        let mut files = self.files;
        // The script for other people's pages lies at the top, and there only.
        if let Some(script) = files.remove("www/embed.js") {
            files.insert("embed.js".to_owned(), script);
        }
        let first = sizes::first_load(&files.keys().cloned().collect::<Vec<_>>())?;
        let (top, inner): (Files, Files) = files.into_iter().partition(|(name, _)| {
            TOP.contains(&name.as_str())
                || name.starts_with("LICENSE")
                || name.starts_with("embed.")
        });
        let version = fingerprint(&inner);
        let folder = format!("v-{version}");
        let mut site = Files::new();
        for (name, bytes) in top {
            let bytes = match name.as_str() {
                "index.html" => point_page(&text(&name, bytes)?, &folder)?.into_bytes(),
                "attention.js" | "embed.js" => {
                    point_script(&text(&name, bytes)?, &folder).into_bytes()
                }
                _ => bytes,
            };
            site.insert(name, bytes);
        }
        site.extend(
            inner
                .into_iter()
                .map(|(name, bytes)| (format!("{folder}/{name}"), bytes)),
        );
        let worker = worker(&site, &folder, &first)?;
        site.insert("sw.js".to_owned(), worker.into_bytes());
        check(&site)?;

        let mut names: Vec<&str> = site
            .keys()
            .map(String::as_str)
            .filter(|n| !n.contains('/'))
            .collect();
        names.push("manifest.json");
        let headers = headers::text(&names, &folder, origin);
        site.insert("_headers".to_owned(), headers.into_bytes());
        let manifest = manifest(&site, &folder);
        site.insert("manifest.json".to_owned(), manifest.into_bytes());
        Ok(Site { files: site })
    }
}

fn text(name: &str, bytes: Vec<u8>) -> Result<String> {
    String::from_utf8(bytes).map_err(|e| format!("dist/{name} is no text: {e}. Build it again."))
}

/// A name for all of these files: another byte or another name gives another one.
fn fingerprint(files: &Files) -> String {
    let mut all = String::new();
    for (name, bytes) in files {
        // Writing to a String does not fail.
        let _ = writeln!(all, "{} {name}", hash(bytes));
    }
    hash(all.as_bytes()).chars().take(12).collect()
}

/// The page, which is the only one that knows the folder, and that there is a service worker.
fn point_page(page: &str, folder: &str) -> Result<String> {
    let start = "<script type=\"module\" src=\"./";
    if page.matches(start).count() != 1 {
        return Err(format!(
            "dist/index.html: expected {start}… once. Build it again, or mend Trunk.toml."
        ));
    }
    Ok(page.replace("=\"./", &format!("=\"./{folder}/")).replace(
        "<script type=\"module\"",
        "<script type=\"module\" data-worker=\"./sw.js\"",
    ))
}

/// A module at the top: what it imports lies in the folder.
fn point_script(script: &str, folder: &str) -> String {
    script.replace("./www/", &format!("./{folder}/www/"))
}

/// The service worker, told what to keep. It changes whenever a file does, so that browsers notice.
fn worker(site: &Files, folder: &str, first: &[String]) -> Result<String> {
    if WORKER.matches(BLANK).count() != 1 {
        return Err(format!("src/xtask/dist/sw.js: expected `{BLANK}` once."));
    }
    let mut lists = [String::new(), String::new()];
    for (name, bytes) in site {
        let Some(inner) = name.strip_prefix(&format!("{folder}/")) else {
            continue;
        };
        // For other people's pages, which have workers of their own, and for people.
        let foreign = inner.starts_with("exports/")
            || inner.starts_with("www/attention")
            || inner.ends_with(".md");
        if !foreign {
            let wanted = first.iter().any(|f| f == inner);
            let list = &mut lists[usize::from(!wanted)];
            let _ = write!(list, "{:?}:{:?},", inner, hash(bytes));
        }
    }
    let index = site
        .get("index.html")
        .map(|page| hash(page))
        .unwrap_or_default();
    let told = format!(
        "const SITE = {{folder:{folder:?},index:{index:?},first:{{{}}},later:{{{}}}}};",
        lists[0], lists[1]
    );
    Ok(WORKER.replace(BLANK, &told))
}

/// Whatever the files at the top name must be there.
fn check(site: &Files) -> Result {
    for top in ["index.html", "attention.js", "embed.js"] {
        let Some(bytes) = site.get(top) else { continue };
        let text = String::from_utf8_lossy(bytes);
        for piece in text.split(['"', '\'']).filter(|p| p.starts_with("./")) {
            let name = piece.trim_start_matches("./");
            if !name.is_empty() && !site.contains_key(name) && name != "sw.js" {
                return Err(format!(
                    "{top} names {piece}, which the site does not have."
                ));
            }
        }
    }
    Ok(())
}

/// Every file with its size and hash, itself apart.
fn manifest(site: &Files, folder: &str) -> String {
    let mut text = format!("{{\n  \"folder\": {folder:?},\n  \"files\": {{\n");
    let lines: Vec<String> = site
        .iter()
        .map(|(name, bytes)| {
            format!(
                "    {name:?}: {{ \"bytes\": {}, \"sha256\": {:?} }}",
                bytes.len(),
                hash(bytes)
            )
        })
        .collect();
    text += &lines.join(",\n");
    text += "\n  }\n}\n";
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const INDEX: &str = "<link href=\"./tokens-1.css\"/><script type=\"module\" src=\"./www/boot.js\" \
        data-js=\"./page-1.js\" data-wasm=\"./page-1.wasm\"></script>";

    fn built() -> Site {
        let mut files = Files::new();
        for name in [
            "tokens-1.css",
            "page-1.css",
            "controls-1.css",
            "page-1.js",
            "page-1.wasm",
            "bench-1.wasm",
            "parts-1.js",
            "www/boot.js",
            "www/engine-worker.js",
            "www/attention.js",
            "engines/simd/engine.js",
            "engines/simd/engine_bg.wasm",
            "exports/simd/exports.js",
            "engines/simd-threads/engine.js",
            "www/fonts/a.woff2",
            "www/examples/minilm/index.json",
            "www/examples/minilm/coreference-opening.safetensors",
        ] {
            files.insert(name.to_owned(), name.as_bytes().to_vec());
        }
        files.insert("index.html".to_owned(), INDEX.into());
        files.insert(
            "attention.js".to_owned(),
            b"export * from './www/attention.js';".to_vec(),
        );
        files.insert("www/embed.js".to_owned(), b"// embed".to_vec());
        Site { files }
    }

    fn folder(site: &Site) -> String {
        let deep = site.files.keys().find(|name| name.contains('/')).unwrap();
        deep.split('/').next().unwrap().to_owned()
    }

    #[test]
    fn only_what_others_name_keeps_its_name() {
        let site = built().finish(None).unwrap();
        let top: Vec<&str> = site
            .files
            .keys()
            .map(String::as_str)
            .filter(|n| !n.contains('/'))
            .collect();
        assert_eq!(
            top,
            [
                "_headers",
                "attention.js",
                "embed.js",
                "index.html",
                "manifest.json",
                "sw.js"
            ]
        );
        let folder = folder(&site);
        assert!(
            site.files
                .keys()
                .all(|n| !n.contains('/') || n.starts_with(&format!("{folder}/")))
        );
        let page = String::from_utf8_lossy(&site.files["index.html"]);
        assert!(
            page.contains(&format!("data-wasm=\"./{folder}/page-1.wasm\"")),
            "{page}"
        );
        assert!(page.contains("data-worker=\"./sw.js\""), "{page}");
        let module = String::from_utf8_lossy(&site.files["attention.js"]);
        assert_eq!(
            module,
            format!("export * from './{folder}/www/attention.js';")
        );
    }

    #[test]
    fn another_byte_anywhere_is_another_folder_and_another_worker() {
        let one = built().finish(None).unwrap();
        let mut changed = built();
        changed
            .files
            .insert("engines/simd/engine.js".to_owned(), b"other".to_vec());
        let two = changed.finish(None).unwrap();
        assert_ne!(folder(&one), folder(&two));
        assert_ne!(one.files["sw.js"], two.files["sw.js"]);
        let mut page = built();
        page.files
            .insert("index.html".to_owned(), format!("{INDEX}<p>").into());
        let three = page.finish(None).unwrap();
        assert_eq!(folder(&one), folder(&three), "the folder keeps its name");
        assert_ne!(one.files["sw.js"], three.files["sw.js"]);
        assert_eq!(
            one.files,
            built().finish(None).unwrap().files,
            "the same build, the same site"
        );
    }

    #[test]
    fn the_worker_keeps_the_page_and_not_what_is_for_other_pages() {
        let site = built().finish(None).unwrap();
        let worker = String::from_utf8_lossy(&site.files["sw.js"]);
        for name in [
            "\"engines/simd/engine.js\":",
            "\"www/fonts/a.woff2\":",
            "\"page-1.wasm\":",
        ] {
            assert_eq!(worker.matches(name).count(), 1, "{name}");
        }
        for name in ["exports/", "www/attention.js"] {
            assert!(!worker.contains(&format!("\"{name}")), "{name}");
        }
    }

    #[test]
    fn a_page_that_names_what_is_not_there_is_refused() {
        let mut site = built();
        site.files.remove("tokens-1.css");
        // The table of the first load wants such a style sheet.
        site.files.insert("tokens-2.css".to_owned(), Vec::new());
        let why = site.finish(None).err().unwrap();
        assert!(why.contains("tokens-1.css"), "{why}");
    }
}
