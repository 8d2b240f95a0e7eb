//! Takes the page's wasm apart: what the functions of `part!` need and nothing else does goes into files of its own.
//!
//! `take-apart WASM FOLDER SCRIPT` writes FOLDER/main.wasm, which wasm-bindgen has to see, the parts beside it, and
//! FOLDER/SCRIPT, through which the main file asks for them. A program of its own, so that `cargo xtask` does not
//! wait for what it stands on.

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [wasm, folder, script] = args.as_slice() else {
        eprintln!("take-apart WASM FOLDER SCRIPT");
        return ExitCode::FAILURE;
    };
    match take_apart(wasm, Path::new(folder), script) {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn take_apart(wasm: &str, folder: &Path, script: &str) -> Result<(), String> {
    let bytes = std::fs::read(wasm).map_err(|e| format!("cannot read {wasm}: {e}."))?;
    let main = folder.join("main.wasm");
    let mut options = wasm_split_cli_support::Options::new(&bytes);
    options.output_dir = folder;
    options.main_out_path = &main;
    options.link_name = script;
    let outcome = wasm_split_cli_support::transform(options);
    outcome.map(|_| ()).map_err(|e| format!("{wasm}: {e:#}"))
}
