//! `cargo xtask bench`: how fast the float32 path is, natively and in the browser.

use crate::browsers::Engine;
use crate::run::{self, say};
use crate::server::Site;
use crate::{Result, home, no_more, page, setup, take_flag};
use std::process::Command;

/// `cargo xtask bench [--native | --browser] [--quick]`. Measures what was built last; nothing is tested.
pub fn command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let native = take_flag(&mut args, "--native");
    let browser = take_flag(&mut args, "--browser");
    let quick = take_flag(&mut args, "--quick");
    no_more(&args)?;
    if native || !browser {
        in_this_machine(quick)?;
    }
    if browser || !native {
        in_the_browser(quick)?;
    }
    Ok(())
}

fn in_this_machine(quick: bool) -> Result {
    say("natively: Gitem/s are GFLOP/s");
    let mut cargo = run::native_cargo();
    cargo
        .args(["bench", "--quiet", "--profile", "engine"])
        .args(["--package", "exports", "--bench", "attention"])
        .current_dir(home::root()?);
    if quick {
        cargo.args(["--", "--sample-count=10"]);
    }
    run::check(&mut cargo, "cargo bench")
}

fn in_the_browser(quick: bool) -> Result {
    let root = home::root()?;
    let mut ready = setup::for_tests(&[Engine::Chromium])?;
    let (_, programs) = ready.pop().ok_or("no browser was asked for.")?;
    let site = Site::new(page::dist(&root)?, true, None)?.start()?;
    let mut node = Command::new("node");
    node.arg("browser/bench.mjs")
        .current_dir(root.join("tests"))
        .env("BASE_URL", site)
        .envs(programs?)
        .env("SE_OFFLINE", "true")
        .env("SE_AVOID_STATS", "true");
    if quick {
        node.arg("--quick");
    }
    run::check(&mut node, "tests/browser/bench.mjs")
}
