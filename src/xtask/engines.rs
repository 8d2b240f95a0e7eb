//! Builds the engine's variants, each in a target folder of its own.
//!
//! Trunk cannot give one binary other flags than another, so it runs `cargo xtask engines` as a hook. The result is
//! kept under `target/engines/VARIANT` and copied from there; nothing is built when no input changed.

use crate::Result;
use crate::home::{self, make_folder};
use crate::run;
use crate::setup::{self, Kit, TARGET};
use std::env;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// One build of the engine.
pub struct Variant {
    /// Its folder under `engines/`.
    pub name: &'static str,
    rustflags: &'static [&'static str],
    cargo: &'static [&'static str],
    wasm_opt: &'static [&'static str],
}

/// Every variant. The page chooses when it starts.
pub const VARIANTS: [Variant; 2] = [
    Variant {
        name: "simd",
        rustflags: &["-Ctarget-feature=+simd128"],
        cargo: &[],
        wasm_opt: &[],
    },
    Variant {
        name: "simd-threads",
        rustflags: &[
            "-Ctarget-feature=+simd128,+atomics,+bulk-memory",
            // `+atomics` alone does not share the memory: all of these are needed.
            "-Clink-arg=--shared-memory",
            // 512 MiB. Reserved at once by some browsers, so it stays modest.
            "-Clink-arg=--max-memory=536870912",
            "-Clink-arg=--import-memory",
            "-Clink-arg=--export=__wasm_init_tls",
            "-Clink-arg=--export=__tls_size",
            "-Clink-arg=--export=__tls_align",
            "-Clink-arg=--export=__tls_base",
        ],
        cargo: &["--features", "threads", "-Zbuild-std=std,panic_abort"],
        wasm_opt: &["--enable-threads"],
    },
];

/// What the compiler's baseline and `+simd128` use; wasm-opt refuses what it was not told of.
const WASM_OPT: &[&str] = &[
    "-O3",
    "--enable-simd",
    "--enable-bulk-memory",
    "--enable-bulk-memory-opt",
    "--enable-call-indirect-overlong",
    "--enable-multivalue",
    "--enable-mutable-globals",
    "--enable-nontrapping-float-to-int",
    "--enable-reference-types",
    "--enable-sign-ext",
];

/// What the engine is built from, beside Cargo.lock: a change in any other crate does not rebuild it.
const INPUTS: [&str; 5] = [
    "Cargo.toml",
    "src/attention",
    "src/formats",
    "src/protocol",
    "src/engine",
];

/// What the compiler says to `+atomics`, each time. It is so, and meant.
const ATOMICS_ARE_UNSTABLE: &str =
    "warning: unstable feature specified for `-Ctarget-feature`: `atomics`";

/// What every thread of wasm-bindgen-rayon runs, under `snippets/`.
const THREAD_SCRIPT: &str = "workerHelpers.no-bundler.js";
/// How it starts the engine: wasm-bindgen calls this deprecated on the console, once for each thread.
const OLD_START: &str = "pkg.default(data.module, data.memory)";
/// The same as wasm-bindgen wants it. The script's licence asks that a change be named.
const NEW_START: &str =
    "pkg.default({ module_or_path: data.module, memory: data.memory }) /* changed: one object */";

/// `cargo xtask engines`: as Trunk's hook into the staging folder, else into dist/.
pub fn command() -> Result {
    let root = home::root()?;
    let kit = setup::for_builds()?;
    ensure(&kit)?;
    let to = match env::var_os("TRUNK_STAGING_DIR") {
        Some(staging) => PathBuf::from(staging),
        None => home::dist(&root),
    };
    for variant in &VARIANTS {
        home::copy(
            &folder(&root, variant),
            &to.join("engines").join(variant.name),
        )?;
    }
    Ok(())
}

/// Where a built variant lies.
pub fn folder(root: &Path, variant: &Variant) -> PathBuf {
    home::target(root).join("engines").join(variant.name)
}

/// Builds the variants whose inputs changed, at the same time: most of it is one long LTO step on one core each.
pub fn ensure(kit: &Kit) -> Result {
    let root = home::root()?;
    let compiler = kit.compiler()?;
    let outcomes: Vec<Result> = std::thread::scope(|scope| {
        let jobs: Vec<_> = VARIANTS
            .iter()
            .map(|variant| scope.spawn(|| ensure_one(kit, &root, &compiler, variant)))
            .collect();
        jobs.into_iter()
            .map(|job| {
                job.join()
                    .unwrap_or_else(|_| Err("building an engine panicked.".into()))
            })
            .collect()
    });
    outcomes.into_iter().collect()
}

