//! The page's side of the engine: starts it, posts jobs, hands on replies, and starts another when it dies.
//!
//! Knows nothing of the interface: events go to one callback, and everything else is a method. What is posted when,
//! and which replies are stale, is decided in [`outbox`], without a browser.

mod address;
mod outbox;
mod rise;
mod seen;
mod variant;
mod wire;

pub use address::files;
use outbox::{Outbox, SILENCE};
use protocol::{Job, Ready, Reply};
use rise::Rise;
use std::{cell::RefCell, rc::Rc};
use variant::{LARGE, Variant, no_threads, products, too_late};
use wasm_bindgen::closure::Closure;
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
    /// The float32 path did not load, and why; the views go on.
    Unchecked(String),
    /// Something that a reader may want to know of the engine, such as why there is one thread only.
    EngineNote(String),
}

/// The threaded engine is given up after so many milliseconds without `Ready`.
const THREADS_START: f64 = 5_000.0;
/// The engine that always works may come over a slow line.
const SIMD_START: f64 = 60_000.0;
/// How often the clock is looked at while something is owed.
const TICK: i32 = 200;
/// A tick that comes so many milliseconds late was held up together with everything else: the computer slept, or the
/// browser froze a hidden page. That time is nobody's fault.
const LATE: f64 = 2_000.0;
/// A framed page that has not been seen for so many milliseconds, and owes nothing, needs no engine.
const UNSEEN: f64 = 2_000.0;
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
    rise: Rise,
    worker: Option<wire::Handle>,
    outbox: Outbox,
    /// When the worker that starts now was asked to, until it is ready.
    starting: Option<f64>,
    /// Counts the workers.
    made: u32,
    /// Which of them is at work.
    generation: u32,
    /// Since the last answer: when a worker died.
    deaths: Vec<f64>,
    /// A failure has been reported and the fresh engine not yet.
    recovering: bool,
    ticking: bool,
    /// When the next look at the clock is due.
    due: f64,
    /// Since when the page, which is in a frame, is not seen.
    unseen: Option<f64>,
    /// There is no worker, because nobody sees the page.
    resting: bool,
}

impl Client {
    /// Starts an engine; in a frame, when the page is first seen. `base` is the folder of the page's files; events come
    /// from later turns of the event loop, except `Failed` when no worker can be made at all.
    pub fn start(base: &str, on_event: Rc<dyn Fn(Event)>) -> Client {
        let (variant, rise) = match wire::query("engine").as_deref() {
            Some("none") => (Variant::Missing, Rise::Over),
            Some("simd") => (Variant::Simd, Rise::Over),
            Some("simd-threads") => (Variant::Threads, Rise::Over),
            _ if wire::may_use_threads() => (Variant::Simd, Rise::Possible),
            _ => (Variant::Simd, Rise::Over),
        };
        let client = Client(Rc::new(Shared {
            base: base.to_owned(),
            on_event,
            state: RefCell::new(State {
                variant,
                rise,
                worker: None,
                outbox: Outbox::default(),
                starting: None,
                made: 0,
                generation: 0,
                deaths: Vec::new(),
                recovering: false,
                ticking: false,
                due: 0.0,
                unseen: None,
                resting: false,
            }),
        }));
        let weak = Rc::downgrade(&client.0);
        let framed = seen::watch(move |seen| {
            if let Some(shared) = weak.upgrade() {
                Client(shared).seen(seen);
            }
        });
        if framed {
            client.0.state.borrow_mut().resting = true;
        } else {
            client.spawn();
        }
        client
    }

    /// Asks for something. While a job runs only the newest waits; jobs sent before `Ready` wait too.
    pub fn send(&self, job: Job) {
        let large = products(&job) >= LARGE;
        let mut state = self.0.state.borrow_mut();
        let next = state.outbox.offer(job, wire::now());
        let rise = large && matches!(state.rise, Rise::Possible);
        // Whoever asks a page that worked before and is not seen now, from outside the frame, gets an answer.
        let wake = state.made > 0 && std::mem::take(&mut state.resting);
        self.post(state, next);
        if wake {
            self.spawn();
        }
        if rise {
            self.rise();
        }
    }

