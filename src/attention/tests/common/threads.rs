//! A runner with threads of its own.

use super::Stream;
use attention::rows::{RowRunner, Serial};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Real threads that take the tasks in an order of their own.
pub struct Shuffled {
    pub threads: usize,
}

impl RowRunner for Shuffled {
    fn threads(&self) -> usize {
        self.threads
    }

    fn for_each<T: Send, S>(
        &self,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    ) {
        // A fixed permutation; then whoever comes first.
        let mut tasks: Vec<T> = tasks.collect();
        let mut stream = Stream::new(11);
        for i in (1..tasks.len()).rev() {
            tasks.swap(i, (stream.uniform() * (i + 1) as f64) as usize);
        }
        let tasks = Mutex::new(tasks);
        std::thread::scope(|scope| {
            for _ in 0..self.threads {
                scope.spawn(|| {
                    let mut scratch = scratch();
                    loop {
                        let next = tasks.lock().unwrap().pop();
                        let Some(task) = next else { break };
                        work(&mut scratch, task);
                    }
                });
            }
        });
    }
}

/// Says to stop once it was asked so often.
pub struct StopAfter(pub AtomicUsize);

impl RowRunner for StopAfter {
    fn for_each<T: Send, S>(
        &self,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    ) {
        Serial.for_each(tasks, scratch, work);
    }

    fn keep_going(&self) -> bool {
        self.0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
            .is_ok()
    }
}
