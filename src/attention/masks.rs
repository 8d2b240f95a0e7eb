//! Which keys a query may see. One file per scheme, one line each in [`ALL`].
//!
//! Several masks combine by AND. What is OR stays inside one scheme: the prefix inside [`causal`], the kept first
//! tokens inside [`window`].
//!
//! To add a scheme: a file with its `SCHEME`, one line in [`ALL`]. The tests, menus and links walk the registry.

pub mod causal;
pub mod drawn;
pub mod padding;
pub mod window;

use crate::bits::BitMatrix;
use crate::error::SpecError;
use crate::param::{self, Param, Value};
use crate::shape::{KeyIdx, QueryIdx, Shape};
use std::ops::Range;

/// Every mask scheme, in the order of the menu.
pub static ALL: &[&MaskScheme] = &[
    &causal::SCHEME,
    &window::SCHEME,
    &padding::SCHEME,
    &drawn::SCHEME,
];

/// A way to decide which keys a query sees.
#[derive(Debug)]
pub struct MaskScheme {
    /// Name in links and code.
    pub id: &'static str,
    /// Name on a menu.
    pub name: &'static str,
    /// One or two sentences.
    pub help: &'static str,
    /// What can be set.
    pub params: &'static [Param],
    /// Whether a use of it needs a [`BitMatrix`].
    pub needs_drawing: bool,
    /// Whether `k` is visible to `q`.
    pub visible: fn(&MaskUse, &Frame, QueryIdx, KeyIdx) -> bool,
    /// What a query sees of a range of keys: exact, so that a tile can be skipped or taken whole.
    /// Must say what counting [`MaskScheme::visible`] over the range would.
    pub cover: fn(&MaskUse, &Frame, QueryIdx, Range<usize>) -> Coverage,
    /// Writes down for each query from one on the two ranges of keys in which everything lies that it sees; see [`Reach`].
    /// Exact but for drawings, which may say all keys.
    pub reach: fn(&MaskUse, &Frame, QueryIdx, &mut [Reach]),
    /// How far the scheme moves queries along the keys; `None` where it has no say. See [`Frame`].
    pub shift: fn(&MaskUse, Shape) -> Option<isize>,
    /// What is wrong with a use, beyond the ranges of its parameters.
    pub check: fn(&MaskUse, Shape) -> Vec<SpecError>,
    /// Uses worth testing at a shape, all valid.
    pub examples: fn(Shape) -> Vec<MaskUse>,
}

impl PartialEq for MaskScheme {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

/// A mask scheme with its parameters set.
#[derive(Clone, Debug, PartialEq)]
pub struct MaskUse {
    /// The scheme.
    pub scheme: &'static MaskScheme,
    /// One value for each of the scheme's parameters, in their order.
    pub values: Vec<f64>,
    /// The drawing, for schemes that need one.
    pub drawn: Option<BitMatrix>,
}

impl MaskUse {
    /// The scheme `id` with some parameters given and the rest at their defaults.
    ///
    /// Fails where the scheme, a key or a choice is unknown; ranges are looked at by
    /// [`AttentionSpec::new`](crate::AttentionSpec::new).
    ///
    /// ```
    /// use attention::masks::MaskUse;
    /// let causal = MaskUse::new("causal", &[("align", "bottom_right".into()), ("prefix", 3.into())])?;
    /// assert_eq!(causal.value("prefix"), Some(3.0));
    /// assert!(MaskUse::new("casual", &[]).is_err());
    /// # Ok::<(), attention::SpecError>(())
    /// ```
    pub fn new(id: &str, given: &[(&str, Value<'_>)]) -> Result<Self, SpecError> {
        let Some(scheme) = by_id(id) else {
            let known: Vec<&str> = ALL.iter().map(|s| s.id).collect();
            return Err(SpecError::new("masks", "mask")
                .expected(format!("one of {}", known.join(", ")))
                .got(format!("“{id}”"))
                .hint("Choose one of these."));
        };
        Ok(Self {
            scheme,
            values: param::fill(scheme.id, scheme.params, given)?,
            drawn: None,
        })
    }

    /// A mask drawn by hand: 1 is visible.
    #[must_use]
    pub fn drawn(bits: BitMatrix) -> Self {
        Self {
            scheme: &drawn::SCHEME,
            values: Vec::new(),
            drawn: Some(bits),
        }
    }

    /// The value of the parameter `key`; a choice as its index.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<f64> {
        let at = self.scheme.params.iter().position(|p| p.key == key)?;
        self.values.get(at).copied()
    }

    /// The value of parameter number `at` as a count. Only for what [`check`] has let through.
    fn count(&self, at: usize) -> usize {
        self.values.get(at).map_or(0, |&v| v as usize)
    }
}

/// The scheme of that id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static MaskScheme> {
    ALL.iter().copied().find(|s| s.id == id)
}

/// How queries stand against keys: query i is at place i + `shift` on the axis of the keys.
///
/// A causal mask aligned bottom right sets the shift to n_k − n_q, since its queries are the last tokens. The
/// window measures from the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The sizes.
    pub shape: Shape,
    /// Added to a query's index.
    pub shift: isize,
}

