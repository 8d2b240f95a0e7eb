//! The calls of a module instance and the computations on its buffers.
//!
//! JavaScript describes a call ([`Session::define`]), asks for room ([`Session::prepare`]), writes inputs where
//! [`Session::buffer`] is, computes ([`Session::forward`], [`Session::backward`]) and reads results. Calls share their
//! buffers, which only grow; as long as a call stays the same, nothing is allocated. Keys and values that stay lie in
//! caches: `caches.rs`.

use crate::buffers::{BUFFERS, Buffer, Buffers, Work};
use crate::caches::Caches;
use crate::call::{self, NUMBERS};
use crate::pool::Pool;
use crate::runner::{Caller, Progress, Runner};
use attention::limits::MAX_HEADS;
use attention::rows::RowRunner;
use attention::tiled::{self, Gradients, Workspace};
use attention::{AttentionSpec, Inputs, Shape, lanes};
use std::fmt::{Display, Write as _};

/// How many calls are remembered at a time.
pub const SLOTS: usize = 8;

/// Multiplications below which helpers are not worth calling: some 15 µs of work.
const ALONE: u64 = 400_000;

/// One number for each head that a call can have.
#[derive(Debug)]
pub struct Sinks(pub [f64; MAX_HEADS]);

impl Default for Sinks {
    fn default() -> Self {
        Self([0.0; MAX_HEADS])
    }
}

/// What a module instance keeps between calls.
#[derive(Debug, Default)]
pub struct Session {
    /// The description of the next call to define.
    pub numbers: [f64; NUMBERS],
    /// Its sink logits, where it has some.
    pub sinks: Sinks,
    /// Counts the steps of a call, where it is started.
    pub progress: Progress,
    pub(crate) caches: Caches,
    calls: [Option<AttentionSpec>; SLOTS],
    buffers: Buffers,
    workspace: Workspace,
    /// The call whose inputs and result are in the buffers.
    held: Option<usize>,
    message: String,
}

/// What a call came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The results are in their buffers.
    Done,
    /// There are none; [`Session::message`] says why.
    Failed,
}

impl Session {
    /// Reads [`Session::numbers`] as the call of a slot below [`SLOTS`].
    pub fn define(&mut self, slot: usize) -> Outcome {
        if self.held == Some(slot) {
            self.held = None;
        }
        match self.parse() {
            Ok(spec) => {
                if let Some(place) = self.calls.get_mut(slot) {
                    *place = Some(spec);
                }
                Outcome::Done
            }
            Err(error) => self.fail(&error),
        }
    }

    /// The call that the numbers describe.
    pub(crate) fn parse(&self) -> Result<AttentionSpec, attention::SpecError> {
        call::parse(&self.numbers, &self.sinks.0)
    }

