//! Asks the linker for what `cargo xtask build` needs to take the page apart (see lazy.rs): which function calls which.
//! And leaves the comments out of the words, which the page carries along (see text.rs).

use std::{env, error::Error, fs, path::Path};

/// The files of `www/text` that are part of the wasm.
const WORDS: [&str; 4] = ["en", "beside", "inputs", "bench"];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed=build.rs");
    let set = |name: &str| env::var_os(name).is_some();
    if set("CARGO_FEATURE_PARTS")
        && env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|arch| arch == "wasm32")
    {
        println!("cargo:rustc-link-arg-bins=--emit-relocs");
    }
    let out = env::var("OUT_DIR")?;
    for name in WORDS {
        let file = Path::new("../../www/text").join(name).with_extension("ftl");
        println!("cargo:rerun-if-changed={}", file.display());
        let words =
            fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
        let lines = words
            .lines()
            .filter(|line| !line.is_empty() && !line.starts_with('#'));
        let kept: String = lines.flat_map(|line| [line, "\n"]).collect();
        fs::write(Path::new(&out).join(name).with_extension("ftl"), kept)?;
    }
    Ok(())
}
