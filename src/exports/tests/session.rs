//! A session gives what the crate gives, whoever works on it, and keeps what it promises about its buffers.

#![allow(clippy::unwrap_used)] // that is how a test fails

use attention::{Inputs, lanes::Best, rows::Serial, tiled};
use exports::buffers::{BUFFERS, Buffer, STAGE, Work};
use exports::call::{At, parse};
use exports::pool::Pool;
use exports::session::{Outcome, Session};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// heads, key heads, queries, keys, widths, causal
type Sizes = [usize; 7];

const CALLS: [Sizes; 5] = [
    [1, 1, 16, 16, 8, 8, 0],
    [4, 2, 150, 150, 20, 12, 1],
    [2, 1, 3, 700, 64, 64, 1],
    [3, 3, 1, 40, 4, 4, 0],
    [2, 2, 290, 90, 33, 33, 0],
];

fn describe(session: &mut Session, sizes: Sizes) {
    let at = [
        At::Heads,
        At::KvHeads,
        At::Queries,
        At::Keys,
        At::KeyWidth,
        At::ValueWidth,
        At::Causal,
    ];
    for (at, size) in at.into_iter().zip(sizes) {
        session.numbers[at as usize] = size as f64;
    }
    for at in [At::Scale, At::KeyLength, At::QkNorm] {
        session.numbers[at as usize] = f64::NAN;
    }
}

fn noise(seed: u32, length: usize) -> Vec<f32> {
    let mut x = seed;
    let next = |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    (0..length).map(next).collect()
}

/// Defines and prepares a call and writes its inputs.
fn ready(session: &mut Session, slot: usize, sizes: Sizes, threads: usize) -> [Vec<f32>; 4] {
    describe(session, sizes);
    assert_eq!(session.define(slot), Outcome::Done);
    assert_eq!(
        session.prepare(slot, Work::Backward, threads),
        Outcome::Done
    );
    let shape = parse(&session.numbers, &session.sinks.0).unwrap().shape();
    [Buffer::Q, Buffer::K, Buffer::V, Buffer::DOut].map(|buffer| {
        let numbers = noise(buffer as u32 + 1, buffer.len(shape, Work::Backward));
        session.buffer(buffer)[..numbers.len()].copy_from_slice(&numbers);
        numbers
    })
}

fn helped(work: impl FnOnce(&Pool)) {
    let (pool, over, left) = (Pool::new(), AtomicBool::new(false), AtomicU32::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                pool.serve(|| !over.load(Ordering::SeqCst));
                left.fetch_add(1, Ordering::SeqCst);
            });
        }
        while pool.helpers() < 3 {
            std::thread::yield_now();
        }
        work(&pool);
        over.store(true, Ordering::SeqCst);
        // Work for whoever sleeps: they look up, and leave.
        while left.load(Ordering::SeqCst) < 3 {
            pool.run(&|| {});
            std::thread::yield_now();
        }
    });
}

fn gives_what_the_crate_gives(pool: &Pool) {
    let mut session = Session::default();
    // In any order, over one another's buffers.
    for (round, at) in [0, 1, 2, 3, 4, 1, 0, 2, 2].into_iter().enumerate() {
        let [q, k, v, d_out] = ready(&mut session, round % 4, CALLS[at], pool.helpers() + 1);
        assert_eq!(session.forward(round % 4, pool, |_| ()), Outcome::Done);
        assert_eq!(session.backward(round % 4, pool, |_| ()), Outcome::Done);

        let spec = parse(&session.numbers, &[]).unwrap();
        let inputs = Inputs::new(&spec, &q, &k, &v).unwrap();
        let output = tiled::forward::<Best, _>(&spec, &inputs, &Serial).unwrap();
        let g = tiled::backward::<Best, _>(&spec, &inputs, &output, &d_out, &Serial).unwrap();
        for (buffer, expected) in [
            (Buffer::Out, output.out),
            (Buffer::Lse, output.lse),
            (Buffer::DQ, g.d_q),
            (Buffer::DK, g.d_k),
            (Buffer::DV, g.d_v),
        ] {
            let got = &session.buffer(buffer)[..expected.len()];
            assert_eq!(got, expected, "{buffer:?} of call {at}");
        }
    }
}

#[test]
fn a_session_gives_what_the_crate_gives() {
    gives_what_the_crate_gives(&Pool::new());
}

#[test]
fn so_it_does_with_helpers() {
    helped(|pool| (0..2).for_each(|_| gives_what_the_crate_gives(pool)));
}

