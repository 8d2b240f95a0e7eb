//! Every way in which a caller's and its helpers' steps can fall between one another, walked through.
//!
//! What [`Pool::run`](super::Pool::run) and [`Pool::serve`](super::Pool::serve) do to shared memory is written down here
//! as steps, one for each atomic operation, with the orderings that they use ([`order`](super::order)). Who does the next
//! step is left open: all choices are followed. Clocks say what each thread knows of the others, so that an access that
//! the orderings do not order is found, whatever machine the test runs on. Checked is what the one unsafe line needs,
//!
//! - a helper inside reads work that was published before, is the present one, and is still there;
//! - the caller goes on only after it knows that everybody inside has left;
//!
//! and that nothing hangs: the caller always comes to its end, and no helper sleeps while it has not looked at the newest
//! piece of work. Protocols with one thing wrong are walked too, and have to be found out.

use super::{OPEN, order};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

const HELPERS: usize = 2;
const THREADS: usize = HELPERS + 1;
/// Pieces of work that the caller publishes.
const ROUNDS: u8 = 2;
const CALLER: usize = HELPERS;

type Clock = [u8; THREADS];

fn join(a: &mut Clock, b: Clock) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = (*a).max(b);
    }
}

/// The protocol, or one that is wrong in a place.
#[derive(Clone, Copy)]
struct Protocol {
    claim: Ordering,
    open: Ordering,
    join: Ordering,
    leave: Ordering,
    close: Ordering,
    alone: Ordering,
    free: Ordering,
    /// Work is stored before it is open.
    stores_first: bool,
    /// The caller waits until it is alone.
    waits: bool,
    /// Only open work is joined.
    asks_before_joining: bool,
    /// A helper looks once more after it has said that it sleeps.
    looks_again: bool,
}

const AS_IT_IS: Protocol = Protocol {
    claim: order::CLAIM,
    open: order::OPEN,
    join: order::JOIN,
    leave: order::LEAVE,
    close: order::CLOSE,
    alone: order::ALONE,
    free: order::FREE,
    stores_first: true,
    waits: true,
    asks_before_joining: true,
    looks_again: true,
};

/// Where the caller is: what it does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Calling {
    Claim,
    Store,
    Open,
    Count,
    AskWhoSleeps,
    Wake,
    Work,
    Close,
    Wait,
    Free,
    Done,
}

/// Where a helper is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Helping {
    Look,
    SaySleep,
    LookAgain,
    Park,
    SayAwake,
    Join,
    Read,
    Use,
    Leave,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct World {
    caller: Calling,
    round: u8,
    helpers: [Helping; HELPERS],
    seen: [u8; HELPERS],
    /// The round whose work a helper holds.
    holds: [u8; HELPERS],
    /// Who was asleep when the caller asked, and has not been woken.
    to_wake: u8,
    // Memory.
    state: u32,
    epoch: u8,
    asleep: u8,
    work: u8,
    unparked: [bool; HELPERS],
    /// The round whose work lies on the caller's stack; 0 for none.
    alive: u8,
    // What is known.
    clocks: [Clock; THREADS],
    /// What an acquiring read of `state` learns.
    of_state: Clock,
    /// What a read of `epoch` or `asleep` learns: they are sequentially consistent.
    of_rest: Clock,
    /// When the work was stored.
    stored: u8,
    /// When each helper used it last.
    used: [u8; HELPERS],
}

impl World {
    fn new() -> Self {
        Self {
            caller: Calling::Claim,
            round: 1,
            helpers: [Helping::Look; HELPERS],
            seen: [0; HELPERS],
            holds: [0; HELPERS],
            to_wake: 0,
            state: 0,
            epoch: 0,
            asleep: 0,
            work: 0,
            unparked: [false; HELPERS],
            alive: 0,
            clocks: [[0; THREADS]; THREADS],
            of_state: [0; THREADS],
            of_rest: [0; THREADS],
            stored: 0,
            used: [0; HELPERS],
        }
    }

