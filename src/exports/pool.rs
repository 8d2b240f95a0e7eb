//! Helpers that wait for work, and a caller that never sleeps.
//!
//! A page's main thread must not block: `memory.atomic.wait` traps there. So the caller hands out a piece of work by
//! writing to memory, takes its share of it, and spins until the helpers that joined have left: they leave as soon as
//! nothing is left to take, at most one task later. A helper looks for new work for about a tenth of a millisecond,
//! since calls come in rows, and then sleeps until it is woken. One that wakes up late finds the work closed and is
//! not waited for.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::thread::{Thread, current, park};

/// How many helpers a pool can have: one bit each.
pub const MAX_HELPERS: usize = 31;

/// How often a helper looks for new work before it sleeps: 100 to 200 µs on machines of today. Longer burns power
/// beside a page that does something else; shorter costs calls in a row the time to wake up, some 50 µs. Natively, where
/// a core can be offered to others, fewer looks take as long.
const LOOKS: u32 = if cfg!(target_arch = "wasm32") {
    150_000
} else {
    2_000
};

/// How the accesses to [`Pool::state`] are ordered: each name is that of the step in `run` or `serve`. `pool/model.rs` walks
/// through all that can happen with these.
mod order {
    use std::sync::atomic::Ordering;

    /// The caller takes the pool.
    pub(super) const CLAIM: Ordering = Ordering::Acquire;
    /// What was stored before is told to who joins.
    pub(super) const OPEN: Ordering = Ordering::Release;
    /// Learns of it.
    pub(super) const JOIN: Ordering = Ordering::Acquire;
    /// What was done inside is told to the caller.
    pub(super) const LEAVE: Ordering = Ordering::Release;
    /// Nobody joins from here on.
    pub(super) const CLOSE: Ordering = Ordering::AcqRel;
    /// Learns what was done inside.
    pub(super) const ALONE: Ordering = Ordering::Acquire;
    /// The caller gives the pool back.
    pub(super) const FREE: Ordering = Ordering::Release;
}

/// In [`Pool::state`]: helpers may join. The other bits count those that have.
const OPEN: u32 = 1 << 31;

/// Any number of helpers and one caller at a time.
#[derive(Debug)]
pub struct Pool {
    helpers: [OnceLock<Thread>; MAX_HELPERS],
    arrived: AtomicUsize,
    /// One bit for each helper that sleeps, or is about to.
    asleep: AtomicU32,
    /// Number of the piece of work.
    epoch: AtomicU32,
    state: AtomicU32,
    /// Where the caller's `&(dyn Fn() + Sync)` lies. Only read between joining and leaving.
    work: AtomicPtr<()>,
}

/// The work as the helpers see it.
type Work<'a> = &'a (dyn Fn() + Sync);

impl Default for Pool {
    fn default() -> Self {
        Self::new()
    }
}

impl Pool {
    /// A pool without helpers.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            helpers: [const { OnceLock::new() }; MAX_HELPERS],
            arrived: AtomicUsize::new(0),
            asleep: AtomicU32::new(0),
            epoch: AtomicU32::new(0),
            state: AtomicU32::new(0),
            work: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// How many helpers there are.
    #[must_use]
    pub fn helpers(&self) -> usize {
        self.arrived.load(Ordering::Acquire).min(MAX_HELPERS)
    }

    /// Runs `work` on the calling thread and on each helper that comes in time, and returns when all have returned.
    ///
    /// `work` has to take its tasks from a common place: it may be run once or on every thread. Only one thread may
    /// call this at a time; a call from inside `work` runs alone.
    pub fn run(&self, work: &(dyn Fn() + Sync)) {
        let shared: Work<'_> = work;
        // The caller alone is inside; one that is inside already works alone.
        let claimed = self
            .state
            .compare_exchange(0, 1, order::CLAIM, Ordering::Relaxed);
        if claimed.is_err() {
            return work();
        }
        self.work.store(
            std::ptr::from_ref(&shared).cast_mut().cast(),
            Ordering::Relaxed,
        );
        // In this order: who joins, even a helper that is late for an earlier piece of work, sees this one.
        self.state.fetch_or(OPEN, order::OPEN);
        let _closed_in_any_case = Closing(self);
        self.epoch.fetch_add(1, Ordering::SeqCst);
        let asleep = self.asleep.load(Ordering::SeqCst);
        for (at, helper) in self.helpers.iter().enumerate() {
            if asleep & (1 << at) != 0
                && let Some(helper) = helper.get()
            {
                helper.unpark();
            }
        }
        work();
    }

