//! Installs what is missing, and nothing else; quick and silent when nothing is.
//!
//! The compiler for WebAssembly comes from one of two places. Everything native (tests, clippy, this program) stays on
//! the cargo that was called.

use crate::browsers::{self, Engine, Programs};
use crate::run::{self, say, which};
use crate::{Result, debian, home, no_more, take_flag, tools};
use std::env;
use std::path::PathBuf;
use std::process::Command;

/// The compilation target of page and engines.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Where the compiler for [`TARGET`] comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolchain {
    /// rustup's active toolchain, with the target and rust-src added.
    Rustup,
    /// Debian's rustc-web, with a standard library built once and kept in the tool cache.
    Debian,
}

impl Toolchain {
    /// `ATTENTION_LAB_TOOLCHAIN` decides; else `RUSTUP_AUTO_INSTALL=0` says that rustup must not be asked to download.
    pub fn chosen() -> Result<Self> {
        let debian = which("apt-get").is_some();
        match env::var("ATTENTION_LAB_TOOLCHAIN").as_deref() {
            Ok("rustup") => return Ok(Self::Rustup),
            Ok("debian") if debian => return Ok(Self::Debian),
            Ok("debian") => {
                return Err(
                    "ATTENTION_LAB_TOOLCHAIN=debian needs apt-get, which is not here.".into(),
                );
            }
            Ok("") | Err(_) => {}
            Ok(other) => {
                return Err(format!(
                    "ATTENTION_LAB_TOOLCHAIN is `{other}`: expected rustup or debian."
                ));
            }
        }
        let may_download = env::var("RUSTUP_AUTO_INSTALL").as_deref() != Ok("0");
        let rustup = which("rustup").is_some();
        Ok(if debian && !(rustup && may_download) {
            Self::Debian
        } else {
            Self::Rustup
        })
    }
}

/// Everything that builds need, found and ready.
pub struct Kit {
    /// Where the compiler comes from.
    pub toolchain: Toolchain,
    /// Folders that go in front of PATH, the compiler's first.
    pub path: Vec<PathBuf>,
    /// The trunk to call.
    pub trunk: PathBuf,
    /// The wasm-bindgen of Cargo.lock's version.
    pub wasm_bindgen: PathBuf,
    /// wasm-opt; without Node.js there may be none, and builds are a little larger.
    pub wasm_opt: Option<PathBuf>,
}

impl Kit {
    /// A command that sees this kit first on its PATH and builds with its compiler.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Result<Command> {
        let mut command = Command::new(program);
        let folders: Vec<_> = self.path.iter().map(PathBuf::as_path).collect();
        command.env("PATH", run::path_with(&folders)?);
        // Flags meant for native code do not fit, and would rebuild everything.
        command
            .env_remove("RUSTFLAGS")
            .env_remove("CARGO_ENCODED_RUSTFLAGS");
        if self.toolchain == Toolchain::Debian {
            // What `cargo run` set for its own toolchain does not fit the other one.
            for name in ["RUSTUP_TOOLCHAIN", "CARGO", "RUSTC", "LD_LIBRARY_PATH"] {
                command.env_remove(name);
            }
        }
        Ok(command)
    }

    /// The cargo that builds for [`TARGET`].
    pub fn cargo(&self) -> Result<Command> {
        match self.toolchain {
            Toolchain::Debian => self.command(debian::folder()?.join("bin/cargo")),
            Toolchain::Rustup => self.command(run::native_cargo().get_program()),
        }
    }

    /// The rustc that builds for [`TARGET`].
    pub fn rustc(&self) -> Result<Command> {
        match self.toolchain {
            Toolchain::Debian => self.command(debian::folder()?.join("bin/rustc")),
            Toolchain::Rustup => self.command("rustc"),
        }
    }

    /// Flags with which a panic is a trap without words, and its code is not there; none for a compiler that does not
    /// know them. The library has to be built with them, and `RUSTC_BOOTSTRAP=1` gives leave.
    pub fn trap(&self) -> Result<&'static [&'static str]> {
        const TRAP: &[&str] = &["-Zunstable-options", "-Cpanic=immediate-abort"];
        let mut rustc = self.rustc()?;
        rustc
            .args(TRAP)
            .args(["--print", "cfg", "--target", TARGET])
            .env("RUSTC_BOOTSTRAP", "1");
        Ok(if run::ask(&mut rustc).is_some() {
            TRAP
        } else {
            &[]
        })
    }

    /// One line that changes when the compiler does.
    pub fn compiler(&self) -> Result<String> {
        run::ask(self.rustc()?.arg("-vV"))
            .map(|said| said.replace('\n', " "))
            .ok_or_else(|| "`rustc -vV` does not answer.".into())
    }
}

/// `cargo xtask setup`
pub fn command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let with_tests = take_flag(&mut args, "--test");
    no_more(&args)?;
    let kit = for_builds()?;
    if with_tests {
        for (_, programs) in for_tests(&Engine::ALL)? {
            if let Err(why) = programs {
                say(&why);
            }
        }
    }
    say(match kit.toolchain {
        Toolchain::Debian => {
            "ready: Debian's compiler for WebAssembly, trunk, wasm-bindgen, wasm-opt"
        }
        Toolchain::Rustup => "ready: rustup's compiler with wasm32, trunk, wasm-bindgen, wasm-opt",
    });
    say("`cargo xtask serve` builds and serves. For plain `trunk serve`, once in each shell:");
    print_env()
}

