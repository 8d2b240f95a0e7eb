//! What is posted, what waits, what is stale and whom to blame for a crash. Pure: no browser, no clock of its own.
//!
//! One job is posted at a time and only the newest waits, so a hand that moves faster than the engine never builds a
//! queue, and every posted job gets to finish: the picture follows the hand. Only a job that runs longer than
//! [`PATIENCE`] is superseded by the one that waits.

use protocol::{Job, Reply, Revision};

/// Milliseconds after which a running job is given up for a newer one.
pub const PATIENCE: f64 = 400.0;
/// Milliseconds without any message from a worker that has a job, after which it counts as dead. A living engine
/// reports its progress every 50 ms.
pub const SILENCE: f64 = 10_000.0;
/// A view that killed the engine this often is not tried again.
const MAX_KILLS: u32 = 2;

#[derive(Default)]
pub struct Outbox {
    /// Whether a worker takes jobs; until then everything waits.
    open: bool,
    posted: Option<Posted>,
    compute: Option<Job>,
    look: Option<Job>,
    /// The newest view, kept so that a fresh worker can be given it.
    view: Option<Job>,
    /// How often the engine died of `view`.
    kills: u32,
    /// Nothing older is delivered: views and looks apart.
    shown: Option<Revision>,
    /// Nothing up to here is delivered.
    cancelled: Option<Revision>,
    shown_look: Option<Revision>,
}

struct Posted {
    job: Job,
    since: f64,
    heard: f64,
}

/// What to do with a reply.
#[derive(Debug)]
pub struct Answered {
    /// Show it; otherwise it is stale.
    pub deliver: bool,
    /// Post this now.
    pub next: Option<Job>,
}

impl Outbox {
    /// Takes a job; gives back what to post now, if anything.
    pub fn offer(&mut self, job: Job, now: f64) -> Option<Job> {
        match &job {
            Job::Cancel => {
                let newest = self.newest();
                self.cancelled = self.cancelled.max(newest);
                if self.view.as_ref().and_then(Job::revision) <= newest && self.is_computing() {
                    self.view = None;
                }
                self.posted = None;
                self.compute = None;
                self.look = None;
                return self.open.then_some(job);
            }
            Job::Look { .. } => self.look = Some(job),
            Job::View(_) | Job::Check(_) | Job::Kernel(_) | Job::Stages(_) | Job::Panic => {
                if matches!(job, Job::View(_)) {
                    self.view = Some(job.clone());
                    self.kills = 0;
                }
                self.look = None;
                self.compute = Some(job);
            }
        }
        if self.posted.is_none() {
            self.post(now)
        } else {
            None
        }
    }

    /// Takes a reply in.
    pub fn answered(&mut self, reply: &Reply, now: f64) -> Answered {
        let Some(revision) = reply.revision() else {
            return Answered {
                deliver: true,
                next: None,
            };
        };
        let posted = self.posted.as_ref().and_then(|p| p.job.revision());
        if matches!(reply, Reply::Progress { .. }) {
            if let Some(p) = &mut self.posted {
                p.heard = now;
            }
            return Answered {
                deliver: posted == Some(revision),
                next: None,
            };
        }
        let shown = if matches!(reply, Reply::Look { .. }) {
            &mut self.shown_look
        } else {
            &mut self.shown
        };
        let deliver = *shown <= Some(revision) && self.cancelled < Some(revision);
        if deliver {
            *shown = Some(revision);
        }
        if posted != Some(revision) {
            return Answered {
                deliver,
                next: None,
            };
        }
        self.posted = None;
        Answered {
            deliver,
            next: self.post(now),
        }
    }

    /// Looks at the clock: gives back what to post over the job that takes too long.
    pub fn tick(&mut self, now: f64) -> Option<Job> {
        let slow = self
            .posted
            .as_ref()
            .is_some_and(|p| now - p.since > PATIENCE);
        if slow && self.compute.is_some() {
            self.post(now)
        } else {
            None
        }
    }

    /// Whether the worker owes an answer.
    pub fn is_busy(&self) -> bool {
        self.posted.is_some()
    }

    /// Milliseconds for which a worker that owes an answer has said nothing.
    pub fn silence(&self, now: f64) -> f64 {
        self.posted.as_ref().map_or(0.0, |p| now - p.heard)
    }

    /// The worker died. True where the view it died of is not worth another try.
    pub fn died(&mut self) -> bool {
        self.open = false;
        let by = self.posted.take().and_then(|p| p.job.revision());
        let view = self.view.as_ref().and_then(Job::revision);
        if by.is_some() && by == view {
            self.kills += 1;
        }
        self.kills >= MAX_KILLS
    }

