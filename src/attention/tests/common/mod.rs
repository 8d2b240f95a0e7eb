//! What several integration tests share: reading the golden cases, random numbers, comparing.

#![allow(dead_code)] // each test binary uses a part
#![allow(clippy::unwrap_used, clippy::panic)] // that is how a test fails

pub mod random;
pub mod threads;

use attention::tiled::Output;
use attention::{AttentionSpec, Config, MaskUse, PositionUse, Scale, Shape, Value};
use safetensors::SafeTensors;
use serde_json::Value as Json;
use std::path::PathBuf;

/// A folder under the repository's `tests`.
pub fn data(folder: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests")
        .join(folder)
}

/// Reads the options of a golden case or a museum exhibit, by the names `make_golden.py` defines.
pub fn config(shape: Shape, options: &Json) -> Config {
    let mut config = Config::new(shape);
    let number = |key: &str| options.get(key).and_then(Json::as_f64);
    if let Some(scale) = number("scale") {
        config.scale = Scale::Custom(scale);
    }
    config.soft_cap = number("softcap");
    config.qk_norm = number("qk_norm");
    if let Some(sink) = options.get("sink").and_then(Json::as_array) {
        config.sink = Some(sink.iter().map(|x| x.as_f64().unwrap()).collect());
    }
    if let Some(align) = options.get("causal").and_then(Json::as_str) {
        let prefix = number("prefix").unwrap_or(0.0);
        let given = [("align", Value::from(align)), ("prefix", prefix.into())];
        config.masks.push(MaskUse::new("causal", &given).unwrap());
    }
    if let Some(size) = number("window") {
        let kept = number("keep_first").unwrap_or(0.0);
        let given = [("size", size.into()), ("keep_first", kept.into())];
        config.masks.push(MaskUse::new("window", &given).unwrap());
    }
    if let Some(length) = number("key_length") {
        config
            .masks
            .push(MaskUse::new("padding", &[("key_length", length.into())]).unwrap());
    }
    if let Some(layout) = options.get("rope").and_then(Json::as_str) {
        let mut given = vec![("layout", Value::from(layout))];
        for (name, key) in [
            ("rope_dims", "dims"),
            ("theta", "base"),
            ("q_offset", "q_offset"),
        ] {
            if let Some(x) = number(name) {
                given.push((key, x.into()));
            }
        }
        if let Some(scaling) = options.get("rope_scaling") {
            given.push(("scaling", scaling["kind"].as_str().unwrap().into()));
            given.push(("factor", scaling["factor"].as_f64().unwrap().into()));
        }
        config
            .positions
            .push(PositionUse::new("rope", &given).unwrap());
    }
    if options.get("alibi").and_then(Json::as_bool) == Some(true) {
        config
            .positions
            .push(PositionUse::new("alibi", &[]).unwrap());
    }
    config
}

/// One query of width 1 at scale 1: so many keys are the scores.
pub fn row(n_k: usize) -> Config {
    let shape = Shape {
        n_q: 1,
        n_k,
        ..Shape::square(1, 1)
    };
    Config {
        scale: Scale::Custom(1.0),
        ..Config::new(shape)
    }
}

/// All that a forward pass gives, to the bit.
pub fn bits(output: &Output) -> Vec<u32> {
    let all = output.out.iter().chain(&output.lse);
    all.map(|x| x.to_bits()).collect()
}

/// One golden case: a spec, and its arrays by name.
pub struct Case<'a> {
    pub name: String,
    pub spec: AttentionSpec,
    tensors: &'a SafeTensors<'a>,
}

impl Case<'_> {
    pub fn get(&self, array: &str) -> Option<Vec<f64>> {
        let view = self
            .tensors
            .tensor(&format!("{}/{array}", self.name))
            .ok()?;
        assert_eq!(view.dtype(), safetensors::Dtype::F64);
        Some(
            view.data()
                .chunks_exact(8)
                .map(|b| f64::from_le_bytes(b.try_into().unwrap()))
                .collect(),
        )
    }

    pub fn array(&self, array: &str) -> Vec<f64> {
        self.get(array)
            .unwrap_or_else(|| panic!("{}/{array} is missing", self.name))
    }
}

/// Calls `test` with every golden case. Fails where there are fewer than 33.
pub fn golden(mut test: impl FnMut(&Case<'_>)) {
    let cases: Vec<Json> =
        serde_json::from_slice(&std::fs::read(data("golden/cases.json")).unwrap()).unwrap();
    let bytes = std::fs::read(data("golden/golden.safetensors")).unwrap();
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    assert!(cases.len() >= 33, "only {} golden cases", cases.len());
    for case in &cases {
        let size = |key: &str| case[key].as_u64().unwrap() as usize;
        let shape = Shape {
            heads: size("h"),
            kv_heads: size("g"),
            n_q: size("n_q"),
            n_k: size("n_k"),
            d_k: size("d_k"),
            d_v: size("d_v"),
        };
        let spec = AttentionSpec::new(config(shape, case)).unwrap();
        test(&Case {
            name: case["name"].as_str().unwrap().to_owned(),
            spec,
            tensors: &tensors,
        });
    }
}

pub fn largest(xs: &[f64]) -> f64 {
    xs.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// The largest difference; infinities have to be the same on both sides.
pub fn difference(got: &[f64], right: &[f64]) -> f64 {
    assert_eq!(got.len(), right.len());
    let one = |(a, b): (&f64, &f64)| if a == b { 0.0 } else { (a - b).abs() };
    let worst = got
        .iter()
        .zip(right)
        .map(one)
        .fold(0.0, |m: f64, d| if d.is_nan() { d } else { m.max(d) });
    assert!(!worst.is_nan());
    worst
}

pub fn narrow(xs: &[f64]) -> Vec<f32> {
    xs.iter().map(|&x| x as f32).collect()
}

pub fn widen(xs: &[f32]) -> Vec<f64> {
    xs.iter().map(|&x| f64::from(x)).collect()
}

/// The Lehmer stream of the claims: x ← 16807 x mod (2³¹ − 1), the first ten thrown away.
pub struct Stream(u64);

impl Stream {
    pub fn new(seed: u64) -> Self {
        let mut s = Self(seed);
        for _ in 0..10 {
            s.uniform();
        }
        s
    }

    pub fn uniform(&mut self) -> f64 {
        self.0 = self.0 * 16_807 % 2_147_483_647;
        self.0 as f64 / 2_147_483_647.0
    }

    pub fn normal(&mut self) -> f64 {
        let (a, b) = (self.uniform(), self.uniform());
        (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    pub fn normals(&mut self, n: usize) -> Vec<f64> {
        (0..n).map(|_| self.normal()).collect()
    }

    /// Normal numbers that float32 holds exactly.
    pub fn normals32(&mut self, n: usize) -> Vec<f32> {
        (0..n).map(|_| self.normal() as f32).collect()
    }
}
