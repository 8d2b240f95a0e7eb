//! Native measurements: `cargo xtask bench`, or `cargo bench --profile engine -p exports`.
//!
//! divan measures every case; its items are floating-point operations, so that Gitem/s is GFLOP/s: 4·h·n²·d forward,
//! 10·h·n²·d backward, half of it when causal. A table at the end has the fraction of the ceiling and the scaling in n.
//! The ceiling is a register-blocked tile of products on the same lanes, from near memory, measured beside each case. Lanes are plain code here:
//! the vectors of WebAssembly are measured by tests/browser/bench.mjs.

use attention::lanes::{Best, Lane};
use divan::Bencher;
use divan::counter::{BytesCount, ItemsCount};
use exports::buffers::{BUFFERS, Buffer, Work};
use exports::call::At;
use exports::pool::Pool;
use exports::session::Session;
use std::fmt;
use std::hint::black_box;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

const SHAPES: [[usize; 3]; 5] = [
    [1, 16, 8],
    [1, 128, 64],
    [8, 512, 64],
    [8, 1024, 64],
    [1, 4096, 64],
];
const CACHES: [[usize; 3]; 2] = [[8, 1024, 64], [1, 65_536, 64]];
const LENGTHS: [usize; 6] = [256, 512, 1024, 2048, 4096, 8192];

#[derive(Clone, Copy)]
struct Case {
    heads: usize,
    queries: usize,
    keys: usize,
    width: usize,
    causal: bool,
    threads: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            heads, keys, width, ..
        } = self;
        let mask = if self.causal { "causal" } else { "full" };
        write!(f, "({heads},{keys},{width}) {mask} {}t", self.threads)
    }
}

impl Case {
    const fn square([heads, n, width]: [usize; 3], causal: bool, threads: usize) -> Self {
        Self {
            heads,
            queries: n,
            keys: n,
            width,
            causal,
            threads,
        }
    }

    /// Operations of two products with the scores.
    fn flops(self) -> f64 {
        let cells = (self.heads * self.queries * self.keys) as f64;
        4.0 * cells * self.width as f64 * if self.causal { 0.5 } else { 1.0 }
    }

    /// A session with this call in slot 0 and numbers in its inputs.
    fn session(self, work: Work) -> Session {
        let mut session = Session::default();
        for (at, number) in [
            (At::Heads, self.heads),
            (At::KvHeads, self.heads),
            (At::Queries, self.queries),
            (At::Keys, self.keys),
            (At::KeyWidth, self.width),
            (At::ValueWidth, self.width),
            (At::Causal, usize::from(self.causal)),
        ] {
            session.numbers[at as usize] = number as f64;
        }
        for at in [At::Scale, At::KeyLength, At::QkNorm] {
            session.numbers[at as usize] = f64::NAN;
        }
        session.define(0);
        session.prepare(0, work, self.threads);
        let mut x: u32 = 7;
        for buffer in BUFFERS {
            for number in session.buffer(buffer) {
                x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                *number = (x >> 8) as f32 / (1 << 23) as f32 - 1.0;
            }
        }
        session.forward(0, pool(self.threads), |_| ());
        session
    }
}

/// A pool of its own for each number of threads, for as long as the program runs.
fn pool(threads: usize) -> &'static Pool {
    static ALONE: Pool = Pool::new();
    static PAIR: Pool = Pool::new();
    static STARTED: OnceLock<()> = OnceLock::new();
    if threads == 1 {
        return &ALONE;
    }
    STARTED.get_or_init(|| {
        std::thread::spawn(|| PAIR.serve(|| true));
        while PAIR.helpers() == 0 {
            std::thread::yield_now();
        }
    });
    &PAIR
}

fn squares() -> Vec<Case> {
    let masks = [false, true];
    let all = SHAPES.iter().flat_map(|&shape| {
        masks.map(|causal| [1, 2].map(|threads| Case::square(shape, causal, threads)))
    });
    all.flatten().collect()
}

fn caches() -> Vec<Case> {
    let one = |&shape: &[usize; 3]| Case {
        queries: 1,
        ..Case::square(shape, false, 1)
    };
    CACHES.iter().map(one).collect()
}

#[divan::bench(args = squares(), max_time = 1)]
fn forward(bencher: Bencher<'_, '_>, case: Case) {
    let mut session = case.session(Work::Forward);
    bencher
        .counter(ItemsCount::new(case.flops() as u64))
        .bench_local(|| session.forward(0, pool(case.threads), |_| ()));
}

#[divan::bench(args = squares(), max_time = 1)]
fn backward(bencher: Bencher<'_, '_>, case: Case) {
    let mut session = case.session(Work::Backward);
    bencher
        .counter(ItemsCount::new((2.5 * case.flops()) as u64))
        .bench_local(|| session.backward(0, pool(case.threads), |_| ()));
}

