//! From one thread to several: the engine with threads starts beside the one at work and takes over when it is ready.

use super::variant::{Variant, no_threads};
use super::wire::{self, Message};
use super::{Client, Event};
use protocol::Reply;

/// The way from one thread to several. Small heads gain nothing from threads, and their engine is the larger one: it is
/// loaded when a head comes that does, and takes over when it is ready.
pub enum Rise {
    /// Another engine was asked for by name, threads are not to be had, or they are there.
    Over,
    /// When a large head comes.
    Possible,
    /// This engine is on its way.
    Coming {
        worker: wire::Handle,
        generation: u32,
        since: f64,
    },
}

impl Client {
    /// Starts the engine with threads beside the one at work.
    pub(super) fn rise(&self) {
        let made = self.worker(Variant::Threads.script());
        let mut state = self.0.state.borrow_mut();
        state.rise = match made {
            Ok((generation, worker)) => Rise::Coming {
                worker,
                generation,
                since: wire::now(),
            },
            // One thread does it all.
            Err(_) => Rise::Over,
        };
        drop(state);
        self.tick_later();
    }

    /// What the engine on its way says.
    pub(super) fn rising(&self, message: Message) {
        let mut state = self.0.state.borrow_mut();
        match message {
            Message::Hello => {
                if let Rise::Coming { worker, .. } = &state.rise {
                    worker.init(
                        &self.0.base,
                        Variant::Threads.name(),
                        Variant::Threads.threads(),
                    );
                }
            }
            Message::Reply(Reply::Ready(ready)) => {
                let Rise::Coming {
                    worker, generation, ..
                } = std::mem::replace(&mut state.rise, Rise::Over)
                else {
                    return;
                };
                state.variant = Variant::Threads;
                state.worker = Some(worker);
                state.generation = generation;
                state.starting = None;
                state.outbox.moved();
                let next = state.outbox.resume(wire::now());
                self.post(state, next);
                self.emit(Event::Ready(ready));
            }
            Message::Reply(_) | Message::Unchecked(_) => {}
            Message::Failed(why) | Message::Panic(why) | Message::Error(why) => {
                drop(state);
                self.no_rise(&why);
            }
        }
    }

    /// The engine with threads does not come: the other one stays.
    pub(super) fn no_rise(&self, why: &str) {
        self.0.state.borrow_mut().rise = Rise::Over;
        self.emit(Event::EngineNote(no_threads(why)));
    }
}
