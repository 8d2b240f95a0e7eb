//! The page's side of the engine: starts it, posts jobs, hands on replies, and starts another when it dies.
//!
//! Knows nothing of the interface: events go to one callback, and everything else is a method. What is posted when,
//! and which replies are stale, is decided in [`outbox`], without a browser.

mod outbox;
mod wire;

use outbox::{Outbox, SILENCE};
use protocol::{Job, Ready, Reply};
use std::{cell::RefCell, rc::Rc};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};
use wire::Message;

/// What the client tells the page.
#[derive(Debug)]
#[allow(clippy::large_enum_variant, reason = "one event is alive at a time")]
pub enum Event {
    /// An engine runs and takes jobs. Comes again after every restart.
    Ready(Ready),
    /// An answer that is not stale.
    Reply(Reply),
    /// The engine is gone. Expected, got, what to do: whole sentences.
    Failed {
        /// For the reader.
        message: String,
        /// Whether a fresh engine starts by itself. If not, [`Client::retry`] starts one.
        will_retry: bool,
    },
    /// After a failure a fresh engine runs; the newest view has been posted to it unless it is to blame.
    Restarted,
    /// Something that a reader may want to know of the engine, such as why there is one thread only.
    EngineNote(String),
}

/// How the engine is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Simd,
    Threads,
    /// `?engine=none`: a worker that is not there, for tests.
    Missing,
}

/// The threaded engine is given up after so many milliseconds without `Ready`.
const THREADS_START: f64 = 5_000.0;
/// The engine that always works may come over a slow line.
const SIMD_START: f64 = 60_000.0;
/// More threads than this are no gain at the sizes of the page.
const MAX_THREADS: f64 = 8.0;
/// How often the clock is looked at while something is owed.
const TICK: i32 = 200;
/// After this many deaths within [`DEATHS_WITHIN`] milliseconds, none followed by an answer, the client gives up.
const MAX_DEATHS: usize = 3;
const DEATHS_WITHIN: f64 = 10_000.0;

/// A handle to the engine; clones share it, and the worker ends with the last of them.
#[derive(Clone)]
pub struct Client(Rc<Shared>);

struct Shared {
    base: String,
    on_event: Rc<dyn Fn(Event)>,
    state: RefCell<State>,
}

struct State {
    variant: Variant,
    worker: Option<wire::Handle>,
    outbox: Outbox,
    /// When the worker that starts now was asked to, until it is ready.
    starting: Option<f64>,
    /// Counts the workers.
    generation: u32,
    /// Since the last answer: when a worker died.
    deaths: Vec<f64>,
    /// A failure has been reported and the fresh engine not yet.
    recovering: bool,
    ticking: bool,
}

impl Client {
    /// Starts an engine. `base_url` is the document's base; events come from later turns of the event loop, except
    /// `Failed` when no worker can be made at all.
    pub fn start(base_url: &str, on_event: Rc<dyn Fn(Event)>) -> Client {
        let variant = match wire::query("engine").as_deref() {
            Some("none") => Variant::Missing,
            Some("simd") => Variant::Simd,
            Some("simd-threads") => Variant::Threads,
            _ if wire::may_use_threads() => Variant::Threads,
            _ => Variant::Simd,
        };
        let client = Client(Rc::new(Shared {
            base: folder(base_url).to_owned(),
            on_event,
            state: RefCell::new(State {
                variant,
                worker: None,
                outbox: Outbox::default(),
                starting: None,
                generation: 0,
                deaths: Vec::new(),
                recovering: false,
                ticking: false,
            }),
        }));
        client.spawn();
        client
    }

    /// Asks for something. While a job runs only the newest waits; jobs sent before `Ready` wait too.
    pub fn send(&self, job: Job) {
        let mut state = self.0.state.borrow_mut();
        let next = state.outbox.offer(job, wire::now());
        self.post(state, next);
    }

    /// Gives up whatever runs or waits. No reply to it comes after this, except `Cancelled`.
    pub fn cancel(&self) {
        self.send(Job::Cancel);
    }

    /// Starts anew after a failure with `will_retry: false`.
    pub fn retry(&self) {
        self.0.state.borrow_mut().deaths.clear();
        self.spawn();
    }

    fn emit(&self, event: Event) {
        (self.0.on_event)(event);
    }

    fn post(&self, state: std::cell::RefMut<'_, State>, job: Option<Job>) {
        let Some(job) = job else { return };
        let sent = match &state.worker {
            Some(worker) => worker.post(job.into_frame()),
            None => Ok(()),
        };
        drop(state);
        match sent {
            Ok(()) => self.tick_later(),
            Err(why) => self.died(&why),
        }
    }

    /// Starts a worker of the current variant; the old one ends.
    fn spawn(&self) {
        let mut state = self.0.state.borrow_mut();
        state.generation += 1;
        let generation = state.generation;
        let name = if state.variant == Variant::Missing {
            "engine-missing.js"
        } else {
            "engine-worker.js"
        };
        let url = format!("{}www/{name}", self.0.base);
        state.worker = None;
        state.starting = Some(wire::now());
        let weak = Rc::downgrade(&self.0);
        let on_message = move |message| {
            if let Some(shared) = weak.upgrade() {
                Client(shared).message(generation, message);
            }
        };
        match wire::Handle::new(&url, on_message) {
            Ok(worker) => {
                state.worker = Some(worker);
                drop(state);
                self.tick_later();
            }
            Err(why) => {
                drop(state);
                self.no_start(&why);
            }
        }
    }

