//! Building and serving the page with Trunk.

use crate::run::{self, say};
use crate::setup::{self, Kit, TARGET};
use crate::{Result, engines, home, no_more, parts, server, take_flag, take_value};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;

const PORT: u16 = 8080;

/// `cargo xtask build [--dev]`
pub fn build_command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let dev = take_flag(&mut args, "--dev");
    no_more(&args)?;
    let kit = setup::for_builds()?;
    build(&kit, !dev)
}

/// Page and engines into dist/.
pub fn build(kit: &Kit, release: bool) -> Result {
    // The hook would build the engines too, but beside the page's own build, and it would say so in between.
    engines::ensure(kit)?;
    let mut trunk = trunk(kit)?;
    trunk.arg("build");
    if release {
        let root = home::root()?;
        trunk
            .arg(root.join("index.html"))
            .arg("--config")
            .arg(without_hook(&root)?)
            .arg("--dist")
            .arg(home::dist(&root))
            .args(["--release", "--features", parts::FEATURE]);
        smallest(kit, &mut trunk)?;
    }
    let what = if release { "release" } else { "development" };
    run::timed(&format!("page: {what} build"), || {
        run::check(&mut trunk, "trunk build")
    })?;
    if !release {
        return Ok(());
    }
    let root = home::root()?;
    engines::put(&root, &home::dist(&root))?;
    run::timed("page: taking it apart", || {
        parts::take_apart(kit, &root, &home::dist(&root))
    })
}

/// Trunk's settings without the hook, which would build with the flags of the page.
fn without_hook(root: &Path) -> Result<PathBuf> {
    let settings = home::read(&root.join("Trunk.toml"))?;
    let build = settings
        .split_once("[build]")
        .and_then(|(_, rest)| rest.split_once("\n["))
        .map(|(build, _)| build)
        .ok_or("Trunk.toml: expected [build] and other tables after it.")?;
    // Trunk calls cargo in the folder of this file: it has to lie in the checkout, where cargo has settings too.
    let lines = build
        .lines()
        .filter(|line| !line.starts_with("target =") && !line.starts_with("dist ="));
    let file = root.join("target").join("trunk-release.toml");
    let text = lines.fold("[build]".to_owned(), |text, line| text + line + "\n");
    home::write(&file, text)?;
    Ok(file)
}

/// `cargo xtask serve …`
pub fn serve_command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let port = match take_value(&mut args, "--port")? {
        None => None,
        Some(text) => Some(text.parse::<u16>().map_err(|_| {
            format!("--port {text}: expected a number from 0 to 65535, 0 for any free one.")
        })?),
    };
    let open = take_flag(&mut args, "--open");
    if take_flag(&mut args, "--dist") {
        let plain = take_flag(&mut args, "--plain");
        let under = take_value(&mut args, "--under")?;
        no_more(&args)?;
        let dist = dist(&home::root()?)?;
        let site = server::Site::new(dist, !plain, under.as_deref())?;
        let listener = server::listen(port.unwrap_or(PORT))?;
        let address = site.address(&listener)?;
        println!("serving {} at {address}", site.folder().display());
        if open {
            open_browser(&address);
        }
        return site.serve(listener);
    }
    let release = take_flag(&mut args, "--release");
    no_more(&args)?;

    let kit = setup::for_builds()?;
    engines::ensure(&kit)?;
    let port = match port {
        None => PORT,
        Some(0) => free_port()?,
        Some(port) => port,
    };
    let mut trunk = trunk(&kit)?;
    trunk.args(["serve", "--port", &port.to_string()]);
    if release {
        trunk.arg("--release");
        small(&mut trunk);
    }
    if open {
        trunk.arg("--open");
    }
    say(&format!(
        "building the page; when that is done, it is at http://127.0.0.1:{port}/ (Ctrl-C ends)"
    ));
    run::check(&mut trunk, "trunk serve")
}

/// The folder that `cargo xtask build` fills, filled.
pub fn dist(root: &Path) -> Result<PathBuf> {
    let dist = home::dist(root);
    if dist.join("index.html").is_file() {
        Ok(dist)
    } else {
        Err(format!(
            "there is no {}/index.html. Run `cargo xtask build` first.",
            dist.display()
        ))
    }
}

fn trunk(kit: &Kit) -> Result<Command> {
    let mut trunk = kit.command(&kit.trunk)?;
    trunk
        .current_dir(home::root()?)
        .env("TRUNK_SKIP_VERSION_CHECK", "true")
        // Trunk takes it for a switch of its own and stumbles over the usual `1`.
        .env_remove("NO_COLOR");
    Ok(trunk)
}

/// Leaves out of a release where in the sources each call may panic, which is a thirtieth of the page. Plain `trunk`
/// keeps it: leave to use the option takes a variable of the environment.
fn small(trunk: &mut Command) {
    with_flags(trunk, "-Zlocation-detail=none");
}

/// For `cargo xtask build`: the library is built for size too, and a panic is a trap without words, which www/boot.js
/// says to the reader. A compiler that does not know this kind of panic builds a page of some KB more.
fn smallest(kit: &Kit, trunk: &mut Command) -> Result {
    with_flags(
        trunk,
        &[&["-Zlocation-detail=none"], kit.trap()?]
            .concat()
            .join(" "),
    );
    trunk
        .env("CARGO_UNSTABLE_BUILD_STD", "std,panic_abort")
        .env("CARGO_UNSTABLE_BUILD_STD_FEATURES", "optimize_for_size");
    Ok(())
}

fn with_flags(trunk: &mut Command, flags: &str) {
    let name = format!("CARGO_TARGET_{TARGET}_RUSTFLAGS");
    trunk
        .env("RUSTC_BOOTSTRAP", "1")
        .env(name.to_uppercase().replace('-', "_"), flags);
}

fn free_port() -> Result<u16> {
    TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .and_then(|listener| listener.local_addr())
        .map(|address| address.port())
        .map_err(|e| format!("no free port: {e}."))
}

fn open_browser(address: &str) {
    let program = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    if Command::new(program).arg(address).spawn().is_err() {
        say("no browser could be opened; the address is above.");
    }
}
