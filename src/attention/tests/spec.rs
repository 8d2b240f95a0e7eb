//! What a spec refuses, and what it says.

#![allow(clippy::unwrap_used)] // that is how a test fails

use attention::limits::{MAX_CELLS, MAX_HEADS, MAX_PLACE, MAX_TOKENS, MAX_WIDTH};
use attention::{
    AttentionSpec, BitMatrix, Config, Hidden, InputError, Inputs, MaskUse, PositionUse, Scale,
    Shape, Value,
};

fn base() -> Config {
    Config::new(Shape {
        heads: 6,
        kv_heads: 3,
        n_q: 8,
        n_k: 8,
        d_k: 8,
        d_v: 4,
    })
}

/// The fields that are wrong after `change`, with the first message.
fn wrong(change: impl FnOnce(&mut Config)) -> (Vec<&'static str>, String) {
    let mut config = base();
    change(&mut config);
    let errors = AttentionSpec::check(&config);
    let first = errors.first().map(ToString::to_string).unwrap_or_default();
    let parsed = AttentionSpec::new(config).err();
    assert_eq!(
        parsed.as_ref(),
        errors.first(),
        "`new` fails with the first error of `check`"
    );
    for e in &errors {
        assert!(
            !e.expected.is_empty() && !e.got.is_empty() && e.hint.ends_with('.'),
            "{e:?}"
        );
    }
    (errors.iter().map(|e| e.field).collect(), first)
}

