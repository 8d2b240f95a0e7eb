//! The programs that builds and tests call: found on PATH in a version that fits, else fetched into the tool cache.

use crate::home::{self, cache};
use crate::run::{self, ask, timed, which};
use crate::setup::Toolchain;
use crate::{Result, debian};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRUNK: &str = "0.21.14";
const GECKODRIVER: &str = "0.37.1";
/// `0.N`: the first that lets a test set the browser's preferences while it runs.
const OLDEST_GECKODRIVER: u32 = 36;
const BINARYEN: &str = "132";
/// wasm-opt before this does not know all that rustc emits.
const OLDEST_WASM_OPT: u32 = 123;

/// trunk: builds the page and serves it.
pub fn trunk() -> Result<PathBuf> {
    from_cargo("trunk", "trunk", TRUNK, true)
}

/// wasm-bindgen's command, which must have the very version of the crate.
pub fn wasm_bindgen(version: &str) -> Result<PathBuf> {
    from_cargo("wasm-bindgen-cli", "wasm-bindgen", version, false)
}

/// geckodriver, between WebDriver and Firefox: that of GECKODRIVER or of PATH if it is new enough, else built.
pub fn geckodriver() -> Result<PathBuf> {
    if let Some(named) = env::var_os("GECKODRIVER") {
        return Ok(named.into());
    }
    let fits = |path: &PathBuf| {
        let said = ask(Command::new(path).arg("--version")).unwrap_or_default();
        let version = said.split_whitespace().nth(1).unwrap_or_default();
        let minor = version.strip_prefix("0.").and_then(|v| v.split('.').next());
        minor.is_some_and(|minor| minor.parse().is_ok_and(|m: u32| m >= OLDEST_GECKODRIVER))
    };
    match which("geckodriver").filter(fits) {
        Some(found) => Ok(found),
        None => from_cargo("geckodriver", "geckodriver", GECKODRIVER, true),
    }
}

/// A program that `cargo install` builds, of one exact version.
///
/// `locked`: with the lock file it was published with. wasm-bindgen-cli's may name a crate that a registry's mirror
/// lacks, so that one goes without.
fn from_cargo(package: &str, program: &str, version: &str, locked: bool) -> Result<PathBuf> {
    let folder = cache()?.join(format!("tools/{package}-{version}"));
    let mine = folder.join("bin").join(program);
    if run::is_program(&mine) {
        return Ok(mine);
    }
    let fits = |path: &PathBuf| {
        let said = ask(Command::new(path).arg("--version")).unwrap_or_default();
        said.split_whitespace().nth(1) == Some(version)
    };
    if let Some(found) = which(program).filter(fits) {
        return Ok(found);
    }
    timed(
        &format!("cargo: installing {package} {version}, some minutes"),
        || {
            let build = cache()?.join("build").join(package);
            let mut cargo = run::native_cargo();
            cargo
                .args([
                    "install",
                    "--quiet",
                    package,
                    "--version",
                    version,
                    "--root",
                ])
                .arg(&folder)
                .arg("--target-dir")
                .arg(&build)
                // They run for seconds and compile for minutes: no time for the optimiser.
                .env("CARGO_PROFILE_RELEASE_LTO", "off")
                .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
                .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
                .env("CARGO_PROFILE_RELEASE_DEBUG", "0")
                .env_remove("RUSTFLAGS")
                .env_remove("CARGO_TARGET_DIR")
                // Not in the checkout, whose cargo settings are none of the tool's business.
                .current_dir(cache()?);
            if locked {
                cargo.arg("--locked");
            }
            run::check(&mut cargo, &format!("cargo install {package}"))?;
            home::remove(&build)
        },
    )?;
    Ok(mine)
}

/// wasm-opt: PATH's if it is new enough, else npm's. Without Node.js there is none, which costs some speed and size.
pub fn wasm_opt(toolchain: Toolchain) -> Result<Option<PathBuf>> {
    let folder = cache()?.join(format!("tools/binaryen-{BINARYEN}"));
    let mine = folder.join("node_modules/.bin/wasm-opt");
    let fits = |path: &PathBuf| {
        let said = ask(Command::new(path).arg("--version")).unwrap_or_default();
        let version = said.split_whitespace().nth(2).unwrap_or_default();
        version.parse::<u32>().is_ok_and(|v| v >= OLDEST_WASM_OPT)
    };
    // npm's is started by node: without node it is no use.
    if run::is_program(&mine) && which("node").is_some() {
        return Ok(Some(mine));
    }
    if let Some(found) = which("wasm-opt").filter(fits) {
        return Ok(Some(found));
    }
    if toolchain == Toolchain::Debian {
        node(toolchain)?;
    }
    let Some(npm) = which("npm") else {
        run::say(
            "no Node.js here: wasm-opt is left out, the engine is a little larger and slower.",
        );
        return Ok(None);
    };
    home::make_folder(&folder)?;
    timed(
        &format!("npm: installing wasm-opt (binaryen {BINARYEN})"),
        || {
            let mut npm = Command::new(npm);
            npm.args([
                "install",
                "--no-save",
                "--ignore-scripts",
                "--no-audit",
                "--no-fund",
            ])
            .arg("--prefix")
            .arg(&folder)
            .arg(format!("binaryen@{BINARYEN}.0.0"));
            run::check_quietly(&mut npm, "npm install binaryen")
        },
    )?;
    Ok(Some(mine))
}

/// Node.js and npm; Debian's where they are missing.
pub fn node(toolchain: Toolchain) -> Result {
    let lacking: Vec<String> = [("node", "nodejs"), ("npm", "npm")]
        .iter()
        .filter(|(program, _)| which(program).is_none())
        .map(|(_, package)| (*package).to_owned())
        .collect();
    if lacking.is_empty() {
        Ok(())
    } else if toolchain == Toolchain::Debian || which("apt-get").is_some() {
        debian::install(&lacking)
    } else {
        Err("the browser tests need Node.js 20 or newer: install it from https://nodejs.org".into())
    }
}

/// The browser suite's packages, exactly those of its lock file.
pub fn node_packages(root: &Path) -> Result {
    let tests = root.join("tests");
    let lock = home::read(&tests.join("package-lock.json"))?;
    let stamp = tests.join("node_modules/.attention-lab");
    if std::fs::read_to_string(&stamp).is_ok_and(|old| old == lock) {
        return Ok(());
    }
    timed("npm: installing the browser suite's packages", || {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--ignore-scripts", "--no-audit", "--no-fund"])
            .current_dir(&tests);
        run::check_quietly(&mut npm, "npm ci")
    })?;
    home::write(&stamp, lock)
}
