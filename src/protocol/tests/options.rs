//! Any config can be written as text and read back, for every mask and position scheme that is registered.
#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use attention::masks::{self, MaskUse};
use attention::param::{Param, ParamKind};
use attention::positions::{self, PositionUse};
use attention::{BitMatrix, Config, Hidden, Scale, Shape};
use proptest::prelude::*;
use protocol::options::{from_text, to_text};

/// Numbers of all sizes, out of range ones too: text is for wishes.
fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        any::<f64>().prop_filter("NaN is not equal to itself", |x| !x.is_nan()),
        -9.0..9.0,
        Just(-0.0),
        Just(1e-6)
    ]
}

fn any_value(param: &'static Param) -> BoxedStrategy<f64> {
    match param.kind {
        ParamKind::Choice(options) => (0..options.len() + 2).prop_map(|at| at as f64).boxed(),
        ParamKind::Integer { .. } => {
            prop_oneof![Just(param.default), (0..70_000).prop_map(f64::from)].boxed()
        }
        ParamKind::Real { .. } => prop_oneof![Just(param.default), any_number()].boxed(),
    }
}

fn any_values(params: &'static [Param]) -> BoxedStrategy<Vec<f64>> {
    params.iter().map(any_value).collect::<Vec<_>>().boxed()
}

fn any_mask() -> impl Strategy<Value = MaskUse> {
    let size = (1..9_usize, 1..9_usize);
    let drawing = size.prop_flat_map(|(n_q, n_k)| {
        proptest::collection::vec(any::<bool>(), n_q * n_k)
            .prop_map(move |cells| BitMatrix::from_fn(n_q, n_k, |q, k| cells[q.0 * n_k + k.0]))
    });
    (0..masks::ALL.len(), proptest::option::of(drawing)).prop_flat_map(|(at, drawn)| {
        let scheme = masks::ALL[at];
        let drawn = drawn.filter(|_| scheme.needs_drawing);
        any_values(scheme.params).prop_map(move |values| MaskUse {
            scheme,
            values,
            drawn: drawn.clone(),
        })
    })
}

fn any_position() -> impl Strategy<Value = PositionUse> {
    (0..positions::ALL.len()).prop_flat_map(|at| {
        let scheme = positions::ALL[at];
        any_values(scheme.params).prop_map(move |values| PositionUse { scheme, values })
    })
}

prop_compose! {
    fn any_config()(
        sizes in proptest::array::uniform6(0..100_000_usize),
        scale in proptest::option::of(any_number()),
        soft_cap in proptest::option::of(any_number()),
        masks in proptest::collection::vec(any_mask(), 0..4),
        hidden in proptest::option::of(any_number()),
        positions in proptest::collection::vec(any_position(), 0..4),
        qk_norm in proptest::option::of(any_number()),
        sink in proptest::option::of(proptest::collection::vec(any_number(), 0..5)),
    ) -> Config {
        let [heads, kv_heads, n_q, n_k, d_k, d_v] = sizes;
        Config {
            shape: Shape { heads, kv_heads, n_q, n_k, d_k, d_v },
            scale: scale.map_or(Scale::InverseSqrt, Scale::Custom),
            soft_cap,
            masks,
            hidden: hidden.map_or(Hidden::NegInfinity, Hidden::Finite),
            positions,
            qk_norm,
            sink,
        }
    }
}

proptest! {
    #[test]
    fn text_reads_back(config in any_config()) {
        let text = to_text(&config);
        let back = from_text(&text).unwrap();
        // Debug tells −0 from 0, which `==` does not.
        prop_assert_eq!(format!("{:?}", &back), format!("{:?}", &config));
        prop_assert!(text.chars().all(|c| c.is_ascii_alphanumeric() || "=&(),.-_".contains(c)), "{}", text);
    }

    #[test]
    fn no_text_panics(text in "[a-z0-9=&(),.x_-]{0,60}") {
        let _ = from_text(&text);
        let _ = from_text(&format!("h=1&g=1&nq=6&nk=6&dk=4&dv=4&mask={text}"));
        let _ = from_text(&format!("h=1&g=1&nq=6&nk=6&dk=4&dv=4&mask=drawn(bits={text})"));
    }
}

#[test]
fn every_example_of_the_registries_reads_back() {
    let shape = Shape {
        heads: 4,
        kv_heads: 2,
        n_q: 7,
        n_k: 7,
        d_k: 8,
        d_v: 3,
    };
    for mask in masks::ALL.iter().flat_map(|s| (s.examples)(shape)) {
        let mut config = Config::new(shape);
        config.masks.push(mask);
        assert_eq!(
            to_text(&from_text(&to_text(&config)).unwrap()),
            to_text(&config)
        );
    }
    for position in positions::ALL.iter().flat_map(|s| (s.examples)(shape)) {
        let mut config = Config::new(shape);
        config.positions.push(position);
        assert_eq!(from_text(&to_text(&config)).unwrap(), config);
    }
}

#[test]
fn what_cannot_be_read_is_named() {
    let sizes = "h=1&g=1&nq=6&nk=6&dk=4&dv=4";
    let message = |text: &str| {
        from_text(&format!("{sizes}{text}"))
            .unwrap_err()
            .to_string()
    };
    assert_eq!(
        message("&cap=x"),
        "cap: expected a number, got “x”. Correct it or leave it out."
    );
    assert_eq!(
        message("&cap=1&cap=2"),
        "cap: expected it once, got it twice. Correct it or leave it out."
    );
    assert!(
        message("&colour=red")
            .starts_with("colour: expected one of the options h, g, nq, nk, dk, dv, scale, cap,")
    );
    assert!(
        message("&mask=casual").starts_with("mask: expected one of the masks causal, window,"),
        "{}",
        message("&mask=casual")
    );
    assert!(
        message("&mask=causal(align=left)")
            .contains("one of the choices square, top_left, bottom_right, got “left”")
    );
    assert!(
        message("&mask=causal(depth=3)").contains("one of the settings align, prefix, got “depth”")
    );
    assert!(message("&mask=causal(prefix=1,prefix=2)").contains("prefix once"));
    assert!(message("&mask=causal(prefix=1").contains("a closing bracket"));
    assert!(message("&mask=drawn(bits=2x2.AA)").contains("a drawing such as"));
    assert!(message("&mask=causal(bits=2x2.A)").contains("one of the settings"));
    assert!(message("&pos=alibi(x=1)").contains("one of the settings none, got “x”"));
    assert_eq!(
        from_text("h=1&g=1&nq=6&nk=6&dk=4").unwrap_err().to_string(),
        "dv: expected a whole number, got nothing. Correct it or leave it out."
    );
}
