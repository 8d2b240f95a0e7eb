//! A cache gives the bits that its tokens give when they come all at once, however they came into it.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::lanes::{Best, Scalar};
use attention::naive;
use attention::rows::Serial;
use attention::tiled::{self, Workspace};
use attention::{
    AttentionSpec, Cache, CacheError, Config, InputError, Inputs, KvHeadIdx, PositionUse, Shape,
};
use common::random::{Call, call};
use common::threads::Shuffled;
use common::{Stream, bits, difference, largest, widen};
use proptest::prelude::*;

/// Rows `from`.. of each head of `[heads, rows, width]`.
fn rows(cells: &[f32], heads: usize, width: usize, rows: std::ops::Range<usize>) -> Vec<f32> {
    cells
        .chunks_exact(cells.len() / heads)
        .flat_map(|head| &head[rows.start * width..rows.end * width])
        .copied()
        .collect()
}

/// Brings the tokens of a call into `cache`, from `first` on, so many at a time.
fn fill(cache: &mut Cache, call: &Call, first: usize, step: usize) {
    let shape = call.spec.shape();
    for start in (first..shape.n_k).step_by(step) {
        let part = start..(start + step).min(shape.n_k);
        let k = rows(&call.k, shape.kv_heads, shape.d_k, part.clone());
        let v = rows(&call.v, shape.kv_heads, shape.d_v, part);
        cache.append(&k, &v).unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_bits_of_all_at_once(call in call(60, 1.0), step in 1..20_usize, spare in 0..40_usize, keep in 0..60_usize) {
        let (spec, shape) = (&call.spec, call.spec.shape());
        let inputs = Inputs::new(spec, &call.q, &call.k, &call.v).unwrap();
        let right = tiled::forward::<Best, _>(spec, &inputs, &Serial).unwrap();

        // Larger numbers came first, and went.
        let mut cache = Cache::new(spec, shape.n_k + spare).unwrap();
        let keep = keep.min(shape.n_k - 1);
        let large = |len: usize| vec![100.0; shape.kv_heads * (shape.n_k - keep) * len];
        fill(&mut cache, &call, 0, step);
        cache.truncate(keep);
        cache.append(&large(shape.d_k), &large(shape.d_v)).unwrap();
        cache.truncate(keep);
        fill(&mut cache, &call, keep, step);
        prop_assert_eq!((cache.len(), cache.capacity()), (shape.n_k, shape.n_k + spare));

        let kept = cache.inputs(spec, &call.q).unwrap();
        if spec.turns().is_empty() && spec.qk_norm().is_none() {
            prop_assert_eq!(kept.sizes(), inputs.sizes());
        }
        prop_assert_eq!(&bits(&tiled::forward::<Best, _>(spec, &kept, &Serial).unwrap()), &bits(&right));
        let shuffled = tiled::forward::<Scalar, _>(spec, &kept, &Shuffled { threads: 3 }).unwrap();
        prop_assert_eq!(&bits(&shuffled), &bits(&right));

        // The oracle takes it too. It rounds keys that were turned once more than without a cache.
        let (a, b) = (naive::forward(spec, &kept), naive::forward(spec, &inputs));
        let score = largest(&b.scaled).max(1.0);
        prop_assert!(difference(&a.out, &b.out) <= 1e-6 * score * largest(&widen(&call.v)));
    }

    #[test]
    fn gradients_are_at_the_keys_as_they_lie(call in call(20, 1.0)) {
        let (spec, shape) = (&call.spec, call.spec.shape());
        let mut cache = Cache::new(spec, shape.n_k + 3).unwrap();
        fill(&mut cache, &call, 0, 7);
        let kept = cache.inputs(spec, &call.q).unwrap();
        let output = tiled::forward::<Best, _>(spec, &kept, &Serial).unwrap();
        let got = tiled::backward::<Best, _>(spec, &kept, &output, &call.d_out, &Serial).unwrap();
        let d_out = widen(&call.d_out);
        let f = naive::forward(spec, &kept);
        let right = naive::backward(spec, &kept, &f, &d_out).unwrap();
        let score = largest(&f.scaled).max(1.0);
        for (got, right) in [(&got.d_q, &right.d_q), (&got.d_k, &right.d_k), (&got.d_v, &right.d_v)] {
            let bound = 2e-5 * score * largest(right).max(largest(&d_out) * largest(&widen(&call.v)));
            prop_assert!(difference(&widen(got), right) <= bound);
        }
    }
}

fn spec(n_k: usize, positions: Vec<PositionUse>) -> AttentionSpec {
    let shape = Shape {
        heads: 4,
        kv_heads: 2,
        n_q: 1,
        n_k,
        d_k: 4,
        d_v: 3,
    };
    let config = Config {
        positions,
        ..Config::new(shape)
    };
    AttentionSpec::new(config).unwrap()
}

/// Two heads of so many tokens.
fn tokens(count: usize) -> (Vec<f32>, Vec<f32>) {
    let mut stream = Stream::new(3);
    (
        stream.normals32(2 * count * 4),
        stream.normals32(2 * count * 3),
    )
}

#[test]
fn a_bias_that_stays_is_that_of_each_call() {
    let alibi = || vec![PositionUse::new("alibi", &[]).unwrap()];
    let call = |n_q: usize, n_k: usize, heads: usize, positions| {
        let shape = Shape {
            heads,
            n_q,
            n_k,
            ..spec(1, Vec::new()).shape()
        };
        let config = Config {
            positions,
            ..Config::new(shape)
        };
        AttentionSpec::new(config).unwrap()
    };
    let calls = [
        call(1, 1, 4, alibi()),
        call(1, 128, 4, alibi()),
        // One key more than the table has room for.
        call(1, 129, 4, alibi()),
        call(1, 130, 4, Vec::new()),
        call(1, 300, 4, alibi()),
        call(1, 7, 4, alibi()),
        call(1, 300, 6, alibi()),
        call(5, 300, 6, alibi()),
        call(5, 500, 6, alibi()),
        call(1, 500, 6, alibi()),
    ];
    let mut stays = Workspace::new();
    for spec in &calls {
        let shape = spec.shape();
        let (k, v) = tokens(shape.n_k);
        let q = Stream::new(4).normals32(shape.q_len());
        let inputs = Inputs::new(spec, &q, &k, &v).unwrap();
        let (mut out, mut lse) = (vec![0.0; shape.out_len()], vec![0.0; shape.rows()]);
        tiled::forward_into::<Best, _>(spec, &inputs, &Serial, &mut stays, &mut out, &mut lse)
            .unwrap();
        let right = tiled::forward::<Best, _>(spec, &inputs, &Serial).unwrap();
        assert_eq!((out, lse), (right.out, right.lse), "{shape:?}");
    }
}

#[test]
fn what_cannot_come_in_leaves_it_as_it_was() {
    let mut cache = Cache::new(&spec(1, Vec::new()), 5).unwrap();
    let (k, v) = tokens(3);
    cache.append(&k, &v).unwrap();
    let refused = |cache: &mut Cache, k: &[f32], v: &[f32]| {
        let error = cache.append(k, v).unwrap_err();
        assert_eq!(cache.len(), 3);
        error.to_string()
    };
    assert_eq!(
        refused(&mut cache, &k, &v),
        "tokens: expected at most 2, got 3. Make a cache of more capacity, or shorten this one."
    );
    assert_eq!(
        refused(&mut cache, &k[..8], &v[..7]),
        "v: expected 6 numbers, got 7. Give it the shape that the sizes say."
    );
    assert!(refused(&mut cache, &k[..9], &v[..6]).starts_with("k: expected 8 numbers, got 9."));
    let mut bad = k[..16].to_vec();
    bad[13] = f32::NAN;
    assert!(
        refused(&mut cache, &bad, &v[..12]).starts_with("k[1, 1, 1]: expected a finite number")
    );
    assert!(
        refused(
            &mut cache,
            &k[..8],
            &[1.0, 1.0, 1.0, 1.0, 1.0, f32::INFINITY]
        )
        .starts_with("v[1, 0, 2]: expected a finite number, got +∞")
    );

    // What was there is untouched, and the next ones find their place.
    let q = [1.0; 16];
    let three = spec(3, Vec::new());
    let right =
        tiled::forward::<Best, _>(&three, &Inputs::new(&three, &q, &k, &v).unwrap(), &Serial)
            .unwrap();
    let inputs = cache.inputs(&three, &q).unwrap();
    assert_eq!(
        tiled::forward::<Best, _>(&three, &inputs, &Serial).unwrap(),
        right
    );
    assert_eq!(inputs.k(KvHeadIdx(1)), &k[12..]);
    assert_eq!(inputs.v(KvHeadIdx(0)), &v[..9]);
    cache.append(&k[..16], &v[..12]).unwrap();
    assert_eq!(cache.len(), 5);
    cache.append(&[], &[]).unwrap();
    cache.truncate(9);
    assert_eq!(cache.len(), 5);
}

#[test]
fn a_call_has_to_fit_the_cache() {
    let rope = |offset: usize| {
        let given = [("k_offset", offset.into()), ("q_offset", 7.into())];
        vec![PositionUse::new("rope", &given).unwrap()]
    };
    let mut cache = Cache::new(&spec(1, rope(2)), 5).unwrap();
    assert!(cache.is_empty());
    let (k, v) = tokens(2);
    cache.append(&k, &v).unwrap();
    let q = [1.0; 16];
    assert!(cache.inputs(&spec(2, rope(2)), &q).is_ok());
    let refused = |spec: &AttentionSpec, q: &[f32]| cache.inputs(spec, q).unwrap_err();
    assert_eq!(
        refused(&spec(2, rope(1)), &q),
        CacheError::OtherPlaces,
        "other places"
    );
    assert_eq!(refused(&spec(2, Vec::new()), &q), CacheError::OtherPlaces);
    assert!(matches!(
        refused(&spec(3, rope(2)), &q),
        CacheError::Input(InputError::Length { tensor: "k", .. })
    ));
    assert!(matches!(
        refused(&spec(2, rope(2)), &q[1..]),
        CacheError::Input(InputError::Length { tensor: "q", .. })
    ));
    assert!(matches!(
        refused(&spec(2, rope(2)), &[f32::NAN; 16]),
        CacheError::Input(InputError::NotFinite { tensor: "q", .. })
    ));
    // A spec of other heads by the same number of cells.
    let other = AttentionSpec::new(Config::new(Shape {
        heads: 4,
        kv_heads: 1,
        n_q: 1,
        n_k: 4,
        d_k: 4,
        d_v: 3,
    }));
    assert!(matches!(
        refused(&other.unwrap(), &q),
        CacheError::Input(InputError::Length { tensor: "k", .. })
    ));
    // Inputs of the cache with a spec that they were not made for.
    let inputs = cache.inputs(&spec(2, rope(2)), &q).unwrap();
    assert!(tiled::forward::<Best, _>(&spec(2, rope(1)), &inputs, &Serial).is_err());
}

#[test]
fn capacities_that_cannot_be_are_sentences() {
    for capacity in [0, 65_537, usize::MAX] {
        let error = Cache::new(&spec(1, Vec::new()), capacity).unwrap_err();
        assert_eq!(error.field, "capacity");
    }
    let wide = AttentionSpec::new(Config::new(Shape {
        heads: 64,
        kv_heads: 64,
        ..Shape::square(1, 256)
    }));
    let error = Cache::new(&wide.unwrap(), 5_000).unwrap_err();
    assert_eq!(
        error.to_string(),
        "Capacity: expected at most 4096 tokens of this width, got 5000. Take fewer tokens or heads, or narrower ones."
    );
    assert_eq!(Cache::bytes(&spec(1, Vec::new()), 10), 4 * 2 * 10 * 7 + 80);
}
