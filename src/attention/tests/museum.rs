//! The bug museum: for each reported mistake the core gives the right result, and not the wrong one.

#![allow(clippy::unwrap_used, clippy::panic)] // that is how a test fails

mod common;

use attention::lanes::Best;
use attention::naive::{self, Inputs, backward, forward};
use attention::{AttentionSpec, BitMatrix, Config, Hidden, MaskUse, Shape, rows, tiled};
use common::{config, data, difference, largest, narrow, widen};
use serde_json::Value as Json;

/// The museum's own two computations agree to this.
const EXACT: f64 = 1e-12;
/// The fast path's promise, relative to the largest value.
const FLOAT32: f64 = 2e-6;

/// Exhibits about what the core does not do, with what that is.
const ELSEWHERE: &[(&str, &str)] = &[(
    "debug-matrix-read-as-weights",
    "its right result is dropout in training, which the core does not have",
)];

/// What may stand in `options`, besides what `common::config` reads.
const KNOWN: &[&str] = &[
    "scale",
    "causal",
    "window",
    "key_length",
    "rope",
    "rope_dims",
    "theta",
    "q_offset",
    "alibi",
    "softcap",
    "qk_norm",
    "key_block",
    "format",
    "dropout",
    "training",
];

struct Exhibit {
    id: String,
    json: Json,
    spec: AttentionSpec,
}

impl Exhibit {
    fn read(id: &str) -> Self {
        let path = data("museum").join(format!("{id}.json"));
        let json: Json = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let inputs = &json["inputs"];
        let (q, k, v) = (&inputs["q"], &inputs["k"], &inputs["v"]);
        let shape = Shape {
            heads: axis(q, 0),
            kv_heads: axis(k, 0),
            n_q: axis(q, 1),
            n_k: axis(k, 1),
            d_k: axis(q, 2),
            d_v: axis(v, 2),
        };
        let options = &inputs["options"];
        for option in options.as_object().unwrap().keys() {
            assert!(
                KNOWN.contains(&option.as_str()),
                "{id}: unknown option {option}"
            );
        }
        let mut config = config(shape, options);
        if let Some(sink) = inputs.get("sink") {
            config.sink = Some(numbers(sink));
        }
        if let Some(mask) = inputs.get("mask") {
            let cells = numbers(mask);
            let bits = BitMatrix::from_fn(shape.n_q, shape.n_k, |q, k| {
                cells[q.0 * shape.n_k + k.0] == 1.0
            });
            config.masks.push(MaskUse::drawn(bits));
        }
        let spec = AttentionSpec::new(config).unwrap();
        Self {
            id: id.to_owned(),
            json,
            spec,
        }
    }

    fn input(&self, name: &str) -> Vec<f64> {
        numbers(&self.json["inputs"][name])
    }
}

fn axis(array: &Json, depth: usize) -> usize {
    let mut array = array;
    for _ in 0..depth {
        array = &array[0];
    }
    array.as_array().unwrap().len()
}

/// All numbers of nested lists, row-major.
fn numbers(array: &Json) -> Vec<f64> {
    match array {
        Json::Array(cells) => cells.iter().flat_map(numbers).collect(),
        cell => vec![cell.as_f64().unwrap()],
    }
}

fn exhibits() -> Vec<Exhibit> {
    let mut ids: Vec<String> = std::fs::read_dir(data("museum"))
        .unwrap()
        .filter_map(|entry| {
            entry
                .unwrap()
                .file_name()
                .to_str()?
                .strip_suffix(".json")
                .map(str::to_owned)
        })
        .collect();
    ids.sort();
    assert!(ids.len() >= 27, "only {} exhibits", ids.len());
    ids.retain(|id| ELSEWHERE.iter().all(|(other, _)| other != id));
    ids.iter().map(|id| Exhibit::read(id)).collect()
}

#[test]
fn the_core_gives_what_is_right() {
    for e in exhibits() {
        let (q, k, v) = (e.input("q"), e.input("k"), e.input("v"));
        let inputs = Inputs::new(&e.spec, &q, &k, &v).unwrap();
        let f = forward(&e.spec, &inputs);
        let right = |name: &str| e.json["right"].get(name).map(numbers);
        let (weights, out) = (right("weights").unwrap(), right("out").unwrap());
        assert!(
            difference(&f.weights, &weights) <= EXACT,
            "{}: weights",
            e.id
        );
        assert!(
            difference(&f.out, &out) <= EXACT * largest(&v).max(1.0),
            "{}: out",
            e.id
        );
        if let Some(d_out) = e.json["inputs"].get("d_out") {
            let g = backward(&e.spec, &inputs, &f, &numbers(d_out)).unwrap();
            for (name, got) in [("d_q", &g.d_q), ("d_k", &g.d_k), ("d_v", &g.d_v)] {
                assert!(
                    difference(got, &right(name).unwrap()) <= EXACT,
                    "{}: {name}",
                    e.id
                );
            }
        }
        let (q, k, v32) = (narrow(&q), narrow(&k), narrow(&v));
        let inputs = Inputs::new(&e.spec, &q, &k, &v32).unwrap();
        let fast = tiled::forward::<Best, _>(&e.spec, &inputs, &rows::Serial).unwrap();
        let error = difference(&widen(&fast.out), &out);
        assert!(
            error <= FLOAT32 * largest(&v),
            "{}: fast path off by {error:e}",
            e.id
        );
    }
}

#[test]
fn the_mistakes_would_be_noticed() {
    for e in exhibits() {
        let Some(apart) = e.json["max_abs_diff"].as_f64() else {
            continue;
        };
        assert!(
            apart > 1e4 * FLOAT32,
            "{}: right and wrong are only {apart} apart",
            e.id
        );
    }
}

/// −1e9 in float32 swallows the scores of an empty row: the fast path breaks in the reported way when told to.
#[test]
fn a_finite_mask_constant_breaks_an_empty_row_as_reported() {
    let e = Exhibit::read("sentinel-on-an-empty-row");
    let config = Config {
        hidden: Hidden::Finite(-1e9),
        ..e.spec.config().clone()
    };
    let spec = AttentionSpec::new(config).unwrap();
    let (q, k, v) = (
        narrow(&e.input("q")),
        narrow(&e.input("k")),
        narrow(&e.input("v")),
    );
    let inputs = Inputs::new(&spec, &q, &k, &v).unwrap();
    let fast = tiled::forward::<Best, _>(&spec, &inputs, &rows::Serial).unwrap();
    let error = difference(&widen(&fast.out), &numbers(&e.json["wrong"]["out"]));
    assert!(error <= FLOAT32 * largest(&widen(&v)), "{error:e}");

    // In float64 the constant keeps the scores, and the row gets its unmasked weights.
    let unmasked = AttentionSpec::new(Config::new(spec.shape())).unwrap();
    let plain = naive::forward(&unmasked, &Inputs::new(&unmasked, &q, &k, &v).unwrap());
    let broken = naive::forward(&spec, &inputs);
    let n_k = spec.shape().n_k;
    let visible = |row: usize| broken.summaries[row].visible;
    let empty = (0..spec.shape().n_q)
        .find(|&row| visible(row) == 0)
        .unwrap();
    let cells = empty * n_k..(empty + 1) * n_k;
    assert!(difference(&broken.weights[cells.clone()], &plain.weights[cells]) <= 1e-6);
}
