//! How places enter attention. One file per scheme, one line each in [`ALL`].
//!
//! A scheme acts at one of three points, its [`Action`]: on the tokens before the projections, on queries and keys
//! after them, or on the scores. Several may be used together, each at most once.
//!
//! To add a scheme: a file with its `SCHEME`, one line in [`ALL`]. The tests, menus and links walk the registry.

pub mod alibi;
pub mod rope;
pub mod sinusoidal;

use crate::error::SpecError;
use crate::param::{self, Param, Value};
use crate::shape::{HeadIdx, Shape};

/// Every position scheme, in the order of the menu.
pub static ALL: &[&PositionScheme] = &[&sinusoidal::SCHEME, &rope::SCHEME, &alibi::SCHEME];

/// A way to tell tokens where they are.
#[derive(Debug)]
pub struct PositionScheme {
    /// Name in links and code.
    pub id: &'static str,
    /// Name on a menu.
    pub name: &'static str,
    /// One or two sentences.
    pub help: &'static str,
    /// What can be set.
    pub params: &'static [Param],
    /// Where it acts, and how.
    pub action: Action,
    /// What is wrong with a use, beyond the ranges of its parameters.
    pub check: fn(&PositionUse, Shape) -> Vec<SpecError>,
    /// Uses worth testing at a shape, all valid.
    pub examples: fn(Shape) -> Vec<PositionUse>,
}

impl PartialEq for PositionScheme {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// Where a scheme acts.
#[derive(Clone, Copy, Debug)]
pub enum Action {
    /// Adds `f(use, place, column, width)` to cell (`place`, `column`) of the tokens X [n, `width`], before the
    /// projections. Attention on given q and k is not touched by it: see [`add_to_tokens`].
    AddToTokens(fn(&PositionUse, place: usize, column: usize, width: usize) -> f64),
    /// Turns pairs of components of every query and key.
    Turn(fn(&PositionUse, Shape) -> Turn),
    /// Adds `f(use, heads, head, i − j)` to score (i, j), after scale and soft cap.
    RelativeBias(fn(&PositionUse, heads: usize, HeadIdx, offset: isize) -> f64),
}

/// A rotation that depends on the place: query i stands at `q_offset` + i, key j at `k_offset` + j.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The two components that turn together.
    pub pairs: Vec<(usize, usize)>,
    /// Radians per place, one for each pair.
    pub frequencies: Vec<f64>,
    /// Place of query 0.
    pub q_offset: usize,
    /// Place of key 0.
    pub k_offset: usize,
}

/// A position scheme with its parameters set.
#[derive(Clone, Debug, PartialEq)]
pub struct PositionUse {
    /// The scheme.
    pub scheme: &'static PositionScheme,
    /// One value for each of the scheme's parameters, in their order.
    pub values: Vec<f64>,
}

impl PositionUse {
    /// The scheme `id` with some parameters given and the rest at their defaults.
    ///
    /// Fails where the scheme, a key or a choice is unknown; ranges are looked at by
    /// [`AttentionSpec::new`](crate::AttentionSpec::new).
    ///
    /// ```
    /// use attention::positions::PositionUse;
    /// let rope = PositionUse::new("rope", &[("layout", "half".into()), ("base", 500_000.into())])?;
    /// assert_eq!(rope.value("layout"), Some(1.0));
    /// # Ok::<(), attention::SpecError>(())
    /// ```
    pub fn new(id: &str, given: &[(&str, Value<'_>)]) -> Result<Self, SpecError> {
        let Some(scheme) = by_id(id) else {
            let known: Vec<&str> = ALL.iter().map(|s| s.id).collect();
            return Err(SpecError::new("positions", "position scheme")
                .expected(format!("one of {}", known.join(", ")))
                .got(format!("“{id}”"))
                .hint("Choose one of these."));
        };
        Ok(Self {
            scheme,
            values: param::fill(scheme.id, scheme.params, given)?,
        })
    }

    /// The value of the parameter `key`; a choice as its index.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<f64> {
        let at = self.scheme.params.iter().position(|p| p.key == key)?;
        self.values.get(at).copied()
    }

    /// The value of parameter number `at`. Only for what [`check`] has let through.
    fn real(&self, at: usize) -> f64 {
        self.values.get(at).copied().unwrap_or(0.0)
    }

    /// The value of parameter number `at` as a count. Only for what [`check`] has let through.
    fn count(&self, at: usize) -> usize {
        self.real(at) as usize
    }
}

/// The scheme of that id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static PositionScheme> {
    ALL.iter().copied().find(|s| s.id == id)
}

/// Adds what the schemes of `positions` that act on tokens have to say to `x` [n, `width`], in place.
///
/// Row 0 is place 0. Schemes that act later leave `x` alone. A last row that is not full is treated as far as it goes.
pub fn add_to_tokens(positions: &[PositionUse], x: &mut [f64], width: usize) {
    for p in positions {
        if let Action::AddToTokens(value) = p.scheme.action {
            for (place, row) in x.chunks_mut(width.max(1)).enumerate() {
                for (column, cell) in row.iter_mut().enumerate() {
                    *cell += value(p, place, column, width);
                }
            }
        }
    }
}

/// Everything that is wrong with `positions` at `shape`. Two of the same scheme are refused.
pub(crate) fn check(positions: &[PositionUse], shape: Shape) -> Vec<SpecError> {
    let mut errors = Vec::new();
    for (at, p) in positions.iter().enumerate() {
        if positions[..at].iter().any(|other| other.scheme == p.scheme) {
            errors.push(
                SpecError::new("positions", "positions")
                    .of(p.scheme.id)
                    .expected("each kind at most once")
                    .got(format!("“{}” twice", p.scheme.name))
                    .hint("Remove one of the two."),
            );
            continue;
        }
        let ranges = param::check(p.scheme.id, p.scheme.params, &p.values);
        if ranges.is_empty() {
            errors.extend((p.scheme.check)(p, shape));
        } else {
            errors.extend(ranges);
        }
    }
    errors
}
