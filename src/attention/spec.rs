//! What is computed. A [`Config`] is raw and may be anything; an [`AttentionSpec`] is valid, and nothing behind it
//! checks again.

use crate::error::SpecError;
use crate::limits::{MAX_CELLS, MAX_HEADS, MAX_SCALAR, MAX_TOKENS, MAX_WIDTH};
use crate::masks::{self, Coverage, Frame, MaskUse, Reach};
use crate::positions::{self, Action, PositionUse, Turn};
use crate::shape::{HeadIdx, KeyIdx, QueryIdx, Shape};
use std::ops::Range;
use std::sync::Arc;

/// The factor of the dot products.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// 1/√d_k (Vaswani et al. 2017).
    InverseSqrt,
    /// Any other; 1 for none.
    Custom(f64),
}

/// What becomes of the score of a hidden key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Hidden {
    /// −∞ takes its place: the weight is exactly 0.
    NegInfinity,
    /// This number is added to it, as codes do that write −1e9 for −∞: a setting to see what that breaks.
    Finite(f64),
}

/// A wish, not checked. [`Config::new`] gives plain attention of a shape; change its fields from there.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The sizes.
    pub shape: Shape,
    /// The factor of the dot products.
    pub scale: Scale,
    /// c in c·tanh(s/c), applied to scaled scores before bias and mask (Gemma 2); positive. `None`: no cap.
    pub soft_cap: Option<f64>,
    /// A key is visible where all of these say so.
    pub masks: Vec<MaskUse>,
    /// What becomes of hidden scores.
    pub hidden: Hidden,
    /// How places enter.
    pub positions: Vec<PositionUse>,
    /// ε of x/√(mean(x²) + ε), over each query and key of a head, before positions; not negative. `None`: no norm.
    pub qk_norm: Option<f64>,
    /// One logit per head that joins the denominator of each row and has no value; 0 adds 1. `None`: no sink.
    pub sink: Option<Vec<f64>>,
}

impl Config {
    /// Plain attention: scale 1/√d_k, everything visible, no positions.
    #[must_use]
    pub const fn new(shape: Shape) -> Self {
        Self {
            shape,
            scale: Scale::InverseSqrt,
            soft_cap: None,
            masks: Vec::new(),
            hidden: Hidden::NegInfinity,
            positions: Vec::new(),
            qk_norm: None,
            sink: None,
        }
    }
}

/// A valid description of one attention call: heads divide, parameters are in range, numbers are finite.
///
/// Cloning is cheap: clones share what they hold.
#[derive(Clone, Debug, PartialEq)]
pub struct AttentionSpec {
    parsed: Arc<Parsed>,
}

#[derive(Debug, PartialEq)]
struct Parsed {
    config: Config,
    frame: Frame,
    scale: f64,
    turns: Vec<Turn>,
}

impl AttentionSpec {
    /// Parses a wish. Fails with the first of [`AttentionSpec::check`]'s errors.
    ///
    /// ```
    /// use attention::{AttentionSpec, Config, Shape};
    /// let mut config = Config::new(Shape { heads: 6, kv_heads: 4, ..Shape::square(8, 16) });
    /// let error = AttentionSpec::new(config.clone()).unwrap_err();
    /// assert_eq!(error.to_string(), "K/V heads: expected a divisor of 6, got 4. Choose 1, 2, 3 or 6.");
    /// config.shape.kv_heads = 3;
    /// assert!(AttentionSpec::new(config).is_ok());
    /// ```
    pub fn new(config: Config) -> Result<Self, SpecError> {
        if let Some(error) = Self::check(&config).into_iter().next() {
            return Err(error);
        }
        let shape = config.shape;
        let parsed = Parsed {
            frame: Frame::new(shape, &config.masks),
            scale: match config.scale {
                Scale::InverseSqrt => 1.0 / (shape.d_k as f64).sqrt(),
                Scale::Custom(scale) => scale,
            },
            turns: config
                .positions
                .iter()
                .filter_map(|p| match p.scheme.action {
                    Action::Turn(turn) => Some(turn(p, shape)),
                    Action::AddToTokens(_) | Action::RelativeBias(_) => None,
                })
                .collect(),
            config,
        };
        Ok(Self {
            parsed: Arc::new(parsed),
        })
    }