    /// Why the last call failed.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    pub(crate) fn fail(&mut self, why: &dyn Display) -> Outcome {
        self.message.clear();
        // Writing to a string does not fail.
        let _ = write!(self.message, "{why}");
        Outcome::Failed
    }

    /// Working memory of a call beside its inputs and results, in bytes; 0 for a slot without a call.
    #[must_use]
    pub fn scratch_bytes(&self, slot: usize, work: Work, threads: usize) -> usize {
        self.spec(slot)
            .map_or(0, |spec| scratch_bytes(spec, work, threads))
    }

    /// All that a call takes, in bytes: inputs, results and working memory.
    #[must_use]
    pub fn total_bytes(&self, slot: usize, work: Work, threads: usize) -> u64 {
        self.spec(slot)
            .map_or(0, |spec| total_bytes(spec, work, threads))
    }

    /// Steps that [`Progress`] will have counted when the call is done.
    #[must_use]
    pub fn steps(&self, slot: usize, backward: bool, threads: usize) -> usize {
        match self.spec(slot) {
            None => 0,
            Some(spec) if backward => tiled::backward_steps(spec),
            Some(spec) => tiled::steps(spec, at_work(spec.shape(), threads)),
        }
    }

    fn spec(&self, slot: usize) -> Option<&AttentionSpec> {
        self.calls.get(slot)?.as_ref()
    }

    /// Makes room for a call: afterwards [`Session::buffer`] is where. Buffers move where one has to grow, and all
    /// they held is gone then: [`Session::generation`] is another.
    pub fn prepare(&mut self, slot: usize, work: Work, threads: usize) -> Outcome {
        match self.spec(slot).cloned() {
            Some(spec) => self.make_room(&spec, work, threads),
            None => self.fail(&"there is no such call"),
        }
    }

    pub(crate) fn make_room(
        &mut self,
        spec: &AttentionSpec,
        work: Work,
        threads: usize,
    ) -> Outcome {
        if self.buffers.suffice(spec.shape(), work) {
            return Outcome::Done;
        }
        self.held = None;
        self.workspace = Workspace::default();
        let scratch = scratch_bytes(spec, work, threads);
        if self.buffers.grow(spec.shape(), work, scratch) {
            return Outcome::Done;
        }
        let total = total_bytes(spec, work, threads);
        self.fail(&format_args!(
            "memory: expected {} MiB, and the browser gives no more. Take fewer tokens or heads, or close other pages.",
            total.div_ceil(1 << 20)
        ))
    }

    /// Counts how often the buffers moved in [`Session::prepare`].
    #[must_use]
    pub fn generation(&self) -> u32 {
        self.buffers.generation
    }

    /// A buffer, which may be longer than a call needs. It moves in [`Session::prepare`]; those of gradients may move in
    /// [`Session::backward`] too.
    pub fn buffer(&mut self, buffer: Buffer) -> &mut [f32] {
        &mut self.buffers.all[buffer as usize]
    }

    /// Whether the buffers hold the inputs and the result of this call, as far as is known here.
    #[must_use]
    pub fn holds(&self, slot: usize) -> bool {
        self.held == Some(slot)
    }

    /// Takes the first `count` numbers of the stage into `buffer` from `at` on; tells whether they were there already,
    /// to the bit. Where they were not, the result that is held is no longer theirs.
    pub fn absorb(&mut self, buffer: Buffer, at: usize, count: usize) -> bool {
        let [inputs @ .., stage] = &mut self.buffers.all;
        let Some((to, from)) = inputs
            .get_mut(buffer as usize)
            .and_then(|to| to.get_mut(at..at.checked_add(count)?))
            .zip(stage.get(..count))
        else {
            return false;
        };
        let differ = |a: &[f32], b: &[f32]| {
            a.iter()
                .zip(b)
                .fold(0, |bits, (a, b)| bits | (a.to_bits() ^ b.to_bits()))
        };
        if differ(to, from) == 0 {
            return true;
        }
        to.copy_from_slice(from);
        self.held = None;
        false
    }

    /// Computes the call on what is in the buffers.
    pub fn forward(&mut self, slot: usize, pool: &Pool, report: impl Fn(u32) + Sync) -> Outcome {
        self.held = None;
        let done = self.try_forward(slot, pool, report);
        if done.is_ok() {
            self.held = Some(slot);
        }
        self.outcome(done)
    }

    fn try_forward(
        &mut self,
        slot: usize,
        pool: &Pool,
        report: impl Fn(u32) + Sync,
    ) -> Result<(), String> {
        let spec = call_of(&self.calls, slot)?;
        let runner = runner(spec.shape(), pool, &self.progress, report);
        let [q, k, v, out, lse, ..] = &mut self.buffers.all;
        let inputs = inputs(spec, [q, k, v], &runner)?;
        forward(spec, &inputs, &runner, &mut self.workspace, (out, lse))
    }

    /// Computes the gradients of the call whose result is in the buffers: [`Session::forward`] has to come first.
    pub fn backward(&mut self, slot: usize, pool: &Pool, report: impl Fn(u32) + Sync) -> Outcome {
        let done = self.try_backward(slot, pool, report);
        self.outcome(done)
    }

    fn try_backward(
        &mut self,
        slot: usize,
        pool: &Pool,
        report: impl Fn(u32) + Sync,
    ) -> Result<(), String> {
        let spec = call_of(&self.calls, slot)?;
        if self.held != Some(slot) {
            return Err("the result of this call is not there".into());
        }
        let shape = spec.shape();
        let runner = runner(shape, pool, &self.progress, report);
        let [q, k, v, out, lse, d_out, d_q, d_k, d_v, d_sink, _] = &mut self.buffers.all;
        let inputs = inputs(spec, [q, k, v], &runner)?;
        // They have to be of just their length; a resized vector keeps its memory.
        let exact = |buffer: &mut Vec<f32>, length| {
            let mut taken = std::mem::take(buffer);
            taken.resize(length, 0.0);
            taken
        };
        let mut gradients = Gradients {
            d_q: exact(d_q, shape.q_len()),
            d_k: exact(d_k, shape.k_len()),
            d_v: exact(d_v, shape.v_len()),
            d_sink: spec
                .config()
                .sink
                .as_ref()
                .map(|_| exact(d_sink, shape.heads)),
        };
        let done = tiled::backward_into::<lanes::Best, _>(
            spec,
            &inputs,
            (cut(out, shape.out_len()), cut(lse, shape.rows())),
            cut(d_out, shape.out_len()),
            &runner,
            &mut self.workspace,
            &mut gradients,
        );
        (*d_q, *d_k, *d_v) = (gradients.d_q, gradients.d_k, gradients.d_v);
        if let Some(gradient) = gradients.d_sink {
            *d_sink = gradient;
        }
        done.map_err(|error| error.to_string())
    }

    /// Computes a call on a cache's tokens, with the queries that are in their buffer.
    pub(crate) fn forward_cached(
        &mut self,
        number: usize,
        pool: &Pool,
        report: impl Fn(u32) + Sync,
    ) -> Result<(), String> {
        self.held = None;
        let (cache, spec) = self.caches.call(number)?;
        let shape = spec.shape();
        let runner = runner(shape, pool, &self.progress, report);
        let [q, _, _, out, lse, ..] = &mut self.buffers.all;
        let inputs = cache
            .inputs(spec, cut(q, shape.q_len()))
            .map_err(|error| error.to_string())?;
        forward(spec, &inputs, &runner, &mut self.workspace, (out, lse))
    }

    pub(crate) fn outcome(&mut self, done: Result<(), String>) -> Outcome {
        match done {
            Ok(()) => Outcome::Done,
            Err(why) => self.fail(&why),
        }
    }
}

