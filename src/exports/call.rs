//! A call as sixteen numbers, which is what JavaScript writes.

use attention::{AttentionSpec, Config, MaskUse, PositionUse, Scale, Shape, SpecError};

/// How many numbers describe a call.
pub const NUMBERS: usize = 16;

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
    /// 1: a query sees itself and what came before it; the last query is the last token. 0: no mask.
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
}

/// The call that these numbers describe.
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
/// assert_eq!(parse(&numbers)?.shape().n_k, 9);
/// numbers[At::KvHeads as usize] = 3.0;
/// assert!(parse(&numbers).is_err());
/// # Ok::<(), attention::SpecError>(())
/// ```
pub fn parse(numbers: &[f64; NUMBERS]) -> Result<AttentionSpec, SpecError> {
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
    if number(At::Causal) != 0.0 {
        let align = [("align", "bottom_right".into())];
        config.masks.push(MaskUse::new("causal", &align)?);
    }
    if number(At::Window) != 0.0 {
        let size = [("size", number(At::Window).into())];
        config.masks.push(MaskUse::new("window", &size)?);
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
        let given = [
            ("layout", layout.into()),
            ("base", number(At::RopeBase).into()),
            ("dims", number(At::RopeDims).into()),
            ("q_offset", number(At::RopeQueries).into()),
            ("k_offset", number(At::RopeKeys).into()),
        ];
        config.positions.push(PositionUse::new("rope", &given)?);
    }
    AttentionSpec::new(config)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain() -> [f64; NUMBERS] {
        let mut numbers = [0.0; NUMBERS];
        numbers[..6].copy_from_slice(&[4.0, 2.0, 3.0, 8.0, 16.0, 8.0]);
        numbers[At::Scale as usize] = f64::NAN;
        numbers
    }

    #[test]
    fn every_number_has_its_place() {
        assert_eq!(At::RopeKeys as usize + 1, NUMBERS);
        let mut numbers = plain();
        numbers[At::Causal as usize] = 1.0;
        numbers[At::Window as usize] = 5.0;
        numbers[At::Scale as usize] = 0.5;
        numbers[At::SoftCap as usize] = 30.0;
        numbers[At::Rope as usize..].copy_from_slice(&[2.0, 500.0, 4.0, 5.0, 1.0]);
        let spec = parse(&numbers).unwrap();
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
    }

    #[test]
    fn whatever_stands_there_is_a_call_or_a_sentence() {
        for bad in [f64::NAN, f64::INFINITY, -1.0, 1e300, 0.0, 0.5] {
            for at in 0..NUMBERS {
                let mut numbers = plain();
                numbers[at] = bad;
                if let Err(error) = parse(&numbers) {
                    assert!(error.to_string().contains("expected"), "{error}");
                }
            }
        }
        assert!(parse(&[f64::NAN; NUMBERS]).is_err());
    }
}
