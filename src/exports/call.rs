//! A call as a row of numbers, which is what JavaScript writes.

use attention::{AttentionSpec, Config, MaskUse, PositionUse, Scale, Shape, SpecError};

/// How many numbers describe a call.
pub const NUMBERS: usize = 23;

/// The place of each number. What is optional says which number stands for "none".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// Query heads.
    Heads,
    /// Key and value heads, a divisor of the query heads.
    KvHeads,
    /// Queries of a head.
    Queries,
    /// Keys of a head.
    Keys,
    /// Width of a query and a key.
    KeyWidth,
    /// Width of a value.
    ValueWidth,
    /// 1: a query sees itself and what came before it, and the last query is the last token; 2: the first query is the
    /// first token. 0: no mask.
    Causal,
    /// The factor of the dot products; NaN: 1/√d_k.
    Scale,
    /// How many keys back a query sees, itself included; 0: all.
    Window,
    /// c of c·tanh(s/c); 0: none.
    SoftCap,
    /// 1: ALiBi.
    Alibi,
    /// 1: RoPE on neighbours, 2: on halves. 0: none.
    Rope,
    /// RoPE's base.
    RopeBase,
    /// How many first components RoPE turns; 0: all.
    RopeDims,
    /// RoPE's place of query 0.
    RopeQueries,
    /// RoPE's place of key 0.
    RopeKeys,
    /// How RoPE is stretched: 1: linear, 2: NTK. 0: not.
    RopeScaling,
    /// How far.
    RopeFactor,
    /// So many first keys are visible to all, where the mask is causal.
    Prefix,
    /// So many first keys stay visible whatever the window.
    KeepFirst,
    /// So many keys are tokens, the rest is padding; NaN: all.
    KeyLength,
    /// ε of the norm over queries and keys; NaN: none.
    QkNorm,
    /// 1: each head has a sink logit.
    Sinks,
}

