//! How rows are shared out. Threads split rows, never sums, so every runner gives the same bits.

/// Runs independent tasks in any order, on any number of threads.
///
/// The engine supplies one over its thread pool; [`Serial`] is the one without threads. What is inside a task (the
/// sum over keys) stays serial: splitting it would make the result depend on the number of threads.
pub trait RowRunner: Sync {
    /// Runs `work` once on every task. `scratch` makes the working memory that a thread may use for many tasks.
    fn for_each<T: Send, S>(
        &self,
        tasks: Vec<T>,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    );

    /// Asked before each block of rows: `false` makes the rest of the work be left out, and the caller get
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
        tasks: Vec<T>,
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
