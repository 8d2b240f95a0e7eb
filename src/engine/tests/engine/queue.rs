//! Newest first: what is superseded, what waits, what is dropped.

use crate::common::{look, view};
use attention::{Config, Shape};
use engine::queue::{Effect, Next, Queue};
use protocol::{Job, Revision};

fn job(revision: u64) -> Job {
    Job::View(view(revision, &Config::new(Shape::square(1, 1)), 0))
}

fn look_job(revision: u64) -> Job {
    Job::Look {
        revision: Revision(revision),
        look: look(0, 0),
    }
}

fn next(queue: &mut Queue) -> Option<(&'static str, u64)> {
    queue.pop().map(|next| match next {
        Next::Compute(job) => ("compute", job.revision().unwrap().0),
        Next::Look(revision, _) => ("look", revision.0),
    })
}

#[test]
fn the_newest_computation_is_the_only_one() {
    let mut queue = Queue::default();
    assert_eq!(queue.push(job(1)), Effect::Supersede);
    assert_eq!(queue.push(job(3)), Effect::Supersede);
    assert_eq!(
        queue.push(job(2)),
        Effect::Keep,
        "older than the newest: no reason to stop"
    );
    assert_eq!(next(&mut queue), Some(("compute", 3)));
    assert_eq!(next(&mut queue), None);
    assert!(queue.is_empty());
    assert_eq!(queue.push(job(2)), Effect::Keep);
    assert!(
        queue.is_empty(),
        "an old one is dropped even when nothing waits"
    );
}

#[test]
fn a_job_may_be_sent_again() {
    let mut queue = Queue::default();
    queue.push(job(1));
    queue.pop();
    assert_eq!(queue.push(job(1)), Effect::Supersede);
    assert_eq!(next(&mut queue), Some(("compute", 1)));
}

#[test]
fn a_check_comes_last_and_the_newest_is_the_only_one() {
    let check = |revision| {
        Job::Check(protocol::CheckJob {
            revision: Revision(revision),
            config: Config::new(Shape::square(1, 1)),
            head: 0,
            overflowed: 0,
            q: vec![1.0],
            k: vec![1.0],
            v: vec![1.0],
            out: vec![1.0],
        })
    };
    let mut queue = Queue::default();
    assert_eq!(queue.push(check(1)), Effect::Keep, "it stops nothing");
    queue.push(check(2));
    queue.push(look_job(3));
    queue.push(job(4));
    assert_eq!(next(&mut queue), Some(("compute", 4)));
    assert!(!queue.is_empty());
    assert_eq!(next(&mut queue), Some(("compute", 2)), "the check");
    assert!(queue.is_empty());
    queue.push(check(5));
    assert_eq!(queue.push(Job::Cancel), Effect::Cancel);
    assert!(queue.is_empty());
}

#[test]
fn a_look_waits_for_the_view_and_never_stops_it() {
    let mut queue = Queue::default();
    queue.push(job(1));
    assert_eq!(queue.push(look_job(2)), Effect::Keep);
    assert_eq!(queue.push(look_job(4)), Effect::Keep);
    assert_eq!(queue.push(look_job(3)), Effect::Keep);
    assert_eq!(next(&mut queue), Some(("compute", 1)));
    assert_eq!(next(&mut queue), Some(("look", 4)));
    assert!(queue.is_empty());
}

#[test]
fn a_newer_view_brings_its_own_look() {
    let mut queue = Queue::default();
    queue.push(look_job(1));
    queue.push(job(2));
    assert_eq!(queue.push(look_job(1)), Effect::Keep);
    assert_eq!(next(&mut queue), Some(("compute", 2)));
    assert_eq!(next(&mut queue), None);
}

#[test]
fn cancel_empties_everything() {
    let mut queue = Queue::default();
    queue.push(job(1));
    queue.push(look_job(2));
    assert_eq!(queue.push(Job::Cancel), Effect::Cancel);
    assert!(queue.is_empty());
    assert_eq!(queue.push(Job::Panic), Effect::Panic);
}
