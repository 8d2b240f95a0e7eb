//! Threads: the only place that knows rayon. Built without the feature `threads` there is one.

#[cfg(not(feature = "threads"))]
pub use attention::rows::Serial as Pool;

#[cfg(feature = "threads")]
pub use threaded::Pool;

/// Starts the pool in a browser: `initThreadPool(threads)` to `www/engine-worker.js`, which awaits its promise before
/// it makes an engine. Every thread is a worker of that worker, from a blob, so a content security policy has to let
/// `worker-src blob:` through.
///
/// The promise is refused where the pool cannot be made, and may stay open where a thread does not load: the page waits
/// for `Ready` so long and then takes the engine without threads.
#[cfg(all(target_arch = "wasm32", feature = "threads"))]
pub use wasm_bindgen_rayon::init_thread_pool;

/// How many threads share the rows: as many as the pool really has, not as many as were asked for.
pub fn threads() -> usize {
    #[cfg(feature = "threads")]
    let threads = rayon::current_num_threads();
    #[cfg(not(feature = "threads"))]
    let threads = 1;
    threads
}

#[cfg(feature = "threads")]
mod threaded {
    use attention::rows::RowRunner;
    use rayon::iter::{IntoParallelIterator, ParallelIterator};

    /// Shares tasks out over rayon's global pool: in a browser the one that `init_thread_pool` started.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Pool;

    impl RowRunner for Pool {
        fn threads(&self) -> usize {
            rayon::current_num_threads()
        }

        fn for_each<T: Send, S>(
            &self,
            tasks: impl ExactSizeIterator<Item = T> + Send,
            scratch: impl Fn() -> S + Sync + Send,
            work: impl Fn(&mut S, T) + Sync + Send,
        ) {
            let tasks: Vec<T> = tasks.collect();
            tasks.into_par_iter().for_each_init(scratch, work);
        }
    }
}
