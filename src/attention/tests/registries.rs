//! Walks the registries: a new mask or position scheme is tested without anyone remembering.

#![allow(clippy::unwrap_used)] // that is how a test fails

mod common;

use attention::masks::{self, Coverage, Frame, MaskUse};
use attention::positions::{self, Action, PositionUse, alibi};
use attention::{
    AttentionSpec, BitMatrix, Config, HeadIdx, KeyIdx, Param, ParamKind, QueryIdx, Scale, Shape,
    Value,
};
use common::{Stream, difference, golden};
use std::collections::HashSet;

const SHAPES: [(usize, usize); 6] = [(1, 1), (7, 7), (3, 9), (9, 3), (70, 70), (5, 130)];

fn shapes() -> impl Iterator<Item = Shape> {
    SHAPES
        .map(|(n_q, n_k)| Shape {
            n_q,
            n_k,
            ..Shape::square(1, 8)
        })
        .into_iter()
}

fn in_order(params: &[Param]) {
    let mut keys = HashSet::new();
    for p in params {
        assert!(keys.insert(p.key), "{} twice", p.key);
        assert!(!p.label.is_empty() && p.help.ends_with('.'), "{}", p.key);
        let fits = match p.kind {
            ParamKind::Integer { min, max } => {
                p.default.fract() == 0.0 && (min..=max).contains(&p.default)
            }
            ParamKind::Real { min, max } => (min..=max).contains(&p.default),
            ParamKind::Choice(options) => (p.default as usize) < options.len(),
        };
        assert!(fits, "default of {}", p.key);
    }
}

#[test]
fn reach_holds_what_a_query_sees() {
    for shape in shapes() {
        let one: Vec<Vec<MaskUse>> = masks::ALL
            .iter()
            .flat_map(|m| (m.examples)(shape))
            .map(|m| vec![m])
            .collect();
        let pairs = one.iter().flat_map(|a| {
            let other = move |b: &&Vec<MaskUse>| b[0].scheme != a[0].scheme;
            one.iter()
                .filter(other)
                .map(|b| [a.clone(), b.clone()].concat())
        });
        for masks in one.iter().cloned().chain(pairs) {
            let config = Config {
                masks,
                ..Config::new(shape)
            };
            let spec = AttentionSpec::new(config).unwrap();
            for q in shape.queries() {
                let reach = spec.reach(q);
                let [a, b] = &reach.0;
                assert!(
                    a.is_empty() || b.is_empty() || a.end <= b.start,
                    "{reach:?}"
                );
                for k in shape.keys() {
                    let reached = reach.0.iter().any(|part| part.contains(&k.0));
                    let seen = spec.visible(q, k);
                    assert!(reached || !seen, "{:?} {q:?} {k:?}", spec.config().masks);
                    if spec.reach_is_exact() {
                        assert_eq!(reached, seen, "{:?} {q:?} {k:?}", spec.config().masks);
                    }
                }
            }
        }
    }
}

#[test]
fn entries_are_named_and_found() {
    let mut ids = HashSet::new();
    for m in masks::ALL {
        assert!(ids.insert(m.id) && masks::by_id(m.id) == Some(*m) && m.help.ends_with('.'));
        in_order(m.params);
        let plain = MaskUse::new(m.id, &[]).unwrap();
        let defaults: Vec<f64> = m.params.iter().map(|p| p.default).collect();
        assert_eq!((plain.scheme.id, plain.values), (m.id, defaults));
    }
    for p in positions::ALL {
        assert!(ids.insert(p.id) && positions::by_id(p.id) == Some(*p) && p.help.ends_with('.'));
        in_order(p.params);
        let plain = PositionUse::new(p.id, &[]).unwrap();
        assert_eq!(
            (plain.scheme.id, plain.values.len()),
            (p.id, p.params.len())
        );
    }
}