    fn message(&self, generation: u32, message: Message) {
        let mut state = self.0.state.borrow_mut();
        // A message from a worker that has been replaced is from the dead.
        let Some(worker) = state
            .worker
            .as_ref()
            .filter(|_| state.generation == generation)
        else {
            return;
        };
        match message {
            Message::Hello => {
                let (name, threads) = match state.variant {
                    Variant::Threads => ("simd-threads", wire::threads().clamp(1.0, MAX_THREADS)),
                    Variant::Simd | Variant::Missing => ("simd", 1.0),
                };
                worker.init(&self.0.base, name, threads);
            }
            Message::Reply(Reply::Ready(ready)) => {
                state.starting = None;
                let restarted = std::mem::take(&mut state.recovering);
                let next = state.outbox.resume(wire::now());
                self.post(state, next);
                self.emit(Event::Ready(ready));
                if restarted {
                    self.emit(Event::Restarted);
                }
            }
            Message::Reply(reply) => {
                if !matches!(reply, Reply::Progress { .. } | Reply::Cancelled) {
                    state.deaths.clear();
                }
                let answered = state.outbox.answered(&reply, wire::now());
                self.post(state, answered.next);
                if answered.deliver {
                    self.emit(Event::Reply(reply));
                }
            }
            Message::Failed(why) => {
                drop(state);
                self.no_start(&why);
            }
            Message::Panic(why) | Message::Error(why) => {
                let starting = state.starting.is_some();
                drop(state);
                if starting {
                    self.no_start(&why)
                } else {
                    self.died(&why)
                }
            }
        }
    }

    /// The worker never got ready: the engine that always works is next, or nothing is.
    fn no_start(&self, why: &str) {
        let mut state = self.0.state.borrow_mut();
        state.worker = None;
        state.starting = None;
        if state.variant == Variant::Threads {
            state.variant = Variant::Simd;
            drop(state);
            self.emit(Event::EngineNote(format!(
                "The engine with threads did not start ({why}), so one thread computes."
            )));
            self.spawn();
            return;
        }
        state.recovering = true;
        drop(state);
        self.emit(Event::Failed {
            message: format!(
                "The engine that computes attention did not start: expected its worker to answer, got “{why}”. Check \
                 the connection and try again; your numbers are kept."
            ),
            will_retry: false,
        });
    }

    /// A running worker died.
    fn died(&self, why: &str) {
        let now = wire::now();
        let mut state = self.0.state.borrow_mut();
        state.worker = None;
        state.recovering = true;
        state.deaths.retain(|at| now - at < DEATHS_WITHIN);
        state.deaths.push(now);
        let hopeless = state.outbox.died();
        let will_retry = state.deaths.len() <= MAX_DEATHS;
        drop(state);
        let advice = match (will_retry, hopeless) {
            (true, false) => "It starts again; your numbers are kept.",
            (true, true) => {
                "It starts again without them: undo the last change or try another; your numbers are kept."
            }
            (false, _) => {
                "It stopped several times in a row: undo the last change, then start it again."
            }
        };
        self.emit(Event::Failed {
            message: format!("The engine stopped: {why}. {advice}"),
            will_retry,
        });
        if will_retry {
            self.spawn();
        }
    }

    fn tick_later(&self) {
        if std::mem::replace(&mut self.0.state.borrow_mut().ticking, true) {
            return;
        }
        let weak = Rc::downgrade(&self.0);
        let tick = Closure::once_into_js(move || {
            if let Some(shared) = weak.upgrade() {
                Client(shared).tick();
            }
        });
        wire::after(TICK, &tick);
    }

    fn tick(&self) {
        let now = wire::now();
        let mut state = self.0.state.borrow_mut();
        state.ticking = false;
        if let Some(since) = state.starting {
            let limit = if state.variant == Variant::Threads {
                THREADS_START
            } else {
                SIMD_START
            };
            drop(state);
            if now - since > limit {
                self.no_start(&format!("no answer within {} seconds", limit / 1000.0));
            } else {
                self.tick_later();
            }
        } else if state.outbox.is_busy() {
            if state.outbox.silence(now) > SILENCE {
                drop(state);
                self.died(&format!("no sign of life for {} seconds", SILENCE / 1000.0));
                return;
            }
            let next = state.outbox.tick(now);
            self.post(state, next);
            self.tick_later();
        }
    }
}

/// What a thrown JavaScript value says.
fn sentence(error: &JsValue) -> String {
    error
        .dyn_ref::<js_sys::Error>()
        .map(|e| String::from(e.message()))
        .or_else(|| error.as_string())
        .unwrap_or_else(|| "no reason given".to_owned())
}

/// The folder of an address, with its last slash: without the page's name, its query and its fragment.
fn folder(address: &str) -> &str {
    let path = address
        .find(['?', '#'])
        .and_then(|end| address.get(..end))
        .unwrap_or(address);
    path.rfind('/')
        .and_then(|slash| path.get(..=slash))
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::folder;

    #[test]
    fn files_are_looked_for_beside_the_page_whatever_its_address_says_beyond_its_folder() {
        for address in [
            "http://host/lab/",
            "http://host/lab/index.html",
            "http://host/lab/?engine=simd",
            "http://host/lab/index.html?from=a/b#bench",
            "http://host/lab/#bench",
        ] {
            assert_eq!(folder(address), "http://host/lab/", "{address}");
        }
    }
}