#[divan::bench(args = caches(), max_time = 1)]
fn decode(bencher: Bencher<'_, '_>, case: Case) {
    let mut session = case.session(Work::Forward);
    bencher
        .counter(BytesCount::new(8 * case.heads * case.keys * case.width))
        .bench_local(|| session.forward(0, pool(1), |_| ()));
}

/// The same on keys and values that are there.
#[divan::bench(args = caches(), max_time = 1)]
fn cached(bencher: Bencher<'_, '_>, case: Case) {
    let mut session = case.session(Work::Forward);
    let cache = session.open_cache(case.keys).unwrap_or(0);
    for head in 0..case.heads {
        let (k, v) = session.cache_room(cache, head);
        k.fill(0.5);
        v.fill(0.5);
    }
    session.cache_take_in(cache, case.keys);
    session.define_cached(cache, 1);
    bencher
        .counter(BytesCount::new(8 * case.heads * case.keys * case.width))
        .bench_local(|| session.compute_cached(cache, pool(1), |_| ()));
}

/// Width of the products in the ceiling's tile.
const DEPTH: usize = 64;
/// Operations of one call of [`tile`].
const TILE: u64 = 2 * 4 * 8 * DEPTH as u64;

/// Four rows times eight columns in registers.
fn tile<L: Lane>(a: &[[f32; 4]; DEPTH], b: &[[[f32; 4]; 2]; DEPTH]) -> [[L; 2]; 4] {
    let mut sums = [[L::splat(0.0); 2]; 4];
    for (a, b) in a.iter().zip(b) {
        let b = [L::load(&b[0]), L::load(&b[1])];
        for i in 0..4 {
            let a = L::splat(a[i]);
            for j in 0..2 {
                sums[i][j] = sums[i][j].add(a.mul(b[j]));
            }
        }
    }
    sums
}

#[divan::bench]
fn ceiling(bencher: Bencher<'_, '_>) {
    let (a, b) = ([[0.5; 4]; DEPTH], [[[0.25; 4]; 2]; DEPTH]);
    bencher
        .counter(ItemsCount::new(TILE))
        .bench_local(|| tile::<Best>(black_box(&a), black_box(&b)));
}

/// Seconds of a call in one sample of at least so many milliseconds.
fn sample(milliseconds: u64, call: &mut dyn FnMut()) -> f64 {
    let (start, mut calls) = (Instant::now(), 0);
    while start.elapsed() < Duration::from_millis(milliseconds) {
        call();
        calls += 1;
    }
    start.elapsed().as_secs_f64() / f64::from(calls)
}

fn median(mut samples: [f64; 5]) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[2]
}

/// Seconds of one call, and GFLOP/s of the ceiling's tile between its samples: a machine that does something else as well
/// slows both.
fn beside_ceiling(mut call: impl FnMut()) -> (f64, f64) {
    let (a, b) = ([[0.5; 4]; DEPTH], [[[0.25; 4]; 2]; DEPTH]);
    let turns = 1000;
    let mut tiles = || {
        for _ in 0..turns {
            black_box(tile::<Best>(black_box(&a), black_box(&b)));
        }
    };
    call();
    let (mut times, mut ceilings) = ([0.0; 5], [0.0; 5]);
    for (time, ceiling) in times.iter_mut().zip(&mut ceilings) {
        *ceiling = sample(10, &mut tiles);
        *time = sample(40, &mut call);
    }
    let flops = (turns * TILE) as f64;
    (median(times), flops / median(ceilings) / 1e9)
}

fn table() {
    println!(
        "\n{:<26}{:>12}{:>9}{:>9}{:>9}{:>12}",
        "forward", "ms", "GFLOP/s", "ceiling", "of it", "scratch"
    );
    let scaling = LENGTHS.map(|n| Case::square([1, n, 64], true, 1));
    for case in squares().into_iter().chain(scaling) {
        let mut session = case.session(Work::Forward);
        let (time, ceiling) = beside_ceiling(|| {
            session.forward(0, pool(case.threads), |_| ());
        });
        let (speed, ceiling) = (case.flops() / time / 1e9, ceiling * case.threads as f64);
        println!(
            "{:<26}{:>12.4}{speed:>9.1}{ceiling:>9.1}{:>7.0} %{:>8} KiB",
            case.to_string(),
            time * 1e3,
            100.0 * speed / ceiling,
            session
                .scratch_bytes(0, Work::Forward, case.threads)
                .div_ceil(1024),
        );
        black_box(session.buffer(Buffer::Out));
    }
}

fn main() {
    divan::main();
    // Where only some were asked for, by a word of their name, they are all that was wanted.
    if std::env::args().skip(1).all(|arg| arg.starts_with('-')) {
        table();
    }
}
