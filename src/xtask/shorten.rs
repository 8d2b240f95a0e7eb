//! What travels, shorter. In what wasm-bindgen writes each function of JavaScript that wasm imports is called after a hash,
//! in both files, and hashes do not compress; the script comes with the documentation of what it exports. Style sheets
//! come without their comments.

use crate::Result;
use crate::home::{files_under, read, write};
use std::collections::HashMap;
use std::path::Path;

/// How the names begin that wasm-bindgen makes up for imports.
const MADE_UP: &str = "__wb";
/// Of wasm's sections, those with imports and exports.
const IMPORTS: u8 = 2;
const EXPORTS: u8 = 7;
/// Classes of streams that a crate below Leptos exports and that nothing here makes: in the script, and in wasm.
const UNUSED: [&str; 3] = ["IntoUnderlying", "intounderlying", "__wbg_intounderlying"];

/// Shortens `script` and the `wasm` that it loads, in place.
pub fn shorten(script: &Path, wasm: &Path) -> Result {
    let bytes = std::fs::read(wasm).map_err(|e| format!("cannot read {}: {e}.", wasm.display()))?;
    let (js, bytes) =
        shortened(&read(script)?, &bytes).map_err(|why| format!("{}: {why}", script.display()))?;
    write(script, js)?;
    write(wasm, bytes)
}

/// Takes comments and indentation out of every style sheet of `folder`.
pub fn shorten_sheets(folder: &Path) -> Result {
    for file in files_under(folder)? {
        if file.extension().is_some_and(|e| e == "css") {
            write(&file, sheet(&read(&file)?))?;
        }
    }
    Ok(())
}

/// Scripts of `www` that come by themselves, whose comments are for whoever reads the sources. The others are read where
/// they lie.
const SCRIPTS: [&str; 9] = [
    "boot.js",
    "engine-worker.js",
    "frame.js",
    "frame-picture.js",
    "embed-view.js",
    "embed-dialog.js",
    "parts.js",
    "share.js",
    "words.js",
];

/// Takes comments and indentation out of the scripts of the folder `www`.
pub fn shorten_scripts(www: &Path) -> Result {
    for name in SCRIPTS {
        let file = www.join(name);
        write(&file, script(&read(&file)?))?;
    }
    Ok(())
}

/// A script without comments and indentation. (Comments of these have lines of their own, and no string in these scripts goes over a line.)
pub fn script(js: &str) -> String {
    let mut comment = false;
    let lines = js.lines().map(str::trim).filter(|line| {
        comment |= line.starts_with("/*");
        let kept = !comment && !line.is_empty() && !line.starts_with("//");
        comment &= !line.ends_with("*/");
        kept
    });
    joined(lines)
}

/// (No string in our sheets holds the beginning of a comment.)
fn sheet(css: &str) -> String {
    let mut out = String::new();
    let mut rest = css;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out.push_str(rest);
    let lines = out.lines().map(str::trim).filter(|line| !line.is_empty());
    joined(lines)
}

/// The lines, in one where it makes no difference: after a bracket that opens, a comma or a semicolon.
fn joined<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut out = String::new();
    for line in lines {
        out.push_str(line);
        // What follows a comment within the line must not become part of it.
        if !line.ends_with(['{', ',', ';']) || line.contains("//") {
            out.push('\n');
        }
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

fn shortened(js: &str, wasm: &[u8]) -> Result<(String, Vec<u8>)> {
    let mut names = HashMap::new();
    let mut lines = Vec::new();
    let mut unused = None;
    for line in js.lines() {
        // A class ends with a bracket in a line of its own, any other such statement with its semicolon.
        if unused.is_none() {
            unused = ends_of_unused(line);
        }
        if let Some(end) = unused {
            let ended = line.ends_with(end) && (end == ";" || line == end);
            unused = (!ended).then_some(end);
            continue;
        }
        let line = line.trim();
        let comment = ["/**", "* ", "*/", "//"];
        if line.is_empty() || line == "*" || comment.iter().any(|c| line.starts_with(c)) {
            continue;
        }
        // `name: function(…) {` or `name: otherFunction,` in the object of imports.
        let import = line
            .split_once(": ")
            .filter(|(name, _)| name.starts_with(MADE_UP) && name.chars().all(is_of_name));
        match import {
            Some((name, rest)) => {
                let next = names.len();
                let short = names.entry(name).or_insert_with(|| nth_name(next));
                lines.push(format!("{short}: {rest}"));
            }
            None => lines.push(line.to_owned()),
        }
        // `const ret = …;` and `return ret;`: one line does.
        if line == "return ret;"
            && let [.., made, end] = lines.as_mut_slice()
            && let Some(value) = made.strip_prefix("const ret = ")
            && value.ends_with(';')
        {
            *end = format!("return {value}");
            let at = lines.len() - 2;
            lines.remove(at);
        }
    }
    let js = joined(lines.iter().map(String::as_str));
    Ok((js, renamed(wasm, &names)?))
}

/// How a statement ends that is about a class which nothing makes.
fn ends_of_unused(line: &str) -> Option<&'static str> {
    let about = |start: &str| {
        line.strip_prefix(start)
            .is_some_and(|rest| rest.starts_with(UNUSED[0]))
    };
    if about("export class ") {
        Some("}")
    } else if about("const ") || about("if (Symbol.dispose) ") {
        Some(";")
    } else {
        None
    }
}