/// `cargo xtask env`: one line for a shell, after which `trunk serve` works by itself.
pub fn print_env() -> Result {
    println!(
        "export PATH=\"{}:$PATH\"",
        home::cache()?.join("bin").display()
    );
    Ok(())
}

/// Compiler, trunk, wasm-bindgen and wasm-opt.
pub fn for_builds() -> Result<Kit> {
    let root = home::root()?;
    let toolchain = Toolchain::chosen()?;
    match toolchain {
        Toolchain::Debian => debian::ensure_compiler()?,
        Toolchain::Rustup => ensure_rustup()?,
    }
    let trunk = tools::trunk()?;
    let wasm_bindgen = tools::wasm_bindgen(&home::locked_version(&root, "wasm-bindgen")?)?;
    let wasm_opt = tools::wasm_opt(toolchain)?;

    let mut path = Vec::new();
    if toolchain == Toolchain::Debian {
        path.push(debian::folder()?.join("bin"));
    }
    let found = [Some(&trunk), Some(&wasm_bindgen), wasm_opt.as_ref()];
    for program in found.into_iter().flatten() {
        if let Some(folder) = program.parent()
            && !path.iter().any(|known| known == folder)
        {
            path.push(folder.to_owned());
        }
    }
    let kit = Kit {
        toolchain,
        path,
        trunk,
        wasm_bindgen,
        wasm_opt,
    };
    write_trunk(&kit)?;
    Ok(kit)
}

/// A `trunk` for the shell's PATH that finds the same compiler and tools as `cargo xtask` does.
fn write_trunk(kit: &Kit) -> Result {
    let quote = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let mut script = String::from("#!/bin/sh\n# Written by `cargo xtask setup`.\n");
    for folder in kit.path.iter().rev() {
        script += &format!("PATH={}:$PATH\n", quote(&folder.to_string_lossy()));
    }
    script += "export PATH\n";
    // What Trunk's hook calls is to choose as this set-up did.
    let toolchain = match kit.toolchain {
        Toolchain::Debian => "debian",
        Toolchain::Rustup => "rustup",
    };
    script += &format!("export ATTENTION_LAB_TOOLCHAIN={toolchain}\n");
    let cache = home::cache()?;
    script += &format!(
        "export ATTENTION_LAB_CACHE={}\n",
        quote(&cache.to_string_lossy())
    );
    // Trunk takes NO_COLOR for a switch of its own and stumbles over the usual `1`.
    script += "unset NO_COLOR\n";
    if kit.toolchain == Toolchain::Debian {
        script += "unset RUSTUP_TOOLCHAIN CARGO RUSTC\n";
    }
    script += "TRUNK_SKIP_VERSION_CHECK=true exec ";
    script += &quote(&kit.trunk.to_string_lossy());
    script += " \"$@\"\n";
    let path = home::cache()?.join("bin/trunk");
    if std::fs::read_to_string(&path).is_ok_and(|old| old == script) {
        return Ok(());
    }
    debian::write_script(&path, &script)
}

/// The browser suite's packages, and browsers with their drivers: for each what the suite must know of it, or what is
/// to be installed.
pub fn for_tests(engines: &[Engine]) -> Result<Vec<(Engine, Result<Programs>)>> {
    let root = home::root()?;
    let toolchain = Toolchain::chosen()?;
    tools::node(toolchain)?;
    tools::node_packages(&root)?;
    // Where a package is not to be had, the others may still be there.
    let installed = browsers::install(engines);
    let mut ready = Vec::new();
    for &engine in engines {
        let programs = browsers::programs(engine, &root);
        ready.push(match (programs, &installed) {
            (Err(why), Err(failed)) => (engine, Err(format!("{why}\n{failed}"))),
            (programs, _) => (engine, programs),
        });
    }
    Ok(ready)
}

/// The target and the library's sources, for rustup's active toolchain.
fn ensure_rustup() -> Result {
    let ask = |args: &[&str]| run::ask(Command::new("rustc").args(args)).map(PathBuf::from);
    let Some(sysroot) = ask(&["--print", "sysroot"]) else {
        return Err("`rustc` does not answer. Install Rust first: https://rustup.rs".into());
    };
    let lib = sysroot.join("lib/rustlib");
    let has_target = lib.join(TARGET).join("lib").is_dir();
    let has_source = lib.join("src/rust/library/Cargo.lock").is_file();
    if has_target && has_source {
        return Ok(());
    }
    let advice = format!(
        "rustc in {} lacks {TARGET} or the library's sources",
        sysroot.display()
    );
    if which("rustup").is_none() {
        return Err(format!(
            "{advice}, and there is no rustup to fetch them. Install Rust through https://rustup.rs, \
             or on Debian set ATTENTION_LAB_TOOLCHAIN=debian."
        ));
    }
    if env::var("RUSTUP_AUTO_INSTALL").as_deref() == Ok("0") {
        return Err(format!(
            "{advice}, and RUSTUP_AUTO_INSTALL=0 forbids fetching them. Unset it, \
             or on Debian set ATTENTION_LAB_TOOLCHAIN=debian."
        ));
    }
    run::timed("rustup: adding wasm32 and the library's sources", || {
        let target = ["target", "add", TARGET];
        run::check_quietly(Command::new("rustup").args(target), "rustup target add")?;
        let source = ["component", "add", "rust-src"];
        run::check_quietly(Command::new("rustup").args(source), "rustup component add")
    })
}
