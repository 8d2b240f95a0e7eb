//! The fast path: float32, online softmax over blocks of keys, memory linear in the lengths.
//!
//! A row keeps a running maximum m, a running sum l of exp(s − m) and an unfinished output o. A block of keys whose
//! maximum is larger rescales l and o by exp(m_old − m_new); at the end out = o/l and lse = ln l + m. The result is
//! that of the softmax over the whole row (Milakov & Gimelshein 2018; with blocks of values, Dao et al. 2022).
//!
//! # Same bits everywhere
//!
//! Blocks have fixed sizes and their order is fixed; a [`RowRunner`] only says which thread takes which rows. Lanes
//! give the same bits by their contract. So do one thread and many, and WebAssembly and native code.
//!
//! # How exact
//!
//! Norm, rotation and scale are done in float64 while packing and rounded once. |out − exact| stays within
//! 2e-6 · max|v| while the scores are of ordinary size; a score of size s carries an error of about s · 1e-7, and the
//! weights follow it.
//!
//! # Huge numbers
//!
//! Where a bound says that a float32 could overflow on the way, the row is computed by the oracle in float64, where
//! products of float32 never overflow, and rounded. So no result is NaN, and those rows are right, only slower.
//! [`Output::overflowed_rows`] counts them.

mod kernel;
mod pack;

use crate::lanes::Lane;
use crate::naive::{Inputs, Prepared, RowBuffers};
use crate::rows::{RowRunner, Stopped};
use crate::shape::HeadIdx;
use crate::spec::AttentionSpec;
use kernel::{Block, Scratch};
use pack::Packed;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows of one task: few enough that a runner can stop soon and share out evenly, and enough that a block of keys is
/// read from near memory by most of them.
pub const QUERY_BLOCK: usize = 32;

/// Keys taken at a time: at a width of 64, a block of keys and one of values together fill a first-level cache.
pub const KEY_BLOCK: usize = 64;

/// What the fast path computes.
#[derive(Clone, Debug, PartialEq)]
pub struct Output {
    /// The output `[heads, n_q, d_v]`.
    pub out: Vec<f32>,
    /// Log-sum-exp of each row, sink included `[heads, n_q]`; −∞ where a row sees nothing and has no sink. Held at the
    /// ends of float32 where it is beyond.
    pub lse: Vec<f32>,
    /// Rows whose scores or sums could leave float32, and which the oracle computed in its place.
    pub overflowed_rows: usize,
}

/// Attention in float32 on the lanes `L`, rows shared out by `runner`.
///
/// Fails only where the runner says to stop.
///
/// ```
/// use attention::{AttentionSpec, Config, Inputs, Shape, lanes, rows, tiled};
/// let spec = AttentionSpec::new(Config::new(Shape::square(2, 1)))?;
/// let inputs = Inputs::new(&spec, &[0.0_f32, 0.0], &[1.0, 1.0], &[2.0, 4.0])?;
/// let result = tiled::forward::<lanes::Best, _>(&spec, &inputs, &rows::Serial)?;
/// assert_eq!(result.out, [3.0, 3.0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn forward<L: Lane, R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    runner: &R,
) -> Result<Output, Stopped> {
    let shape = spec.shape();
    let stopped = AtomicBool::new(false);
    let go_on = || {
        let go = !stopped.load(Ordering::Relaxed) && runner.keep_going();
        if !go {
            stopped.store(true, Ordering::Relaxed);
        }
        go
    };
    let packed = Packed::new(spec, inputs, runner, &go_on);
    let mut output = Output {
        out: vec![0.0; shape.out_len()],
        lse: vec![0.0; shape.rows()],
        overflowed_rows: 0,
    };
    // `true` where float32 cannot be trusted with the row.
    let mut beyond = vec![false; shape.rows()];

    let heads = output
        .out
        .chunks_mut(shape.n_q * shape.d_v)
        .zip(output.lse.chunks_mut(shape.n_q));
    let mut blocks = Vec::with_capacity(shape.heads * shape.n_q.div_ceil(QUERY_BLOCK));
    for (head, ((out, lse), beyond)) in heads.zip(beyond.chunks_mut(shape.n_q)).enumerate() {
        let rows = out
            .chunks_mut(QUERY_BLOCK * shape.d_v)
            .zip(lse.chunks_mut(QUERY_BLOCK));
        for (at, ((out, lse), beyond)) in rows.zip(beyond.chunks_mut(QUERY_BLOCK)).enumerate() {
            blocks.push(Block {
                head: HeadIdx(head),
                first: at * QUERY_BLOCK,
                out,
                lse,
                beyond,
            });
        }
    }
    runner.for_each(
        blocks,
        || Scratch::new(shape),
        |scratch, block| {
            if go_on() {
                scratch.run::<L>(spec, inputs, &packed, block);
            }
        },
    );
    if stopped.into_inner() {
        return Err(Stopped);
    }
    output.overflowed_rows = beyond.iter().filter(|b| **b).count();
    if output.overflowed_rows > 0 {
        redo(spec, inputs, runner, &beyond, &mut output)?;
    }
    Ok(output)
}

