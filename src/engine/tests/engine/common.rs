//! Jobs and numbers that the tests share.

use attention::Config;
use protocol::{Job, Look, Numbers, Reply, Revision, Target, ViewJob};

/// Numbers in −2 to 2 that look random and are the same everywhere.
pub fn numbers(count: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f64 / f64::from(1 << 22) - 2.0
    };
    (0..count).map(|_| next()).collect()
}

/// Given numbers of the right lengths.
pub fn given(config: &Config) -> Numbers {
    let shape = config.shape;
    Numbers::Given {
        q: numbers(shape.q_len(), 1),
        k: numbers(shape.k_len(), 2),
        v: numbers(shape.v_len(), 3),
    }
}

/// A view of `head`, looking at the first cell.
pub fn view(revision: u64, config: &Config, head: usize) -> ViewJob {
    ViewJob {
        revision: Revision(revision),
        config: config.clone(),
        numbers: given(config),
        head,
        look: look(0, 0),
    }
}

/// A look that pulls towards the value of its column.
pub fn look(query: usize, key: usize) -> Look {
    Look {
        query,
        key,
        target: Target::Value(key),
    }
}

/// Sends a job the way the page does and works until it is answered; the job travels as bytes, as does the reply.
pub fn ask(worker: &mut engine::worker::Worker, job: Job) -> Reply {
    let frame = protocol::Frame::from_bytes(&job.into_frame().to_bytes()).unwrap();
    assert!(worker.receive(Job::from_frame(frame).unwrap()).is_empty());
    let mut replies = Vec::new();
    while worker.is_busy() {
        replies.extend(worker.work(0.0));
    }
    replies.retain(|r| !matches!(r, Reply::Progress { .. }));
    assert_eq!(replies.len(), 1, "one answer to one job");
    Reply::from_frame(replies.remove(0).into_frame()).unwrap()
}

/// The float32 path held against the last view, as the page has it done.
pub fn checked(worker: &mut engine::worker::Worker) -> Option<protocol::FastCheck> {
    let job = worker.unchecked().unwrap();
    let view = job.revision().unwrap();
    match ask(worker, job) {
        Reply::Checked { of, check } => {
            assert_eq!(of, view);
            check
        }
        other => panic!("expected a check, got {other:?}"),
    }
}

/// A clock that stands still, so that a deadline of 0 ms ends every step.
pub fn stopped() -> f64 {
    0.0
}
