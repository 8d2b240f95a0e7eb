//! Builds the products for WebAssembly beside the page, each in every variant.
//!
//! Trunk cannot give one binary other flags than another, so it runs `cargo xtask engines` as a hook. The result is
//! kept under `target/PRODUCT/VARIANT` and copied from there; nothing is built when no input changed.

use crate::Result;
use crate::home::{self, make_folder};
use crate::run;
use crate::setup::{self, Kit, TARGET};
use crate::shorten::shorten;
use std::env;
use std::hash::{DefaultHasher, Hasher};
use std::path::{Path, PathBuf};

/// A crate that is built for WebAssembly by itself.
pub struct Product {
    /// Its folder in dist/, which holds one for each variant.
    pub folder: &'static str,
    package: &'static str,
    /// The page chooses when it starts, and so does www/attention.js.
    pub variants: &'static [Variant],
    /// What it is built from, beside Cargo.lock: a change in any other crate does not rebuild it.
    inputs: &'static [&'static str],
}

/// The worker of the page.
pub const ENGINE: Product = Product {
    folder: "engines",
    package: "engine",
    variants: &[
        // What the first picture waits for.
        Variant {
            name: "simd",
            flags: &SMALL,
            cargo: &["--no-default-features", "--features", "view"],
        },
        // What holds that picture against the float32 path, and the engine against the reference cases.
        Variant {
            name: "proof",
            flags: &SMALL,
            cargo: &["--no-default-features", "--features", "proof"],
        },
        // All of it.
        Variant {
            name: "simd-threads",
            flags: &THREADS,
            cargo: &[],
        },
    ],
    inputs: &[
        "Cargo.toml",
        "src/attention",
        "src/formats",
        "src/protocol",
        "src/engine",
    ],
};

/// What www/attention.js stands on.
pub const EXPORTS: Product = Product {
    folder: "exports",
    package: "exports",
    variants: &[
        Variant {
            name: "simd",
            flags: &SIMD,
            cargo: &[],
        },
        Variant {
            name: "simd-threads",
            flags: &THREADS,
            cargo: &[],
        },
    ],
    inputs: &["Cargo.toml", "src/attention", "src/exports"],
};

/// Every product.
const PRODUCTS: [&Product; 2] = [&ENGINE, &EXPORTS];

/// One way to build a product.
pub struct Variant {
    /// Its folder under the product's.
    pub name: &'static str,
    flags: &'static Flags,
    /// For cargo, beside the flags'.
    cargo: &'static [&'static str],
}

/// How the compiler makes WebAssembly. Whatever has the same flags shares what it is built on.
struct Flags {
    /// Names the target folder.
    name: &'static str,
    rustflags: &'static [&'static str],
    cargo: &'static [&'static str],
    wasm_opt: &'static [&'static str],
}

/// One thread.
const SIMD: Flags = Flags {
    name: "simd",
    rustflags: &["-Ctarget-feature=+simd128"],
    cargo: &[],
    wasm_opt: &[],
};

/// One thread, and what a reader waits for: a panic is a trap, which the worker's script tells the page.
const SMALL: Flags = Flags {
    name: "small",
    rustflags: &["-Ctarget-feature=+simd128", "-Zlocation-detail=none"],
    cargo: &[
        "-Zbuild-std=std,panic_abort",
        "-Zbuild-std-features=optimize_for_size",
    ],
    // What the compiler did not take into its one caller compresses better by itself.
    wasm_opt: &["--one-caller-inline-max-function-size=0"],
};

/// Threads, where a page is isolated. Its threads tell of a panic in words, since no script sees it.
const THREADS: Flags = Flags {
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
    cargo: &[
        "--features",
        "threads",
        "-Zbuild-std=std,panic_abort",
        "-Zbuild-std-features=optimize_for_size",
    ],
    wasm_opt: &["--enable-threads"],
};

/// What the compiler's baseline and `+simd128` use; wasm-opt refuses what it was not told of.
const WASM_OPT: &[&str] = &[
    "-O3",
    // Nothing of ours lies in the first kilobyte, the far end of the stack. So told, wasm-opt folds constant offsets
    // into loads, which the kernels gain a tenth by.
    "--low-memory-unused",
    // Functions by name: brotli finds alike ones side by side, a twentieth less to load.
    "--reorder-functions-by-name",
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
    put(&root, &to)
}

/// Copies every variant into the folder `to`.
pub fn put(root: &Path, to: &Path) -> Result {
    for product in PRODUCTS {
        for variant in product.variants {
            home::copy(
                &folder(root, product, variant),
                &to.join(product.folder).join(variant.name),
            )?;
        }
    }
    Ok(())
}

