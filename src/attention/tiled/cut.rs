//! How a call is cut into tasks, and what tasks borrow.

use super::block::Block;
use crate::rows::RowRunner;
use crate::shape::{HeadIdx, Shape};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// The tasks of all heads. Later rows come first: under a causal mask they are the longer ones, and what starts last
/// should be short.
pub(super) struct Tasks<'a> {
    shape: Shape,
    rows: usize,
    out: &'a mut [f32],
    lse: &'a mut [f32],
}

impl<'a> Tasks<'a> {
    pub(super) fn new(shape: Shape, rows: usize, out: &'a mut [f32], lse: &'a mut [f32]) -> Self {
        Self {
            shape,
            rows,
            out,
            lse,
        }
    }
}

impl<'a> Iterator for Tasks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        // What is left always ends with whole heads but for the last, from which blocks are taken at its end.
        let left = self.lse.len();
        let end = left.checked_sub(1)? % self.shape.n_q + 1;
        let first = (end - 1) / self.rows * self.rows;
        let head = HeadIdx((left - 1) / self.shape.n_q);
        let at = left - (end - first);
        let (lse_left, lse) = std::mem::take(&mut self.lse).split_at_mut(at);
        let (out_left, out) = std::mem::take(&mut self.out).split_at_mut(at * self.shape.d_v);
        (self.lse, self.out) = (lse_left, out_left);
        Some(Block {
            head,
            first,
            out,
            lse,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let heads = self.lse.len() / self.shape.n_q;
        let rest = self.lse.len() % self.shape.n_q;
        let blocks = heads * self.shape.n_q.div_ceil(self.rows) + rest.div_ceil(self.rows);
        (blocks, Some(blocks))
    }
}

impl ExactSizeIterator for Tasks<'_> {}

/// A runner that remembers that it said to stop, and is not asked again.
pub(super) struct Watch<'a, R> {
    runner: &'a R,
    stopped: AtomicBool,
}

impl<'a, R: RowRunner> Watch<'a, R> {
    pub(super) fn new(runner: &'a R) -> Self {
        Self {
            runner,
            stopped: AtomicBool::new(false),
        }
    }

    pub(super) fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    pub(super) fn keep_going_so_far(&self) -> bool {
        !self.stopped()
    }
}

impl<R: RowRunner> RowRunner for Watch<'_, R> {
    fn threads(&self) -> usize {
        self.runner.threads()
    }

    fn for_each<T: Send, S>(
        &self,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    ) {
        self.runner.for_each(tasks, scratch, work);
    }

    fn keep_going(&self) -> bool {
        if self.stopped() {
            return false;
        }
        let go = self.runner.keep_going();
        if !go {
            self.stopped.store(true, Ordering::Relaxed);
        }
        go
    }
}

/// Makes as many as there are threads.
pub(super) fn at_least<T: Default>(all: &mut Vec<Mutex<T>>, threads: usize) {
    if all.len() < threads {
        all.reserve_exact(threads - all.len());
        all.resize_with(threads, Mutex::default);
    }
}

/// Lends one that nobody uses. Never waits: a page's own thread must not. Where a runner has more threads at work than it
/// said, those take memory of their own.
pub(super) fn with_one_of<T: Default>(all: &[Mutex<T>], work: impl FnOnce(&mut T)) {
    match all.iter().find_map(|one| one.try_lock().ok()) {
        Some(mut one) => work(&mut one),
        None => work(&mut T::default()),
    }
}
