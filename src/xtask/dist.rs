//! `cargo xtask dist [--out DIR] [--origin URL] [--no-build]`: the release build as one folder and one zip, ready for any static server.
//!
//! What is loaded by a fixed name lies at the top and is asked for anew each time. Everything else lies in one folder
//! named after the hash of all it holds, so that it may be kept for ever, and so that a page never meets a file of
//! another version. Inside, files find each other by relative addresses, as in dist/.

mod headers;
mod pack;
mod site;

use crate::run::{self, say};
use crate::{Result, home, no_more, page, setup, take_flag, take_value};
use std::path::PathBuf;

/// The folder's name, and the zip's.
const NAME: &str = "attention-lab";

/// The command, once this program was built with what it needs.
pub fn command(args: &[String]) -> Result {
    let mut args = args.to_vec();
    let out = take_value(&mut args, "--out")?.map(PathBuf::from);
    let origin = take_value(&mut args, "--origin")?
        .map(|address| headers::origin(&address))
        .transpose()?;
    let as_it_is = take_flag(&mut args, "--no-build");
    no_more(&args)?;
    let root = home::root()?;
    if !as_it_is {
        page::build(&setup::for_builds()?, true)?;
    }
    let built = page::dist(&root)?;
    let out = out.unwrap_or_else(|| home::ship(&root));
    let folder = out.join(NAME);
    let archive = out.join(format!("{NAME}.zip"));

    let mut site = site::Site::read(&built)?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        site.add(licence, home::read(&root.join(licence))?.into_bytes());
    }
    let site = site.finish(origin.as_deref())?;
    let cache = home::target(&root).join("packed");
    let files = run::timed("compressing", || pack::compress(site.files(), &cache))?;
    home::remove(&folder)?;
    for (name, bytes) in &files {
        home::write(&folder.join(name), bytes)?;
    }
    home::write(&archive, pack::zip(NAME, &files)?)?;

    let total: usize = files.values().map(Vec::len).sum();
    say(&format!("{} files, {total} bytes", files.len()));
    println!("{}", folder.display());
    println!("{}", archive.display());
    Ok(())
}
