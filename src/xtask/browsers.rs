//! The browsers of the suite and the drivers that speak WebDriver to them: found on PATH or by a variable, else
//! installed where Debian's packages are to be had.

use crate::home::cache;
use crate::run::{ask, timed, which};
use crate::{Result, debian, tools};
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A browser engine that the suite runs in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// Chromium or Chrome, over chromedriver.
    Chromium,
    /// Firefox, over geckodriver.
    Firefox,
    /// WebKitGTK's MiniBrowser, over WebKitWebDriver, on a screen of Xvfb.
    WebKit,
}

/// Variables that tell the suite where its programs lie.
pub type Programs = Vec<(&'static str, PathBuf)>;

impl Engine {
    /// In the order in which they run.
    pub const ALL: [Self; 3] = [Self::Chromium, Self::Firefox, Self::WebKit];

    /// As `--browser` and the suite's BROWSER have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Chromium => "chromium",
            Self::Firefox => "firefox",
            Self::WebKit => "webkit",
        }
    }

    /// The engines of a list such as `firefox,webkit`; without one, all of them.
    pub fn listed(list: Option<&str>) -> Result<Vec<Self>> {
        let Some(list) = list else {
            return Ok(Self::ALL.to_vec());
        };
        let engine = |name: &str| {
            let found = Self::ALL.into_iter().find(|engine| engine.name() == name);
            found.ok_or_else(|| {
                format!("there is no browser `{name}`: expected some of chromium, firefox, webkit.")
            })
        };
        list.split(',').map(engine).collect()
    }

    fn packages(self) -> &'static [&'static str] {
        match self {
            Self::Chromium => &["chromium", "chromium-driver"],
            Self::Firefox => &["firefox-esr"],
            Self::WebKit => &["webkit2gtk-driver", "xvfb"],
        }
    }

    /// The programs that are here; nothing where one is missing. geckodriver is not looked for: it is built.
    fn find(self) -> Option<Programs> {
        match self {
            Self::Chromium => {
                let names = [
                    "chromium",
                    "chromium-browser",
                    "google-chrome",
                    "google-chrome-stable",
                ];
                Some(vec![
                    ("CHROME", named_or("CHROME", &names)?),
                    ("CHROMEDRIVER", named_or("CHROMEDRIVER", &["chromedriver"])?),
                ])
            }
            Self::Firefox => {
                let names = ["firefox-esr", "firefox"];
                Some(vec![("FIREFOX", named_or("FIREFOX", &names)?)])
            }
            Self::WebKit => {
                let names = ["WebKitWebDriver"];
                which("Xvfb")?;
                Some(vec![("WEBKITDRIVER", named_or("WEBKITDRIVER", &names)?)])
            }
        }
    }
}

fn named_or(variable: &str, names: &[&str]) -> Option<PathBuf> {
    env::var_os(variable)
        .map(PathBuf::from)
        .or_else(|| names.iter().find_map(|name| which(name)))
}

/// Installs what these engines miss, where it can be.
pub fn install(engines: &[Engine]) -> Result {
    if which("apt-get").is_none() {
        return Ok(());
    }
    let lacking = engines.iter().filter(|engine| engine.find().is_none());
    let packages: Vec<&str> = lacking
        .flat_map(|engine| engine.packages())
        .copied()
        .collect();
    debian::install(&debian::missing(&packages))
}

/// What the suite must know to run in this engine, or a sentence that says what to install.
pub fn programs(engine: Engine, root: &Path) -> Result<Programs> {
    let found = match (engine.find(), engine) {
        (Some(found), _) => found,
        (None, Engine::Chromium) if which("apt-get").is_none() => {
            timed("fetching a browser and its driver", || managed(root))?
        }
        (None, _) => {
            return Err(format!(
                "the browser tests in {} need {}, and they are not here. {}",
                engine.name(),
                wanted(engine),
                "Install them, or name them by these variables: see CONTRIBUTING.md."
            ));
        }
    };
    match engine {
        Engine::Firefox => Ok([found, vec![("GECKODRIVER", tools::geckodriver()?)]].concat()),
        _ => Ok(found),
    }
}

fn wanted(engine: Engine) -> &'static str {
    match engine {
        Engine::Chromium => "Chromium or Chrome (CHROME) and chromedriver (CHROMEDRIVER)",
        Engine::Firefox => "Firefox 140 or newer (FIREFOX)",
        Engine::WebKit => {
            "WebKitWebDriver (WEBKITDRIVER) and MiniBrowser (MINIBROWSER) of WebKitGTK, and Xvfb"
        }
    }
}

/// Chrome and its driver, fetched by selenium's own manager, which comes with the suite's packages.
fn managed(root: &Path) -> Result<Programs> {
    let system = match env::consts::OS {
        "macos" => "macos/selenium-manager",
        "windows" => "windows/selenium-manager.exe",
        _ => "linux/selenium-manager",
    };
    let manager = root
        .join("tests/node_modules/selenium-webdriver/bin")
        .join(system);
    let mut command = Command::new(&manager);
    command
        .args([
            "--browser",
            "chrome",
            "--output",
            "shell",
            "--avoid-stats",
            "--cache-path",
        ])
        .arg(cache()?.join("browsers"));
    let said = ask(&mut command).unwrap_or_default();
    let line = |name: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(name))
            .map(|rest| PathBuf::from(rest.trim_start_matches([':', ' ', '\t'])))
    };
    match (line("Browser path"), line("Driver path")) {
        (Some(browser), Some(driver)) => {
            Ok(vec![("CHROME", browser), ("CHROMEDRIVER", driver)])
        }
        _ => Err(
            "the browser tests need Chrome or Chromium and chromedriver, and they could not be fetched. \
             Install both, or name them in CHROME and CHROMEDRIVER."
                .into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_names_engines_and_nothing_else() {
        assert_eq!(Engine::listed(None).unwrap(), Engine::ALL);
        assert_eq!(
            Engine::listed(Some("webkit,firefox")).unwrap(),
            [Engine::WebKit, Engine::Firefox]
        );
        for wrong in ["opera", "", "firefox,", "Firefox"] {
            assert!(
                Engine::listed(Some(wrong))
                    .unwrap_err()
                    .contains("expected")
            );
        }
    }
}