    /// A read, write or both of `state` by a thread.
    fn on_state(&mut self, thread: usize, order: Ordering, writes: bool, reads: bool) {
        let acquires = matches!(
            order,
            Ordering::Acquire | Ordering::AcqRel | Ordering::SeqCst
        );
        let releases = matches!(
            order,
            Ordering::Release | Ordering::AcqRel | Ordering::SeqCst
        );
        if reads && acquires {
            let learnt = self.of_state;
            join(&mut self.clocks[thread], learnt);
        }
        if writes {
            if !reads {
                // A plain store begins anew; what changes a value goes on with what was released before.
                self.of_state = [0; THREADS];
            }
            if releases {
                let known = self.clocks[thread];
                join(&mut self.of_state, known);
            }
        }
    }

    /// An access to `epoch` or `asleep`.
    fn on_rest(&mut self, thread: usize) {
        let learnt = self.of_rest;
        join(&mut self.clocks[thread], learnt);
        self.of_rest = self.clocks[thread];
    }

    fn tick(&mut self, thread: usize) -> u8 {
        self.clocks[thread][thread] += 1;
        self.clocks[thread][thread]
    }

    /// The caller's next step; `None` where it waits or is done.
    fn call(&self, p: Protocol) -> Result<Option<Self>, String> {
        let mut w = self.clone();
        w.caller = match self.caller {
            Calling::Claim => {
                if w.state != 0 {
                    return Err("the pool is not free when the caller comes back".into());
                }
                w.state = 1;
                w.on_state(CALLER, p.claim, true, true);
                if p.stores_first {
                    Calling::Store
                } else {
                    Calling::Open
                }
            }
            Calling::Store => {
                w.stored = w.tick(CALLER);
                (w.work, w.alive) = (w.round, w.round);
                if p.stores_first {
                    Calling::Open
                } else {
                    Calling::Count
                }
            }
            Calling::Open => {
                w.state |= OPEN;
                w.on_state(CALLER, p.open, true, true);
                if p.stores_first {
                    Calling::Count
                } else {
                    Calling::Store
                }
            }
            Calling::Count => {
                w.epoch += 1;
                w.on_rest(CALLER);
                Calling::AskWhoSleeps
            }
            Calling::AskWhoSleeps => {
                w.to_wake = w.asleep;
                w.on_rest(CALLER);
                Calling::Wake
            }
            Calling::Wake => match w.to_wake.trailing_zeros() as usize {
                first if first < HELPERS => {
                    w.unparked[first] = true;
                    w.to_wake &= !(1 << first);
                    Calling::Wake
                }
                _ => Calling::Work,
            },
            Calling::Work => Calling::Close,
            Calling::Close => {
                w.state &= !OPEN;
                w.on_state(CALLER, p.close, true, true);
                Calling::Wait
            }
            Calling::Wait => {
                if p.waits && w.state != 1 {
                    return Ok(None);
                }
                w.on_state(CALLER, p.alone, false, true);
                // From here on the work is gone.
                for helper in 0..HELPERS {
                    if matches!(w.helpers[helper], Helping::Read | Helping::Use) {
                        return Err(format!("the work goes while helper {helper} is inside"));
                    }
                    if w.clocks[CALLER][helper] < w.used[helper] {
                        return Err(format!(
                            "the caller does not know that helper {helper} has left"
                        ));
                    }
                }
                w.alive = 0;
                w.tick(CALLER);
                Calling::Free
            }
            Calling::Free => {
                w.state = 0;
                w.on_state(CALLER, p.free, true, false);
                w.round += 1;
                if w.round > ROUNDS {
                    Calling::Done
                } else {
                    Calling::Claim
                }
            }
            Calling::Done => return Ok(None),
        };
        Ok(Some(w))
    }