    /// Makes the calling thread a helper while `stay` says so; it is asked before each sleep. Returns at once where the
    /// pool is full.
    pub fn serve(&self, stay: impl Fn() -> bool) {
        let at = self.arrived.fetch_add(1, Ordering::AcqRel);
        let Some(place) = self.helpers.get(at) else {
            return;
        };
        // Nobody else has this place.
        let _ = place.set(current());
        let mut seen = 0;
        loop {
            let mut looks = 0;
            let mut epoch = self.epoch.load(Ordering::SeqCst);
            while epoch == seen {
                looks += 1;
                if looks < LOOKS {
                    pause(looks);
                } else {
                    if !stay() {
                        return;
                    }
                    self.asleep.fetch_or(1 << at, Ordering::SeqCst);
                    // Looked at once more: who changes it from here on sees the bit and wakes this thread.
                    if self.epoch.load(Ordering::SeqCst) == seen {
                        park();
                    }
                    self.asleep.fetch_and(!(1 << at), Ordering::SeqCst);
                    looks = 0;
                }
                epoch = self.epoch.load(Ordering::SeqCst);
            }
            seen = epoch;
            if self.join() {
                let _left_in_any_case = Leaving(self);
                let work = self.work.load(Ordering::Relaxed).cast::<Work<'_>>();
                // SAFETY: `run` has stored a pointer to a `Work` on its stack before it opened this epoch, and it
                // neither returns nor unwinds past it while a helper that joined has not left. Joining acquired what
                // `run` released. `pool/model.rs` tries this in every order of steps.
                let work = unsafe { *work };
                work();
            }
        }
    }

    /// Counts the calling helper in, where work is open.
    fn join(&self) -> bool {
        self.state
            .fetch_update(order::JOIN, Ordering::Relaxed, |state| {
                (state & OPEN != 0).then_some(state + 1)
            })
            .is_ok()
    }
}

/// Between two looks. Now and then others may have the core: WebAssembly cannot offer it, and this does nothing there.
fn pause(looks: u32) {
    if looks.is_multiple_of(64) {
        std::thread::yield_now();
    } else {
        std::hint::spin_loop();
    }
}

/// A helper inside.
struct Leaving<'a>(&'a Pool);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.state.fetch_sub(1, order::LEAVE);
    }
}

/// Open work, closed and waited for when this goes.
struct Closing<'a>(&'a Pool);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        // Nobody joins from here on.
        self.0.state.fetch_and(!OPEN, order::CLOSE);
        let mut looks = 0;
        while self.0.state.load(order::ALONE) != 1 {
            looks += 1;
            pause(looks);
        }
        self.0.state.store(0, order::FREE);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // that is how a test fails
mod model;

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    /// Runs `with` beside two helpers.
    fn helped(with: impl FnOnce(&Pool)) {
        let pool = Pool::new();
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| pool.serve(|| !over.load(Ordering::SeqCst)));
            }
            while pool.helpers() < 2 {
                std::thread::yield_now();
            }
            with(&pool);
            over.store(true, Ordering::SeqCst);
            // Whoever sleeps has to hear of it; who is awake asks before it sleeps.
            for helper in pool.helpers.iter().filter_map(OnceLock::get) {
                helper.unpark();
            }
        });
    }

    #[test]
    fn every_piece_of_work_is_done_whole_before_run_returns() {
        helped(|pool| {
            for round in 0..2_000 {
                let (left, done) = (AtomicUsize::new(round % 17), AtomicUsize::new(0));
                pool.run(&|| {
                    while left
                        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1))
                        .is_ok()
                    {
                        done.fetch_add(1, Ordering::Relaxed);
                    }
                });
                assert_eq!(done.into_inner(), round % 17);
            }
        });
    }

    #[test]
    fn helpers_take_part_and_wake_up() {
        helped(|pool| {
            for _ in 0..3 {
                // Long enough for all of them to be asleep.
                std::thread::sleep(std::time::Duration::from_millis(20));
                let inside = AtomicUsize::new(0);
                // Everyone waits for the others: this ends only if both helpers come.
                pool.run(&|| {
                    inside.fetch_add(1, Ordering::SeqCst);
                    while inside.load(Ordering::SeqCst) < 3 {
                        std::thread::yield_now();
                    }
                });
            }
        });
    }

    #[test]
    fn work_inside_work_runs_alone() {
        helped(|pool| {
            let inner = AtomicUsize::new(0);
            let outer = AtomicUsize::new(0);
            pool.run(&|| {
                outer.fetch_add(1, Ordering::SeqCst);
                pool.run(&|| {
                    inner.fetch_add(1, Ordering::SeqCst);
                });
            });
            assert_eq!(inner.into_inner(), outer.into_inner());
        });
    }
}
