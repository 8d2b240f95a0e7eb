//! The boundary to JavaScript: numbers in, numbers out. www/attention-core.js is the other side.
//!
//! One thread calls everything but [`serve`]. Outcomes are 0 for done and 1 for failed, with a message to fetch.

use crate::buffers::{BUFFERS, Buffer, Work};
use crate::runner::POOL;
use crate::session::{Outcome, Session};
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

fn work(backward: bool) -> Work {
    if backward {
        Work::Backward
    } else {
        Work::Forward
    }
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
    with(|session| session.scratch_bytes(slot as usize, work(backward), threads() as usize) as f64)
}

/// Everything that a call takes, in bytes.
#[wasm_bindgen]
pub fn total(slot: u32, backward: bool) -> f64 {
    with(|session| session.total_bytes(slot as usize, work(backward), threads() as usize) as f64)
}

/// How many steps a call has.
#[wasm_bindgen]
pub fn steps(slot: u32, backward: bool) -> f64 {
    with(|session| session.steps(slot as usize, backward, threads() as usize) as f64)
}

/// Makes room for a call; [`place`] has to be asked again afterwards, and for gradients after [`backward`].
#[wasm_bindgen]
pub fn prepare(slot: u32, backward: bool) -> u32 {
    with(|session| said(session.prepare(slot as usize, work(backward), threads() as usize)))
}

/// Counts how often the buffers moved.
#[wasm_bindgen]
pub fn generation() -> u32 {
    with(|session| session.generation())
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

/// Bytes of a cache for so many tokens of the layer that the numbers describe.
#[wasm_bindgen]
pub fn cache_cost(capacity: u32) -> f64 {
    with(|session| session.cache_cost(capacity as usize) as f64)
}

/// Bytes of all caches.
#[wasm_bindgen]
pub fn cache_bytes() -> f64 {
    with(|session| session.cache_bytes() as f64)
}

/// An empty cache for so many tokens of the layer that the numbers describe: its number, or −1.
#[wasm_bindgen]
pub fn cache_open(capacity: u32) -> i32 {
    with(|session| session.open_cache(capacity as usize)).map_or(-1, |number| number as i32)
}

/// Gives a cache's memory back.
#[wasm_bindgen]
pub fn cache_close(number: u32) {
    with(|session| session.close_cache(number as usize));
}

/// Where the next keys of head 0 go; each further head lies a capacity of rows behind.
#[wasm_bindgen]
pub fn cache_keys(number: u32) -> u32 {
    with(|session| session.cache_room(number as usize, 0).0.as_mut_ptr().addr() as u32)
}

/// Where the next values of head 0 go, likewise.
#[wasm_bindgen]
pub fn cache_values(number: u32) -> u32 {
    with(|session| session.cache_room(number as usize, 0).1.as_mut_ptr().addr() as u32)
}

/// Takes in tokens that were written there.
#[wasm_bindgen]
pub fn cache_take_in(number: u32, tokens: u32) -> u32 {
    with(|session| said(session.cache_take_in(number as usize, tokens as usize)))
}

/// Leaves the first tokens.
#[wasm_bindgen]
pub fn cache_truncate(number: u32, length: u32) {
    with(|session| session.cache_truncate(number as usize, length as usize));
}

/// Reads the numbers as the next call on a cache and makes room for it; [`place`] has to be asked again afterwards.
#[wasm_bindgen]
pub fn cache_define(number: u32) -> u32 {
    with(|session| said(session.define_cached(number as usize, threads() as usize)))
}

/// Computes it.
#[wasm_bindgen]
pub fn cache_forward(number: u32) -> u32 {
    with(|session| said(session.compute_cached(number as usize, &POOL, attention_progress)))
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