fn ensure_one(kit: &Kit, root: &Path, compiler: &str, variant: &Variant) -> Result {
    let folder = folder(root, variant);
    let stamp = folder.with_extension("stamp");
    let now = inputs(kit, root, compiler, variant)?;
    if folder.is_dir() && std::fs::read_to_string(&stamp).is_ok_and(|old| old == now) {
        return Ok(());
    }
    home::remove(&stamp)?;
    run::timed(&format!("engine {}: building", variant.name), || {
        build(kit, root, variant, &folder)
    })?;
    home::write(&stamp, now)
}

/// A hash of all that goes in: sources, lock file, flags, compiler, tools.
fn inputs(kit: &Kit, root: &Path, compiler: &str, variant: &Variant) -> Result<String> {
    let mut hash = DefaultHasher::new();
    let mut add = |bytes: &[u8]| {
        hash.write_usize(bytes.len());
        hash.write(bytes);
    };
    let flags = [variant.rustflags, variant.cargo, variant.wasm_opt, WASM_OPT].concat();
    add(flags.join(" ").as_bytes());
    add(compiler.as_bytes());
    add(kit.wasm_opt.as_os_str_bytes());
    for input in INPUTS.iter().chain(&["Cargo.lock"]) {
        let path = root.join(input);
        let files = if path.is_dir() {
            home::files_under(&path)?
        } else {
            vec![path]
        };
        for file in files {
            add(file.to_string_lossy().as_bytes());
            let bytes = std::fs::read(&file);
            add(&bytes.map_err(|e| format!("cannot read {}: {e}.", file.display()))?);
        }
    }
    Ok(format!("{:016x}\n", hash.finish()))
}

trait OsStrBytes {
    fn as_os_str_bytes(&self) -> &[u8];
}

impl OsStrBytes for Option<PathBuf> {
    fn as_os_str_bytes(&self) -> &[u8] {
        self.as_ref()
            .map_or(b"", |path| path.as_os_str().as_encoded_bytes())
    }
}

fn build(kit: &Kit, root: &Path, variant: &Variant, folder: &Path) -> Result {
    let target = home::target(root).join(format!("engine-{}", variant.name));
    let mut cargo = kit.cargo()?;
    cargo
        .args([
            "build",
            "--quiet",
            "--package",
            "engine",
            "--profile",
            "engine",
        ])
        .args(["--target", TARGET])
        .args(variant.cargo)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", variant.rustflags.join(" "));
    if variant.cargo.iter().any(|arg| arg.starts_with("-Z")) {
        // Building the library needs no nightly, only leave.
        cargo.env("RUSTC_BOOTSTRAP", "1");
    }
    let what = format!("building engine {}", variant.name);
    run::check_without(&mut cargo, &what, ATOMICS_ARE_UNSTABLE)?;

    let wasm = target.join(TARGET).join("engine/engine.wasm");
    let fresh = folder.with_extension("new");
    home::remove(&fresh)?;
    make_folder(&fresh)?;
    bind(kit, &wasm, &fresh)?;
    for file in home::files_under(&fresh)? {
        if file.extension().is_some_and(|e| e == "wasm") {
            optimise(kit, variant, &file)?;
        } else if file.ends_with(THREAD_SCRIPT) {
            quieten(&file)?;
        }
    }
    home::remove(folder)?;
    std::fs::rename(&fresh, folder).map_err(|e| format!("cannot move {}: {e}.", fresh.display()))
}

/// The JavaScript side of `wasm`: a module, and beside it the scripts that crates bring along, under `snippets/`.
fn bind(kit: &Kit, wasm: &Path, out: &Path) -> Result {
    let mut bindgen = kit.command(&kit.wasm_bindgen)?;
    bindgen
        .arg(wasm)
        .args(["--target", "web", "--out-name", "engine"])
        .args(["--no-typescript", "--out-dir"])
        .arg(out);
    run::check_quietly(&mut bindgen, "wasm-bindgen")
}

/// Lets a thread start without a word on the console. A wasm-bindgen-rayon that calls otherwise is left as it is.
fn quieten(script: &Path) -> Result {
    let text = std::fs::read_to_string(script)
        .map_err(|e| format!("cannot read {}: {e}.", script.display()))?;
    home::write(script, text.replace(OLD_START, NEW_START))
}

fn optimise(kit: &Kit, variant: &Variant, wasm: &Path) -> Result {
    let Some(program) = &kit.wasm_opt else {
        return Ok(());
    };
    let mut wasm_opt = kit.command(program)?;
    wasm_opt
        .args(WASM_OPT)
        .args(variant.wasm_opt)
        .arg("-o")
        .args([wasm, wasm]);
    run::check_quietly(&mut wasm_opt, "wasm-opt")
}
