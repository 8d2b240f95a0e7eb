//! The buffers of a module instance and the computations on them.
//!
//! JavaScript describes a call ([`Session::define`]), asks for room ([`Session::prepare`]), writes inputs where
//! [`Session::buffer`] is, computes ([`Session::forward`], [`Session::backward`]) and reads results. Calls share their
//! buffers, which only grow; as long as a call stays the same, nothing is allocated.

use crate::call::{self, NUMBERS};
use crate::pool::Pool;
use crate::runner::{Caller, Progress, Runner};
use attention::limits::MAX_HEADS;
use attention::tiled::{self, Gradients, Workspace};
use attention::{AttentionSpec, Inputs, Shape, lanes};
use std::fmt::{self, Display};

/// How many calls are remembered at a time.
pub const SLOTS: usize = 8;

/// Numbers that [`Session::absorb`] compares at a time.
pub const STAGE: usize = 1 << 14;

/// Multiplications below which helpers are not worth calling: some 15 µs of work.
const ALONE: u64 = 400_000;

/// The buffers, in the order of their numbers for JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Queries `[h, n_q, d_k]`.
    Q,
    /// Keys `[h_kv, n_k, d_k]`.
    K,
    /// Values `[h_kv, n_k, d_v]`.
    V,
    /// The result `[h, n_q, d_v]`.
    Out,
    /// Its log-sum-exp `[h, n_q]`.
    Lse,
    /// The gradient at the result.
    DOut,
    /// The gradient at the queries.
    DQ,
    /// The gradient at the keys.
    DK,
    /// The gradient at the values.
    DV,
    /// The gradient at the sink logits `[h]`.
    DSink,
    /// Where [`Session::absorb`] takes its numbers from.
    Stage,
}

/// Every buffer.
pub const BUFFERS: [Buffer; 11] = [
    Buffer::Q,
    Buffer::K,
    Buffer::V,
    Buffer::Out,
    Buffer::Lse,
    Buffer::DOut,
    Buffer::DQ,
    Buffer::DK,
    Buffer::DV,
    Buffer::DSink,
    Buffer::Stage,
];

