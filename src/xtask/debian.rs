//! The compiler for WebAssembly from Debian's packages, for machines where rustup downloads nothing.
//!
//! Debian ships rustc-web with the library's sources but without a library for wasm32. It is built once, into a
//! sysroot of its own in the tool cache: `/usr` stays as Debian made it, and no root is needed for it. The folder is
//! laid out like a toolchain, so that its `bin` in front of PATH is all that cargo and trunk need.

use crate::home::{self, make_folder};
use crate::run::{self, say, timed};
use crate::setup::TARGET;
use crate::{Result, run::ask};
use std::path::{Path, PathBuf};
use std::process::Command;

const PACKAGES: [&str; 4] = ["rustc-web", "cargo-web", "rust-web-src", "rust-web-llvm"];
const RUSTLIB: &str = "/usr/lib/rustlib";
/// What rustc calls to link wasm: a link of rust-web-llvm into a package that it does not ask for.
const LINKER: &str = "/usr/bin/rust-lld";
/// Part of the stamp; a change here rebuilds the library everywhere.
const RECIPE: &str = "std for wasm32, recipe 1";

/// The toolchain's folder.
pub fn folder() -> Result<PathBuf> {
    Ok(home::cache()?.join("debian-toolchain"))
}

/// Packages, sysroot and library; quick when they are there.
pub fn ensure_compiler() -> Result {
    let folder = folder()?;
    let stamp = folder.join("stamp");
    if Path::new("/usr/bin/rustc").exists()
        && Path::new(LINKER).exists()
        && std::fs::read_to_string(&stamp).is_ok_and(|old| old == stamp_text(&folder))
    {
        return Ok(());
    }
    install(&missing(&PACKAGES))?;
    if !Path::new(LINKER).exists() {
        install(&[linker_package()?])?;
    }
    timed("building the standard library for wasm32, once", || {
        build_library(&folder)
    })?;
    home::write(&stamp, stamp_text(&folder))
}

/// Installs Debian packages; asks for fresh lists first, since a new machine has none.
pub fn install(packages: &[String]) -> Result {
    if packages.is_empty() {
        return Ok(());
    }
    timed(
        &format!("apt-get: installing {}", packages.join(" ")),
        || {
            if let Err(why) = run::check_as_root("apt-get", &["update", "--quiet"]) {
                say(&format!(
                    "going on with the package lists that are here: {why}"
                ));
            }
            let mut args = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
            args.extend(packages.iter().map(String::as_str));
            run::check_as_root("apt-get", &args)
        },
    )
}

/// Those of `packages` that are not installed.
pub fn missing(packages: &[&str]) -> Vec<String> {
    let is_there = |package: &str| {
        let mut query = Command::new("dpkg-query");
        query.args(["--show", "--showformat=${db:Status-Status}", package]);
        ask(&mut query).is_some_and(|status| status == "installed")
    };
    packages
        .iter()
        .filter(|package| !is_there(package))
        .map(|package| (*package).to_owned())
        .collect()
}

/// lld of the LLVM that rust-web-llvm depends on: `llvm-22` gives `lld-22`.
fn linker_package() -> Result<String> {
    let said = ask(Command::new("apt-cache").args(["depends", "rust-web-llvm"]));
    said.iter()
        .flat_map(|said| said.split_whitespace())
        .find_map(|word| word.strip_prefix("llvm-"))
        .filter(|version| version.bytes().all(|b| b.is_ascii_digit()))
        .map(|version| format!("lld-{version}"))
        .ok_or_else(|| {
            "`apt-cache depends rust-web-llvm` names no llvm-NN to take lld from.".into()
        })
}

/// The compiler's version and this folder: the library fits no other, and moves nowhere.
fn stamp_text(folder: &Path) -> String {
    let version = ask(Command::new("/usr/bin/rustc")
        .arg("-vV")
        .env_remove("LD_LIBRARY_PATH"));
    format!(
        "{RECIPE}\n{}\n{}\n",
        folder.display(),
        version.unwrap_or_default()
    )
}

fn build_library(folder: &Path) -> Result {
    home::remove(folder)?;
    lay_out(folder)?;
    // A crate that needs nothing makes cargo build the library for us.
    let dummy = folder.join("build");
    home::write(
        &dummy.join("Cargo.toml"),
        "[package]\nname = \"dummy\"\nversion = \"0.0.0\"\nedition = \"2021\"\n\
         [lib]\npath = \"lib.rs\"\n[workspace]\n",
    )?;
    home::write(&dummy.join("lib.rs"), "#![no_std]\n")?;
    let mut cargo = Command::new(folder.join("bin/cargo"));
    cargo
        .args(["build", "--release", "--target", TARGET])
        .arg("-Zbuild-std=std,panic_abort,panic_unwind,proc_macro,test")
        .current_dir(&dummy)
        .env("PATH", run::path_with(&[&folder.join("bin")])?)
        .env("RUSTC_BOOTSTRAP", "1")
        .env("CARGO_TARGET_DIR", dummy.join("target"))
        // Without bitcode a later build with LTO fails.
        .env("RUSTFLAGS", "-Cembed-bitcode=yes");
    for name in [
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTUP_TOOLCHAIN",
        "CARGO",
        "RUSTC",
        "LD_LIBRARY_PATH",
    ] {
        cargo.env_remove(name);
    }
    run::check_quietly(&mut cargo, "building the standard library")?;

    let built = dummy.join("target").join(TARGET).join("release/deps");
    let library = folder.join("lib/rustlib").join(TARGET).join("lib");
    make_folder(&library)?;
    for file in home::files_under(&built)? {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.ends_with(".rlib") && !name.starts_with("libdummy-") {
            home::copy(&file, &library.join(&*name))?;
        }
    }
    home::remove(&dummy)
}

/// A toolchain's folders, linked to Debian's; only the library for wasm32 is its own.
fn lay_out(folder: &Path) -> Result {
    let rustlib = folder.join("lib/rustlib");
    make_folder(&rustlib)?;
    let entries = std::fs::read_dir(RUSTLIB).map_err(|e| format!("cannot list {RUSTLIB}: {e}."))?;
    for entry in entries.flatten() {
        if entry.file_name() != TARGET {
            link(&entry.path(), &rustlib.join(entry.file_name()))?;
        }
    }
    make_folder(&folder.join("bin"))?;
    link(Path::new("/usr/bin/cargo"), &folder.join("bin/cargo"))?;
    for program in ["rustc", "rustdoc"] {
        let sysroot = folder.to_string_lossy().replace('\'', r"'\''");
        write_script(
            &folder.join("bin").join(program),
            &format!("#!/bin/sh\nexec /usr/bin/{program} --sysroot '{sysroot}' \"$@\"\n"),
        )?;
    }
    Ok(())
}

/// Writes a shell script that can be started.
#[cfg(unix)]
pub fn write_script(path: &Path, text: &str) -> Result {
    use std::os::unix::fs::PermissionsExt;
    home::write(path, text)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))
        .map_err(|e| format!("cannot make {} a program: {e}.", path.display()))
}

/// Shell scripts are for Unix; elsewhere there is nothing to do.
#[cfg(not(unix))]
pub fn write_script(_path: &Path, _text: &str) -> Result {
    Ok(())
}

#[cfg(unix)]
fn link(to: &Path, at: &Path) -> Result {
    std::os::unix::fs::symlink(to, at).map_err(|e| format!("cannot link {}: {e}.", at.display()))
}

#[cfg(not(unix))]
fn link(_to: &Path, at: &Path) -> Result {
    Err(format!(
        "{}: Debian's toolchain needs Debian.",
        at.display()
    ))
}
