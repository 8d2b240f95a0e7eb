//! The release build of the page in parts: one file of wasm for the first picture, others that come after it.
//!
//! Trunk builds the page whole, with the feature `parts`. Here that wasm is taken apart (`parts/main.rs`), each file
//! goes through the tools that Trunk would have called, and the result takes the place of Trunk's in dist/.

use crate::Result;
use crate::home::{self, read, write};
use crate::run;
use crate::setup::{Kit, TARGET};
use crate::shorten::{self, shorten, shorten_scripts, shorten_sheets};
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The cargo feature of the page.
pub const FEATURE: &str = "parts";
/// The script that fetches the parts, as page.js imports it before it has a hash.
const SCRIPT: &str = "./parts.js";

/// How the script that is made for us begins: it imports the page. But the page may have been imported under another
/// address (`?again=1`), so it gives its exports itself.
const IMPORT: &str = "import { initSync } from \"./main.js\";\n";
const WIRE: &str = "let initSync;\nexport function wire(exports) {\n    initSync = exports;\n}\n";
/// How it makes a part of what it fetched. Ours takes the file under whatever type a server sends it, and says what
/// came in its place.
const STREAMED: &str = "WebAssembly.instantiateStreaming(src, imports)";
const PLAIN: &str = "instantiate(src, imports)";
/// The part that a page of its own begins with (`lazy::AT_ONCE`); views in other people's pages do without it.
const AT_ONCE: &str = "bench";
/// Style sheets that come with a part, in the place where index.html names them: the part waits for its sheet.
const SHEETS: [(&str, &str); 2] = [("inputs", "inputs"), ("beside", "inspector")];
const DRESSED: &str = "function dressed(part) {
    const links = [...document.querySelectorAll(`link[data-part=\"${part}\"]`)];
    return Promise.all(links.filter((link) => !link.sheet).map((link) => new Promise((there, missing) => {
        link.onload = there;
        link.onerror = () => {
            link.removeAttribute(\"href\");
            missing(new Error(`${link.dataset.href}: expected a style sheet`));
        };
        link.rel = \"stylesheet\";
        link.href = link.dataset.href;
    })));
}
";
const INSTANTIATE: &str = "async function instantiate(src, imports) {
    const answer = await src;
    if (!answer.ok) throw new Error(`${answer.url}: expected a part of the page, got status ${answer.status}`);
    return WebAssembly.instantiate(await answer.arrayBuffer(), imports);
}
";

/// Takes what Trunk left in `dist` apart.
pub fn take_apart(kit: &Kit, root: &Path, dist: &Path) -> Result {
    let work = home::target(root).join("parts");
    home::remove(&work)?;
    home::make_folder(&work)?;
    let wasm = home::target(root)
        .join(TARGET)
        .join("release")
        .join("page.wasm");
    split(root, &wasm, &work)?;

    let mut bindgen = kit.command(&kit.wasm_bindgen)?;
    bindgen
        .arg(work.join("main.wasm"))
        .args(["--target", "web", "--out-name", "page"])
        // The table of functions, through which parts and page call each other.
        .arg("--keep-lld-exports")
        .args(["--no-typescript", "--out-dir"])
        .arg(&work);
    run::check_quietly(&mut bindgen, "wasm-bindgen")?;
    shorten(&work.join("page.js"), &work.join("page_bg.wasm"))?;
    home::remove(&work.join("main.wasm"))?;

    let mut files = home::files_under(&work)?;
    files.retain(|file| file.extension().is_some_and(|e| e == "wasm"));
    optimise(kit, root, &files)?;

    // Each file is named by what it holds, and named so in the next one.
    let mut script = made_ours(&read(&work.join("parts.js"))?)?;
    let mut at_once = Vec::new();
    for file in files.iter().filter(|file| !file.ends_with("page_bg.wasm")) {
        let bytes =
            std::fs::read(file).map_err(|e| format!("cannot read {}: {e}.", file.display()))?;
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let old = format!("\"./{stem}.wasm\"");
        if !script.contains(&old) {
            return Err(format!("the script of the parts does not name {old}."));
        }
        let name = format!("{}-{}.wasm", called(&stem, &script)?, hash(&[&bytes]));
        if name.starts_with(AT_ONCE) {
            at_once.push(name.clone());
        }
        script = script.replace(&old, &format!("\"./{name}\""));
        write(&dist.join(&name), bytes)?;
    }
    script = shorten::script(&script);
    let script_name = format!("parts-{}.js", hash(&[script.as_bytes()]));
    write(&dist.join(&script_name), &script)?;

    let page = wired(&read(&work.join("page.js"))?, &format!("./{script_name}"))?;
    let wasm = std::fs::read(work.join("page_bg.wasm"))
        .map_err(|e| format!("cannot read the page's wasm: {e}."))?;
    let name = format!("page-{}", hash(&[page.as_bytes(), &wasm]));
    let index = dist.join("index.html");
    let old = trunks_name(&read(&index)?)?;
    let text = undressed(&read(&index)?.replace(&old, &name))?;
    let text = text.replace(" data-integrity=\"none\"", "");
    write(&index, asked_at_once(&text, &at_once))?;
    for end in [".js", "_bg.wasm"] {
        home::remove(&dist.join(format!("{old}{end}")))?;
    }
    write(&dist.join(format!("{name}.js")), page)?;
    write(&dist.join(format!("{name}_bg.wasm")), wasm)?;
    shorten_sheets(dist)?;
    shorten_scripts(&dist.join("www"))
}

