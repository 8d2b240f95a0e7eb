//! Which engine, how many threads, and when threads are worth it.

use super::wire;
use protocol::Job;

/// How the engine is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variant {
    Simd,
    Threads,
    /// `?engine=none`: a worker that is not there, for tests.
    Missing,
}

/// More threads than this are no gain at the sizes of the page.
const MAX_THREADS: f64 = 8.0;
/// A head of so many products of a query's cell with a key's, or of a weight with a value's cell, gains from threads.
pub const LARGE: usize = 4_000_000;

impl Variant {
    /// Name of its folder.
    pub fn name(self) -> &'static str {
        match self {
            Variant::Threads => "simd-threads",
            Variant::Simd | Variant::Missing => "simd",
        }
    }

    /// Its worker's script, in www/.
    pub fn script(self) -> &'static str {
        match self {
            Variant::Simd | Variant::Threads => "engine-worker.js",
            Variant::Missing => "engine-missing.js",
        }
    }

    /// How many it is to start.
    pub fn threads(self) -> f64 {
        match self {
            Variant::Threads => wire::threads().clamp(1.0, MAX_THREADS),
            Variant::Simd | Variant::Missing => 1.0,
        }
    }
}

/// How many products a job takes.
pub fn products(job: &Job) -> usize {
    match job {
        Job::View(view) => {
            let shape = view.config.shape;
            let pairs = shape.n_q.saturating_mul(shape.n_k);
            pairs.saturating_mul(shape.d_k.saturating_add(shape.d_v))
        }
        _ => 0,
    }
}

/// Why there is one thread only.
pub fn no_threads(why: &str) -> String {
    format!("The engine with threads did not start ({why}), so one thread computes.")
}

/// Why a worker is given up.
pub fn too_late(limit: f64) -> String {
    format!("no answer within {} seconds", limit / 1000.0)
}