#[test]
fn examples_are_valid() {
    for shape in shapes() {
        for m in masks::ALL.iter().flat_map(|m| (m.examples)(shape)) {
            let config = Config {
                masks: vec![m.clone()],
                ..Config::new(shape)
            };
            assert_eq!(AttentionSpec::check(&config), [], "{m:?}");
        }
        for p in positions::ALL.iter().flat_map(|p| (p.examples)(shape)) {
            let config = Config {
                positions: vec![p.clone()],
                ..Config::new(shape)
            };
            assert_eq!(AttentionSpec::check(&config), [], "{p:?}");
        }
    }
}

#[test]
fn cover_is_what_counting_gives() {
    for shape in shapes() {
        for m in masks::ALL.iter().flat_map(|m| (m.examples)(shape)) {
            let frame = Frame::new(shape, std::slice::from_ref(&m));
            for q in shape.queries() {
                for start in (0..shape.n_k).step_by(3) {
                    for end in [start, start + 1, start + 5, shape.n_k] {
                        let keys = start..end.clamp(start, shape.n_k);
                        let seen = keys
                            .clone()
                            .filter(|&k| (m.scheme.visible)(&m, &frame, q, KeyIdx(k)))
                            .count();
                        let right = Coverage::of_count(seen, keys.len());
                        assert_eq!(
                            (m.scheme.cover)(&m, &frame, q, keys.clone()),
                            right,
                            "{m:?} {q:?} {keys:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Of every two schemes together: what `coverage` says of a tile is never more than counting gives.
#[test]
fn coverage_of_tiles_never_claims_too_much() {
    for shape in shapes().filter(|s| s.n_q < 20) {
        let all: Vec<MaskUse> = masks::ALL
            .iter()
            .flat_map(|m| (m.examples)(shape))
            .collect();
        for (a, b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            if a.scheme == b.scheme {
                continue;
            }
            let config = Config {
                masks: vec![a.clone(), b.clone()],
                ..Config::new(shape)
            };
            let spec = AttentionSpec::new(config).unwrap();
            for q in (0..shape.n_q).step_by(2) {
                for k in (0..shape.n_k).step_by(4) {
                    let tile = (q..(q + 3).min(shape.n_q), k..(k + 4).min(shape.n_k));
                    let pairs = tile
                        .0
                        .clone()
                        .flat_map(|q| tile.1.clone().map(move |k| (q, k)));
                    let seen = pairs
                        .clone()
                        .filter(|&(q, k)| spec.visible(QueryIdx(q), KeyIdx(k)))
                        .count();
                    match spec.coverage(tile.0.clone(), tile.1.clone()) {
                        Coverage::Empty => assert_eq!(seen, 0),
                        Coverage::Whole => assert_eq!(seen, pairs.count()),
                        Coverage::Mixed => {}
                    }
                }
            }
        }
    }
}

/// `visible` of `make_golden.py`, written out once more, over its options.
#[test]
fn masks_are_those_of_the_golden_script() {
    for (n_q, n_k) in SHAPES {
        for (align, prefix, window, kept, length) in [
            (None, 0, None, 0, n_k),
            (Some("top_left"), 0, None, 0, n_k),
            (Some("top_left"), 2.min(n_k), Some(3), 0, n_k),
            (Some("bottom_right"), 0, Some(2), 1, n_k),
            (Some("bottom_right"), 1, None, 0, n_k / 2),
            (None, 0, Some(4), 0, n_k),
        ] {
            let mut uses = vec![MaskUse::new("padding", &[("key_length", length.into())]).unwrap()];
            if let Some(align) = align {
                let given = [("align", align.into()), ("prefix", prefix.into())];
                uses.push(MaskUse::new("causal", &given).unwrap());
            }
            if let Some(size) = window {
                let given = [("size", Value::from(size)), ("keep_first", kept.into())];
                uses.push(MaskUse::new("window", &given).unwrap());
            }
            let shape = Shape {
                n_q,
                n_k,
                ..Shape::square(1, 1)
            };
            let spec = AttentionSpec::new(Config {
                masks: uses,
                ..Config::new(shape)
            })
            .unwrap();
            let shift = if align == Some("bottom_right") {
                n_k as i64 - n_q as i64
            } else {
                0
            };
            for (i, j) in (0..n_q as i64).flat_map(|i| (0..n_k as i64).map(move |j| (i, j))) {
                let p = i + shift;
                let mut ok = true;
                if align.is_some() {
                    ok = j <= p || j < prefix as i64;
                }
                if let Some(size) = window {
                    ok &= p - j < i64::from(size) || j < i64::from(kept);
                }
                ok &= j < length as i64;
                let got = spec.visible(QueryIdx(i as usize), KeyIdx(j as usize));
                assert_eq!(
                    got, ok,
                    "{align:?} {prefix} {window:?} {kept} {length}: ({i}, {j}) of {n_q} × {n_k}"
                );
            }
        }
    }
}

/// Claim `causal-mask-is-free`: n 1024 in tiles of 128, and n 8 with a prefix of 3.
#[test]
fn a_causal_mask_needs_nine_sixteenths_of_the_tiles() {
    let spec = |n, prefix: usize| {
        let causal = MaskUse::new("causal", &[("prefix", prefix.into())]).unwrap();
        AttentionSpec::new(Config {
            masks: vec![causal],
            ..Config::new(Shape::square(n, 1))
        })
        .unwrap()
    };
    let long = spec(1024, 0);
    let tiles = (0..8).flat_map(|q| (0..8).map(move |k| (q * 128, k * 128)));
    let needed = tiles
        .filter(|&(q, k)| long.coverage(q..q + 128, k..k + 128) != Coverage::Empty)
        .count();
    assert_eq!(needed as f64 / 64.0, 0.5625);
    let prefixed = spec(8, 3);
    let shape = prefixed.shape();
    let pairs = shape
        .queries()
        .flat_map(|q| shape.keys().map(move |k| (q, k)));
    assert_eq!(pairs.filter(|&(q, k)| prefixed.visible(q, k)).count(), 39);
}

#[test]
fn a_drawing_keeps_each_bit() {
    let mut bits = BitMatrix::filled(3, 70, false);
    bits.set(QueryIdx(1), KeyIdx(69), true);
    bits.set(QueryIdx(9), KeyIdx(0), true);
    assert!(bits.get(QueryIdx(1), KeyIdx(69)) && !bits.get(QueryIdx(1), KeyIdx(68)));
    assert!(!bits.get(QueryIdx(9), KeyIdx(0)) && !bits.get(QueryIdx(2), KeyIdx(69)));
    bits.set(QueryIdx(1), KeyIdx(69), false);
    assert_eq!(bits, BitMatrix::filled(3, 70, false));
}

/// The slopes that the paper and its published code give.
#[test]
fn alibi_slopes_are_the_published_ones() {
    let slopes = |heads| -> Vec<f64> {
        (0..heads)
            .map(|h| alibi::slope(heads, HeadIdx(h)))
            .collect()
    };
    assert_eq!(
        slopes(8),
        [
            0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125, 0.00390625
        ]
    );
    assert_eq!(slopes(4), [0.25, 0.0625, 0.015625, 0.00390625]);
    assert_eq!(slopes(1), [0.00390625]);
    assert_eq!(slopes(6), [0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125]);
    let mut twelve = slopes(8);
    twelve.extend([0.5_f64, 1.5, 2.5, 3.5].map(|e| 2.0_f64.powf(-e)));
    assert!(difference(&slopes(12), &twelve) <= 2e-16);
}

#[test]
fn a_bias_depends_on_the_distance_only() {
    let shape = Shape {
        heads: 6,
        kv_heads: 2,
        n_q: 3,
        n_k: 8,
        ..Shape::square(1, 2)
    };
    let alibi = PositionUse::new("alibi", &[]).unwrap();
    let spec = AttentionSpec::new(Config {
        positions: vec![alibi],
        ..Config::new(shape)
    })
    .unwrap();
    assert!(spec.has_bias());
    assert_eq!(spec.relative_bias(HeadIdx(4), 3), -1.5);
    assert_eq!(spec.relative_bias(HeadIdx(4), -3), -1.5);
    assert_eq!(spec.relative_bias(HeadIdx(4), 0), 0.0);
}

/// Claim `rope-is-relative`: all places + 1000 change no score, in either layout, and turning keeps the length.
#[test]
fn rope_is_relative() {
    use attention::naive::{Inputs, forward};
    let shape = Shape::square(9, 8);
    let mut stream = Stream::new(7);
    let (q, k) = (stream.normals(72), stream.normals(72));
    for layout in ["interleaved", "half"] {
        for dims in [8, 4] {
            let at = |offset: usize| {
                let given = [
                    ("layout", layout.into()),
                    ("dims", dims.into()),
                    ("q_offset", offset.into()),
                    ("k_offset", offset.into()),
                ];
                let rope = PositionUse::new("rope", &given).unwrap();
                let config = Config {
                    positions: vec![rope],
                    ..Config::new(shape)
                };
                let spec = AttentionSpec::new(config).unwrap();
                forward(&spec, &Inputs::new(&spec, &q, &k, &k).unwrap())
            };
            let (here, there) = (at(0), at(1000));
            assert!(difference(&here.scores, &there.scores) <= 1e-11);
            let length = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
            for (turned, row) in there.q_pos.chunks(8).zip(q.chunks(8)) {
                assert!((length(turned) - length(row)).abs() <= 1e-13 * length(row));
                assert_eq!(turned[dims..], row[dims..]);
            }
            assert!(
                difference(&here.q_pos[..8], &q[..8]) == 0.0,
                "place 0 does not turn"
            );
        }
    }
}

/// Claim `rope-wavelengths`: width 128, base 10000.
#[test]
fn rope_wavelengths_are_spaced_geometrically() {
    let rope = PositionUse::new("rope", &[]).unwrap();
    let Action::Turn(turn) = rope.scheme.action else {
        unreachable!()
    };
    let lengths: Vec<f64> = turn(&rope, Shape::square(4, 128))
        .frequencies
        .iter()
        .map(|f| std::f64::consts::TAU / f)
        .collect();
    assert!((lengths[0] - std::f64::consts::TAU).abs() < 1e-12);
    assert!((lengths[63] - 54_410.1).abs() < 0.05);
    for pair in lengths.windows(2) {
        assert!((pair[1] / pair[0] - 1.154_782).abs() < 1e-6);
    }
}

#[test]
fn sinusoids_are_added_to_tokens_only() {
    let wave = PositionUse::new("sinusoidal", &[]).unwrap();
    let rope = PositionUse::new("rope", &[]).unwrap();
    let mut x = vec![1.0; 12];
    positions::add_to_tokens(&[wave.clone(), rope], &mut x, 4);
    let (s, c) = (|a: f64| 1.0 + a.sin(), |a: f64| 1.0 + a.cos());
    #[rustfmt::skip]
    let right = [
        s(0.0),
        c(0.0),
        s(0.0),
        c(0.0),
        s(1.0),
        c(1.0),
        s(0.01),
        c(0.01),
        s(2.0),
        c(2.0),
        s(0.02),
        c(0.02),
    ];
    assert!(difference(&x, &right) <= 4e-16);

    let shape = Shape::square(3, 4);
    let plain = AttentionSpec::new(Config::new(shape)).unwrap();
    let spec = AttentionSpec::new(Config {
        positions: vec![wave],
        ..Config::new(shape)
    })
    .unwrap();
    let run = |spec| {
        let inputs = attention::Inputs::new(spec, &x, &x, &x).unwrap();
        attention::naive::forward(spec, &inputs).scores
    };
    assert_eq!(run(&spec), run(&plain));
}

/// Every scheme is met by the golden data, or tested above (drawn, sinusoidal).
#[test]
fn golden_cases_use_every_scheme() {
    let mut unused: HashSet<&str> = masks::ALL
        .iter()
        .map(|m| m.id)
        .chain(positions::ALL.iter().map(|p| p.id))
        .collect();
    golden(|case| {
        for m in &case.spec.config().masks {
            unused.remove(m.scheme.id);
        }
        for p in &case.spec.config().positions {
            unused.remove(p.scheme.id);
        }
        assert!(case.spec.config().scale != Scale::Custom(0.0));
    });
    assert_eq!(unused, HashSet::from(["drawn", "sinusoidal"]));
}