fn mask(id: &str, given: &[(&str, Value<'_>)]) -> MaskUse {
    MaskUse::new(id, given).unwrap()
}

fn rope(given: &[(&str, Value<'_>)]) -> Vec<PositionUse> {
    vec![PositionUse::new("rope", given).unwrap()]
}

#[test]
fn the_base_is_valid() {
    assert_eq!(wrong(|_| {}), (vec![], String::new()));
}

#[test]
fn sizes() {
    assert_eq!(
        wrong(|c| c.shape.kv_heads = 4).1,
        "K/V heads: expected a divisor of 6, got 4. Choose 1, 2, 3 or 6."
    );
    assert_eq!(
        wrong(|c| c.shape.d_k = 0).1,
        "d_k: expected 1 to 1024, got 0. Give at least 1."
    );
    let none = Shape {
        heads: 0,
        kv_heads: 0,
        n_q: 0,
        n_k: 0,
        d_k: 0,
        d_v: 0,
    };
    assert_eq!(
        wrong(|c| c.shape = none).0,
        ["heads", "kv_heads", "n_q", "n_k", "d_k", "d_v"]
    );
    assert_eq!(wrong(|c| c.shape.heads = MAX_HEADS + 1).0, ["heads"]);
    assert_eq!(wrong(|c| c.shape.n_q = MAX_TOKENS + 1).0, ["n_q"]);
    assert_eq!(wrong(|c| c.shape.d_v = MAX_WIDTH + 1).0, ["d_v"]);
    assert_eq!(wrong(|c| c.shape.n_k = usize::MAX).0, ["n_k"]);
    // Each size is allowed, together they are too much.
    let huge = Shape {
        heads: 3,
        kv_heads: 1,
        n_q: MAX_TOKENS,
        n_k: MAX_TOKENS,
        d_k: 1024,
        d_v: 1,
    };
    assert_eq!(wrong(|c| c.shape = huge).0, ["n_q"]);
    assert!(huge.q_len() > MAX_CELLS && huge.k_len() <= MAX_CELLS);
}

#[test]
fn scalars() {
    for bad in [f64::NAN, f64::INFINITY, -1e31] {
        assert_eq!(wrong(|c| c.scale = Scale::Custom(bad)).0, ["scale"]);
        assert_eq!(wrong(|c| c.hidden = Hidden::Finite(bad)).0, ["hidden"]);
        assert_eq!(
            wrong(|c| c.sink = Some(vec![0.0, 0.0, bad, 0.0, 0.0, bad])).0,
            ["sink"]
        );
    }
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(wrong(|c| c.soft_cap = Some(bad)).0, ["soft_cap"]);
    }
    assert_eq!(
        wrong(|c| c.soft_cap = Some(0.0)).1,
        "Soft cap: expected a number above 0 and up to 1e30, got 0. Type such a number."
    );
    assert_eq!(wrong(|c| c.qk_norm = Some(-1e-6)).0, ["qk_norm"]);
    assert_eq!(wrong(|c| c.sink = Some(vec![0.0; 5])).0, ["sink"]);
    assert!(
        wrong(|c| (c.scale, c.qk_norm) = (Scale::Custom(0.0), Some(0.0)))
            .0
            .is_empty()
    );
}

#[test]
fn masks() {
    let with = |m: MaskUse| wrong(|c| c.masks = vec![m]);
    assert_eq!(with(mask("window", &[("size", 0.into())])).0, ["size"]);
    assert_eq!(
        with(mask("window", &[("size", 0.into())])).1,
        "Window: expected a whole number from 1 to 65536, got 0. The usual value is 4."
    );
    assert_eq!(with(mask("window", &[("size", 2.5.into())])).0, ["size"]);
    assert_eq!(
        with(mask("window", &[("keep_first", 9.into())])).0,
        ["keep_first"]
    );
    assert_eq!(
        with(mask("padding", &[("key_length", 9.into())])).0,
        ["key_length"]
    );
    assert_eq!(
        with(mask("padding", &[("key_length", f64::NAN.into())])).0,
        ["key_length"]
    );
    assert_eq!(with(mask("causal", &[("prefix", 9.into())])).0, ["prefix"]);
    assert_eq!(with(mask("causal", &[("align", 3.into())])).0, ["align"]);
    assert_eq!(with(mask("drawn", &[])).0, ["drawn"]);
    assert_eq!(
        with(MaskUse::drawn(BitMatrix::filled(8, 7, true))).1,
        "Drawn mask: expected a drawing of 8 × 8 cells, got 8 × 7. Draw it anew at this size."
    );
    let mut short = mask("window", &[]);
    short.values.pop();
    assert_eq!(with(short).0, ["window"]);
    let twice = wrong(|c| c.masks = vec![mask("causal", &[]), mask("causal", &[])]);
    assert_eq!(twice.0, ["masks"]);
    let uneven = wrong(|c| (c.shape.n_q, c.masks) = (3, vec![mask("causal", &[])]));
    assert_eq!(uneven.0, ["align"]);
    // Wrong sizes first: what a mask may be follows from them.
    let both = wrong(|c| (c.shape.n_k, c.masks) = (0, vec![mask("window", &[("size", 0.into())])]));
    assert_eq!(both.0, ["n_k"]);
}

#[test]
fn positions() {
    let with = |given: &[(&str, Value<'_>)]| wrong(|c| c.positions = rope(given));
    assert_eq!(
        with(&[("dims", 7.into())]).1,
        "Turned components: expected an even number, since components turn in pairs, got 7. Choose 6 or make d_k even."
    );
    assert_eq!(with(&[("dims", 10.into())]).0, ["dims"]);
    assert_eq!(
        wrong(|c| (c.shape.d_k, c.positions) = (5, rope(&[]))).0,
        ["dims"]
    );
    assert_eq!(
        with(&[("dims", 2.into()), ("scaling", "ntk".into())]).0,
        ["dims"]
    );
    assert_eq!(with(&[("base", 1.into())]).0, ["base"]);
    assert_eq!(with(&[("factor", 0.5.into())]).0, ["factor"]);
    assert_eq!(with(&[("q_offset", MAX_PLACE.into())]).0, ["q_offset"]);
    assert_eq!(
        wrong(|c| c.positions = [rope(&[]), rope(&[])].concat()).0,
        ["positions"]
    );
    assert!(
        with(&[("layout", "half".into()), ("k_offset", 3.into())])
            .0
            .is_empty()
    );
}

#[test]
fn names() {
    let e = MaskUse::new("casual", &[]).unwrap_err();
    assert_eq!(
        e.to_string(),
        "mask: expected one of causal, window, padding, drawn, got “casual”. Choose one of these."
    );
    let e = PositionUse::new("rope", &[("layout", "neox".into())]).unwrap_err();
    assert_eq!((e.scheme, e.field), (Some("rope"), "layout"));
    assert_eq!(
        e.to_string(),
        "Layout: expected one of interleaved, half, got “neox”. Choose one of these."
    );
    assert!(PositionUse::new("rope", &[("theta", 1.into())]).is_err());
    assert!(PositionUse::new("rope", &[("base", "half".into())]).is_err());
}

#[test]
fn inputs() {
    let spec = AttentionSpec::new(base()).unwrap();
    let shape = spec.shape();
    let (q, k, v) = (
        vec![0.0; shape.q_len()],
        vec![0.0; shape.k_len()],
        vec![0.0; shape.v_len()],
    );
    assert!(Inputs::new(&spec, &q, &k, &v).is_ok());
    let e = Inputs::new(&spec, &q, &k, &k).unwrap_err();
    assert_eq!(
        e.to_string(),
        "v: expected 96 numbers, got 192. Give it the shape that the sizes say."
    );
    let mut bad = q.clone();
    bad[(3 * 8 + 2) * 8 + 5] = f64::NAN;
    match Inputs::new(&spec, &bad, &k, &v).unwrap_err() {
        InputError::NotFinite {
            tensor,
            index,
            value,
        } => {
            assert_eq!((tensor, index), ("q", vec![3, 2, 5]));
            assert!(value.is_nan());
        }
        other => panic!("{other}"),
    }
}
