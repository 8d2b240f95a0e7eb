//! A job on its way to its reply, in steps. Pure: the clock and the threads come from outside.

use crate::check::check;
use crate::numbers::refuse;
use crate::proof::{kernel, stages};
use crate::view::{Kept, View};
use attention::rows::RowRunner;
use protocol::{CheckJob, Job, KernelJob, Refusal, Reply, Revision, StagesJob};

/// Whether this build computes views; else the compiler leaves the code out.
const VIEW: bool = cfg!(feature = "view");
/// Whether this build has the float32 path and gives stages.
pub const PROOF: bool = cfg!(feature = "proof");

/// A clock in milliseconds, from any start.
pub type Clock = fn() -> f64;

/// A job that is being computed.
pub struct Running {
    work: Work,
    clock: Clock,
    /// Milliseconds spent on it.
    spent: f64,
}

enum Work {
    /// In many steps.
    View(Box<View>),
    /// In one step.
    Check(Box<CheckJob>),
    /// In one step: for tests, which wait.
    Kernel(Box<KernelJob>),
    /// In one step.
    Stages(Box<StagesJob>),
    Finished,
}

/// What a step comes to.
#[allow(clippy::large_enum_variant, reason = "one step is alive at a time")]
pub enum Step {
    /// There is more to do.
    More {
        /// Rows done.
        done: u64,
        /// Rows to do.
        total: u64,
    },
    /// The answer, and what stays of it if it is one to a view.
    Done(Reply, Option<Kept>),
}

impl Running {
    /// Validates a job and makes room for it. `None` for what is no computation.
    pub fn start(job: Job, clock: Clock) -> Option<Result<Running, Refusal>> {
        let from = clock();
        let work = match job {
            Job::View(job) if VIEW => View::new(job).map(|view| Work::View(Box::new(view))),
            Job::Check(job) if PROOF => Ok(Work::Check(Box::new(job))),
            Job::Kernel(job) if PROOF => Ok(Work::Kernel(Box::new(job))),
            Job::Stages(job) if PROOF => Ok(Work::Stages(Box::new(job))),
            Job::Look { .. } | Job::Cancel | Job::Panic => return None,
            Job::View(_) | Job::Check(_) | Job::Kernel(_) | Job::Stages(_) => {
                let message = "Engine: expected a job of those that this build computes, got another. Load the page again.";
                let revision = job.revision().unwrap_or_default();
                Err(refuse(revision, "engine", message.to_owned()))
            }
        };
        Some(work.map(|work| Running {
            work,
            clock,
            spent: clock() - from,
        }))
    }

    /// Of which request this is.
    pub fn revision(&self) -> Revision {
        match &self.work {
            Work::View(view) => view.revision(),
            Work::Check(job) => job.revision,
            Work::Kernel(job) => job.revision,
            Work::Stages(job) => job.revision,
            Work::Finished => Revision::default(),
        }
    }

    /// Works until the clock shows `deadline` or the job is done. Only a view can stop before it is done.
    pub fn step(&mut self, deadline: f64, runner: &impl RowRunner, threads: usize) -> Step {
        let from = (self.clock)();
        let reply = match std::mem::replace(&mut self.work, Work::Finished) {
            Work::View(mut view) if VIEW => loop {
                if !view.step(runner, threads) {
                    break view
                        .finish()
                        .map(|(trace, kept)| (Reply::Trace(trace), Some(kept)));
                }
                let now = (self.clock)();
                if now >= deadline {
                    let (done, total) = view.rows();
                    self.work = Work::View(view);
                    self.spent += now - from;
                    return Step::More { done, total };
                }
            },
            Work::Check(job) if PROOF => {
                let (of, check) = (job.revision, check(&job, runner));
                Ok((Reply::Checked { of, check }, None))
            }
            Work::Kernel(job) if PROOF => {
                kernel(*job, runner).map(|kernel| (Reply::Kernel(kernel), None))
            }
            Work::Stages(job) if PROOF => {
                stages(*job).map(|stages| (Reply::Stages(Box::new(stages)), None))
            }
            // A job is stepped until it is done and then dropped; a reply nobody waits for is harmless.
            _ => Ok((Reply::Cancelled, None)),
        };
        let (mut reply, head) = reply.unwrap_or_else(|refusal| (Reply::Refused(refusal), None));
        let millis = self.spent + (self.clock)() - from;
        match &mut reply {
            Reply::Trace(trace) => trace.millis = millis,
            Reply::Kernel(kernel) => kernel.millis = millis,
            _ => {}
        }
        Step::Done(reply, head)
    }
}