/// Starts `parts/main.rs`, which is built where that was not done yet.
fn split(root: &Path, wasm: &Path, folder: &Path) -> Result {
    let mut cargo = run::native_cargo();
    cargo
        .args(["run", "--quiet", "--package", "xtask"])
        .args(["--features", FEATURE, "--bin", "take-apart", "--"])
        .args([wasm, folder])
        .arg(SCRIPT)
        .current_dir(root);
    run::check(&mut cargo, "taking the page apart")
}

fn made_ours(script: &str) -> Result<String> {
    if !script.starts_with(IMPORT) || !script.contains(STREAMED) {
        return Err("the script of the parts is not as src/xtask/parts.rs knows it: look at wasm_split_cli_support's new version.".into());
    }
    let mut script = script.replace(IMPORT, WIRE).replace(STREAMED, PLAIN);
    for (part, _) in SHEETS {
        // What a part waits for stands in a list at the end of its line.
        let start = format!("__wasm_split_load_{part} =");
        let (before, after) = script
            .split_once(&start)
            .filter(|(_, after)| after.contains("]));"))
            .ok_or_else(|| format!("the script of the parts does not load {part}."))?;
        let sheet = format!(", () => dressed(\"{part}\")]));");
        script = format!("{before}{start}{}", after.replacen("]));", &sheet, 1));
    }
    Ok(script + DRESSED + INSTANTIATE)
}

/// What a file of wasm is called: `part-` and its name, or after the parts that share it. What is wanted at once has
/// names of its own: `bench`, and `bench-` with the others that use it.
fn called(stem: &str, script: &str) -> Result<String> {
    if let Some(part) = stem.strip_prefix("split_") {
        return Ok(match part == AT_ONCE {
            true => part.to_owned(),
            false => format!("part-{part}"),
        });
    }
    // `/* beside, inputs */` stands before the line of what they share.
    let users = script
        .split_once(&format!("const __{stem} ="))
        .and_then(|(before, _)| before.trim_end().strip_suffix("*/")?.rsplit_once("/*"))
        .map(|(_, users)| users.trim().replace(", ", "-"))
        .ok_or_else(|| format!("the script of the parts does not say who uses {stem}."))?;
    Ok(match users.starts_with(AT_ONCE) {
        true => users,
        false => format!("part-shared-{users}"),
    })
}

/// index.html with the names of what `www/boot.js` asks for in a page of its own.
fn asked_at_once(index: &str, files: &[String]) -> String {
    let links: Vec<_> = files
        .iter()
        .map(|file| format!("<link data-part=\"{AT_ONCE}\" data-href=\"./{file}\"/>\n"))
        .collect();
    index.replacen("<script type", &(links.concat() + "<script type"), 1)
}

/// index.html with the sheets of the parts named, and not fetched.
fn undressed(index: &str) -> Result<String> {
    SHEETS
        .iter()
        .try_fold(index.to_owned(), |index, (part, sheet)| {
            let link = format!("rel=\"stylesheet\" href=\"./{sheet}-");
            if index.matches(&link).count() != 1 {
                return Err(format!("dist/index.html: expected {link}… once."));
            }
            Ok(index.replace(
                &link,
                &format!("data-part=\"{part}\" data-href=\"./{sheet}-"),
            ))
        })
}

/// The page's script with the address of the script of the parts in its imports, which gets the page's exports.
/// (What the wasm calls that script stays.)
fn wired(page: &str, script: &str) -> Result<String> {
    let import = format!("from \"{SCRIPT}\"");
    if !page.contains(&import) {
        return Err(format!(
            "page.js does not import {SCRIPT}: is the feature `{FEATURE}` on?"
        ));
    }
    let page = page.replace(&import, &format!("from \"{script}\""));
    Ok(format!(
        "{page}import {{ wire }} from \"{script}\";\nwire(initSync);\n"
    ))
}

/// What Trunk called the page in index.html: `page-` and a hash.
fn trunks_name(index: &str) -> Result<String> {
    let name = index
        .split_once("data-wasm=\"./")
        .and_then(|(_, rest)| rest.split_once("_bg.wasm\""))
        .map(|(name, _)| name.to_owned());
    name.filter(|name| name.starts_with("page-"))
        .ok_or_else(|| "dist/index.html does not name the page's wasm in data-wasm.".into())
}

