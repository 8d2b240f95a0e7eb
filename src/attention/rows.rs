//! How rows are shared out. Threads split rows, never sums, so every runner gives the same bits.

/// Runs independent tasks in any order, on any number of threads.
///
/// The engine supplies one over its thread pool; [`Serial`] is the one without threads. What is inside a task (the
/// sum over keys) stays serial: splitting it would make the result depend on the number of threads.
pub trait RowRunner: Sync {
    /// How many tasks may be at work at the same time: so much working memory is kept.
    fn threads(&self) -> usize {
        1
    }

    /// Runs `work` once on every task. `scratch` makes the working memory that a thread may use for many tasks. Tasks
    /// come with the longest first.
    fn for_each<T: Send, S>(
        &self,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    );

    /// Asked before each step, a block of keys for a task's rows, which takes a millisecond at most at ordinary widths:
    /// `false` makes the rest of the work be left out, and the caller get
    /// [`Stopped`]. A place to count progress, too.
    fn keep_going(&self) -> bool {
        true
    }
}

/// One task after the other on the calling thread.
#[derive(Clone, Copy, Debug, Default)]
pub struct Serial;

impl RowRunner for Serial {
    fn for_each<T: Send, S>(
        &self,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    ) {
        let mut scratch = scratch();
        for task in tasks {
            work(&mut scratch, task);
        }
    }
}

/// The runner asked for the work to stop before it was done; there is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("The computation was stopped before it was done.")
    }
}

impl std::error::Error for Stopped {}
