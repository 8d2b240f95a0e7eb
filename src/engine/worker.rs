//! The engine as the worker sees it: messages in, stretches of work, replies out. Pure: no browser.

use crate::look::look;
use crate::numbers::refuse;
use crate::pool::Pool;
use crate::queue::{Effect, Next, Queue};
use crate::run::{Clock, Running, Step};
use crate::view::Kept;
use protocol::{Job, Ready, Reply, Variant};

/// A job that has run so many milliseconds reports its progress.
const PROGRESS_AFTER: f64 = 100.0;
/// Milliseconds between two such reports, at least.
const PROGRESS_EVERY: f64 = 50.0;

/// Queue, running job, and what stays of the last view.
pub struct Worker {
    queue: Queue,
    running: Option<Started>,
    kept: Option<Kept>,
    clock: Clock,
    threads: usize,
}

struct Started {
    running: Running,
    at: f64,
    reported: f64,
}

impl Worker {
    /// An engine with nothing to do. `threads`: how many share the rows.
    pub fn new(threads: usize, clock: Clock) -> Worker {
        Worker {
            queue: Queue::default(),
            running: None,
            kept: None,
            clock,
            threads: threads.max(1),
        }
    }

    /// What to say first.
    pub fn ready(&self) -> Reply {
        let variant = match (cfg!(target_arch = "wasm32"), cfg!(feature = "threads")) {
            (true, true) => Variant::SimdThreads,
            (true, false) => Variant::Simd,
            (false, _) => Variant::Native,
        };
        Reply::Ready(Ready {
            variant,
            threads: self.threads,
        })
    }

    /// Takes a message in; answers at once only to `Cancel`.
    ///
    /// # Panics
    /// On `Job::Panic`, which asks for it.
    #[expect(clippy::panic, reason = "the page has to be shown to survive one")]
    pub fn receive(&mut self, job: Job) -> Vec<Reply> {
        match self.queue.push(job) {
            Effect::Keep => Vec::new(),
            Effect::Supersede => {
                self.running = None;
                Vec::new()
            }
            Effect::Cancel => {
                self.running = None;
                vec![Reply::Cancelled]
            }
            Effect::Panic => panic!("a test asked the engine to stop here"),
        }
    }

    /// The job that holds the float32 path against the last view, for an engine that has it: it may be this one.
    pub fn unchecked(&self) -> Option<Job> {
        self.kept
            .as_ref()
            .map(|kept| Job::Check(kept.check.clone()))
    }

    /// Whether [`Worker::work`] has something to do.
    pub fn is_busy(&self) -> bool {
        self.running.is_some() || !self.queue.is_empty()
    }

    /// Works for about so many milliseconds, or until one job is answered.
    pub fn work(&mut self, millis: f64) -> Vec<Reply> {
        let now = (self.clock)();
        if self.running.is_none()
            && let Some(reply) = self.next(now)
        {
            return vec![reply];
        }
        let Some(mut started) = self.running.take() else {
            return Vec::new();
        };
        match started.running.step(now + millis, &Pool, self.threads) {
            Step::Done(reply, kept) => {
                if kept.is_some() {
                    self.kept = kept;
                }
                vec![reply]
            }
            Step::More { done, total } => {
                let now = (self.clock)();
                let revision = started.running.revision();
                let report =
                    now - started.at > PROGRESS_AFTER && now - started.reported >= PROGRESS_EVERY;
                if report {
                    started.reported = now;
                }
                self.running = Some(started);
                Vec::from_iter(report.then_some(Reply::Progress {
                    revision,
                    done,
                    total,
                }))
            }
        }
    }

    /// Starts what waits, or answers a look.
    fn next(&mut self, now: f64) -> Option<Reply> {
        match self.queue.pop()? {
            Next::Compute(job) => match Running::start(job, self.clock)? {
                Ok(running) => {
                    self.running = Some(Started {
                        running,
                        at: now,
                        reported: now,
                    });
                    None
                }
                Err(refusal) => Some(Reply::Refused(refusal)),
            },
            Next::Look(revision, place) => Some(match &self.kept {
                Some(kept) => match look(revision, &kept.head, &place) {
                    Ok((row, cell)) => Reply::Look {
                        revision,
                        row,
                        cell,
                    },
                    Err(refusal) => Reply::Refused(refusal),
                },
                None => {
                    let message = "Look: expected a picture to look at, got none yet. Change an input to compute one.";
                    Reply::Refused(refuse(revision, "look", message.to_owned()))
                }
            }),
        }
    }
}