/// wasm-opt on every file, two at a time, as index.html tells Trunk to call it.
fn optimise(kit: &Kit, root: &Path, files: &[PathBuf]) -> Result {
    let Some(program) = &kit.wasm_opt else {
        return Ok(());
    };
    let index = read(&root.join("index.html"))?;
    let value = |name: &str| {
        let start = format!("{name}=\"");
        let (_, rest) = index.split_once(&start)?;
        rest.split_once('"').map(|(value, _)| value.to_owned())
    };
    let (Some(level), Some(params)) = (value("data-wasm-opt"), value("data-wasm-opt-params"))
    else {
        return Err(
            "index.html: expected data-wasm-opt and data-wasm-opt-params at the page.".into(),
        );
    };
    let one = |file: &PathBuf| -> Result {
        let mut wasm_opt: Command = kit.command(program)?;
        wasm_opt
            .arg(format!("-O{level}"))
            .args(params.split_whitespace())
            .arg("--strip-debug")
            .arg("-o")
            .args([file, file]);
        run::check_quietly(&mut wasm_opt, "wasm-opt")
    };
    // The main file takes longest by far.
    let (main, rest): (Vec<_>, Vec<_>) = files
        .iter()
        .partition(|file| file.ends_with("page_bg.wasm"));
    std::thread::scope(|scope| {
        let main = scope.spawn(|| main.into_iter().try_for_each(one));
        rest.into_iter().try_for_each(one)?;
        main.join()
            .unwrap_or_else(|_| Err("wasm-opt's thread panicked.".into()))
    })
}

fn hash(pieces: &[&[u8]]) -> String {
    let mut hash = DefaultHasher::new();
    for piece in pieces {
        hash.write_usize(piece.len());
        hash.write(piece);
    }
    format!("{:016x}", hash.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_found_in_trunks_index() {
        let index = "<script data-js=\"./page-01.js\" data-wasm=\"./page-01_bg.wasm\"></script>";
        assert_eq!(trunks_name(index).unwrap(), "page-01");
        assert!(
            trunks_name("<script></script>")
                .unwrap_err()
                .contains("data-wasm")
        );
    }

    #[test]
    fn the_script_takes_its_exports_from_the_page() {
        let script = format!("{IMPORT}const a = () => {STREAMED};\n");
        assert!(made_ours(&script).unwrap_err().contains("does not load"));
        let load = |part| {
            format!(
                "export const __wasm_split_load_{part} = wrapAsyncCb(makeLoad(() => 1\n, [b]));\n"
            )
        };
        let ours = made_ours(&format!("{script}{}{}", load("beside"), load("inputs"))).unwrap();
        assert!(!ours.contains("import {") && ours.contains("export function wire"));
        for part in ["beside", "inputs"] {
            let waits = format!(
                "__wasm_split_load_{part} = wrapAsyncCb(makeLoad(() => 1\n, [b, () => dressed(\"{part}\")]));"
            );
            assert!(ours.contains(&waits), "{ours}");
        }
        assert!(!ours.contains(STREAMED) && ours.contains("async function instantiate"));
        assert!(made_ours("import * as wasm from \"./other.js\";").is_err());
    }

    #[test]
    fn files_are_called_after_who_uses_them() {
        let script = "/* beside, inputs */\nconst __chunk_3 = 1;\n/* bench, beside */\nconst __chunk_5 = 1;\n";
        for (stem, name) in [
            ("split_inputs", "part-inputs"),
            ("split_bench", "bench"),
            ("chunk_3", "part-shared-beside-inputs"),
            ("chunk_5", "bench-beside"),
        ] {
            assert_eq!(called(stem, script).unwrap(), name);
        }
        assert!(called("chunk_4", script).unwrap_err().contains("chunk_4"));
        let index = asked_at_once(
            "<script type=\"module\"></script>",
            &["bench-1.wasm".into()],
        );
        let link = "<link data-part=\"bench\" data-href=\"./bench-1.wasm\"/>\n<script";
        assert!(index.starts_with(link), "{index}");
    }

    #[test]
    fn sheets_of_parts_are_named_and_not_fetched() {
        let link = |name: &str| format!("<link rel=\"stylesheet\" href=\"./{name}-0.css\"/>");
        let index = [link("page"), link("inputs"), link("inspector")].concat();
        assert_eq!(
            undressed(&index).unwrap(),
            link("page")
                + "<link data-part=\"inputs\" data-href=\"./inputs-0.css\"/>\
                   <link data-part=\"beside\" data-href=\"./inspector-0.css\"/>"
        );
        assert!(undressed(&link("page")).is_err());
    }

    #[test]
    fn the_page_imports_the_script_by_its_name() {
        let page =
            "import * as import1 from \"./parts.js\"\nimports = { \"./parts.js\": import1 };\n";
        let wired = wired(page, "./parts-01.js").unwrap();
        assert!(wired.starts_with("import * as import1 from \"./parts-01.js\"\n"));
        assert!(wired.contains("{ \"./parts.js\": import1 }"));
        assert!(wired.ends_with("wire(initSync);\n"));
        assert!(super::wired("export {};", "./parts-01.js").is_err());
    }

    #[test]
    fn another_byte_is_another_name() {
        assert_eq!(hash(&[b"ab"]), hash(&[b"ab"]));
        assert_ne!(hash(&[b"ab"]), hash(&[b"a", b"b"]));
    }
}