impl Frame {
    /// The frame in which all of `masks` are read: the first scheme that sets a shift sets it for all.
    #[must_use]
    pub fn new(shape: Shape, masks: &[MaskUse]) -> Self {
        let shift = masks
            .iter()
            .find_map(|m| (m.scheme.shift)(m, shape))
            .unwrap_or(0);
        Self { shape, shift }
    }

    /// Where the query stands on the axis of the keys; before the first key where negative.
    #[must_use]
    pub const fn place(&self, q: QueryIdx) -> isize {
        q.0 as isize + self.shift
    }
}

/// What is visible of a set of (query, key) pairs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coverage {
    /// Nothing: a tile can be skipped.
    Empty,
    /// Some: each pair has to be asked.
    Mixed,
    /// Everything: no pair has to be asked. Also the answer for an empty set.
    Whole,
}

impl Coverage {
    /// Of `total` pairs, `visible` are.
    #[must_use]
    pub const fn of_count(visible: usize, total: usize) -> Self {
        if visible == total {
            Self::Whole
        } else if visible == 0 {
            Self::Empty
        } else {
            Self::Mixed
        }
    }
}

/// Where the keys lie that a query sees: two ranges, the second behind the first; either may be empty.
///
/// Two, since a window with kept first tokens has as many.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach(pub [Range<usize>; 2]);

impl Reach {
    /// One range, given by ends that may lie beyond the `n_k` keys.
    #[must_use]
    pub fn one(range: Range<isize>, n_k: usize) -> Self {
        Self::two(0..0, range, n_k)
    }

    /// Two ranges that may touch or overlap, given by ends that may lie beyond the `n_k` keys.
    #[must_use]
    pub fn two(first: Range<isize>, second: Range<isize>, n_k: usize) -> Self {
        let inside = |x: isize| x.clamp(0, n_k as isize) as usize;
        let first = inside(first.start)..inside(first.end);
        let second = inside(second.start).max(first.end)..inside(second.end);
        Self([first, second])
    }

    /// Whether any of `keys` is in reach.
    #[must_use]
    pub fn meets(&self, keys: &Range<usize>) -> bool {
        self.within(keys).iter().any(|part| !part.is_empty())
    }

    /// What of the two ranges lies in `keys`.
    #[must_use]
    pub fn within(&self, keys: &Range<usize>) -> [Range<usize>; 2] {
        self.0
            .clone()
            .map(|part| part.start.max(keys.start)..part.end.min(keys.end))
    }

    /// Everything that is in reach of both; more where that would be three ranges.
    #[must_use]
    fn and(&self, other: &Self) -> Self {
        let mut parts = self.0.iter().flat_map(|part| other.within(part));
        let mut parts = parts.by_ref().filter(|part| !part.is_empty());
        let first = parts.next().unwrap_or(0..0);
        let second = parts.fold(0..0, hull);
        Self([first, second])
    }

    /// Everything that is in reach of either, and what lies between.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let [a, b] = self.0;
        let [c, d] = other.0;
        Self([hull(a, c), hull(b, d)])
    }
}

impl Reach {
    /// No key.
    #[must_use]
    pub const fn nothing() -> Self {
        Self([0..0, 0..0])
    }

