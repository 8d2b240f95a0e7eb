//! `cargo xtask test`: everything that continuous integration runs, stage by stage.

use crate::browsers::{Engine, Programs};
use crate::run::{self, say};
use crate::server::Site;
use crate::{Result, embeds, home, no_more, page, setup, sizes, take_value};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

type Stage = (&'static str, fn(&Run) -> Result<Outcome>);

/// What the stages are asked to do.
struct Run {
    root: PathBuf,
    browsers: Vec<Engine>,
    /// Whether somebody asked for these very browsers: then none may be missing.
    named: bool,
}

/// In the order in which they run: what fails soonest comes first.
const STAGES: [Stage; 10] = [
    ("setup", set_up),
    ("fmt", fmt),
    ("clippy", clippy),
    ("native", native),
    ("build", build),
    ("sizes", weigh),
    ("dist", ship),
    ("golden", golden),
    ("embeds", recipes),
    ("browser", browser),
];

/// What `cargo xtask` builds only when it is asked for.
const FEATURES: &str = "xtask/golden,xtask/dist,xtask/parts,page/parts";

enum Outcome {
    Passed,
    Skipped(String),
}

/// The stages' names, for the help text.
pub fn stage_names() -> String {
    STAGES.map(|(name, _)| name).join(" ")
}

/// `cargo xtask test [--only STAGE,…] [--skip STAGE,…] [--browser NAME,…]`
pub fn command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let only = stages(take_value(&mut args, "--only")?)?;
    let skip = stages(take_value(&mut args, "--skip")?)?;
    let browsers = take_value(&mut args, "--browser")?;
    no_more(&args)?;
    let run = Run {
        root: home::root()?,
        browsers: Engine::listed(browsers.as_deref())?,
        named: browsers.is_some(),
    };

    let mut lines = Vec::new();
    let mut failed = Vec::new();
    let start = Instant::now();
    for (name, stage) in STAGES {
        let wanted = only.is_empty() || only.iter().any(|o| o == name);
        if !wanted || skip.iter().any(|s| s == name) {
            continue;
        }
        say(&format!("── {name}"));
        let began = Instant::now();
        let said = match stage(&run) {
            Ok(Outcome::Passed) => "ok".to_owned(),
            Ok(Outcome::Skipped(why)) => format!("skipped: {why}"),
            Err(why) => {
                eprintln!("error: {why}");
                failed.push(name);
                "FAILED".to_owned()
            }
        };
        lines.push(format!(
            "{name:<10}{:>10}   {said}",
            minutes(began.elapsed())
        ));
        // Without tools or a page nothing after it means anything.
        if failed.contains(&name) && matches!(name, "setup" | "build") {
            break;
        }
    }
    println!("\nstage        minutes");
    for line in lines {
        println!("{line}");
    }
    println!("{:<10}{:>10}", "all", minutes(start.elapsed()));
    if failed.is_empty() {
        Ok(())
    } else {
        Err(format!("these stages failed: {}.", failed.join(", ")))
    }
}