#[test]
fn buffers_stay_where_they_are_while_a_call_stays_the_same() {
    let mut session = Session::default();
    ready(&mut session, 0, CALLS[1], 1);
    let places = |session: &mut Session| BUFFERS.map(|b| session.buffer(b).as_ptr());
    session.forward(0, &Pool::new(), |_| ());
    session.backward(0, &Pool::new(), |_| ());
    let before = places(&mut session);
    for _ in 0..3 {
        assert_eq!(session.prepare(0, Work::Backward, 1), Outcome::Done);
        session.forward(0, &Pool::new(), |_| ());
        session.backward(0, &Pool::new(), |_| ());
    }
    // A smaller one fits in.
    ready(&mut session, 1, CALLS[0], 1);
    session.forward(1, &Pool::new(), |_| ());
    assert_eq!(places(&mut session), before);
}

#[test]
fn a_result_is_held_until_an_input_is_another() {
    let mut session = Session::default();
    let [q, ..] = ready(&mut session, 0, CALLS[1], 1);
    assert!(!session.holds(0));
    assert_eq!(session.backward(0, &Pool::new(), |_| ()), Outcome::Failed);
    session.forward(0, &Pool::new(), |_| ());
    assert!(session.holds(0) && !session.holds(1));

    let piece = &q[100..100 + 2000];
    session.buffer(Buffer::Stage)[..piece.len()].copy_from_slice(piece);
    assert!(session.absorb(Buffer::Q, 100, piece.len()));
    assert!(session.holds(0));
    // One bit: −0 is another input than 0, for all that is known here.
    session.buffer(Buffer::Stage)[1999] = -piece[1999];
    assert!(!session.absorb(Buffer::Q, 100, piece.len()));
    assert!(!session.holds(0));
    assert_eq!(session.buffer(Buffer::Q)[100 + 1999], -piece[1999]);
    // What lies beyond its ends is nothing.
    assert!(!session.absorb(Buffer::Q, usize::MAX, 2));
    assert!(!session.absorb(Buffer::Q, 0, STAGE + 1));
}

#[test]
fn what_cannot_be_is_a_sentence() {
    let mut session = Session::default();
    let alone = Pool::new();
    assert_eq!(session.prepare(0, Work::Forward, 1), Outcome::Failed);
    assert_eq!(session.forward(9, &alone, |_| ()), Outcome::Failed);
    describe(&mut session, [3, 2, 1, 1, 1, 1, 0]);
    assert_eq!(session.define(0), Outcome::Failed);
    assert_eq!(
        session.message(),
        "K/V heads: expected a divisor of 3, got 2. Choose 1 or 3."
    );
    ready(&mut session, 0, CALLS[0], 1);
    session.buffer(Buffer::V)[3] = f32::NAN;
    assert_eq!(session.forward(0, &alone, |_| ()), Outcome::Failed);
    assert!(
        session
            .message()
            .starts_with("v[0, 0, 3]: expected a finite number"),
        "{}",
        session.message()
    );
    assert!(!session.holds(0));
}

#[test]
fn steps_are_counted_and_reported_on_the_calling_thread() {
    helped(|pool| {
        let mut session = Session::default();
        let threads = pool.helpers() + 1;
        ready(&mut session, 0, [4, 4, 900, 900, 16, 16, 1], threads);
        let steps = session.steps(0, false, threads);
        let (here, told) = (std::thread::current().id(), AtomicU32::new(0));
        session.progress.start();
        session.forward(0, pool, |done| {
            assert_eq!(std::thread::current().id(), here);
            assert!(done > told.swap(done, Ordering::Relaxed) && done as usize <= steps);
        });
        assert_eq!(session.progress.done() as usize, steps);
        session.progress.start();
        session.backward(0, pool, |_| ());
        assert_eq!(
            session.progress.done() as usize,
            session.steps(0, true, threads)
        );
        // Uncounted from here on.
        session.progress.stop();
        session.forward(0, pool, |_| unreachable!());
    });
}