    /// Everything that is in reach of any, and what lies between.
    #[must_use]
    pub fn of_all(all: &[Self]) -> Self {
        all.iter().cloned().reduce(Self::or).unwrap_or_default()
    }
}

/// The least range with both in it.
fn hull(a: Range<usize>, b: Range<usize>) -> Range<usize> {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => b,
        (_, true) => a,
        _ => a.start.min(b.start)..a.end.max(b.end),
    }
}

/// Writes down where everything lies that each query from `first` on sees through all masks. With one mask that is no
/// drawing this is exact, which [`reach_is_exact`] tells.
pub fn reach(masks: &[MaskUse], frame: &Frame, first: QueryIdx, to: &mut [Reach]) {
    let Some((mask, others)) = masks.split_first() else {
        to.fill(Reach([0..frame.shape.n_k, 0..0]));
        return;
    };
    (mask.scheme.reach)(mask, frame, first, to);
    for mask in others {
        for (q, to) in (first.0..).zip(to.iter_mut()) {
            let mut other = [Reach::nothing()];
            (mask.scheme.reach)(mask, frame, QueryIdx(q), &mut other);
            *to = to.and(&other[0]);
        }
    }
}

/// Whether [`reach`] has nothing in it that is hidden.
#[must_use]
pub fn reach_is_exact(masks: &[MaskUse]) -> bool {
    masks.len() <= 1 && !masks.iter().any(|m| m.scheme.needs_drawing)
}

/// Whether every mask lets `q` see `k`.
#[must_use]
pub fn visible(masks: &[MaskUse], frame: &Frame, q: QueryIdx, k: KeyIdx) -> bool {
    masks.iter().all(|m| (m.scheme.visible)(m, frame, q, k))
}

/// What is visible of the tile `queries` × `keys` through all masks: the one place where that is asked.
///
/// Never claims too much; it may say `Mixed` of a tile that is empty only because two masks leave each other
/// nothing, and `visible` then settles each pair.
#[must_use]
pub fn coverage(
    masks: &[MaskUse],
    frame: &Frame,
    queries: Range<usize>,
    keys: Range<usize>,
) -> Coverage {
    if masks.is_empty() {
        return Coverage::Whole;
    }
    let row = |q: usize| {
        let mut seen = Coverage::Whole;
        for m in masks {
            match (m.scheme.cover)(m, frame, QueryIdx(q), keys.clone()) {
                Coverage::Empty => return Coverage::Empty,
                Coverage::Mixed => seen = Coverage::Mixed,
                Coverage::Whole => {}
            }
        }
        seen
    };
    let mut queries = queries;
    let Some(first) = queries.next() else {
        return Coverage::Whole;
    };
    let seen = row(first);
    if seen == Coverage::Mixed || queries.any(|q| row(q) != seen) {
        Coverage::Mixed
    } else {
        seen
    }
}

/// Everything that is wrong with `masks` at `shape`. Two of the same scheme are refused.
pub(crate) fn check(masks: &[MaskUse], shape: Shape) -> Vec<SpecError> {
    let mut errors = Vec::new();
    for (at, m) in masks.iter().enumerate() {
        if masks[..at].iter().any(|other| other.scheme == m.scheme) {
            errors.push(
                SpecError::new("masks", "masks")
                    .of(m.scheme.id)
                    .expected("each kind at most once")
                    .got(format!("“{}” twice", m.scheme.name))
                    .hint("Remove one of the two."),
            );
            continue;
        }
        let ranges = param::check(m.scheme.id, m.scheme.params, &m.values);
        if ranges.is_empty() {
            errors.extend((m.scheme.check)(m, shape));
        } else {
            errors.extend(ranges);
        }
    }
    errors
}

/// Writes down what each query from `first` on reaches.
fn fill(first: QueryIdx, to: &mut [Reach], of: impl Fn(QueryIdx) -> Reach) {
    for (q, to) in (first.0..).zip(to) {
        *to = of(QueryIdx(q));
    }
}

/// How many of `keys` lie in `span`, which may reach below 0 and beyond the last key.
fn overlap(keys: &Range<usize>, span: Range<isize>) -> usize {
    let low = span.start.max(keys.start as isize);
    let high = span.end.min(keys.end as isize);
    (high - low).max(0) as usize
}