/// The call that these numbers describe, with a sink logit for each head, where there are some.
///
/// Fails where [`AttentionSpec::new`] does. Sizes that are no whole numbers are cut to one, and what does not fit a
/// size becomes its end, which is refused there.
///
/// ```
/// use exports::call::{At, NUMBERS, parse};
/// let mut numbers = [0.0; NUMBERS];
/// for at in [At::Heads, At::KvHeads, At::KeyWidth, At::ValueWidth] {
///     numbers[at as usize] = 2.0;
/// }
/// numbers[At::Queries as usize] = 1.0;
/// numbers[At::Keys as usize] = 9.0;
/// numbers[At::Scale as usize] = f64::NAN;
/// numbers[At::KeyLength as usize] = f64::NAN;
/// numbers[At::QkNorm as usize] = f64::NAN;
/// assert_eq!(parse(&numbers, &[])?.shape().n_k, 9);
/// numbers[At::KvHeads as usize] = 3.0;
/// assert!(parse(&numbers, &[]).is_err());
/// # Ok::<(), attention::SpecError>(())
/// ```
pub fn parse(numbers: &[f64; NUMBERS], sinks: &[f64]) -> Result<AttentionSpec, SpecError> {
    let number = |at: At| numbers[at as usize];
    let size = |at: At| number(at) as usize;
    let shape = Shape {
        heads: size(At::Heads),
        kv_heads: size(At::KvHeads),
        n_q: size(At::Queries),
        n_k: size(At::Keys),
        d_k: size(At::KeyWidth),
        d_v: size(At::ValueWidth),
    };
    let mut config = Config::new(shape);
    if !number(At::Scale).is_nan() {
        config.scale = Scale::Custom(number(At::Scale));
    }
    if number(At::SoftCap) != 0.0 {
        config.soft_cap = Some(number(At::SoftCap));
    }
    let given = |at: At| Some(number(at)).filter(|x| !x.is_nan());
    if number(At::Causal) != 0.0 {
        let align = if number(At::Causal) == 2.0 {
            "top_left"
        } else {
            "bottom_right"
        };
        let values = [
            ("align", align.into()),
            ("prefix", number(At::Prefix).into()),
        ];
        config.masks.push(MaskUse::new("causal", &values)?);
    }
    if number(At::Window) != 0.0 {
        let values = [
            ("size", number(At::Window).into()),
            ("keep_first", number(At::KeepFirst).into()),
        ];
        config.masks.push(MaskUse::new("window", &values)?);
    }
    if let Some(length) = given(At::KeyLength) {
        let values = [("key_length", length.into())];
        config.masks.push(MaskUse::new("padding", &values)?);
    }
    config.qk_norm = given(At::QkNorm);
    if number(At::Sinks) != 0.0 {
        config.sink = Some(sinks.get(..shape.heads).unwrap_or(sinks).to_vec());
    }
    if number(At::Alibi) != 0.0 {
        config.positions.push(PositionUse::new("alibi", &[])?);
    }
    if number(At::Rope) != 0.0 {
        let layout = if number(At::Rope) == 2.0 {
            "half"
        } else {
            "interleaved"
        };
        let values = [
            ("layout", layout.into()),
            ("base", number(At::RopeBase).into()),
            ("dims", number(At::RopeDims).into()),
            ("q_offset", number(At::RopeQueries).into()),
            ("k_offset", number(At::RopeKeys).into()),
            ("scaling", number(At::RopeScaling).into()),
            ("factor", number(At::RopeFactor).into()),
        ];
        config.positions.push(PositionUse::new("rope", &values)?);
    }
    AttentionSpec::new(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> [f64; NUMBERS] {
        let mut numbers = [0.0; NUMBERS];
        numbers[..6].copy_from_slice(&[4.0, 2.0, 3.0, 8.0, 16.0, 8.0]);
        for at in [At::Scale, At::KeyLength, At::QkNorm] {
            numbers[at as usize] = f64::NAN;
        }
        numbers
    }

    #[test]
    fn every_number_has_its_place() {
        assert_eq!(At::Sinks as usize + 1, NUMBERS);
        let mut numbers = plain();
        numbers[At::Causal as usize] = 1.0;
        numbers[At::Window as usize] = 5.0;
        numbers[At::Scale as usize] = 0.5;
        numbers[At::SoftCap as usize] = 30.0;
        numbers[At::Rope as usize..].copy_from_slice(&[
            2.0, 500.0, 4.0, 5.0, 1.0, 1.0, 3.0, 2.0, 1.0, 7.0, 1e-6, 1.0,
        ]);
        let spec = parse(&numbers, &[0.5, 0.25, 0.0, -1.0, 9.0]).unwrap();
        let shape = spec.shape();
        assert_eq!((shape.heads, shape.kv_heads), (4, 2));
        assert_eq!((shape.n_q, shape.n_k, shape.d_k, shape.d_v), (3, 8, 16, 8));
        assert_eq!((spec.scale(), spec.soft_cap()), (0.5, Some(30.0)));
        // The last query is the last token.
        assert_eq!(spec.frame().shift, 5);
        assert_eq!(spec.config().masks[1].value("size"), Some(5.0));
        let rope = &spec.config().positions[0];
        let values = ["layout", "base", "dims", "q_offset", "k_offset"].map(|key| rope.value(key));
        assert_eq!(values, [1.0, 500.0, 4.0, 5.0, 1.0].map(Some));
        let values = ["scaling", "factor"].map(|key| rope.value(key));
        assert_eq!(values, [1.0, 3.0].map(Some));
        let masks = &spec.config().masks;
        assert_eq!(masks[0].value("prefix"), Some(2.0));
        assert_eq!(masks[1].value("keep_first"), Some(1.0));
        assert_eq!(masks[2].value("key_length"), Some(7.0));
        assert_eq!(spec.qk_norm(), Some(1e-6));
        let sinks = spec.config().sink.as_deref();
        assert_eq!(sinks, Some(&[0.5, 0.25, 0.0, -1.0][..]));
    }

    #[test]
    fn whatever_stands_there_is_a_call_or_a_sentence() {
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1e300, 0.0, 0.5] {
            for at in 0..NUMBERS {
                let mut numbers = plain();
                numbers[at] = bad;
                if let Err(error) = parse(&numbers, &[bad]) {
                    assert!(error.to_string().contains("expected"), "{error}");
                }
            }
        }
        assert!(parse(&[f64::NAN; NUMBERS], &[]).is_err());
    }
}