    /// Everything that is wrong with a wish, in the order of its fields; empty where nothing is.
    ///
    /// Masks and positions are only looked at once the sizes are right, since their limits follow from them.
    #[must_use]
    pub fn check(config: &Config) -> Vec<SpecError> {
        let mut errors = check_shape(config.shape);
        let sizes_are_right = errors.is_empty();
        if let Scale::Custom(scale) = config.scale {
            errors.extend(scalar("scale", "Scale", scale, -MAX_SCALAR));
        }
        if let Some(cap) = config.soft_cap {
            errors.extend(scalar("soft_cap", "Soft cap", cap, f64::MIN_POSITIVE));
        }
        if sizes_are_right {
            errors.extend(masks::check(&config.masks, config.shape));
        }
        if let Hidden::Finite(constant) = config.hidden {
            errors.extend(scalar("hidden", "Mask constant", constant, -MAX_SCALAR));
        }
        if sizes_are_right {
            errors.extend(positions::check(&config.positions, config.shape));
        }
        if let Some(epsilon) = config.qk_norm {
            errors.extend(scalar("qk_norm", "QK-norm ε", epsilon, 0.0));
        }
        if let Some(sink) = &config.sink {
            if sink.len() != config.shape.heads {
                errors.push(
                    SpecError::new("sink", "Sink logits")
                        .expected(format!("one for each of the {} heads", config.shape.heads))
                        .got(sink.len().to_string())
                        .hint("Give each head its own."),
                );
            }
            errors.extend(
                sink.iter()
                    .find_map(|&s| scalar("sink", "Sink logit", s, -MAX_SCALAR)),
            );
        }
        errors
    }

    /// The wish that this came from.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.parsed.config
    }

    /// The sizes: none is 0, and `kv_heads` divides `heads`.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.parsed.config.shape
    }

    /// The factor of the dot products, as a number.
    #[must_use]
    pub fn scale(&self) -> f64 {
        self.parsed.scale
    }

    /// c of the soft cap c·tanh(s/c).
    #[must_use]
    pub fn soft_cap(&self) -> Option<f64> {
        self.parsed.config.soft_cap
    }

    /// What becomes of hidden scores.
    #[must_use]
    pub fn hidden(&self) -> Hidden {
        self.parsed.config.hidden
    }

    /// ε of the norm over queries and keys.
    #[must_use]
    pub fn qk_norm(&self) -> Option<f64> {
        self.parsed.config.qk_norm
    }

    /// The sink logit of a head.
    #[must_use]
    pub fn sink(&self, head: HeadIdx) -> Option<f64> {
        self.parsed
            .config
            .sink
            .as_ref()
            .and_then(|s| s.get(head.0).copied())
    }

    /// How queries stand against keys.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.parsed.frame
    }

    /// Whether the masks let `q` see `k`.
    #[must_use]
    pub fn visible(&self, q: QueryIdx, k: KeyIdx) -> bool {
        masks::visible(&self.parsed.config.masks, &self.parsed.frame, q, k)
    }

    /// What the masks leave of the tile `queries` × `keys`.
    #[must_use]
    pub fn coverage(&self, queries: Range<usize>, keys: Range<usize>) -> Coverage {
        masks::coverage(&self.parsed.config.masks, &self.parsed.frame, queries, keys)
    }

    /// Where everything lies that the masks let `q` see.
    #[must_use]
    pub fn reach(&self, q: QueryIdx) -> Reach {
        let mut one = [Reach::nothing()];
        self.reach_each(q, &mut one);
        let [one] = one;
        one
    }

    /// Whether the two share what they hold.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.parsed, &other.parsed)
    }

    /// [`AttentionSpec::reach`] of `first` and the queries behind it.
    pub fn reach_each(&self, first: QueryIdx, to: &mut [Reach]) {
        masks::reach(&self.parsed.config.masks, &self.parsed.frame, first, to);
    }

    /// Where everything lies that the masks let any of `queries` see, and what lies between.
    #[must_use]
    pub fn reach_of(&self, queries: Range<usize>) -> Reach {
        let all = queries.map(|q| self.reach(QueryIdx(q)));
        all.reduce(Reach::or).unwrap_or_default()
    }

    /// Whether [`AttentionSpec::reach`] has nothing in it that is hidden.
    #[must_use]
    pub fn reach_is_exact(&self) -> bool {
        masks::reach_is_exact(&self.parsed.config.masks)
    }

    /// The rotations of queries and keys, to be done in this order.
    #[must_use]
    pub fn turns(&self) -> &[Turn] {
        &self.parsed.turns
    }

    /// Whether any position scheme adds to the scores.
    #[must_use]
    pub fn has_bias(&self) -> bool {
        self.biases().next().is_some()
    }

    /// Whether [`AttentionSpec::relative_bias`] is that of `other`.
    pub(crate) fn has_bias_of(&self, other: &Self) -> bool {
        self.shape().heads == other.shape().heads && self.biases().eq(other.biases())
    }

    /// The position schemes that add to the scores.
    fn biases(&self) -> impl Iterator<Item = &PositionUse> {
        let all = self.parsed.config.positions.iter();
        all.filter(|p| matches!(p.scheme.action, Action::RelativeBias(_)))
    }

    /// What the position schemes add to score (i, j) of a head; a function of `offset` = i − j only.
    #[must_use]
    pub fn relative_bias(&self, head: HeadIdx, offset: isize) -> f64 {
        let of = |p: &PositionUse| match p.scheme.action {
            Action::RelativeBias(bias) => bias(p, self.shape().heads, head, offset),
            Action::AddToTokens(_) | Action::Turn(_) => 0.0,
        };
        self.parsed.config.positions.iter().map(of).sum()
    }
}

