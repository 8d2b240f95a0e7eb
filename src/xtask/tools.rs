//! The programs that builds and tests call: found on PATH in a version that fits, else fetched into the tool cache.

use crate::home::{self, cache};
use crate::run::{self, ask, timed, which};
use crate::setup::Toolchain;
use crate::{Result, debian};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

const TRUNK: &str = "0.21.14";
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

/// A browser and the driver that speaks WebDriver to it.
pub struct Browser {
    /// Chromium or Chrome.
    pub browser: PathBuf,
    /// chromedriver of the same version.
    pub driver: PathBuf,
}

/// Chromium and its driver: those on PATH (or named by CHROME and CHROMEDRIVER), else Debian's, else fetched by
/// selenium's own manager, which comes with the suite's packages.
pub fn browser(root: &Path) -> Result<Browser> {
    if let Some(found) = find_browser() {
        return Ok(found);
    }
    if which("apt-get").is_some() {
        debian::install(&debian::missing(&["chromium", "chromium-driver"]))?;
        return find_browser().ok_or_else(|| {
            "Debian's chromium and chromium-driver are installed, but not on PATH.".into()
        });
    }
    timed("fetching a browser and its driver", || {
        managed_browser(root)
    })
}

fn find_browser() -> Option<Browser> {
    let named = |variable: &str| env::var_os(variable).map(PathBuf::from);
    let names = [
        "chromium",
        "chromium-browser",
        "google-chrome",
        "google-chrome-stable",
    ];
    Some(Browser {
        browser: named("CHROME").or_else(|| names.iter().find_map(|name| which(name)))?,
        driver: named("CHROMEDRIVER").or_else(|| which("chromedriver"))?,
    })
}

fn managed_browser(root: &Path) -> Result<Browser> {
    let system = match env::consts::OS {
        "macos" => "macos/selenium-manager",
        "windows" => "windows/selenium-manager.exe",
        _ => "linux/selenium-manager",
    };
    let manager = root
        .join("tests/node_modules/selenium-webdriver/bin")
        .join(system);
    let mut command = Command::new(&manager);
    command
        .args([
            "--browser",
            "chrome",
            "--output",
            "shell",
            "--avoid-stats",
            "--cache-path",
        ])
        .arg(cache()?.join("browsers"));
    let said = ask(&mut command).unwrap_or_default();
    let line = |name: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|rest| PathBuf::from(rest.trim_start_matches([':', ' ', '\t'])))
    };
    match (line("Browser path"), line("Driver path")) {
        (Some(browser), Some(driver)) => Ok(Browser { browser, driver }),
        _ => Err(
            "the browser tests need Chrome or Chromium and chromedriver, and they could not be fetched. \
             Install both, or name them in CHROME and CHROMEDRIVER."
                .into(),
        ),
    }
}