    /// What a helper can do next.
    fn help(&self, h: usize, p: Protocol) -> Result<Vec<Self>, String> {
        let mut w = self.clone();
        let next = match self.helpers[h] {
            Helping::Look => {
                w.on_rest(h);
                if w.epoch == w.seen[h] {
                    // Looking again changes nothing: it may as well be tired of it.
                    Helping::SaySleep
                } else {
                    w.seen[h] = w.epoch;
                    Helping::Join
                }
            }
            Helping::SaySleep => {
                w.asleep |= 1 << h;
                w.on_rest(h);
                if p.looks_again {
                    Helping::LookAgain
                } else {
                    Helping::Park
                }
            }
            Helping::LookAgain => {
                w.on_rest(h);
                if w.epoch == w.seen[h] {
                    Helping::Park
                } else {
                    Helping::SayAwake
                }
            }
            Helping::Park => {
                if !w.unparked[h] {
                    return Ok(Vec::new());
                }
                w.unparked[h] = false;
                Helping::SayAwake
            }
            Helping::SayAwake => {
                w.asleep &= !(1 << h);
                w.on_rest(h);
                Helping::Look
            }
            Helping::Join => {
                if p.asks_before_joining && w.state & OPEN == 0 {
                    Helping::Look
                } else {
                    w.state += 1;
                    w.on_state(h, p.join, true, true);
                    Helping::Read
                }
            }
            Helping::Read => {
                w.holds[h] = w.work;
                Helping::Use
            }
            Helping::Use => {
                if w.holds[h] == 0 || w.holds[h] != w.alive {
                    return Err(format!(
                        "helper {h} holds work {} while {} is there",
                        w.holds[h], w.alive
                    ));
                }
                if w.clocks[h][CALLER] < w.stored {
                    return Err(format!(
                        "helper {h} does not know of the work that it reads"
                    ));
                }
                w.used[h] = w.tick(h);
                Helping::Leave
            }
            Helping::Leave => {
                w.state = w.state.wrapping_sub(1);
                w.on_state(h, p.leave, true, true);
                w.holds[h] = 0;
                Helping::Look
            }
        };
        w.helpers[h] = next;
        Ok(vec![w])
    }
}

/// Walks through everything that can happen: how many worlds there are, or what is wrong with one.
fn walk(p: Protocol) -> Result<usize, String> {
    let mut known = HashSet::from([World::new()]);
    let mut open = vec![World::new()];
    while let Some(world) = open.pop() {
        let mut next: Vec<World> = world.call(p)?.into_iter().collect();
        for helper in 0..HELPERS {
            next.extend(world.help(helper, p)?);
        }
        if next.is_empty() {
            if world.caller != Calling::Done {
                return Err(format!("everybody waits: {world:?}"));
            }
            if world.seen.iter().any(|&seen| seen != world.epoch) {
                return Err("a helper sleeps through a piece of work".into());
            }
        }
        for world in next {
            if known.insert(world.clone()) {
                open.push(world);
            }
        }
    }
    Ok(known.len())
}

#[test]
fn in_every_order_of_steps_work_is_there_while_it_is_used() {
    let worlds = walk(AS_IT_IS).unwrap();
    assert!(
        worlds > 10_000,
        "only {worlds} worlds: something was left out"
    );
}

#[test]
fn what_would_be_wrong_is_found() {
    let relaxed = Ordering::Relaxed;
    let wrong = [
        (
            "opening tells nothing",
            Protocol {
                open: relaxed,
                ..AS_IT_IS
            },
            "does not know of the work",
        ),
        (
            "joining learns nothing",
            Protocol {
                join: relaxed,
                ..AS_IT_IS
            },
            "does not know of the work",
        ),
        (
            "leaving tells nothing",
            Protocol {
                leave: relaxed,
                ..AS_IT_IS
            },
            "does not know that helper",
        ),
        (
            "being alone teaches nothing",
            Protocol {
                close: relaxed,
                alone: relaxed,
                ..AS_IT_IS
            },
            "does not know that helper",
        ),
        (
            "open before there is work",
            Protocol {
                stores_first: false,
                ..AS_IT_IS
            },
            "holds work",
        ),
        (
            "nobody waits",
            Protocol {
                waits: false,
                ..AS_IT_IS
            },
            "helper",
        ),
        (
            "closed work is joined",
            Protocol {
                asks_before_joining: false,
                ..AS_IT_IS
            },
            "",
        ),
        (
            "no second look",
            Protocol {
                looks_again: false,
                ..AS_IT_IS
            },
            "sleeps through",
        ),
    ];
    for (name, protocol, why) in wrong {
        let found = walk(protocol);
        assert!(
            found.as_ref().is_err_and(|e| e.contains(why)),
            "{name}: {found:?}"
        );
    }
}