#[test]
fn sinks_have_gradients_too() {
    let mut session = Session::default();
    // Something else was there before.
    session.numbers[At::SoftCap as usize] = 5.0;
    ready(&mut session, 7, [2, 2, 6, 6, 4, 4, 0], 1);
    session.forward(7, &Pool::new(), |_| ());
    session.backward(7, &Pool::new(), |_| ());
    session.numbers[At::SoftCap as usize] = 0.0;
    for (at, sinks) in [[0.0, 1.5], [-1.0, 2.0]].into_iter().enumerate() {
        session.sinks.0[..2].copy_from_slice(&sinks);
        session.numbers[At::Sinks as usize] = 1.0;
        let [q, k, v, d_out] = ready(&mut session, at, [2, 2, 6, 6, 4, 4, 0], 1);
        assert_eq!(session.forward(at, &Pool::new(), |_| ()), Outcome::Done);
        assert_eq!(session.backward(at, &Pool::new(), |_| ()), Outcome::Done);
        let spec = parse(&session.numbers, &sinks).unwrap();
        let inputs = Inputs::new(&spec, &q, &k, &v).unwrap();
        let output = tiled::forward::<Best, _>(&spec, &inputs, &Serial).unwrap();
        let g = tiled::backward::<Best, _>(&spec, &inputs, &output, &d_out, &Serial).unwrap();
        for (buffer, expected) in [
            (Buffer::DQ, g.d_q),
            (Buffer::DK, g.d_k),
            (Buffer::DV, g.d_v),
            (Buffer::DSink, g.d_sink.unwrap()),
        ] {
            assert_eq!(
                session.buffer(buffer)[..expected.len()],
                expected,
                "{buffer:?}"
            );
        }
    }
}

#[test]
fn a_cache_gives_what_its_tokens_give() {
    let mut session = Session::default();
    let (alone, [heads, n, d_k, d_v]) = (Pool::new(), [2, 30, 20, 12]);
    let sizes = [4, heads, 3, n, d_k, d_v, 1];
    let [q, k, v, _] = ready(&mut session, 0, sizes, 1);
    assert_eq!(session.forward(0, &alone, |_| ()), Outcome::Done);
    let right = session.buffer(Buffer::Out)[..4 * 3 * d_v].to_vec();

    describe(&mut session, sizes);
    assert_eq!(session.cache_cost(40), 40 * (8 + 4 * 2 * 32));
    let other = session.open_cache(5).unwrap();
    let cache = session.open_cache(40).unwrap();
    assert_eq!(session.cache_bytes(), 45 * (8 + 4 * 2 * 32));
    for tokens in [0..1, 1..29, 29..30] {
        for head in 0..heads {
            let (to_k, to_v) = session.cache_room(cache, head);
            for (to, from, width) in [(to_k, &k, d_k), (to_v, &v, d_v)] {
                let from = &from[head * n * width..][tokens.start * width..tokens.end * width];
                to[..from.len()].copy_from_slice(from);
            }
        }
        assert_eq!(session.cache_take_in(cache, tokens.len()), Outcome::Done);
    }
    // Other calls between those on the cache, larger ones too: buffers move, the cache does not.
    for between in [3, 2, 1] {
        assert_eq!(session.define_cached(cache, 1), Outcome::Done);
        session.buffer(Buffer::Q)[..q.len()].copy_from_slice(&q);
        assert_eq!(session.compute_cached(cache, &alone, |_| ()), Outcome::Done);
        assert_eq!(session.buffer(Buffer::Out)[..right.len()], right);
        assert!(!session.holds(0), "its result is another's now");
        ready(&mut session, 1, CALLS[between], 1);
        session.forward(1, &alone, |_| ());
        describe(&mut session, sizes);
    }

    // What cannot be is a sentence, and leaves everything as it was.
    assert_eq!(session.cache_take_in(cache, 11), Outcome::Failed);
    assert!(
        session
            .message()
            .starts_with("tokens: expected at most 10, got 11.")
    );
    session.cache_room(cache, 1).1[3] = f32::NAN;
    assert_eq!(session.cache_take_in(cache, 2), Outcome::Failed);
    assert!(
        session
            .message()
            .starts_with("v[1, 0, 3]: expected a finite number")
    );
    assert_eq!(session.define_cached(other, 1), Outcome::Done);
    assert_eq!(
        session.compute_cached(other, &alone, |_| ()),
        Outcome::Failed
    );
    assert!(
        session
            .message()
            .starts_with("k: expected 1200 numbers, got 0.")
    );
    assert_eq!(session.open_cache(0), None);
    session.close_cache(other);
    assert_eq!(session.define_cached(other, 1), Outcome::Failed);
    assert_eq!(session.message(), "there is no such cache");
    assert!(session.cache_room(other, 0).0.is_empty() && session.cache_room(cache, 2).0.is_empty());
    assert_eq!(
        session.open_cache(7),
        Some(other),
        "its number is free again"
    );

    // Fewer tokens are another call.
    session.cache_truncate(cache, 9);
    describe(&mut session, [4, heads, 3, 9, d_k, d_v, 1]);
    assert_eq!(session.define_cached(cache, 1), Outcome::Done);
    session.buffer(Buffer::Q)[..q.len()].copy_from_slice(&q);
    assert_eq!(session.compute_cached(cache, &alone, |_| ()), Outcome::Done);
    assert_ne!(session.buffer(Buffer::Out)[..right.len()], right);
}
