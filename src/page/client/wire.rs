//! The browser's part: workers, messages, clock and location.

use js_sys::{Array, Float64Array, Object, Reflect, Uint8Array};
use protocol::{Frame, Reply};
use std::{cell::Cell, rc::Rc};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use web_sys::{ErrorEvent, MessageEvent, Worker, WorkerOptions, WorkerType};

/// What a worker says.
#[allow(clippy::large_enum_variant, reason = "one message is alive at a time")]
pub enum Message {
    /// The script runs and waits to be told which engine.
    Hello,
    /// An answer.
    Reply(Reply),
    /// The engine cannot start.
    Failed(String),
    /// The float32 path did not load; the engine goes on.
    Unchecked(String),
    /// The engine panicked.
    Panic(String),
    /// The script itself failed, or it speaks another version.
    Error(String),
}

/// A worker that ends when it is dropped.
pub struct Handle {
    worker: Worker,
    /// Name of the broadcast channel on which the engine's own threads report a panic: the worker that waits for
    /// them cannot.
    channel: String,
    broadcast: Option<web_sys::BroadcastChannel>,
    /// The address of a script of our own making, given back at the end.
    blob: Option<String>,
    greeted: Cell<bool>,
    _messages: Closure<dyn FnMut(MessageEvent)>,
    _errors: Closure<dyn FnMut(ErrorEvent)>,
}

impl Handle {
    /// Starts the script at `url`. Fails where the browser refuses a worker.
    pub fn new(url: &str, on_message: impl Fn(Message) + 'static) -> Result<Handle, String> {
        let on_message = Rc::new(on_message);
        let (worker, blob) = spawn(url).map_err(|e| sentence(&e))?;
        let messages = {
            let on_message = Rc::clone(&on_message);
            Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
                on_message(parse(&event.data()))
            })
        };
        let errors = Closure::<dyn FnMut(ErrorEvent)>::new(move |event: ErrorEvent| {
            // The reader is told in the page; the console need not repeat it.
            event.prevent_default();
            let what = Reflect::get(&event, &"message".into())
                .ok()
                .and_then(|m| m.as_string())
                .unwrap_or_default();
            on_message(Message::Error(if what.is_empty() {
                "its script did not load".to_owned()
            } else {
                what
            }));
        });
        worker.set_onmessage(Some(messages.as_ref().unchecked_ref()));
        worker.set_onerror(Some(errors.as_ref().unchecked_ref()));
        let channel = format!("attention-lab-{}", js_sys::Math::random());
        let broadcast = web_sys::BroadcastChannel::new(&channel).ok();
        if let Some(broadcast) = &broadcast {
            broadcast.set_onmessage(Some(messages.as_ref().unchecked_ref()));
        }
        Ok(Handle {
            worker,
            channel,
            broadcast,
            blob,
            greeted: Cell::new(false),
            _messages: messages,
            _errors: errors,
        })
    }

    /// Whether it said hello and was told which engine to start.
    pub fn was_greeted(&self) -> bool {
        self.greeted.get()
    }

    /// Says which engine to start.
    pub fn init(&self, base: &str, variant: &str, threads: f64) {
        self.greeted.set(true);
        let message = Object::new();
        set(&message, "base", base.into());
        set(&message, "variant", variant.into());
        set(&message, "threads", threads.into());
        set(&message, "channel", self.channel.as_str().into());
        // Strings and numbers can always be posted; if not, the start times out and says so.
        let _ = self.worker.post_message(&message);
    }

    /// Asks for the last view to be held against the float32 path.
    pub fn check(&self) {
        let message = Object::new();
        set(&message, "check", true.into());
        // As in `init`; without an answer the page shows nothing.
        let _ = self.worker.post_message(&message);
    }

    /// Posts a job, its arrays transferred. Fails where the browser has no memory for it.
    pub fn post(&self, frame: Frame) -> Result<(), String> {
        let message = Object::new();
        let transfer = Array::new();
        let head = Uint8Array::from(frame.head.as_slice());
        transfer.push(&head.buffer());
        let arrays = Array::new();
        for array in &frame.arrays {
            let array = Float64Array::from(array.as_slice());
            transfer.push(&array.buffer());
            arrays.push(&array);
        }
        set(&message, "head", head.into());
        set(&message, "arrays", arrays.into());
        self.worker
            .post_message_with_transfer(&message, &transfer)
            .map_err(|e| sentence(&e))
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.worker.set_onmessage(None);
        self.worker.set_onerror(None);
        self.worker.terminate();
        if let Some(broadcast) = &self.broadcast {
            broadcast.close();
        }
        if let Some(blob) = &self.blob {
            // Refused only for what is no address.
            let _ = web_sys::Url::revoke_object_url(blob);
        }
    }
}

thread_local! {
    /// Whether a worker in an opaque origin is made from a `data:` address, since one from a blob did not start.
    static FROM_DATA: Cell<bool> = const { Cell::new(false) };
}

