//! Starting other programs, and saying what is going on.

use crate::Result;
use std::env;
use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

/// Says what takes a while, on stderr: stdout is for what a command was asked for.
pub fn say(what: &str) {
    eprintln!("  {what}");
}

/// How often something that takes long says that it is still at it.
const HEARTBEAT: Duration = Duration::from_secs(30);

/// Says what is being done, that it goes on, and when it is done, how long it took.
pub fn timed<T>(what: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    say(&format!("{what} …"));
    let start = Instant::now();
    let seconds = || start.elapsed().as_secs_f64();
    let (done, end) = mpsc::channel::<()>();
    let outcome = std::thread::scope(|scope| {
        scope.spawn(move || {
            while end.recv_timeout(HEARTBEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
                say(&format!("{what}: {:.0} s so far …", seconds()));
            }
        });
        let outcome = work();
        drop(done);
        outcome
    });
    if outcome.is_ok() {
        say(&format!("{what}: done in {:.0} s", seconds()));
    }
    outcome
}

/// Runs a command that writes to the terminal; fails unless it succeeds.
pub fn check(command: &mut Command, what: &str) -> Result {
    let status = command
        .stdin(Stdio::null())
        .status()
        .map_err(|e| cannot_start(command, &e))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what} failed ({status})."))
    }
}

/// Runs a command in silence; shows what it wrote only when it fails.
pub fn check_quietly(command: &mut Command, what: &str) -> Result {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|e| cannot_start(command, &e))?;
    if output.status.success() {
        return Ok(());
    }
    let mut said = String::from_utf8_lossy(&output.stdout).into_owned();
    said.push_str(&String::from_utf8_lossy(&output.stderr));
    Err(format!(
        "{what} failed ({}):\n{}",
        output.status,
        said.trim_end()
    ))
}

/// Runs a compiler and shows what it writes, without the paragraphs that begin with `noise`.
pub fn check_without(command: &mut Command, what: &str, noise: &str) -> Result {
    if std::io::stderr().is_terminal() {
        command.env("CARGO_TERM_COLOR", "always");
    }
    let output = command
        .stdin(Stdio::null())
        .stdout(Stdio::inherit())
        .output()
        .map_err(|e| cannot_start(command, &e))?;
    let said = String::from_utf8_lossy(&output.stderr);
    for paragraph in said.split("\n\n") {
        let text = without_colours(paragraph);
        let text = text.trim();
        if !text.is_empty() && !text.starts_with(noise) {
            eprintln!("{}\n", paragraph.trim_matches('\n'));
        }
    }
    if output.status.success() {
        Ok(())
    } else {
        Err(format!("{what} failed ({}).", output.status))
    }
}

/// The text without a terminal's escape sequences, as compilers write them: `ESC [ … m`.
fn without_colours(text: &str) -> String {
    let mut plain = String::new();
    for (i, piece) in text.split('\u{1b}').enumerate() {
        plain += match piece.split_once('m') {
            Some((_, rest)) if i > 0 => rest,
            _ => piece,
        };
    }
    plain
}

/// What a command prints, or nothing when it cannot be started or fails.
pub fn ask(command: &mut Command) -> Option<String> {
    let output = command
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()?;
    output
        .status
        .success()
        .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn cannot_start(command: &Command, why: &std::io::Error) -> String {
    let program = command.get_program().to_string_lossy();
    format!("cannot start `{program}`: {why}. Is it installed and on PATH?")
}

/// The cargo that runs this program: native code, clippy and tests stay on its toolchain.
pub fn native_cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// Where `program` lies on PATH.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .map(|folder| folder.join(program))
        .find(|file| is_program(file))
}

/// Whether a file is there that can be started.
#[cfg(unix)]
pub fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Whether a file is there that can be started.
#[cfg(not(unix))]
pub fn is_program(file: &Path) -> bool {
    file.is_file() || file.with_extension("exe").is_file()
}

/// PATH with `first` in front.
pub fn path_with(first: &[&Path]) -> Result<OsString> {
    let old = env::var_os("PATH").unwrap_or_default();
    let all = first
        .iter()
        .map(|folder| folder.to_path_buf())
        .chain(env::split_paths(&old));
    env::join_paths(all).map_err(|e| format!("a folder cannot stand in PATH: {e}."))
}

/// Runs a command as the administrator: as it is for root, through sudo for anyone else.
pub fn check_as_root(program: &str, args: &[&str]) -> Result {
    let is_root = ask(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
    let what = format!("{program} {}", args.join(" "));
    let mut command = if is_root {
        Command::new(program)
    } else if which("sudo").is_some() {
        let mut sudo = Command::new("sudo");
        // Packages must not ask questions; sudo itself may ask for the password.
        sudo.args(["DEBIAN_FRONTEND=noninteractive", program]);
        sudo.stdin(Stdio::inherit());
        sudo
    } else {
        return Err(format!(
            "this needs the administrator, and there is no sudo. As root, run: {what}"
        ));
    };
    command.env("DEBIAN_FRONTEND", "noninteractive").args(args);
    let output = command.output().map_err(|e| cannot_start(&command, &e))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!(
        "`{what}` failed ({}):\n{}",
        output.status,
        said.trim_end()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_taken_out() {
        assert_eq!(
            without_colours("\u{1b}[1m\u{1b}[33mwarning\u{1b}[0m: gem"),
            "warning: gem"
        );
        assert_eq!(without_colours("plain m"), "plain m");
    }
}