fn is_of_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// a, b, … z, aa, ba, …
fn nth_name(n: usize) -> String {
    let letter = char::from(b'a' + (n % 26) as u8);
    match n / 26 {
        0 => letter.to_string(),
        more => format!("{letter}{}", nth_name(more - 1)),
    }
}

/// The module with the names of its imports exchanged. Fails where one of wasm-bindgen's is not among `names`.
fn renamed(wasm: &[u8], names: &HashMap<&str, String>) -> Result<Vec<u8>> {
    let mut from = Reader { bytes: wasm, at: 0 };
    let mut out = from.take(8)?.to_vec();
    while from.at < wasm.len() {
        let id = from.byte()?;
        let body = from.sized()?;
        let body = match id {
            IMPORTS => imports(body, names)?,
            EXPORTS => exports(body)?,
            _ => body.to_vec(),
        };
        out.push(id);
        push_sized(&mut out, &body);
    }
    Ok(out)
}

fn imports(body: &[u8], names: &HashMap<&str, String>) -> Result<Vec<u8>> {
    let mut from = Reader { bytes: body, at: 0 };
    let mut out = Vec::new();
    let count = from.number()?;
    push_number(&mut out, count);
    for _ in 0..count {
        push_sized(&mut out, from.sized()?);
        let name = from.sized()?;
        let text = String::from_utf8_lossy(name);
        if text.starts_with(MADE_UP) {
            let short = names
                .get(&*text)
                .ok_or_else(|| format!("its script has no import {text}."))?;
            push_sized(&mut out, short.as_bytes());
        } else {
            push_sized(&mut out, name);
        }
        let start = from.at;
        match from.byte()? {
            // A function: its type.
            0 => drop(from.number()?),
            // A table: what it holds, and its limits.
            1 => {
                from.byte()?;
                from.limits()?;
            }
            // A memory.
            2 => from.limits()?,
            // A global: its type, and whether it changes.
            3 => drop(from.take(2)?),
            kind => return Err(format!("an import of kind {kind} is unknown here.")),
        }
        out.extend_from_slice(&body[start..from.at]);
    }
    Ok(out)
}

/// Without those of unused classes: what only they called is left out by wasm-opt.
fn exports(body: &[u8]) -> Result<Vec<u8>> {
    let mut from = Reader { bytes: body, at: 0 };
    let mut kept = Vec::new();
    let mut left = 0;
    for _ in 0..from.number()? {
        let start = from.at;
        let name = String::from_utf8_lossy(from.sized()?);
        from.byte()?;
        from.number()?;
        if !UNUSED.iter().any(|unused| name.starts_with(unused)) {
            kept.extend_from_slice(&body[start..from.at]);
            left += 1;
        }
    }
    let mut out = Vec::new();
    push_number(&mut out, left);
    out.extend(kept);
    Ok(out)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let end = self.at.saturating_add(count);
        let taken = self.bytes.get(self.at..end).ok_or("the wasm ends early.")?;
        self.at = end;
        Ok(taken)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    /// LEB128.
    fn number(&mut self) -> Result<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            number |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err("a number in the wasm does not end.".into())
    }

    fn sized(&mut self) -> Result<&'a [u8]> {
        let size = self.number()?;
        self.take(size)
    }

    fn limits(&mut self) -> Result {
        let has_end = self.byte()? & 1 == 1;
        self.number()?;
        if has_end {
            self.number()?;
        }
        Ok(())
    }
}

