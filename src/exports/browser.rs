//! The boundary to JavaScript: numbers in, numbers out. www/attention-core.js is the other side.
//!
//! One thread calls everything but [`serve`]. Outcomes are 0 for done and 1 for failed, with a message to fetch.

use crate::runner::POOL;
use crate::session::{BUFFERS, Buffer, Outcome, Session};
use std::cell::RefCell;
use wasm_bindgen::prelude::*;

thread_local! {
    static SESSION: RefCell<Session> = RefCell::new(Session::default());
}

fn with<T>(work: impl FnOnce(&mut Session) -> T) -> T {
    SESSION.with_borrow_mut(work)
}

fn said(outcome: Outcome) -> u32 {
    u32::from(outcome == Outcome::Failed)
}

fn buffer(number: u32) -> Buffer {
    BUFFERS
        .get(number as usize)
        .copied()
        .unwrap_or(Buffer::Stage)
}

#[wasm_bindgen]
extern "C" {
    /// Told how many steps of a long call have begun: www/attention-worker.js has it.
    #[wasm_bindgen(js_name = attentionProgress)]
    fn attention_progress(done: u32);
}

/// Where the numbers of [`define`] lie, float64; the order is that of [`crate::call::At`].
#[wasm_bindgen]
pub fn numbers() -> u32 {
    with(|session| session.numbers.as_mut_ptr().addr() as u32)
}

/// Where the sink logits of [`define`] lie, float64, one for each head.
#[wasm_bindgen]
pub fn sinks() -> u32 {
    with(|session| session.sinks.0.as_mut_ptr().addr() as u32)
}

/// Reads the numbers as the call of a slot, 0 to 7.
#[wasm_bindgen]
pub fn define(slot: u32) -> u32 {
    with(|session| said(session.define(slot as usize)))
}

/// Where the message of the last failure lies: UTF-8.
#[wasm_bindgen]
pub fn message() -> u32 {
    with(|session| session.message().as_ptr().addr() as u32)
}

/// How many bytes it has.
#[wasm_bindgen]
pub fn message_length() -> u32 {
    with(|session| session.message().len() as u32)
}

/// Working memory of a call beside inputs and results, in bytes.
#[wasm_bindgen]
pub fn scratch(slot: u32, backward: bool) -> f64 {
    with(|session| session.scratch_bytes(slot as usize, backward, threads() as usize) as f64)
}

/// Everything that a call takes, in bytes.
#[wasm_bindgen]
pub fn total(slot: u32, backward: bool) -> f64 {
    with(|session| session.total_bytes(slot as usize, backward, threads() as usize) as f64)
}

/// How many steps a call has.
#[wasm_bindgen]
pub fn steps(slot: u32, backward: bool) -> f64 {
    with(|session| session.steps(slot as usize, backward, threads() as usize) as f64)
}

/// Makes room for a call; [`place`] has to be asked again afterwards, and for gradients after [`backward`].
#[wasm_bindgen]
pub fn prepare(slot: u32, backward: bool) -> u32 {
    with(|session| said(session.prepare(slot as usize, backward, threads() as usize)))
}

/// Where a buffer begins; the order is that of [`Buffer`].
#[wasm_bindgen]
pub fn place(number: u32) -> u32 {
    with(|session| session.buffer(buffer(number)).as_mut_ptr().addr() as u32)
}

/// Whether inputs and result of this call are in the buffers.
#[wasm_bindgen]
pub fn holds(slot: u32) -> bool {
    with(|session| session.holds(slot as usize))
}

/// Takes numbers from the stage into a buffer; tells whether they were there already.
#[wasm_bindgen]
pub fn absorb(number: u32, at: u32, count: u32) -> bool {
    with(|session| session.absorb(buffer(number), at as usize, count as usize))
}

/// Computes.
#[wasm_bindgen]
pub fn forward(slot: u32) -> u32 {
    with(|session| said(session.forward(slot as usize, &POOL, attention_progress)))
}

/// Computes the gradients after [`forward`].
#[wasm_bindgen]
pub fn backward(slot: u32) -> u32 {
    with(|session| said(session.backward(slot as usize, &POOL, attention_progress)))
}

/// Whether steps are counted and reported from here on.
#[wasm_bindgen]
pub fn watch(on: bool) {
    with(|session| {
        if on {
            session.progress.start();
        } else {
            session.progress.stop();
        }
    });
}

/// How many threads share the rows: the caller and its helpers.
#[wasm_bindgen]
pub fn threads() -> u32 {
    POOL.helpers() as u32 + 1
}

/// The memory, to be given to [`serve`]'s worker.
#[cfg(feature = "threads")]
#[wasm_bindgen]
pub fn shared_memory() -> JsValue {
    wasm_bindgen::memory()
}

/// Starts a pool of workers: `initThreadPool(threads)`. Waits for them asleep, so a page calls it in a worker.
#[cfg(feature = "threads")]
pub use wasm_bindgen_rayon::init_thread_pool;

/// Makes every thread of the pool a helper, for good.
#[cfg(feature = "threads")]
#[wasm_bindgen]
pub fn serve() {
    rayon::spawn_broadcast(|_| POOL.serve(|| true));
}
