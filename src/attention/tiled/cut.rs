//! How a call is cut into tasks, and what tasks borrow.

use super::block::Block;
use crate::rows::RowRunner;
use crate::shape::Shape;
use crate::spec::AttentionSpec;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// How rows become tasks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cut {
    /// Rows that follow one another and read the same keys: those of a head, or, where these are few, of all heads that
    /// share keys.
    pub(super) unit: usize,
    /// At most so many of them make a task.
    pub(super) rows: usize,
}

impl Cut {
    /// As many rows as leave something to every thread, and enough that packing the keys does not count.
    pub(super) fn new(spec: &AttentionSpec, threads: usize) -> Self {
        let shape = spec.shape();
        let least = match (threads, spec.config().masks.is_empty()) {
            (1, _) => 256,
            (_, true) => 64,
            (_, false) => 32,
        };
        let of = |rows: usize| Self {
            unit: if shape.n_q < rows {
                shape.group() * shape.n_q
            } else {
                shape.n_q
            },
            rows,
        };
        let tasks = |cut: Self| shape.rows() / cut.unit * cut.unit.div_ceil(cut.rows);
        let mut cut = of(256);
        while cut.rows > least && tasks(cut) < 4 * threads {
            cut = of(cut.rows / 2);
        }
        cut
    }

    /// Rows of the largest task.
    pub(super) fn largest(self) -> usize {
        self.rows.min(self.unit)
    }

    /// The tasks of the first unit.
    pub(super) fn of_unit(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.unit)
            .step_by(self.rows)
            .map(move |first| first..(first + self.rows).min(self.unit))
    }
}

/// The queries of a task of these rows. Where it goes on into another head it has all of them.
pub(super) fn queries(shape: Shape, rows: &Range<usize>) -> Range<usize> {
    let first = rows.start % shape.n_q;
    if first + rows.len() <= shape.n_q {
        first..first + rows.len()
    } else {
        0..shape.n_q
    }
}

/// The tasks of all heads. Later rows come first: under a causal mask they are the longer ones, and what starts last
/// should be short.
pub(super) struct Tasks<'a> {
    shape: Shape,
    cut: Cut,
    out: &'a mut [f32],
    lse: &'a mut [f32],
}

impl<'a> Tasks<'a> {
    pub(super) fn new(shape: Shape, cut: Cut, out: &'a mut [f32], lse: &'a mut [f32]) -> Self {
        Self {
            shape,
            cut,
            out,
            lse,
        }
    }
}

impl<'a> Iterator for Tasks<'a> {
    type Item = Block<'a>;

    fn next(&mut self) -> Option<Block<'a>> {
        // What is left always ends with whole units but for the last, from which blocks are taken at its end.
        let left = self.lse.len();
        let end = left.checked_sub(1)? % self.cut.unit + 1;
        let first = (end - 1) / self.cut.rows * self.cut.rows;
        let at = left - (end - first);
        let (lse_left, lse) = std::mem::take(&mut self.lse).split_at_mut(at);
        let (out_left, out) = std::mem::take(&mut self.out).split_at_mut(at * self.shape.d_v);
        (self.lse, self.out) = (lse_left, out_left);
        Some(Block {
            first: at,
            out,
            lse,
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let Cut { unit, rows } = self.cut;
        let (units, rest) = (self.lse.len() / unit, self.lse.len() % unit);
        let blocks = units * unit.div_ceil(rows) + rest.div_ceil(rows);
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