impl Buffer {
    /// Numbers that a call needs in it.
    #[must_use]
    pub fn len(self, shape: Shape, backward: bool) -> usize {
        match self {
            Self::Q => shape.q_len(),
            Self::K => shape.k_len(),
            Self::V => shape.v_len(),
            Self::Out => shape.out_len(),
            Self::Lse => shape.rows(),
            Self::Stage => STAGE,
            _ if !backward => 0,
            Self::DOut => shape.out_len(),
            Self::DQ => shape.q_len(),
            Self::DK => shape.k_len(),
            Self::DV => shape.v_len(),
            Self::DSink => shape.heads,
        }
    }
}

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
    calls: [Option<AttentionSpec>; SLOTS],
    buffers: [Vec<f32>; BUFFERS.len()],
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
        match call::parse(&self.numbers, &self.sinks.0) {
            Ok(spec) => {
                if let Some(place) = self.calls.get_mut(slot) {
                    *place = Some(spec);
                }
                Outcome::Done
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Why the last call failed.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    fn fail(&mut self, why: &dyn Display) -> Outcome {
        use fmt::Write as _;
        self.message.clear();
        // Writing to a string does not fail.
        let _ = write!(self.message, "{why}");
        Outcome::Failed
    }

    /// Working memory of a call beside its inputs and results, in bytes; 0 for a slot without a call.
    #[must_use]
    pub fn scratch_bytes(&self, slot: usize, backward: bool, threads: usize) -> usize {
        let Some(spec) = self.spec(slot) else {
            return 0;
        };
        let threads = at_work(spec.shape(), threads);
        if backward {
            tiled::backward_scratch_bytes(spec, threads)
        } else {
            tiled::scratch_bytes(spec, threads)
        }
    }

    /// All that a call takes, in bytes: inputs, results and working memory.
    #[must_use]
    pub fn total_bytes(&self, slot: usize, backward: bool, threads: usize) -> u64 {
        let Some(spec) = self.spec(slot) else {
            return 0;
        };
        let shape = spec.shape();
        let numbers: u64 = BUFFERS
            .iter()
            .map(|buffer| buffer.len(shape, backward) as u64)
            .sum();
        4 * numbers + self.scratch_bytes(slot, backward, threads) as u64
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
    /// they held is gone then.
    pub fn prepare(&mut self, slot: usize, backward: bool, threads: usize) -> Outcome {
        let Some(spec) = self.spec(slot) else {
            return self.fail(&"there is no such call");
        };
        let shape = spec.shape();
        let need = |buffer: Buffer| buffer.len(shape, backward);
        let has_room = |(&buffer, held): (&Buffer, &Vec<f32>)| held.capacity() >= need(buffer);
        if BUFFERS.iter().zip(&self.buffers).all(has_room) {
            for (&buffer, held) in BUFFERS.iter().zip(&mut self.buffers) {
                held.resize(held.len().max(need(buffer)), 0.0);
            }
            return Outcome::Done;
        }
        // What grew once may grow again, as a cache does: a quarter more than it was. Where that is too much, only what
        // this call needs.
        let roomy = |(&buffer, held): (&Buffer, &Vec<f32>)| match need(buffer) {
            need if need <= held.capacity() => held.capacity(),
            need => need.max(held.capacity() + held.capacity() / 4),
        };
        let roomy: Vec<usize> = BUFFERS.iter().zip(&self.buffers).map(roomy).collect();
        let exact: Vec<usize> = BUFFERS.iter().map(|&buffer| need(buffer)).collect();
        let scratch = self.scratch_bytes(slot, backward, threads);
        if self.allocate(&roomy, scratch) || self.allocate(&exact, scratch) {
            return Outcome::Done;
        }
        let total = self.total_bytes(slot, backward, threads);
        self.fail(&format_args!(
            "memory: expected {} MiB, and the browser gives no more. Take fewer tokens or heads, or close other pages.",
            total.div_ceil(1 << 20)
        ))
    }

    /// Buffers of these lengths, and a place for so much working memory; none at all where there is no room.
    fn allocate(&mut self, lengths: &[usize], scratch: usize) -> bool {
        self.held = None;
        // Everything is given back first, so that what is free is one piece: wasm memory never shrinks.
        self.buffers = Default::default();
        self.workspace = Workspace::default();
        let room = self
            .buffers
            .iter_mut()
            .zip(lengths)
            .all(|(buffer, &length)| buffer.try_reserve_exact(length).is_ok())
            && Vec::<u8>::new().try_reserve_exact(scratch).is_ok();
        if room {
            for (buffer, &length) in self.buffers.iter_mut().zip(lengths) {
                buffer.resize(length, 0.0);
            }
        } else {
            self.buffers = Default::default();
        }
        room
    }

    /// A buffer, which may be longer than a call needs. It moves in [`Session::prepare`]; those of gradients may move in
    /// [`Session::backward`] too.
    pub fn buffer(&mut self, buffer: Buffer) -> &mut [f32] {
        &mut self.buffers[buffer as usize]
    }

    /// Whether the buffers hold the inputs and the result of this call, as far as is known here.
    #[must_use]
    pub fn holds(&self, slot: usize) -> bool {
        self.held == Some(slot)
    }

    /// Takes the first `count` numbers of the stage into `buffer` from `at` on; tells whether they were there already,
    /// to the bit. Where they were not, the result that is held is no longer theirs.
    pub fn absorb(&mut self, buffer: Buffer, at: usize, count: usize) -> bool {
        let [inputs @ .., stage] = &mut self.buffers;
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
        let Some(spec) = self.calls.get(slot).and_then(Option::as_ref) else {
            return self.fail(&"there is no such call");
        };
        let shape = spec.shape();
        let [q, k, v, out, lse, ..] = &mut self.buffers;
        let (Some(out), Some(lse)) = (out.get_mut(..shape.out_len()), lse.get_mut(..shape.rows()))
        else {
            return self.fail(&"the call has no room yet");
        };
        let inputs = match inputs(spec, q, k, v) {
            Ok(inputs) => inputs,
            Err(error) => return self.fail(&error),
        };
        let runner = Runner {
            pool: (at_work(shape, pool.helpers() + 1) > 1).then_some(pool),
            progress: &self.progress,
            report,
            caller: Caller::here(),
        };
        match tiled::forward_into::<lanes::Best, _>(
            spec,
            &inputs,
            &runner,
            &mut self.workspace,
            out,
            lse,
        ) {
            Ok(_) => {
                self.held = Some(slot);
                Outcome::Done
            }
            Err(error) => self.fail(&error),
        }
    }

    /// Computes the gradients of the call whose result is in the buffers: [`Session::forward`] has to come first.
    pub fn backward(&mut self, slot: usize, pool: &Pool, report: impl Fn(u32) + Sync) -> Outcome {
        let Some(spec) = self.calls.get(slot).and_then(Option::as_ref) else {
            return self.fail(&"there is no such call");
        };
        if self.held != Some(slot) {
            return self.fail(&"the result of this call is not there");
        }
        let shape = spec.shape();
        let [q, k, v, out, lse, d_out, d_q, d_k, d_v, d_sink, _] = &mut self.buffers;
        let inputs = match inputs(spec, q, k, v) {
            Ok(inputs) => inputs,
            Err(error) => return self.fail(&error),
        };
        let runner = Runner {
            pool: (at_work(shape, pool.helpers() + 1) > 1).then_some(pool),
            progress: &self.progress,
            report,
            caller: Caller::here(),
        };
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
        let saved = (cut(out, shape.out_len()), cut(lse, shape.rows()));
        let done = tiled::backward_into::<lanes::Best, _>(
            spec,
            &inputs,
            saved,
            cut(d_out, shape.out_len()),
            &runner,
            &mut self.workspace,
            &mut gradients,
        );
        (*d_q, *d_k, *d_v) = (gradients.d_q, gradients.d_k, gradients.d_v);
        if let Some(gradient) = gradients.d_sink {
            *d_sink = gradient;
        }
        match done {
            Ok(()) => Outcome::Done,
            Err(error) => self.fail(&error),
        }
    }
}

/// The first `length` numbers, or as many as there are.
fn cut(buffer: &[f32], length: usize) -> &[f32] {
    buffer.get(..length).unwrap_or(buffer)
}

fn inputs<'a>(
    spec: &AttentionSpec,
    q: &'a [f32],
    k: &'a [f32],
    v: &'a [f32],
) -> Result<Inputs<'a, f32>, attention::InputError> {
    let shape = spec.shape();
    let (q, k, v) = (
        cut(q, shape.q_len()),
        cut(k, shape.k_len()),
        cut(v, shape.v_len()),
    );
    Inputs::new(spec, q, k, v)
}

/// How many of `threads` a call is shared out over: one where it is over before another wakes up, whatever its mask
/// leaves out.
fn at_work(shape: Shape, threads: usize) -> usize {
    let cells = shape.heads as u64 * shape.n_q as u64 * shape.n_k as u64;
    let products = cells.saturating_mul((shape.d_k + shape.d_v) as u64);
    if products > ALONE { threads } else { 1 }
}