    /// Another worker takes over from a living one: what that one still owes, the other is asked for.
    pub fn moved(&mut self) {
        self.posted = None;
    }

    /// There is no worker for a while: everything waits.
    pub fn rested(&mut self) {
        self.open = false;
        self.posted = None;
    }

    /// For so many milliseconds neither page nor worker ran: they do not count.
    pub fn slept(&mut self, millis: f64) {
        if let Some(posted) = &mut self.posted {
            posted.since += millis;
            posted.heard += millis;
        }
    }

    /// A worker is ready: what to post to it, so that it knows what a dead one knew.
    pub fn resume(&mut self, now: f64) -> Option<Job> {
        self.open = true;
        if self.compute.is_none() && self.kills < MAX_KILLS {
            self.compute.clone_from(&self.view);
        }
        self.post(now)
    }

    /// Whether a computation runs or waits.
    fn is_computing(&self) -> bool {
        let posted = self.posted.as_ref().map(|p| &p.job);
        let look = |job: &Job| matches!(job, Job::Look { .. });
        self.compute.is_some() || posted.is_some_and(|job| !look(job))
    }

    /// The newest revision on its way.
    fn newest(&self) -> Option<Revision> {
        let posted = self.posted.as_ref().map(|p| &p.job);
        [posted, self.compute.as_ref(), self.look.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(Job::revision)
            .max()
    }

    fn post(&mut self, now: f64) -> Option<Job> {
        if !self.open {
            return None;
        }
        let job = self.compute.take().or_else(|| self.look.take())?;
        self.posted = Some(Posted {
            job: job.clone(),
            since: now,
            heard: now,
        });
        Some(job)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::{CellLook, Kernel, Look, Refusal, RowLook, Target};

    fn open() -> Outbox {
        let mut outbox = Outbox::default();
        assert!(outbox.resume(0.0).is_none());
        outbox
    }

    #[test]
    fn jobs_wait_for_the_engine() {
        let mut outbox = Outbox::default();
        assert!(outbox.offer(view(1), 0.0).is_none());
        assert!(outbox.offer(look(2), 0.0).is_none());
        assert!(outbox.offer(view(3), 0.0).is_none());
        assert!(!outbox.is_busy());
        assert_eq!(revision(outbox.resume(1.0)), Some(3));
    }

    // A refusal answers a view as well as a trace does, and is easier to write down.
    fn answer(revision: u64) -> Reply {
        Reply::Refused(Refusal {
            revision: Revision(revision),
            field: String::new(),
            scheme: None,
            message: String::new(),
        })
    }

    fn look_answer(revision: u64) -> Reply {
        Reply::Look {
            revision: Revision(revision),
            row: RowLook::default(),
            cell: CellLook::default(),
        }
    }

    fn look(revision: u64) -> Job {
        Job::Look {
            revision: Revision(revision),
            look: Look {
                query: 0,
                key: 0,
                target: Target::Value(0),
            },
        }
    }

    fn view(revision: u64) -> Job {
        Job::View(protocol::ViewJob {
            revision: Revision(revision),
            config: attention::Config::new(attention::Shape::square(1, 1)),
            numbers: protocol::Numbers::Given {
                q: vec![1.0],
                k: vec![1.0],
                v: vec![1.0],
            },
            head: 0,
            look: Look {
                query: 0,
                key: 0,
                target: Target::Value(0),
            },
        })
    }

    fn revision(job: Option<Job>) -> Option<u64> {
        job.and_then(|j| j.revision()).map(|r| r.0)
    }

    #[test]
    fn one_is_posted_and_only_the_newest_waits() {
        let mut outbox = open();
        assert_eq!(revision(outbox.offer(view(1), 0.0)), Some(1));
        assert_eq!(revision(outbox.offer(view(2), 1.0)), None);
        assert_eq!(revision(outbox.offer(view(3), 2.0)), None);
        let answered = outbox.answered(&answer(1), 3.0);
        assert!(answered.deliver, "the picture follows the hand");
        assert_eq!(revision(answered.next), Some(3));
        assert!(revision(outbox.answered(&answer(3), 4.0).next).is_none());
        assert!(!outbox.is_busy());
    }

    #[test]
    fn a_slow_job_is_superseded_and_its_late_answer_does_not_undo_a_newer_one() {
        let mut outbox = open();
        outbox.offer(view(1), 0.0);
        outbox.offer(view(2), 10.0);
        assert!(outbox.tick(PATIENCE / 2.0).is_none());
        assert_eq!(revision(outbox.tick(PATIENCE + 1.0)), Some(2));
        assert!(outbox.answered(&answer(2), 500.0).deliver);
        assert!(!outbox.answered(&answer(1), 501.0).deliver);
    }

    #[test]
    fn looks_wait_for_the_view_and_a_view_brings_its_own() {
        let mut outbox = open();
        outbox.offer(view(1), 0.0);
        outbox.offer(look(2), 0.0);
        outbox.offer(look(3), 0.0);
        assert_eq!(revision(outbox.answered(&answer(1), 1.0).next), Some(3));
        outbox.offer(look(4), 0.0);
        outbox.offer(view(5), 0.0);
        let answered = outbox.answered(&look_answer(3), 1.0);
        assert!(answered.deliver);
        assert_eq!(revision(answered.next), Some(5));
        assert!(!outbox.answered(&look_answer(2), 1.0).deliver);
        assert!(outbox.answered(&answer(5), 2.0).next.is_none());
    }

    #[test]
    fn nothing_cancelled_is_shown() {
        let mut outbox = open();
        outbox.offer(view(1), 0.0);
        outbox.offer(view(2), 0.0);
        assert!(matches!(outbox.offer(Job::Cancel, 0.0), Some(Job::Cancel)));
        assert!(!outbox.is_busy());
        let kernel = Kernel {
            revision: Revision(1),
            out: vec![],
            lse: vec![],
            millis: 0.0,
        };
        assert!(!outbox.answered(&Reply::Kernel(kernel), 0.0).deliver);
        assert_eq!(revision(outbox.offer(view(3), 1.0)), Some(3));
        outbox.offer(Job::Cancel, 1.0);
        assert!(
            !outbox.answered(&answer(3), 2.0).deliver,
            "its answer was on its way"
        );
        assert_eq!(revision(outbox.offer(view(4), 1.0)), Some(4));
        assert!(outbox.answered(&answer(4), 2.0).deliver);
    }

    #[test]
    fn a_view_that_kills_twice_is_not_sent_a_third_time() {
        let mut outbox = open();
        outbox.offer(view(7), 0.0);
        assert!(!outbox.died());
        assert_eq!(revision(outbox.resume(1.0)), Some(7));
        assert!(outbox.died());
        assert!(outbox.resume(2.0).is_none());
        assert_eq!(revision(outbox.offer(view(8), 3.0)), Some(8));
        assert!(!outbox.died());
    }

    #[test]
    fn another_jobs_crash_is_not_the_views_fault() {
        let mut outbox = open();
        outbox.offer(view(1), 0.0);
        outbox.answered(&answer(1), 1.0);
        for _ in 0..3 {
            assert!(matches!(outbox.offer(Job::Panic, 2.0), Some(Job::Panic)));
            assert!(!outbox.died());
            assert_eq!(revision(outbox.resume(3.0)), Some(1));
            assert!(outbox.answered(&answer(1), 4.0).deliver);
        }
    }

    #[test]
    fn silence_counts_from_the_last_sign_of_life() {
        let mut outbox = open();
        assert_eq!(outbox.silence(99.0), 0.0);
        outbox.offer(view(1), 0.0);
        outbox.answered(
            &Reply::Progress {
                revision: Revision(1),
                done: 1,
                total: 2,
            },
            50.0,
        );
        assert_eq!(outbox.silence(60.0), 10.0);
    }

    #[test]
    fn a_rest_loses_nothing_and_is_nobodys_death() {
        let mut outbox = open();
        outbox.offer(view(1), 0.0);
        assert!(outbox.answered(&answer(1), 1.0).deliver);
        outbox.rested();
        assert!(outbox.offer(look(2), 2.0).is_none());
        assert_eq!(
            revision(outbox.resume(3.0)),
            Some(1),
            "the engine learns what it knew"
        );
        assert_eq!(revision(outbox.answered(&answer(1), 4.0).next), Some(2));
        outbox.rested();
        outbox.offer(view(3), 5.0);
        assert_eq!(revision(outbox.resume(6.0)), Some(3));
    }

    #[test]
    fn time_asleep_is_not_silence() {
        let mut outbox = open();
        outbox.offer(view(1), 0.0);
        outbox.slept(60_000.0);
        assert_eq!(outbox.silence(60_100.0), 100.0);
        outbox.offer(view(2), 60_100.0);
        assert!(
            outbox.tick(60_000.0 + PATIENCE).is_none(),
            "it was not slow"
        );
    }
}
