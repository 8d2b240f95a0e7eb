//! `cargo xtask new-lab NAME`: a lab's folder from a template, and its line in the registry.

use crate::{Result, home};

const README: &str = "\
# TITLE

What a reader can do here, and which number answers.

- `scene.rs`: from a trace to shapes, pure; its tests need no browser.
- `view.rs`: the controls and the canvas. Sends actions, computes nothing.
";

const MOD: &str = "\
//! TITLE.

pub mod scene;
pub mod view;
";

const SCENE: &str = "\
//! What TITLE draws: pure, from numbers to shapes.
";

const VIEW: &str = "\
//! TITLE on the page: controls and canvas.
";

/// Makes `src/page/labs/NAME/` and adds the lab to `src/page/labs/mod.rs`.
pub fn command(args: &[String]) -> Result {
    let [name] = args else {
        return Err("expected one name: `cargo xtask new-lab NAME`.".into());
    };
    check_name(name)?;
    let labs = home::root()?.join("src/page/labs");
    let folder = labs.join(name);
    if folder.exists() {
        return Err(format!(
            "there is a lab `{name}` already: {}.",
            folder.display()
        ));
    }
    let registry = labs.join("mod.rs");
    let listed = register(&home::read(&registry)?, name)?;
    let title = title(name);
    for (file, text) in [
        ("README.md", README),
        ("mod.rs", MOD),
        ("scene.rs", SCENE),
        ("view.rs", VIEW),
    ] {
        home::write(&folder.join(file), text.replace("TITLE", &title))?;
    }
    home::write(&registry, listed)?;
    println!("made src/page/labs/{name}/ and its line in src/page/labs/mod.rs");
    Ok(())
}

/// Small letters, digits and underscores, a letter first: it becomes a module.
fn check_name(name: &str) -> Result {
    let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if starts && name.chars().all(fits) {
        Ok(())
    } else {
        Err(format!(
            "`{name}` cannot name a module: expected small letters, digits and _, as in `softmax_zoo`."
        ))
    }
}

/// `softmax_zoo` reads "Softmax zoo".
fn title(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

/// The registry with `pub mod NAME;` added after the last module line.
fn register(registry: &str, name: &str) -> Result<String> {
    let line = format!("pub mod {name};");
    let mut lines: Vec<&str> = registry.lines().collect();
    let is_module = |line: &&str| line.starts_with("pub mod ") || line.starts_with("mod ");
    let Some(last) = lines.iter().rposition(is_module) else {
        return Err(format!(
            "src/page/labs/mod.rs has no module line to add `{line}` after."
        ));
    };
    lines.insert(last + 1, &line);
    Ok(lines.join("\n") + "\n")
}