    /// Has the last view held against the float32 path: `Reply::Checked` follows, if the worker lives that long.
    pub fn check(&self) {
        if let Some(worker) = &self.0.state.borrow().worker {
            worker.check();
        }
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

    /// A framed page came into view, or went out of it.
    fn seen(&self, seen: bool) {
        let mut state = self.0.state.borrow_mut();
        state.unseen = (!seen).then(wire::now);
        let wake = seen && std::mem::take(&mut state.resting);
        drop(state);
        if wake {
            self.spawn();
        } else {
            self.tick_later();
        }
    }

    /// Ends the worker of a page that nobody sees, if it owes nothing; the numbers and the picture stay.
    fn rest(&self, now: f64) {
        let mut state = self.0.state.borrow_mut();
        let Some(since) = state.unseen.filter(|_| state.worker.is_some()) else {
            return;
        };
        let busy = state.outbox.is_busy()
            || state.starting.is_some()
            || matches!(state.rise, Rise::Coming { .. });
        if busy || now - since < UNSEEN {
            drop(state);
            self.tick_later();
        } else {
            state.worker = None;
            state.resting = true;
            state.outbox.rested();
        }
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

    /// A new worker and its number.
    fn worker(&self, name: &str) -> Result<(u32, wire::Handle), String> {
        let generation = {
            let mut state = self.0.state.borrow_mut();
            state.made += 1;
            state.made
        };
        let url = format!("{}www/{name}", self.0.base);
        let weak = Rc::downgrade(&self.0);
        let on_message = move |message| {
            if let Some(shared) = weak.upgrade() {
                Client(shared).message(generation, message);
            }
        };
        wire::Handle::new(&url, on_message).map(|handle| (generation, handle))
    }

    /// Starts a worker of the current variant; the old one ends.
    fn spawn(&self) {
        let name = {
            let mut state = self.0.state.borrow_mut();
            state.worker = None;
            state.starting = Some(wire::now());
            state.variant.script()
        };
        let made = self.worker(name);
        let mut state = self.0.state.borrow_mut();
        match made {
            Ok((generation, worker)) => {
                state.worker = Some(worker);
                state.generation = generation;
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
        if matches!(&state.rise, Rise::Coming { generation: of, .. } if *of == generation) {
            drop(state);
            self.rising(message);
            return;
        }
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
                let variant = state.variant;
                worker.init(&self.0.base, variant.name(), variant.threads());
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
            Message::Unchecked(why) => {
                drop(state);
                self.emit(Event::Unchecked(why));
            }
            Message::Failed(why) => {
                drop(state);
                self.no_start(&why);
            }
            Message::Panic(why) | Message::Error(why) => {
                let starting = state.starting.is_some();
                let mute = !worker.was_greeted();
                drop(state);
                if mute && wire::another_way() {
                    self.spawn()
                } else if starting {
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
            self.emit(Event::EngineNote(no_threads(why)));
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
        {
            let mut state = self.0.state.borrow_mut();
            if std::mem::replace(&mut state.ticking, true) {
                return;
            }
            state.due = wire::now() + f64::from(TICK);
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
        let late = now - state.due;
        if late > LATE {
            state.outbox.slept(late);
            state.starting = state.starting.map(|since| since + late);
            if let Rise::Coming { since, .. } = &mut state.rise {
                *since += late;
            }
        }
        if let Rise::Coming { since, .. } = state.rise {
            drop(state);
            if now - since > THREADS_START {
                self.no_rise(&too_late(THREADS_START));
            } else {
                self.tick_later();
            }
            state = self.0.state.borrow_mut();
        }
        if let Some(since) = state.starting {
            let threads = state.variant == Variant::Threads;
            let limit = if threads { THREADS_START } else { SIMD_START };
            drop(state);
            if now - since > limit {
                self.no_start(&too_late(limit));
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
        } else {
            drop(state);
        }
        self.rest(now);
    }
}
