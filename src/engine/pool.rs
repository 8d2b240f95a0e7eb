//! Threads: the only place that knows rayon. Built without the feature `threads` there is one.

#[cfg(not(feature = "threads"))]
pub use attention::rows::Serial as Pool;

#[cfg(feature = "threads")]
pub use threaded::Pool;

#[cfg(feature = "threads")]
mod threaded {
    use attention::rows::RowRunner;
    use rayon::iter::{IntoParallelIterator, ParallelIterator};

    /// Shares tasks out over rayon's global pool: in a browser the one that `start_pool` started.
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

/// The pool in a browser: every thread is a web worker that runs `www/engine-thread.js`.
///
/// The script starts the workers, each gets `thread_kit` and blocks in `run_thread`; then `start_pool` gives
/// each its place. So workers come by address, as a strict content security policy wants, and not from blobs.
#[cfg(all(target_arch = "wasm32", feature = "threads"))]
mod web_workers {
    use js_sys::Array;
    use rayon::{ThreadBuilder, ThreadPoolBuilder};
    use std::collections::VecDeque;
    use std::sync::{Condvar, Mutex, PoisonError};
    use wasm_bindgen::prelude::*;

    /// Places in the pool that no worker has taken yet.
    static PLACES: Mutex<VecDeque<ThreadBuilder>> = Mutex::new(VecDeque::new());
    static OFFERED: Condvar = Condvar::new();

    /// What a worker needs to become a thread of this engine: the compiled module and the shared memory.
    #[wasm_bindgen]
    pub fn thread_kit() -> Array {
        Array::of2(&wasm_bindgen::module(), &wasm_bindgen::memory())
    }

    /// Makes the pool. As many workers have to be in [`run_thread`] or on their way there: it waits for all of them.
    ///
    /// Fails where there is a pool already.
    #[wasm_bindgen]
    pub fn start_pool(threads: usize) -> Result<(), JsError> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(threads)
            .spawn_handler(|thread| {
                PLACES
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push_back(thread);
                OFFERED.notify_one();
                Ok(())
            });
        Ok(pool.build_global()?)
    }

    /// Waits for a place in the pool and works there for as long as the engine lives.
    #[wasm_bindgen]
    pub fn run_thread() {
        let mut places = PLACES.lock().unwrap_or_else(PoisonError::into_inner);
        let place = loop {
            match places.pop_front() {
                Some(place) => break place,
                None => places = OFFERED.wait(places).unwrap_or_else(PoisonError::into_inner),
            }
        };
        drop(places);
        place.run();
    }
}
