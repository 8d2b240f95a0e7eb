//! The native side of `cargo xtask golden`: the oracle, and the float32 path on one thread and on several.

use super::cases::Case;
use attention::rows::{RowRunner, Serial};
use attention::{AttentionSpec, Inputs, lanes, naive, tiled};
use std::sync::{Mutex, PoisonError};

/// What one path computed: tensors by the names of their stages.
pub type Computed = Result<Vec<(String, Vec<f64>)>, String>;

/// Every stage and every gradient, float64.
pub fn oracle(case: &Case) -> Computed {
    let spec = AttentionSpec::new(case.config.clone()).map_err(|e| e.to_string())?;
    let inputs = Inputs::new(&spec, &case.q, &case.k, &case.v).map_err(|e| e.to_string())?;
    let f = naive::forward(&spec, &inputs);
    let g = naive::backward(&spec, &inputs, &f, &case.d_out).map_err(|e| e.to_string())?;
    Ok(naive::named(f, g)
        .into_iter()
        .map(|(name, x)| (name.to_owned(), x))
        .collect())
}

/// Output, log-sum-exp and gradients of the float32 path on one thread.
pub fn fast(case: &Case) -> Computed {
    fast_on(case, &Serial)
}

/// Output, log-sum-exp and gradients of the float32 path on `threads` threads.
pub fn fast_threads(case: &Case, threads: usize) -> Computed {
    fast_on(case, &Threads(threads))
}

fn fast_on(case: &Case, runner: &impl RowRunner) -> Computed {
    let spec = AttentionSpec::new(case.config.clone()).map_err(|e| e.to_string())?;
    let narrow = |x: &[f64]| x.iter().map(|&x| x as f32).collect::<Vec<_>>();
    let (q, k, v) = (narrow(&case.q), narrow(&case.k), narrow(&case.v));
    let inputs = Inputs::new(&spec, &q, &k, &v).map_err(|e| e.to_string())?;
    let output =
        tiled::forward::<lanes::Best, _>(&spec, &inputs, runner).map_err(|e| e.to_string())?;
    let d_out = narrow(&case.d_out);
    let g = tiled::backward::<lanes::Best, _>(&spec, &inputs, &output, &d_out, runner)
        .map_err(|e| e.to_string())?;
    let mut stages = vec![
        ("out", output.out),
        ("lse", output.lse),
        ("d_q", g.d_q),
        ("d_k", g.d_k),
        ("d_v", g.d_v),
    ];
    stages.extend(g.d_sink.map(|d| ("d_sink", d)));
    let wide = |x: Vec<f32>| x.into_iter().map(f64::from).collect();
    Ok(stages
        .into_iter()
        .map(|(name, x)| (name.to_owned(), wide(x)))
        .collect())
}

/// Threads that take the next task as soon as they are done with one. The engine has a pool; this is enough to show
/// that the order of tasks leaves no trace in the result.
struct Threads(usize);

impl RowRunner for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn for_each<T: Send, S>(
        &self,
        tasks: impl ExactSizeIterator<Item = T> + Send,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, T) + Sync + Send,
    ) {
        let tasks = Mutex::new(tasks);
        // A lock poisoned by a panic elsewhere still guards a whole queue.
        let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).next();
        std::thread::scope(|scope| {
            for _ in 0..self.0 {
                scope.spawn(|| {
                    let mut scratch = scratch();
                    while let Some(task) = next() {
                        work(&mut scratch, task);
                    }
                });
            }
        });
    }
}

/// The first number whose float32 bits differ.
pub fn first_difference(a: &[f64], b: &[f64]) -> Option<usize> {
    let bits = |x: f64| (x as f32).to_bits();
    (a.len() != b.len())
        .then_some(a.len().min(b.len()))
        .or_else(|| a.iter().zip(b).position(|(&a, &b)| bits(a) != bits(b)))
}