/// Whether a worker that did not even say hello may be made in another way: from a blob WebKit refuses it in a sandboxed
/// frame whose headers isolate it, from a `data:` address a strict policy does. Changes to the other way.
pub fn another_way() -> bool {
    is_opaque() && !FROM_DATA.replace(!FROM_DATA.get())
}

/// A module worker; in an opaque origin (a sandboxed frame), where a worker by address is refused, a classic one of our
/// own making that imports the same module.
fn spawn(url: &str) -> Result<(Worker, Option<String>), JsValue> {
    if is_opaque() {
        let script = format!(
            "import({url:?}).catch((error) => self.postMessage({{ failed: String(error.message ?? error) }}));"
        );
        if FROM_DATA.get() {
            let script = String::from(js_sys::encode_uri_component(&script));
            let worker = Worker::new(&format!("data:text/javascript,{script}"));
            return worker.map(|worker| (worker, None));
        }
        let options = web_sys::BlobPropertyBag::new();
        options.set_type("text/javascript");
        let blob = web_sys::Blob::new_with_str_sequence_and_options(
            &Array::of1(&script.into()),
            &options,
        )?;
        let address = web_sys::Url::create_object_url_with_blob(&blob)?;
        return Worker::new(&address).map(|worker| (worker, Some(address)));
    }
    let options = WorkerOptions::new();
    options.set_type(WorkerType::Module);
    Worker::new_with_options(url, &options).map(|worker| (worker, None))
}

/// Whether the page is in a frame that belongs to no origin: `sandbox` without `allow-same-origin`.
fn is_opaque() -> bool {
    get(&js_sys::global(), "origin").is_some_and(|origin| origin == "null")
}

fn parse(data: &JsValue) -> Message {
    let text = |key: &str| get(data, key).and_then(|v| v.as_string());
    if let Some(what) = text("panic") {
        return Message::Panic(what);
    }
    if let Some(why) = text("unchecked") {
        return Message::Unchecked(why);
    }
    if let Some(why) = text("failed") {
        return Message::Failed(why);
    }
    let Some(head) = get(data, "head").and_then(|h| h.dyn_into::<Uint8Array>().ok()) else {
        return Message::Hello;
    };
    let arrays = get(data, "arrays")
        .map(|a| Array::from(&a))
        .unwrap_or_default();
    let arrays = arrays.iter().map(|a| {
        a.dyn_ref::<Float64Array>()
            .map(Float64Array::to_vec)
            .unwrap_or_default()
    });
    let frame = Frame {
        head: head.to_vec(),
        arrays: arrays.collect(),
    };
    match Reply::from_frame(frame) {
        Ok(reply) => Message::Reply(reply),
        Err(error) => Message::Error(error.to_string()),
    }
}

fn get(object: &JsValue, key: &str) -> Option<JsValue> {
    Reflect::get(object, &key.into())
        .ok()
        .filter(|v| !v.is_undefined())
}

fn set(object: &Object, key: &str, value: JsValue) {
    // Fails only for frozen objects and proxies.
    let _ = Reflect::set(object, &key.into(), &value);
}

/// Milliseconds on a clock that never goes back.
pub fn now() -> f64 {
    web_sys::window()
        .and_then(|w| w.performance())
        .map_or_else(js_sys::Date::now, |p| p.now())
}

/// Calls `then` once after so many milliseconds.
pub fn after(millis: i32, then: &JsValue) {
    if let (Some(window), Some(then)) = (web_sys::window(), then.dyn_ref()) {
        // Refused only for a closed window.
        let _ = window.set_timeout_with_callback_and_timeout_and_arguments_0(then, millis);
    }
}

/// A parameter of the page's address.
pub fn query(key: &str) -> Option<String> {
    let search = web_sys::window()?.location().search().ok()?;
    web_sys::UrlSearchParams::new_with_str(&search)
        .ok()?
        .get(key)
}

/// Threads that the machine has.
pub fn threads() -> f64 {
    web_sys::window().map_or(1.0, |w| w.navigator().hardware_concurrency())
}

/// Whether the browser lets this page share memory, and threads be started by their address. The documentation says
/// which headers that takes; making a shared `WebAssembly.Memory` succeeds everywhere and says nothing.
pub fn may_use_threads() -> bool {
    let global = js_sys::global();
    let isolated = get(&global, "crossOriginIsolated").is_some_and(|v| v.is_truthy());
    isolated && !is_opaque() && get(&global, "SharedArrayBuffer").is_some_and(|v| v.is_function())
}

/// What a thrown JavaScript value says.
fn sentence(error: &JsValue) -> String {
    error
        .dyn_ref::<js_sys::Error>()
        .map(|e| String::from(e.message()))
        .or_else(|| error.as_string())
        .unwrap_or_else(|| "no reason given".to_owned())
}
