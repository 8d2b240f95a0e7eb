//! The recipes of docs/embedding.md, built with the tools they are for: the browser suite opens what a lecturer gets.
//!
//! tests/embeds holds their sources. Python's tools live in the tool cache, in the versions of
//! tests/embeds/requirements.txt; reveal.js and mystmd come with the browser suite's packages. Nothing here needs a network once
//! the tools are there.

use crate::run::{self, timed, which};
use crate::setup::Toolchain;
use crate::{Result, debian, home, no_more, tools};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Recipes whose sources are pages already, or are built where they lie.
const PAGES: [&str; 5] = ["plain", "reveal", "moodle", "canvas", "myst"];

const JUPYTER_BOOK: &str = "from jupyter_book.cli.main import main; main()";

/// Quarto hands its pages to pandoc: the same reader and the same writer, without Quarto's theme.
const PANDOC: &str = "import sys, pypandoc\n\
    pypandoc.convert_file(sys.argv[1], 'html5', format='markdown', outputfile=sys.argv[2], extra_args=['--standalone'])";

/// `cargo xtask embeds`
pub fn command(args: &[String]) -> Result {
    no_more(args)?;
    let folder = build(&home::root()?)?;
    println!("{}", folder.display());
    Ok(())
}

/// Builds every recipe; returns the folder that has one for each.
pub fn build(root: &Path) -> Result<PathBuf> {
    let sources = root.join("tests/embeds");
    let python = python(&sources)?;
    tools::node(Toolchain::chosen()?)?;
    tools::node_packages(root)?;
    let built = home::target(root).join("embeds");
    home::remove(&built)?;
    for recipe in PAGES {
        home::copy(&sources.join(recipe), &built.join(recipe))?;
    }
    home::copy(
        &root.join("tests/node_modules/reveal.js/dist"),
        &built.join("reveal/reveal.js/dist"),
    )?;

    let from = |recipe: &str| sources.join(recipe);
    let to = |recipe: &str| built.join(recipe);
    timed("recipes: MkDocs, Jupyter Book, MyST, pandoc", || {
        let mut mkdocs = Command::new(&python);
        mkdocs
            .args(["-m", "mkdocs", "build", "--quiet", "--strict"])
            .arg("--config-file")
            .arg(from("mkdocs").join("mkdocs.yml"))
            .arg("--site-dir")
            .arg(to("mkdocs"));
        run::check_quietly(&mut mkdocs, "mkdocs build")?;

        let mut book = Command::new(&python);
        book.args(["-c", JUPYTER_BOOK, "build", "--quiet", "--path-output"])
            .arg(to("jupyter-book"))
            .arg(from("jupyter-book"));
        run::check_quietly(&mut book, "jupyter-book build")?;

        // Its pages need a theme from the network; what it makes of the source does not.
        let mut myst = Command::new("node");
        myst.arg(root.join("tests/node_modules/mystmd/dist/myst.cjs"))
            .args(["build", "--site", "--ci"])
            .current_dir(to("myst"));
        let said = run::check_quietly(&mut myst, "myst build");
        let content = to("myst").join("_build/site/content/lecture.json");
        if !content.is_file() {
            said?;
            return Err(format!(
                "myst build left no {}: expected the page it read. Does mystmd still write it there?",
                content.display()
            ));
        }

        home::make_folder(&to("quarto"))?;
        let mut pandoc = Command::new(&python);
        pandoc
            .args(["-c", PANDOC])
            .arg(from("quarto").join("lecture.qmd"))
            .arg(to("quarto").join("index.html"));
        run::check_quietly(&mut pandoc, "pandoc")
    })?;
    Ok(built)
}

/// The python of an environment that has exactly what tests/embeds/requirements.txt says.
fn python(sources: &Path) -> Result<PathBuf> {
    let list = sources.join("requirements.txt");
    let wanted = home::read(&list)?;
    let folder = home::cache()?.join("tools/recipes");
    let python = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let stamp = folder.join("requirements.txt");
    if run::is_program(&python) && std::fs::read_to_string(&stamp).is_ok_and(|old| old == wanted) {
        return Ok(python);
    }
    if which("apt-get").is_some() {
        let lacking = debian::missing(&["python3-venv"]);
        if !lacking.is_empty() {
            debian::install(&lacking)?;
        }
    }
    let Some(system) = which("python3") else {
        return Err(
            "the recipes of docs/embedding.md need Python 3.11 or newer: install it from https://www.python.org, \
             or leave them out with --skip embeds."
                .into(),
        );
    };
    home::remove(&folder)?;
    timed("pip: installing MkDocs, Jupyter Book and pandoc", || {
        let mut venv = Command::new(system);
        venv.args(["-m", "venv"]).arg(&folder);
        run::check_quietly(&mut venv, "python3 -m venv")?;
        let mut pip = Command::new(&python);
        pip.args(["-m", "pip", "install", "--quiet"])
            .args(["--disable-pip-version-check", "--requirement"])
            .arg(&list);
        run::check_quietly(&mut pip, "pip install")
    })?;
    home::write(&stamp, wanted)?;
    Ok(python)
}