/// Computes the rows marked in `beyond` by the oracle.
fn redo<R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    runner: &R,
    beyond: &[bool],
    output: &mut Output,
) -> Result<(), Stopped> {
    let shape = spec.shape();
    let mut row = RowBuffers::new(spec);
    for (head, marked) in beyond.chunks(shape.n_q).enumerate() {
        if !marked.contains(&true) {
            continue;
        }
        let head = HeadIdx(head);
        let prepared = Prepared::new(spec, inputs, head);
        for q in shape.queries().filter(|q| marked[q.0]) {
            if !runner.keep_going() {
                return Err(Stopped);
            }
            let summary = prepared.row(q, &mut row);
            let out = &mut output.out[shape.out_row(head, q)];
            for (cell, &x) in out.iter_mut().zip(&row.out) {
                *cell = narrow(x);
            }
            output.lse[shape.row(head, q)] = match summary.lse {
                f64::NEG_INFINITY => f32::NEG_INFINITY,
                lse => narrow(lse),
            };
        }
    }
    Ok(())
}

/// The nearest float32, held at its ends.
fn narrow(x: f64) -> f32 {
    (x as f32).clamp(-f32::MAX, f32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::Scalar;
    use crate::rows::Serial;
    use crate::{Config, Shape};

    struct StopAfter(std::sync::atomic::AtomicUsize);

    impl RowRunner for StopAfter {
        fn for_each<T: Send, S>(
            &self,
            tasks: Vec<T>,
            scratch: impl Fn() -> S + Sync + Send,
            work: impl Fn(&mut S, T) + Sync + Send,
        ) {
            Serial.for_each(tasks, scratch, work);
        }

        fn keep_going(&self) -> bool {
            self.0
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                .is_ok()
        }
    }

    #[test]
    fn a_stopped_computation_gives_no_result() {
        let spec = AttentionSpec::new(Config::new(Shape::square(100, 4))).unwrap();
        let x = vec![0.5_f32; 400];
        let inputs = Inputs::new(&spec, &x, &x, &x).unwrap();
        let run = |blocks: usize| {
            forward::<Scalar, _>(&spec, &inputs, &StopAfter(blocks.into())).map(|o| o.lse.len())
        };
        assert_eq!(run(3), Err(Stopped));
        assert_eq!(run(1_000), Ok(100));
    }

    #[test]
    fn query_index_is_the_row() {
        // Guards the cutting into blocks: each row's output is its own value.
        let n = QUERY_BLOCK + 5;
        let config = Config {
            masks: vec![crate::MaskUse::drawn(crate::BitMatrix::from_fn(
                n,
                n,
                |q, k| q.0 == k.0,
            ))],
            ..Config::new(Shape {
                d_v: 1,
                ..Shape::square(n, 2)
            })
        };
        let spec = AttentionSpec::new(config).unwrap();
        let x = vec![0.25_f32; 2 * n];
        let v: Vec<f32> = (0..n).map(|i| i as f32).collect();
        let inputs = Inputs::new(&spec, &x, &x, &v).unwrap();
        let output = forward::<Scalar, _>(&spec, &inputs, &Serial).unwrap();
        assert_eq!(output.out, v);
    }
}
