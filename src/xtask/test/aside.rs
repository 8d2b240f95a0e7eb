//! A stage in a process of its own, beside others. What it says is kept, and said when its turn comes.

use crate::{Result, home, run};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A stage that runs beside others.
pub struct Aside {
    stage: &'static str,
    child: Child,
    said: PathBuf,
}

impl Aside {
    /// Starts `cargo xtask test --only STAGE`.
    pub fn start(root: &Path, stage: &'static str) -> Result<Self> {
        let program =
            std::env::current_exe().map_err(|e| format!("where this program lies: {e}."))?;
        let said = home::target(root).join(format!("stage-{stage}.log"));
        let file = |file: std::io::Result<File>| {
            file.map_err(|e| format!("cannot write {}: {e}.", said.display()))
        };
        let out = file(File::create(&said))?;
        let err = file(out.try_clone())?;
        let child = Command::new(&program)
            .args(["test", "--only", stage])
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(err)
            .spawn()
            .map_err(|e| format!("cannot start `{}`: {e}.", program.display()))?;
        run::say(&format!(
            "── {stage}: begun beside what follows; what it says comes in its turn"
        ));
        Ok(Self { stage, child, said })
    }

    /// Waits for it, and says what it said.
    pub fn end(mut self) -> Result {
        let outcome = run::timed(&format!("{}: going on", self.stage), || {
            self.child
                .wait()
                .map_err(|e| format!("the stage {}: {e}.", self.stage))
        });
        eprint!("{}", home::read(&self.said).unwrap_or_default());
        match outcome? {
            status if status.success() => Ok(()),
            status => Err(format!("the stage {} failed ({status}).", self.stage)),
        }
    }
}

/// Whoever ends this program early ends the stage with it.
impl Drop for Aside {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