/// Where a built variant lies.
pub fn folder(root: &Path, product: &Product, variant: &Variant) -> PathBuf {
    home::target(root).join(product.folder).join(variant.name)
}

/// Builds what has inputs that changed: with and without threads at the same time, since most of it is one long LTO
/// step on one core each, and what has the same flags one after the other, since it shares what it is built on.
pub fn ensure(kit: &Kit) -> Result {
    let root = home::root()?;
    let compiler = kit.compiler()?;
    let all = |flags: &Flags| {
        for product in PRODUCTS {
            for variant in product.variants {
                if variant.flags.name == flags.name {
                    ensure_one(kit, &root, &compiler, product, variant)?;
                }
            }
        }
        Ok(())
    };
    let outcomes: Vec<Result> = std::thread::scope(|scope| {
        let jobs: Vec<_> = [&[&SIMD, &SMALL][..], &[&THREADS]]
            .into_iter()
            .map(|flags| scope.spawn(move || flags.iter().try_for_each(|flags| all(flags))))
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

fn ensure_one(
    kit: &Kit,
    root: &Path,
    compiler: &str,
    product: &Product,
    variant: &Variant,
) -> Result {
    let folder = folder(root, product, variant);
    let stamp = folder.with_extension("stamp");
    let now = inputs(kit, root, compiler, product, variant)?;
    if folder.is_dir() && std::fs::read_to_string(&stamp).is_ok_and(|old| old == now) {
        return Ok(());
    }
    home::remove(&stamp)?;
    let what = format!("{} {}: building", product.package, variant.name);
    run::timed(&what, || build(kit, root, product, variant, &folder))?;
    home::write(&stamp, now)
}

/// A hash of all that goes in: sources, lock file, flags, compiler, tools.
fn inputs(
    kit: &Kit,
    root: &Path,
    compiler: &str,
    product: &Product,
    variant: &Variant,
) -> Result<String> {
    let mut hash = DefaultHasher::new();
    let mut add = |bytes: &[u8]| {
        hash.write_usize(bytes.len());
        hash.write(bytes);
    };
    let Flags {
        rustflags,
        cargo,
        wasm_opt,
        ..
    } = variant.flags;
    let flags = [rustflags, cargo, variant.cargo, wasm_opt, WASM_OPT].concat();
    add(flags.join(" ").as_bytes());
    add(compiler.as_bytes());
    add(kit.wasm_opt.as_os_str_bytes());
    for input in product.inputs.iter().chain(&["Cargo.lock"]) {
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

fn build(kit: &Kit, root: &Path, product: &Product, variant: &Variant, folder: &Path) -> Result {
    let target = home::target(root).join(format!("engine-{}", variant.flags.name));
    let mut flags = variant.flags.rustflags.to_vec();
    if variant.flags.name == SMALL.name {
        flags.extend(kit.trap()?);
    }
    let mut cargo = kit.cargo()?;
    cargo
        .args([
            "build",
            "--quiet",
            "--package",
            product.package,
            "--profile",
            "engine",
        ])
        .args(["--target", TARGET])
        .args(variant.flags.cargo)
        .args(variant.cargo)
        .current_dir(root)
        .env("CARGO_TARGET_DIR", &target)
        .env("RUSTFLAGS", flags.join(" "));
    if variant.flags.cargo.iter().any(|arg| arg.starts_with("-Z")) {
        // Building the library needs no nightly, only leave.
        cargo.env("RUSTC_BOOTSTRAP", "1");
    }
    let what = format!("building {} {}", product.package, variant.name);
    run::check_without(&mut cargo, &what, ATOMICS_ARE_UNSTABLE)?;

    let wasm = format!("engine/{}.wasm", product.package);
    let wasm = target.join(TARGET).join(wasm);
    let fresh = folder.with_extension("new");
    home::remove(&fresh)?;
    make_folder(&fresh)?;
    bind(kit, product, &wasm, &fresh)?;
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
fn bind(kit: &Kit, product: &Product, wasm: &Path, out: &Path) -> Result {
    let mut bindgen = kit.command(&kit.wasm_bindgen)?;
    bindgen
        .arg(wasm)
        .args(["--target", "web", "--out-name", product.package])
        .args(["--no-typescript", "--out-dir"])
        .arg(out);
    run::check_quietly(&mut bindgen, "wasm-bindgen")?;
    let named = |end: &str| out.join(format!("{}{end}", product.package));
    shorten(&named(".js"), &named("_bg.wasm"))
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
        .args(variant.flags.wasm_opt)
        .arg("-o")
        .args([wasm, wasm]);
    run::check_quietly(&mut wasm_opt, "wasm-opt")
}
