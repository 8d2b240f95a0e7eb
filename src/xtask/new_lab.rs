//! `cargo xtask new-lab NAME`: a lab's folder from a template, its line in the registry, its name in the words.

use crate::run::{self, say};
use crate::{Result, home};

const REGISTRY: &str = "src/page/labs/mod.rs";
const WORDS: &str = "www/text/en.ftl";

const README: &str = "\
# TITLE

What a reader can do here, and which number answers.

- `scene.rs`: from numbers to shapes, pure; its tests need no browser.
- `view.rs`: the controls and the canvas. Sends actions, computes no attention.
";

const MOD: &str = "\
//! TITLE: what a reader can do here, and which number answers.

pub mod scene;
pub mod view;
";

const SCENE: &str = "\
//! What TITLE draws: pure, from numbers to shapes.

/// Everything that is drawn.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Width and height, in px.
    pub size: (f64, f64),
}

/// The shapes of a picture `width` px wide.
pub fn scene(width: f64) -> Scene {
    Scene {
        size: (width, width / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_picture_is_as_wide_as_its_place() {
        assert_eq!(scene(320.0).size, (320.0, 160.0));
    }
}
";

const VIEW: &str = "\
//! TITLE on the page: controls and canvas.

use crate::prelude::*;

/// The lab, as it stands in the page.
#[component]
pub fn View() -> impl IntoView {
    view! { <section></section> }
}
";

/// Makes `src/page/labs/NAME/` and tells the registry and the words of the interface.
pub fn command(args: &[String]) -> Result {
    let [name] = args else {
        return Err("expected one name: `cargo xtask new-lab NAME`.".into());
    };
    let lab = Lab::named(name)?;
    let root = home::root()?;
    let folder = root.join("src/page/labs").join(&lab.module);
    if folder.exists() {
        return Err(format!(
            "there is a lab `{name}` already: {}.",
            folder.display()
        ));
    }
    // First what may fail, then the writing.
    let registry = lab.listed(&home::read(&root.join(REGISTRY))?)?;
    let words = lab.worded(&home::read(&root.join(WORDS))?);
    for (file, text) in [
        ("README.md", README),
        ("mod.rs", MOD),
        ("scene.rs", SCENE),
        ("view.rs", VIEW),
    ] {
        home::write(&folder.join(file), text.replace("TITLE", &lab.title))?;
    }
    home::write(&root.join(REGISTRY), registry)?;
    home::write(&root.join(WORDS), words)?;
    let mut fmt = run::native_cargo();
    fmt.args(["fmt", "--package", "page"]).current_dir(&root);
    if run::ask(&mut fmt).is_none() {
        say("cargo fmt is not installed: the registry's new line may want it.");
    }
    println!(
        "made src/page/labs/{}/, with a line in {REGISTRY} and its name in {WORDS}",
        lab.module
    );
    Ok(())
}

/// The names of one lab: `softmax_zoo` in code, `softmax-zoo` in links, "Softmax zoo" for readers.
struct Lab {
    module: String,
    id: String,
    title: String,
}

impl Lab {
    /// Small letters, digits and underscores, a letter first: it becomes a module.
    fn named(name: &str) -> Result<Self> {
        let starts = name.starts_with(|c: char| c.is_ascii_lowercase());
        let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        if !starts || !name.chars().all(fits) {
            return Err(format!(
                "`{name}` cannot name a module: expected small letters, digits and _, as in `softmax_zoo`."
            ));
        }
        let words = name.replace('_', " ");
        let (first, rest) = words.split_at(1);
        Ok(Self {
            module: name.to_owned(),
            id: name.replace('_', "-"),
            title: first.to_uppercase() + rest,
        })
    }

    /// The registry with the lab's module after the last one, and its entry at the end of the list.
    fn listed(&self, registry: &str) -> Result<String> {
        let lost = |what: &str| format!("{REGISTRY} has no {what} where the new lab could go.");
        let mut lines: Vec<String> = registry.lines().map(str::to_owned).collect();
        let last = lines.iter().rposition(|line| line.starts_with("pub mod "));
        let last = last.ok_or_else(|| lost("`pub mod …;`"))?;
        lines.insert(last + 1, format!("pub mod {};", self.module));
        let text = lines.join("\n") + "\n";
        let start = text.find("static ALL: ").ok_or_else(|| lost("`ALL`"))?;
        let end = start
            + text[start..]
                .find("];")
                .ok_or_else(|| lost("end of `ALL`"))?;
        let (before, after) = text.split_at(end);
        let before = before.trim_end();
        let comma = if before.ends_with([',', '[']) {
            ""
        } else {
            ","
        };
        let entry = format!("Lab {{ id: \"{0}\", name: \"lab-{0}\" }}", self.id);
        Ok(format!("{before}{comma} {entry}{after}"))
    }

    /// The words with the lab's name after the last lab's.
    fn worded(&self, words: &str) -> String {
        let mut lines: Vec<String> = words.lines().map(str::to_owned).collect();
        let last = lines.iter().rposition(|line| line.starts_with("lab-"));
        let at = last.map_or(lines.len(), |last| last + 1);
        lines.insert(at, format!("lab-{} = {}", self.id, self.title));
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_registry_and_the_words_of_this_checkout_take_a_new_lab() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let lab = Lab::named("softmax_zoo").unwrap();
        let registry = lab
            .listed(&home::read(&root.join(REGISTRY)).unwrap())
            .unwrap();
        assert!(registry.contains("\npub mod softmax_zoo;\n"), "{registry}");
        let entry = "Lab { id: \"softmax-zoo\", name: \"lab-softmax-zoo\" }];";
        assert!(registry.contains(entry), "{registry}");
        let words = lab.worded(&home::read(&root.join(WORDS)).unwrap());
        assert!(
            words.contains("\nlab-softmax-zoo = Softmax zoo\n"),
            "{words}"
        );
    }

    #[test]
    fn a_name_that_is_no_module_is_refused() {
        for name in ["", "Zoo", "3d", "../zoo", "a-b", "zoo lab"] {
            assert!(Lab::named(name).is_err(), "{name}");
        }
    }
}
