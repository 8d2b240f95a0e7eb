//! What waits, and what a newer message makes pointless. Pure: no clock, no browser.
//!
//! - A computation (`View`, `Kernel`, `Stages`) with a newer revision takes the place of an older one, waiting or
//!   running; one that is older than the newest seen is dropped unanswered.
//! - A `Look` waits behind the computation, for it asks about the view that will be there then; a newer look takes the
//!   place of an older one, and a newer computation drops it (a view brings its own look).
//! - A `Check` waits behind all of these; a newer one takes its place.
//! - `Cancel` empties everything.

use protocol::{Job, Look, Revision};

/// What the engine should do with what it is running, after a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Go on.
    Keep,
    /// Drop the running job: it is superseded and is not answered.
    Supersede,
    /// Drop the running job and answer `Cancelled`.
    Cancel,
    /// Panic: the test asked for it.
    Panic,
}

/// The next thing to do.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one is alive at a time")]
pub enum Next {
    /// Start a computation.
    Compute(Job),
    /// Answer a look from the prepared head.
    Look(Revision, Look),
}

/// At most one computation, one look and one check, the newest of each.
#[derive(Debug, Default)]
pub struct Queue {
    compute: Option<Job>,
    look: Option<(Revision, Look)>,
    check: Option<Job>,
    newest_compute: Option<Revision>,
    newest_look: Option<Revision>,
}

impl Queue {
    /// Takes a message in and says what becomes of the running job.
    pub fn push(&mut self, job: Job) -> Effect {
        let revision = match &job {
            Job::View(j) => j.revision,
            Job::Kernel(j) => j.revision,
            Job::Stages(j) => j.revision,
            Job::Look { revision, .. } => *revision,
            Job::Check(_) => {
                self.check = Some(job);
                return Effect::Keep;
            }
            Job::Cancel => {
                self.compute = None;
                self.look = None;
                self.check = None;
                return Effect::Cancel;
            }
            Job::Panic => return Effect::Panic,
        };
        if let Job::Look { look, .. } = job {
            if self.newest_look.max(self.newest_compute) <= Some(revision) {
                self.newest_look = Some(revision);
                self.look = Some((revision, look));
            }
            return Effect::Keep;
        }
        if self.newest_compute > Some(revision) {
            return Effect::Keep;
        }
        self.newest_compute = Some(revision);
        if self.look.as_ref().is_some_and(|(r, _)| *r <= revision) {
            self.look = None;
        }
        self.compute = Some(job);
        Effect::Supersede
    }

    /// Takes the next thing to do: computations before looks, and checks last.
    pub fn pop(&mut self) -> Option<Next> {
        if let Some(job) = self.compute.take() {
            return Some(Next::Compute(job));
        }
        if let Some((revision, look)) = self.look.take() {
            return Some(Next::Look(revision, look));
        }
        self.check.take().map(Next::Compute)
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.compute.is_none() && self.look.is_none() && self.check.is_none()
    }
}
