//! Every step of the project as a command: `cargo xtask help` lists them.
//!
//! Continuous integration runs the same commands (`.ci/run` is `cargo xtask test`). Few dependencies, so that the
//! first `cargo xtask` compiles in seconds; what needs more (`golden`, `dist`) sits behind a feature.

mod bench;
mod browsers;
mod debian;
#[cfg(feature = "dist")]
mod dist;
mod embeds;
mod engines;
#[cfg(feature = "golden")]
mod examples;
#[cfg(feature = "golden")]
mod golden;
mod home;
mod new_lab;
mod page;
mod parts;
mod run;
mod server;
mod setup;
mod shorten;
mod sizes;
mod test;
mod tools;

use std::process::ExitCode;

/// What went wrong, as sentences for the person at the terminal: expected, got, what to do.
pub type Result<T = ()> = std::result::Result<T, String>;

const HELP: &str = "\
cargo xtask COMMAND

  serve [--port N] [--release] [--open]   set up, build, serve and rebuild on every change
  serve --dist [--port N] [--plain] [--under PATH]
                                          serve dist/ as it is; --plain leaves out the isolation headers
  build [--dev]                           set up; page and engines into dist/
  dist [--out DIR] [--origin URL] [--no-build]
                                          the release build as one folder and one zip of static files (default:
                                          target/site); --origin, where it will be, adds a Content-Security-Policy to
                                          its headers; --no-build takes dist/ as it is
  test [--only STAGE,…] [--skip STAGE,…] [--browser NAME,…]
                                          set up; every test. Stages: STAGES
                                          browsers: chromium firefox webkit (all of them)
  golden [DIR] [--native-only]            reference cases through every path, native and wasm (default: tests/golden)
  examples DIR                            the real heads in www/examples, from a folder of captured sentences
  bench [--native | --browser] [--quick]  how fast the float32 path is: GFLOP/s and the fraction of the ceiling
  sizes [--list]                          bytes over the wire to the first interaction; --list: of which files
  engines                                 engine and exports in their two variants; Trunk runs this as its hook
  embeds                                  the recipes of docs/embedding.md, built with their own tools, into target/embeds
  new-lab NAME                            a new lab's folder and its line in the registry
  setup [--test]                          install what is missing and nothing else
  env                                     print the PATH that makes plain `trunk serve` work

Tools are kept in $ATTENTION_LAB_CACHE, else $XDG_CACHE_HOME/attention-lab, else ~/.cache/attention-lab.
ATTENTION_LAB_TOOLCHAIN=rustup or =debian says where the compiler for WebAssembly comes from.
";

fn main() -> ExitCode {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let command = if args.is_empty() {
        "help".to_owned()
    } else {
        args.remove(0)
    };
    let outcome = match command.as_str() {
        "setup" => setup::command(&args),
        "env" => setup::print_env(),
        "engines" => engines::command(),
        "embeds" => embeds::command(&args),
        "build" => page::build_command(&args),
        "serve" => page::serve_command(&args),
        "test" => test::command(&args),
        "golden" | "examples" => run_golden(&command, &args),
        "dist" => run_dist(&args),
        "bench" => bench::command(&args),
        "sizes" => sizes::command(&args),
        "new-lab" => new_lab::command(&args),
        "help" | "--help" | "-h" => {
            print!("{}", HELP.replace("STAGES", &test::stage_names()));
            Ok(())
        }
        other => Err(format!(
            "there is no command `{other}`. `cargo xtask help` lists them."
        )),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(feature = "golden")]
fn run_golden(command: &str, args: &[String]) -> Result {
    match command {
        "examples" => examples::command(args),
        _ => golden::command(args),
    }
}

/// The oracle is slow in a debug build.
#[cfg(not(feature = "golden"))]
fn run_golden(command: &str, args: &[String]) -> Result {
    run_again("engine", "golden", command, args)
}

#[cfg(feature = "dist")]
fn run_dist(args: &[String]) -> Result {
    dist::command(args)
}

/// So are compressors.
#[cfg(not(feature = "dist"))]
fn run_dist(args: &[String]) -> Result {
    run_again("packer", "dist", "dist", args)
}

/// Starts this program again, built with the crates that a feature needs and optimised.
#[cfg(not(all(feature = "golden", feature = "dist")))]
fn run_again(profile: &str, feature: &str, command: &str, args: &[String]) -> Result {
    let mut cargo = run::native_cargo();
    // The terminal's folder stays, for the reader's DIR may be relative to it.
    cargo
        .args(["run", "--quiet", "--profile", profile, "--manifest-path"])
        .arg(home::root()?.join("Cargo.toml"))
        .args(["--package", "xtask", "--features", feature, "--", command])
        .args(args);
    run::check(&mut cargo, &format!("cargo xtask {command}"))
}

/// The value that follows `name` in `args`, and the flags that are left over.
pub fn take_value(args: &mut Vec<String>, name: &str) -> Result<Option<String>> {
    let Some(at) = args.iter().position(|arg| arg == name) else {
        return Ok(None);
    };
    if at + 1 >= args.len() {
        return Err(format!("{name} wants a value after it."));
    }
    args.remove(at);
    Ok(Some(args.remove(at)))
}

/// Whether the flag `name` stands in `args`; takes it out.
pub fn take_flag(args: &mut Vec<String>, name: &str) -> bool {
    let before = args.len();
    args.retain(|arg| arg != name);
    args.len() != before
}

/// Fails when something is left that nobody understood.
pub fn no_more(args: &[String]) -> Result {
    match args.first() {
        None => Ok(()),
        Some(arg) => Err(format!(
            "`{arg}` is not understood here. `cargo xtask help` lists what is."
        )),
    }
}
