//! What travels, shorter. In what wasm-bindgen writes each function of JavaScript that wasm imports is called after a hash,
//! in both files, and hashes do not compress; the script comes with the documentation of what it exports. Style sheets
//! come without their comments.

use crate::Result;
use crate::home::{files_under, read, write};
use std::collections::HashMap;
use std::path::Path;

/// How the names begin that wasm-bindgen makes up for imports.
const MADE_UP: &str = "__wb";
/// Of wasm's sections, the one with the imports.
const IMPORTS: u8 = 2;

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
    lines.collect::<Vec<_>>().join("\n") + "\n"
}

fn shortened(js: &str, wasm: &[u8]) -> Result<(String, Vec<u8>)> {
    let mut names = HashMap::new();
    let mut lines = Vec::new();
    for line in js.lines().map(str::trim) {
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
    }
    Ok((lines.join("\n") + "\n", renamed(wasm, &names)?))
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
        wasm.push(7);
        push_sized(&mut wasm, &[0]);
        wasm
    }

    #[test]
    fn imports_have_the_same_short_name_in_both_files() {
        let long = module(&["__wbindgen_throw_f00", "__wbg_now_0123456789abcdef"]);
        let (js, wasm) = shortened(JS, &long).unwrap();
        assert_eq!(
            js,
            "export function main() {}\nconst import0 = {\na: function() {\n},\nb: function(a) {},\n};\n"
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
    fn a_sheet_keeps_all_but_comments_and_indentation() {
        let css = "/* Two\n lines. */\n\n.a {\n  color: red; /* why */\n}\n.b::before { content: \" / * \"; }\n/* open";
        assert_eq!(
            sheet(css),
            ".a {\ncolor: red;\n}\n.b::before { content: \" / * \"; }\n"
        );
    }

    #[test]
    fn names_differ() {
        let names: std::collections::HashSet<_> = (0..2000).map(nth_name).collect();
        assert_eq!(names.len(), 2000);
        assert_eq!(nth_name(26), "aa");
    }
}
