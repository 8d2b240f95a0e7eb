//! Who takes which rows: the calling thread alone, or with the helpers of a [`Pool`].

use crate::pool::Pool;
use attention::rows::RowRunner;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, TryLockError};

/// The one pool of this module instance.
pub static POOL: Pool = Pool::new();

thread_local! {
    /// Steps that this thread has begun since [`Progress::start`], where it is the calling one.
    static MINE: Cell<u32> = const { Cell::new(0) };
}

/// Steps of the calling thread from one report to the next: a step takes a millisecond at most.
const STEPS_BETWEEN_REPORTS: u32 = 4;

/// Counts the steps of a long call, on whatever thread they are done, and reports from the calling one: only that one
/// can say something to the page.
#[derive(Debug, Default)]
pub struct Progress {
    on: AtomicBool,
    done: AtomicU32,
}

impl Progress {
    /// Counts from 0.
    pub fn start(&self) {
        self.done.store(0, Ordering::Relaxed);
        self.on.store(true, Ordering::Relaxed);
    }

    /// Counts no more.
    pub fn stop(&self) {
        self.on.store(false, Ordering::Relaxed);
    }

    /// Steps begun so far.
    pub fn done(&self) -> u32 {
        self.done.load(Ordering::Relaxed)
    }
}

/// Shares rows out over the calling thread and, where `pool` is one, its helpers.
///
/// `report` is called on the calling thread now and then while `progress` counts.
#[derive(Debug)]
pub struct Runner<'a, F> {
    /// The helpers; `None` for a call that is over before one wakes up.
    pub pool: Option<&'a Pool>,
    /// The count.
    pub progress: &'a Progress,
    /// Told how many steps have begun.
    pub report: F,
    /// The thread that may call `report`.
    pub caller: Caller,
}

/// Knows again the thread that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Caller(usize);

impl Caller {
    /// The thread that this runs on.
    #[must_use]
    pub fn here() -> Self {
        // Every thread has a cell of its own, at an address of its own.
        Self(MINE.with(|mine| std::ptr::from_ref(mine).addr()))
    }
}

impl<F: Fn(u32) + Sync> RowRunner for Runner<'_, F> {
    fn threads(&self) -> usize {
        1 + self.pool.map_or(0, Pool::helpers)
    }

    fn for_each<T: Send, S>(
        &self,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    ) {
        let pool = self
            .pool
            .filter(|pool| pool.helpers() > 0 && tasks.len() > 1);
        let Some(pool) = pool else {
            let mut scratch = scratch();
            tasks.for_each(|task| work(&mut scratch, task));
            return;
        };
        let tasks = Mutex::new(tasks);
        pool.run(&|| {
            let mut own = None;
            while let Some(task) = next(&tasks) {
                work(own.get_or_insert_with(&scratch), task);
            }
        });
    }

    fn keep_going(&self) -> bool {
        if self.progress.on.load(Ordering::Relaxed) {
            let done = self.progress.done.fetch_add(1, Ordering::Relaxed) + 1;
            if Caller::here() == self.caller {
                let mine = MINE.get() + 1;
                MINE.set(mine);
                if mine.is_multiple_of(STEPS_BETWEEN_REPORTS) {
                    (self.report)(done);
                }
            }
        }
        true
    }
}

/// The next task. Held for as long as an iterator takes to step: nobody sleeps for that, and a main thread cannot.
fn next<I: Iterator>(tasks: &Mutex<I>) -> Option<I::Item> {
    loop {
        match tasks.try_lock() {
            Ok(mut tasks) => return tasks.next(),
            // A panic elsewhere is on its way already.
            Err(TryLockError::Poisoned(_)) => return None,
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
}
