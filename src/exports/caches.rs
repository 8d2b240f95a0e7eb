//! Caches of keys and values, and the calls on them.
//!
//! JavaScript describes a layer ([`Session::open_cache`]), writes tokens where [`Session::cache_room`] is and has them
//! taken in, and then describes, prepares ([`Session::define_cached`]) and computes ([`Session::compute_cached`]) calls
//! whose keys they are. Queries and results are in the buffers of all calls.

use crate::buffers::Work;
use crate::pool::Pool;
use crate::session::{Outcome, Session};
use attention::{AttentionSpec, Cache, KvHeadIdx};

/// The caches of a session, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Caches(Vec<Option<Held>>);

#[derive(Debug)]
struct Held {
    cache: Cache,
    /// What it takes.
    bytes: usize,
    /// The call that was defined last.
    call: Option<AttentionSpec>,
}

const NO_CACHE: &str = "there is no such cache";

impl Caches {
    fn get(&mut self, number: usize) -> Result<&mut Held, String> {
        let held = self.0.get_mut(number).and_then(Option::as_mut);
        held.ok_or_else(|| NO_CACHE.into())
    }

    /// A cache and the call that was defined on it.
    pub(crate) fn call(&self, number: usize) -> Result<(&Cache, &AttentionSpec), String> {
        let held = self.0.get(number).and_then(Option::as_ref);
        let call = held.and_then(|held| Some((&held.cache, held.call.as_ref()?)));
        call.ok_or_else(|| NO_CACHE.into())
    }

    /// Keeps a cache; its number.
    fn add(&mut self, held: Held) -> usize {
        let free = self.0.iter().position(Option::is_none);
        let number = free.unwrap_or(self.0.len());
        if free.is_none() {
            self.0.push(None);
        }
        self.0[number] = Some(held);
        number
    }
}

impl Session {
    /// Bytes of a cache for so many tokens of the layer that the numbers describe; 0 where they describe none.
    #[must_use]
    pub fn cache_cost(&self, capacity: usize) -> u64 {
        self.parse()
            .map_or(0, |spec| Cache::bytes(&spec, capacity) as u64)
    }

    /// Bytes of all caches.
    #[must_use]
    pub fn cache_bytes(&self) -> u64 {
        let held = self.caches.0.iter().flatten();
        held.map(|held| held.bytes as u64).sum()
    }

    /// An empty cache for so many tokens of the layer that the numbers describe: its number. `None` where that cannot
    /// be; [`Session::message`] says why.
    pub fn open_cache(&mut self, capacity: usize) -> Option<usize> {
        let made = self.parse().and_then(|spec| {
            Ok(Held {
                cache: Cache::new(&spec, capacity)?,
                bytes: Cache::bytes(&spec, capacity),
                call: None,
            })
        });
        match made {
            Ok(held) => Some(self.caches.add(held)),
            Err(error) => {
                self.fail(&error);
                None
            }
        }
    }

    /// Gives a cache's memory back.
    pub fn close_cache(&mut self, number: usize) {
        if let Some(place) = self.caches.0.get_mut(number) {
            *place = None;
        }
    }

    /// Where keys and values of a head's next tokens go; nothing where there is no such cache or head.
    pub fn cache_room(&mut self, number: usize, head: usize) -> (&mut [f32], &mut [f32]) {
        match self.caches.get(number) {
            Ok(held) if head < held.cache.kv_heads() => held.cache.room(KvHeadIdx(head)),
            _ => (&mut [], &mut []),
        }
    }

    /// Takes in so many tokens that were written there.
    pub fn cache_take_in(&mut self, number: usize, tokens: usize) -> Outcome {
        let done = self.caches.get(number).and_then(|held| {
            let taken = held.cache.take_in(tokens);
            taken.map_err(|error| error.to_string())
        });
        self.outcome(done)
    }

    /// Leaves a cache's first tokens.
    pub fn cache_truncate(&mut self, number: usize, len: usize) {
        if let Ok(held) = self.caches.get(number) {
            held.cache.truncate(len);
        }
    }

    /// Reads the numbers as the next call on a cache, and makes room for its queries and its result.
    pub fn define_cached(&mut self, number: usize, threads: usize) -> Outcome {
        let spec = match self.parse() {
            Ok(spec) => spec,
            Err(error) => return self.fail(&error),
        };
        match self.caches.get(number) {
            Ok(held) => held.call = Some(spec.clone()),
            Err(why) => return self.fail(&why),
        }
        self.make_room(&spec, Work::Cached, threads)
    }

    /// Computes it.
    pub fn compute_cached(
        &mut self,
        number: usize,
        pool: &Pool,
        report: impl Fn(u32) + Sync,
    ) -> Outcome {
        let done = self.forward_cached(number, pool, report);
        self.outcome(done)
    }
}