fn check_shape(shape: Shape) -> Vec<SpecError> {
    let mut errors = Vec::new();
    let sizes = [
        ("heads", "Heads", shape.heads, MAX_HEADS),
        ("kv_heads", "K/V heads", shape.kv_heads, MAX_HEADS),
        ("n_q", "Queries", shape.n_q, MAX_TOKENS),
        ("n_k", "Keys", shape.n_k, MAX_TOKENS),
        ("d_k", "d_k", shape.d_k, MAX_WIDTH),
        ("d_v", "d_v", shape.d_v, MAX_WIDTH),
    ];
    for (field, label, size, max) in sizes {
        if !(1..=max).contains(&size) {
            errors.push(
                SpecError::new(field, label)
                    .expected(format!("1 to {max}"))
                    .got(size.to_string())
                    .hint(if size == 0 {
                        "Give at least 1."
                    } else {
                        "Give less."
                    }),
            );
        }
    }
    if !errors.is_empty() {
        return errors;
    }
    if !shape.heads.is_multiple_of(shape.kv_heads) {
        errors.push(
            SpecError::new("kv_heads", "K/V heads")
                .expected(format!("a divisor of {}", shape.heads))
                .got(shape.kv_heads.to_string())
                .hint(format!("Choose {}.", divisors(shape.heads))),
        );
    }
    let tensors = [
        ("n_q", "Queries", "Q", shape.q_len().max(shape.out_len())),
        ("n_k", "Keys", "K or V", shape.k_len().max(shape.v_len())),
    ];
    for (field, label, tensor, cells) in tensors {
        if cells > MAX_CELLS {
            errors.push(
                SpecError::new(field, label)
                    .expected(format!("at most {MAX_CELLS} numbers in {tensor}"))
                    .got(cells.to_string())
                    .hint("Take fewer heads or tokens, or narrower ones."),
            );
        }
    }
    errors
}

/// "1, 2, 3 or 6".
fn divisors(n: usize) -> String {
    let all: Vec<String> = (1..=n)
        .filter(|d| n.is_multiple_of(*d))
        .map(|d| d.to_string())
        .collect();
    match all.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        Some((last, _)) => last.clone(),
        None => String::new(),
    }
}

/// What is wrong with one of the numbers of a config. `min`: [`f64::MIN_POSITIVE`] stands for "above 0".
fn scalar(field: &'static str, label: &'static str, value: f64, min: f64) -> Option<SpecError> {
    if (min..=MAX_SCALAR).contains(&value) {
        return None;
    }
    let expected = if min == f64::MIN_POSITIVE {
        format!("a number above 0 and up to {MAX_SCALAR:e}")
    } else {
        format!("a number from {min:e} to {MAX_SCALAR:e}").replace('-', "−")
    };
    Some(
        SpecError::new(field, label)
            .expected(expected)
            .got_number(value)
            .hint("Type such a number."),
    )
}
