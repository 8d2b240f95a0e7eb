//! What the worker's script calls, and the panic hook.

use crate::run::PROOF;
use crate::worker::Worker;
use js_sys::{Array, Float64Array, Uint8Array};
use protocol::{Frame, Job, Reply};
use std::panic::PanicHookInfo;
use std::sync::Mutex;
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn now() -> f64;
}

/// The engine of this worker.
#[wasm_bindgen]
pub struct Engine(Worker);

#[wasm_bindgen]
impl Engine {
    /// An engine whose rows are shared by the threads that the pool has: it must have started before. Panics on other
    /// threads are posted to the broadcast channel named `channel`, since the thread that waits for them cannot say
    /// anything.
    #[wasm_bindgen(constructor)]
    pub fn new(channel: String) -> Engine {
        std::panic::set_hook(Box::new(move |info| keep(info, &channel)));
        Engine(Worker::new(crate::pool::threads(), now))
    }

    /// The first reply: which engine this is.
    pub fn ready(&self) -> Array {
        pack(self.0.ready())
    }

    /// Takes a message in; gives replies, each `[head, arrays]`.
    ///
    /// Fails where the message is of another version.
    pub fn receive(&mut self, head: &[u8], arrays: &Array) -> Result<Array, JsError> {
        let arrays = arrays.iter().map(|array| {
            let array = array.dyn_into::<Float64Array>();
            array
                .map(|array| array.to_vec())
                .map_err(|_| JsError::new("expected arrays of float64"))
        });
        let frame = Frame {
            head: head.to_vec(),
            arrays: arrays.collect::<Result<_, _>>()?,
        };
        let replies = self.0.receive(Job::from_frame(frame)?);
        Ok(replies.into_iter().map(pack).collect())
    }

    /// The job, as `[head, arrays]`, that holds the float32 path against the last view; nothing before the first.
    pub fn unchecked(&self) -> Option<Array> {
        self.0.unchecked().map(|job| message(&job.into_frame()))
    }

    /// Whether this engine can do that job itself.
    pub fn proves(&self) -> bool {
        PROOF
    }

    /// Whether there is something to do.
    pub fn busy(&self) -> bool {
        self.0.is_busy()
    }

    /// Works for about so many milliseconds; gives replies, each `[head, arrays]`.
    pub fn work(&mut self, millis: f64) -> Array {
        self.0.work(millis).into_iter().map(pack).collect()
    }
}

/// `[head, arrays]`, copied out of the engine's memory, which may be shared, into memory that can be transferred.
fn pack(reply: Reply) -> Array {
    message(&reply.into_frame())
}

fn message(frame: &Frame) -> Array {
    let arrays: Array = frame
        .arrays
        .iter()
        .map(|array| Float64Array::from(array.as_slice()))
        .collect();
    Array::of2(&Uint8Array::from(frame.head.as_slice()), &arrays)
}

static LAST_PANIC: Mutex<Option<String>> = Mutex::new(None);

/// What the engine panicked with. It is not to be called again after a panic but for this.
#[wasm_bindgen]
pub fn last_panic() -> Option<String> {
    LAST_PANIC.try_lock().ok()?.clone()
}

#[wasm_bindgen]
extern "C" {
    type BroadcastChannel;

    #[wasm_bindgen(constructor, catch)]
    fn new(name: &str) -> Result<BroadcastChannel, JsValue>;

    #[wasm_bindgen(method, catch, js_name = postMessage)]
    fn post_message(this: &BroadcastChannel, message: &JsValue) -> Result<(), JsValue>;
}

/// Keeps what a panic says, without a word on the console: the page shows it.
fn keep(info: &PanicHookInfo<'_>, channel: &str) {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or(payload.downcast_ref::<String>().map(String::as_str));
    let place = info
        .location()
        .map(|at| format!(" ({}:{})", at.file(), at.line()))
        .unwrap_or_default();
    let text = format!("{}{place}", text.unwrap_or("the engine panicked"));
    if let Ok(mut last) = LAST_PANIC.try_lock() {
        *last = Some(text.clone());
    }
    if cfg!(feature = "threads") {
        let message = js_sys::Object::new();
        let told = js_sys::Reflect::set(&message, &"panic".into(), &text.into())
            .and_then(|_| BroadcastChannel::new(channel))
            .and_then(|channel| channel.post_message(&message));
        // Nothing more can be done here: the page notices the silence.
        drop(told);
    }
}