fn call_of(calls: &[Option<AttentionSpec>], slot: usize) -> Result<&AttentionSpec, String> {
    let call = calls.get(slot).and_then(Option::as_ref);
    call.ok_or_else(|| "there is no such call".into())
}

/// Whoever works on a call of this shape.
fn runner<'a, F>(shape: Shape, pool: &'a Pool, progress: &'a Progress, report: F) -> Runner<'a, F> {
    Runner {
        pool: (at_work(shape, pool.helpers() + 1) > 1).then_some(pool),
        progress,
        report,
        caller: Caller::here(),
    }
}

fn forward<F: Fn(u32) + Sync>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    runner: &Runner<'_, F>,
    workspace: &mut Workspace,
    (out, lse): (&mut [f32], &mut [f32]),
) -> Result<(), String> {
    let shape = spec.shape();
    let (Some(out), Some(lse)) = (out.get_mut(..shape.out_len()), lse.get_mut(..shape.rows()))
    else {
        return Err("the call has no room yet".into());
    };
    tiled::forward_into::<lanes::Best, _>(spec, inputs, runner, workspace, out, lse)
        .map(|_| ())
        .map_err(|error| error.to_string())
}

/// Working memory of a call.
fn scratch_bytes(spec: &AttentionSpec, work: Work, threads: usize) -> usize {
    let threads = at_work(spec.shape(), threads);
    match work {
        Work::Forward => tiled::scratch_bytes(spec, threads),
        Work::Backward => tiled::backward_scratch_bytes(spec, threads),
        Work::Cached => tiled::cached_scratch_bytes(spec, threads),
    }
}

/// All that a call takes; a cache aside.
fn total_bytes(spec: &AttentionSpec, work: Work, threads: usize) -> u64 {
    let numbers = BUFFERS
        .iter()
        .map(|buffer| buffer.len(spec.shape(), work) as u64);
    4 * numbers.sum::<u64>() + scratch_bytes(spec, work, threads) as u64
}

/// The first `length` numbers, or as many as there are.
fn cut(buffer: &[f32], length: usize) -> &[f32] {
    buffer.get(..length).unwrap_or(buffer)
}

fn inputs<'a>(
    spec: &AttentionSpec,
    [q, k, v]: [&'a [f32]; 3],
    runner: &impl RowRunner,
) -> Result<Inputs<'a, f32>, String> {
    let shape = spec.shape();
    let (q, k, v) = (
        cut(q, shape.q_len()),
        cut(k, shape.k_len()),
        cut(v, shape.v_len()),
    );
    Inputs::checked_by(spec, q, k, v, runner).map_err(|error| error.to_string())
}

/// How many of `threads` a call is shared out over: one where it is over before another wakes up, whatever its mask
/// leaves out.
fn at_work(shape: Shape, threads: usize) -> usize {
    let cells = shape.heads as u64 * shape.n_q as u64 * shape.n_k as u64;
    let products = cells.saturating_mul((shape.d_k + shape.d_v) as u64);
    if products > ALONE { threads } else { 1 }
}