fn push_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn push_sized(out: &mut Vec<u8>, bytes: &[u8]) {
    push_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    const JS: &str = "/**\n * A page.\n */\nexport function main() {}\n    const import0 = {\n        __wbg_now_0123456789abcdef: \
                      function() {\n            // the clock\n        },\n        __wbindgen_throw_f00: function(a) {},\n    };\n";

    /// `(module (import "./x_bg.js" NAME (func (type 0))) … (import "m" "memory" (memory 1 2)))` and an empty section.
    fn module(names: &[&str]) -> Vec<u8> {
        let mut body = Vec::new();
        push_number(&mut body, names.len() + 1);
        for name in names {
            push_sized(&mut body, b"./x_bg.js");
            push_sized(&mut body, name.as_bytes());
            body.extend([0, 0]);
        }
        push_sized(&mut body, b"m");
        push_sized(&mut body, b"memory");
        body.extend([2, 3, 1, 2]);
        let mut wasm = b"\0asm\x01\0\0\0".to_vec();
        wasm.push(IMPORTS);
        push_sized(&mut wasm, &body);
        wasm.push(EXPORTS);
        push_sized(&mut wasm, &[0]);
        wasm
    }

    #[test]
    fn what_is_returned_at_once_has_no_name() {
        let js = "function() {\n    const ret = a(1);\n    return ret;\n},\nconst ret = b();\nc(ret);\nreturn ret;\n";
        let (js, _) = shortened(js, &module(&[])).unwrap();
        assert_eq!(
            js,
            "function() {return a(1);},const ret = b();c(ret);return ret;\n"
        );
    }

    #[test]
    fn classes_that_nothing_makes_are_left_out() {
        let js = "export class IntoUnderlyingSink {\n    free() {\n    }\n}\nif (Symbol.dispose) IntoUnderlyingSink.a = 1;\n\
                  export class Other {\n}\nconst IntoUnderlyingSinkEnd = (typeof A === 'undefined')\n    ? { a: () => {} }\n    \
                  : new A(p => wasm.f(p, 1));\nconst b = 1;\n";
        let (js, _) = shortened(js, &module(&[])).unwrap();
        assert_eq!(js, "export class Other {}\nconst b = 1;\n");
        let mut body = vec![2];
        for name in ["__wbg_intounderlyingsink_free", "main"] {
            push_sized(&mut body, name.as_bytes());
            body.extend([0, 9]);
        }
        let mut left = vec![1];
        push_sized(&mut left, b"main");
        left.extend([0, 9]);
        assert_eq!(exports(&body).unwrap(), left);
    }

    #[test]
    fn imports_have_the_same_short_name_in_both_files() {
        let long = module(&["__wbindgen_throw_f00", "__wbg_now_0123456789abcdef"]);
        let (js, wasm) = shortened(JS, &long).unwrap();
        assert_eq!(
            js,
            "export function main() {}\nconst import0 = {a: function() {},b: function(a) {},};\n"
        );
        assert_eq!(wasm, module(&["b", "a"]));
    }

    #[test]
    fn an_import_that_the_script_does_not_have_is_refused() {
        let why = shortened(JS, &module(&["__wbg_other_1"])).unwrap_err();
        assert!(why.contains("__wbg_other_1"), "{why}");
        let cut = &module(&["__wbindgen_throw_f00"])[..20];
        assert!(shortened(JS, cut).is_err());
    }

    #[test]
    fn a_script_keeps_all_but_comments_and_indentation() {
        let js = "// Why.\nconst a = 1; // one\n/**\n * What.\n */\nfunction f() {\n  /** x */\n  return a\n    * 2;\n}\n";
        assert_eq!(
            script(js),
            "const a = 1; // one\nfunction f() {return a\n* 2;}\n"
        );
    }

    /// What `script` takes for granted.
    #[test]
    fn no_string_of_the_scripts_goes_over_a_line() {
        let www = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../www");
        for name in SCRIPTS {
            let text = read(&www.join(name)).unwrap();
            let comment = ["*", "/*", "//"];
            let code = text.lines().map(str::trim);
            for line in code.filter(|line| !comment.iter().any(|c| line.starts_with(c))) {
                assert!(line.matches('`').count() % 2 == 0, "{name}: {line}");
            }
        }
    }

    #[test]
    fn a_sheet_keeps_all_but_comments_and_indentation() {
        let css = "/* Two\n lines. */\n\n.a {\n  color: red; /* why */\n}\n.b::before { content: \" / * \"; }\n/* open";
        assert_eq!(
            sheet(css),
            ".a {color: red;}\n.b::before { content: \" / * \"; }\n"
        );
    }

    #[test]
    fn names_differ() {
        let names: std::collections::HashSet<_> = (0..2000).map(nth_name).collect();
        assert_eq!(names.len(), 2000);
        assert_eq!(nth_name(26), "aa");
    }
}
