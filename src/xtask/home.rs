//! Where things are: the checkout, its build folder, and the tool cache outside of it.

use crate::Result;
use std::env;
use std::path::{Path, PathBuf};

/// The checkout's root folder, the one with the workspace's `Cargo.toml` and `Trunk.toml`.
pub fn root() -> Result<PathBuf> {
    // `cargo run` says where this package lies: src/xtask.
    if let Some(here) = env::var_os("CARGO_MANIFEST_DIR")
        && let Some(root) = Path::new(&here).ancestors().nth(2)
        && is_root(root)
    {
        return Ok(root.to_owned());
    }
    let here = env::current_dir().map_err(|e| format!("cannot tell the current folder: {e}."))?;
    match here.ancestors().find(|folder| is_root(folder)) {
        Some(root) => Ok(root.to_owned()),
        None => Err("run this inside the checkout: no src/xtask here or above.".into()),
    }
}

fn is_root(folder: &Path) -> bool {
    folder.join("Cargo.toml").is_file() && folder.join("src/xtask").is_dir()
}

/// Where cargo puts what it builds.
pub fn target(root: &Path) -> PathBuf {
    match env::var_os("CARGO_TARGET_DIR") {
        Some(folder) if !folder.is_empty() => root.join(folder),
        _ => root.join("target"),
    }
}

/// Where the page is built to. Trunk reads the same variable.
pub fn dist(root: &Path) -> PathBuf {
    match env::var_os("TRUNK_BUILD_DIST") {
        Some(folder) if !folder.is_empty() => root.join(folder),
        _ => root.join("dist"),
    }
}

/// Where `cargo xtask dist` puts the site and its zip.
pub fn ship(root: &Path) -> PathBuf {
    target(root).join("site")
}

/// The tools that set-up fetched. Outside the checkout: every clone shares them.
pub fn cache() -> Result<PathBuf> {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty());
    let cache = if let Some(folder) = set("ATTENTION_LAB_CACHE") {
        PathBuf::from(folder)
    } else if let Some(folder) = set("XDG_CACHE_HOME") {
        PathBuf::from(folder).join("attention-lab")
    } else if let Some(home) = env::home_dir() {
        home.join(".cache/attention-lab")
    } else {
        return Err(
            "no home folder to keep the tools in: set ATTENTION_LAB_CACHE to a folder.".into(),
        );
    };
    std::path::absolute(&cache).map_err(|e| format!("{} is no path: {e}.", cache.display()))
}

/// The version of `package` that Cargo.lock settles on.
pub fn locked_version(root: &Path, package: &str) -> Result<String> {
    let path = root.join("Cargo.lock");
    let lock = read(&path)?;
    let wanted = format!("name = \"{package}\"");
    let mut lines = lock.lines().skip_while(|line| *line != wanted).skip(1);
    lines
        .next()
        .and_then(|line| line.strip_prefix("version = \""))
        .and_then(|rest| rest.strip_suffix('"'))
        .map(str::to_owned)
        .ok_or_else(|| format!("Cargo.lock does not name {package}."))
}

/// The text of a file, or a sentence that says which file failed.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| format!("cannot read {}: {e}.", path.display()))
}

/// Writes a file and the folders above it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result {
    if let Some(folder) = path.parent() {
        make_folder(folder)?;
    }
    std::fs::write(path, bytes).map_err(|e| format!("cannot write {}: {e}.", path.display()))
}

/// Makes a folder and those above it.
pub fn make_folder(path: &Path) -> Result {
    std::fs::create_dir_all(path).map_err(|e| format!("cannot make {}: {e}.", path.display()))
}

/// Removes a file or a whole folder, if it is there.
pub fn remove(path: &Path) -> Result {
    let outcome = match std::fs::symlink_metadata(path) {
        Err(_) => return Ok(()),
        Ok(meta) if meta.is_dir() => std::fs::remove_dir_all(path),
        Ok(_) => std::fs::remove_file(path),
    };
    outcome.map_err(|e| format!("cannot remove {}: {e}.", path.display()))
}

/// Copies a file, or a folder with all it holds.
pub fn copy(from: &Path, to: &Path) -> Result {
    let fail = |e: std::io::Error| format!("cannot copy {}: {e}.", from.display());
    if from.is_dir() {
        make_folder(to)?;
        for entry in std::fs::read_dir(from).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    std::fs::copy(from, to).map(|_| ()).map_err(fail)
}

/// Every file under `folder`, sorted, so that lists and hashes are the same on every machine.
pub fn files_under(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut left = vec![folder.to_owned()];
    while let Some(here) = left.pop() {
        let fail = |e: std::io::Error| format!("cannot list {}: {e}.", here.display());
        for entry in std::fs::read_dir(&here).map_err(fail)? {
            let path = entry.map_err(fail)?.path();
            if path.is_dir() {
                left.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
