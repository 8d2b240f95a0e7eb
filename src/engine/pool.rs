//! Threads: the only place that knows rayon. Built without the feature `threads` there is one.

#[cfg(not(feature = "threads"))]
pub use attention::rows::Serial as Pool;

#[cfg(feature = "threads")]
pub use threaded::Pool;

#[cfg(feature = "threads")]
mod threaded {
    use attention::rows::RowRunner;
    use rayon::iter::{IntoParallelIterator, ParallelIterator};

    /// Shares tasks out over rayon's pool: in a browser the one that `initThreadPool` started, else the global one.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Pool;

    impl RowRunner for Pool {
        fn for_each<T: Send, S>(
            &self,
            tasks: Vec<T>,
            scratch: impl Fn() -> S + Sync + Send,
            work: impl Fn(&mut S, T) + Sync + Send,
        ) {
            tasks.into_par_iter().for_each_init(scratch, work);
        }
    }
}