fn minutes(time: Duration) -> String {
    let seconds = time.as_secs();
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

fn stages(list: Option<String>) -> Result<Vec<String>> {
    let list = list.unwrap_or_default();
    let names: Vec<String> = list
        .split(',')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect();
    match names
        .iter()
        .find(|name| STAGES.iter().all(|(known, _)| known != name))
    {
        None => Ok(names),
        Some(name) => Err(format!(
            "there is no stage `{name}`: expected some of {}.",
            stage_names()
        )),
    }
}

fn set_up(run: &Run) -> Result<Outcome> {
    setup::for_builds()?;
    let missing: Vec<String> = setup::for_tests(&run.browsers)?
        .into_iter()
        .filter_map(|(_, programs)| programs.err())
        .collect();
    if missing.is_empty() {
        Ok(Outcome::Passed)
    } else if run.named || std::env::var_os("CI").is_some() {
        Err(missing.join("\n"))
    } else {
        Ok(Outcome::Skipped(missing.join("\n")))
    }
}

/// A part of the toolchain that not every machine has. CI must have it.
fn component(name: &str) -> Result<Option<Outcome>> {
    let mut cargo = run::native_cargo();
    if run::ask(cargo.args([name, "--version"])).is_some() {
        return Ok(None);
    }
    let why = format!("cargo {name} is not installed (`rustup component add rustfmt clippy`)");
    if std::env::var_os("CI").is_some() {
        return Err(format!("{why}."));
    }
    Ok(Some(Outcome::Skipped(why)))
}

fn fmt(Run { root, .. }: &Run) -> Result<Outcome> {
    if let Some(skipped) = component("fmt")? {
        return Ok(skipped);
    }
    let mut cargo = run::native_cargo();
    cargo.args(["fmt", "--all", "--check"]).current_dir(root);
    run::check(&mut cargo, "cargo fmt --check")?;
    Ok(Outcome::Passed)
}

fn clippy(Run { root, .. }: &Run) -> Result<Outcome> {
    if let Some(skipped) = component("clippy")? {
        return Ok(skipped);
    }
    let mut cargo = run::native_cargo();
    cargo
        .args(["clippy", "--quiet", "--workspace", "--all-targets"])
        .args(["--features", FEATURES, "--", "-D", "warnings"])
        .current_dir(root);
    run::check(&mut cargo, "cargo clippy")?;
    Ok(Outcome::Passed)
}

fn native(Run { root, .. }: &Run) -> Result<Outcome> {
    let mut cargo = run::native_cargo();
    let has_nextest = run::ask(run::native_cargo().args(["nextest", "--version"])).is_some();
    if has_nextest {
        cargo.args(["nextest", "run", "--no-tests", "pass"]);
    } else {
        cargo.args(["test", "--quiet"]);
    }
    cargo
        .args(["--workspace", "--features", FEATURES])
        .current_dir(root);
    run::check(&mut cargo, "the native tests")?;
    // The pool of threads, on the machine's own ones.
    let mut threads = run::native_cargo();
    threads
        .args(["test", "--quiet", "--package", "engine"])
        .args(["--features", "threads"])
        .current_dir(root);
    run::check(&mut threads, "the engine's tests with threads")?;
    if has_nextest {
        // nextest leaves out the examples in the documentation.
        let mut doc = run::native_cargo();
        doc.args(["test", "--quiet", "--workspace", "--doc"])
            .current_dir(root);
        run::check(&mut doc, "the examples in the documentation")?;
    }
    Ok(Outcome::Passed)
}

fn build(_: &Run) -> Result<Outcome> {
    let kit = setup::for_builds()?;
    page::build(&kit, true)?;
    Ok(Outcome::Passed)
}

fn weigh(_: &Run) -> Result<Outcome> {
    sizes::command(&[])?;
    Ok(Outcome::Passed)
}

/// The shipped folder, which the suite tests in every setting that it may be met in.
fn ship(_: &Run) -> Result<Outcome> {
    crate::run_dist(&["--no-build".to_owned()])?;
    Ok(Outcome::Passed)
}

/// The shipped folder, of the build at hand.
fn shipped(root: &Path, dist: &Path) -> Result<PathBuf> {
    let folder = home::ship(root).join("attention-lab");
    let made = |file: PathBuf| std::fs::metadata(file).and_then(|meta| meta.modified());
    match (made(dist.join("index.html")), made(folder.join("sw.js"))) {
        (Ok(built), Ok(shipped)) if shipped >= built => {}
        _ => crate::run_dist(&["--no-build".to_owned()])?,
    }
    Ok(folder)
}

fn golden(Run { root, .. }: &Run) -> Result<Outcome> {
    let folder = root.join("tests/golden");
    if !folder.is_dir() {
        return Err("tests/golden is missing: expected the golden cases, which are part of the repository. Check it out again.".into());
    }
    crate::run_golden("golden", &[folder.to_string_lossy().into_owned()])?;
    Ok(Outcome::Passed)
}

fn recipes(Run { root, .. }: &Run) -> Result<Outcome> {
    embeds::build(root)?;
    Ok(Outcome::Passed)
}

/// The suite in every browser, on the real build: as it is published, on a server that sends no isolation headers, and
/// under a path; and on the shipped folder, which its tests serve for themselves.
fn browser(run: &Run) -> Result<Outcome> {
    let suite = run.root.join("tests/browser");
    if !suite.is_dir() {
        return Err("tests/browser is missing: expected the browser suite, which is part of the repository. Check it out again.".into());
    }
    let ready = setup::for_tests(&run.browsers)?;
    let dist = page::dist(&run.root)?;
    let shipped = shipped(&run.root, &dist)?;
    let isolated = Site::new(dist.clone(), true, None)?.start()?;
    let plain = Site::new(dist.clone(), false, None)?.start()?;
    let under = Site::new(dist, true, Some("course/week3"))?.start()?;
    let sites: [(&str, OsString); 4] = [
        ("BASE_URL", isolated.into()),
        ("PLAIN_URL", plain.into()),
        ("SUBPATH_URL", under.into()),
        ("SHIP", shipped.into()),
    ];

    let mut files = home::files_under(&suite)?;
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".test.js") || name.ends_with(".test.mjs")
    });
    if files.is_empty() {
        return Err("tests/browser has no *.test.mjs: a suite of no tests proves nothing.".into());
    }
    let must = run.named || std::env::var_os("CI").is_some();
    let mut wrong = Vec::new();
    let mut left_out = Vec::new();
    for (engine, programs) in ready {
        let name = engine.name();
        match programs {
            Ok(programs) => {
                let began = Instant::now();
                say(&format!("── browser: {name}"));
                let outcome = suite_in(&run.root, engine, &files, &sites, programs);
                say(&format!("{name}: {} minutes", minutes(began.elapsed())));
                wrong.extend(outcome.err());
            }
            Err(why) if must => wrong.push(why),
            Err(why) => left_out.push(why),
        }
    }
    match (wrong.is_empty(), left_out.is_empty()) {
        (true, true) => Ok(Outcome::Passed),
        (true, false) => Ok(Outcome::Skipped(left_out.join("\n"))),
        (false, _) => Err(wrong.join("\n")),
    }
}

fn suite_in(
    root: &Path,
    engine: Engine,
    files: &[PathBuf],
    sites: &[(&str, OsString)],
    programs: Programs,
) -> Result {
    let mut node = Command::new("node");
    // A test mostly waits for frames: two browsers at a time take little more than half as long.
    node.args(["--test", "--test-concurrency=2"])
        .args(["--test-reporter=spec", "--test-reporter-destination=stdout"])
        .arg("--test-reporter=./browser/lib/not-run.mjs")
        .arg("--test-reporter-destination=stdout")
        .args(files)
        .current_dir(root.join("tests"))
        .env("BROWSER", engine.name())
        .envs(sites.iter().map(|(variable, address)| (variable, address)))
        .envs(programs)
        // Selenium looks for nothing by itself and tells nobody.
        .env("SE_OFFLINE", "true")
        .env("SE_AVOID_STATS", "true");
    run::check(
        &mut node,
        &format!("the browser suite in {}", engine.name()),
    )
}
