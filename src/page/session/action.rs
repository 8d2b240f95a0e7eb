//! The changes a reader can make.

use super::{CellRef, Data, Session, Size, Tensor, presets};
use crate::source::{ExampleLayer, Source, SourceKind};
use attention::{
    AttentionSpec, BitMatrix, Hidden, KeyIdx, MaskUse, PositionUse, QueryIdx, Scale, Shape,
    SpecError,
};
use std::{fmt, sync::Arc};

/// One change.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Take numbers of another kind, with that kind's settings as they were last or by default. For
    /// `SourceKind::Typed` the present Q, K and V stay and become typed ones.
    SetSource(SourceKind),
    /// Turn Q, K and V of the shown head, as the engine projected them, into typed numbers of a single head.
    TakeAsTyped {
        /// Queries.
        q: Arc<Vec<f64>>,
        /// Keys.
        k: Arc<Vec<f64>>,
        /// Values.
        v: Arc<Vec<f64>>,
    },
    /// Draw from another seed.
    SetSeed(u32),
    /// Draw with another standard deviation.
    SetSigma(f64),
    /// A layer of an example has arrived; show this head of it.
    Example(Arc<ExampleLayer>, usize),
    /// Change a size.
    SetSize(Size, usize),
    /// Show another head.
    SetHead(usize),
    /// Multiply the dot products by something else.
    SetScale(Scale),
    /// Put the masks of a preset in force, by id.
    SetMaskPreset(&'static str),
    /// Change a parameter of a mask in force: scheme id, key, value.
    SetMaskParam(&'static str, &'static str, f64),
    /// Hide or show cells of the mask by hand: query, key, visible.
    PaintMask(Vec<(usize, usize, bool)>),
    /// Forget the cells hidden by hand.
    ClearDrawn,
    /// What is hidden now becomes hidden by hand, and no scheme is in force.
    MaskByHand,
    /// Change what hidden scores become.
    SetHidden(Hidden),
    /// Put the positions of a preset in force, by id.
    SetPositionPreset(&'static str),
    /// Change a parameter of a position scheme in force: scheme id, key, value.
    SetPositionParam(&'static str, &'static str, f64),
    /// Cap the scores, or stop capping them.
    SetSoftCap(Option<f64>),
    /// Norm queries and keys with this ε, or stop.
    SetQkNorm(Option<f64>),
    /// Give the shown head a sink logit (all heads, where none had one), or take them all away.
    SetSink(Option<f64>),
    /// Change cells: the first one's place and a block of numbers.
    Write(CellRef, Vec<Vec<f64>>),
    /// Pin a cell of the scores, or let go.
    Pin(Option<(usize, usize)>),
    /// Type a gradient at the output, or go back to ½|o − v|².
    SetDOut(Option<Vec<f64>>),
    /// Back to the session's beginning, options and all.
    Reset,
}

impl Action {
    /// Actions of the same kind in one gesture (a slider dragged, a cell dragged) are one step of undo.
    pub fn gesture(&self) -> Option<String> {
        match self {
            Action::SetScale(_) => Some("scale".into()),
            Action::SetSigma(_) => Some("sigma".into()),
            Action::SetSoftCap(Some(_)) => Some("cap".into()),
            Action::SetSink(Some(_)) => Some("sink".into()),
            Action::SetMaskParam(scheme, key, _) | Action::SetPositionParam(scheme, key, _) => {
                Some(format!("{scheme}.{key}"))
            }
            Action::Write(at, block)
                if block.len() == 1 && block.first().is_some_and(|r| r.len() == 1) =>
            {
                Some(format!("{at:?}"))
            }
            Action::PaintMask(_) => Some("paint".into()),
            _ => None,
        }
    }

    /// Whether it changes numbers or single cells of the mask, rather than a setting.
    pub fn is_by_hand(&self) -> bool {
        matches!(
            self,
            Action::Write(..) | Action::PaintMask(_) | Action::ClearDrawn
        )
    }

    /// Whether it changes what is hidden by hand.
    pub fn paints(&self) -> bool {
        matches!(self, Action::PaintMask(_) | Action::ClearDrawn)
    }

    /// Whether undo should step over it: looking is not changing.
    pub fn is_look(&self) -> bool {
        matches!(self, Action::Pin(_) | Action::SetHead(_))
    }
}

/// Why an action was refused, and which control the sentence belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionError {
    /// Name of the control: a size's field, a scheme's `id.key`, or a tensor's symbol.
    pub field: String,
    /// Expected, got, what to do.
    pub message: String,
}

impl SessionError {
    /// A sentence for a control.
    pub fn new(field: impl Into<String>, message: impl Into<String>) -> SessionError {
        SessionError {
            field: field.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for SessionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for SessionError {}

impl From<SpecError> for SessionError {
    fn from(error: SpecError) -> Self {
        let field = match error.scheme {
            Some(scheme) => format!("{scheme}.{}", error.field),
            None => error.field.to_owned(),
        };
        SessionError {
            field,
            message: error.to_string(),
        }
    }
}

impl Session {
    /// The session after an action, checked by the core. The old one stays.
    pub fn after(&self, action: &Action) -> Result<Session, SessionError> {
        let next = self.unchecked(action)?;
        next.check()?;
        Ok(next)
    }

    /// The session after an action that several together may make valid.
    pub(super) fn unchecked(&self, action: &Action) -> Result<Session, SessionError> {
        let mut next = self.clone();
        match action {
            Action::SetSource(kind) => return Ok(self.with_source(*kind)),
            Action::TakeAsTyped { q, k, v } => {
                next.data = Data::Given {
                    q: q.clone(),
                    k: k.clone(),
                    v: v.clone(),
                };
                next.source = Source::Typed;
                next.edited = 0;
                next.positions.retain(|p| p.scheme.id != "sinusoidal");
            }
            Action::SetSeed(seed) => {
                match &mut next.source {
                    Source::Random { seed: s, .. } | Source::Tokens { seed: s, .. } => *s = *seed,
                    Source::Typed | Source::Example(_) => {}
                }
                next.redraw();
            }
            Action::SetSigma(value) => {
                if !(value.is_finite() && *value >= 0.0 && *value <= 1e6) {
                    return Err(SessionError::new(
                        "sigma",
                        format!(
                            "σ: expected 0 to 1000000, got {value}. Write 1 for unit variance."
                        ),
                    ));
                }
                if let Source::Random { sigma, .. } = &mut next.source {
                    *sigma = *value;
                }
                next.redraw();
            }
            Action::Example(layer, head) => return Ok(self.with_example(layer, *head)),
            Action::SetSize(size, to) => next = self.resized(*size, *to)?,
            Action::SetHead(head) => next.head = (*head).min(self.shape.heads - 1),
            Action::SetScale(scale) => next.scale = *scale,
            Action::SetMaskPreset(id) => {
                if let Some(preset) = presets::MASK_PRESETS.iter().find(|p| p.id == *id) {
                    next.masks = (preset.uses)(self.shape);
                    if *id == "none" {
                        next.drawn = None;
                    }
                } else {
                    next.masks = MaskUse::new(id, &[]).into_iter().collect();
                }
            }
            Action::SetMaskParam(scheme, key, value) => {
                for m in next.masks.iter_mut().filter(|m| m.scheme.id == *scheme) {
                    set_param(m.scheme.params, &mut m.values, key, *value);
                }
            }
            Action::PaintMask(cells) => next.paint(cells),
            Action::ClearDrawn => next.drawn = None,
            Action::MaskByHand => {
                let spec = AttentionSpec::new(self.config())?;
                let s = self.shape;
                let bits = BitMatrix::from_fn(s.n_q, s.n_k, |q, k| spec.visible(q, k));
                next.drawn = s
                    .queries()
                    .any(|q| bits.count(q, 0..s.n_k) < s.n_k)
                    .then_some(bits);
                next.masks.clear();
            }
            Action::SetHidden(hidden) => next.hidden = *hidden,
            Action::SetPositionPreset(id) => {
                if *id == "sinusoidal" && !matches!(self.data, Data::Tokens { .. }) {
                    return Err(SessionError::new(
                        "positions",
                        "Sinusoidal positions are added to tokens before the projections: expected tokens X, got Q, K and V themselves. Choose “tokens X · W” above.",
                    ));
                }
                if let Some(preset) = presets::POSITION_PRESETS.iter().find(|p| p.id == *id) {
                    next.positions = (preset.uses)(self.shape);
                } else {
                    next.positions = PositionUse::new(id, &[]).into_iter().collect();
                }
            }
            Action::SetPositionParam(scheme, key, value) => {
                for p in next.positions.iter_mut().filter(|p| p.scheme.id == *scheme) {
                    set_param(p.scheme.params, &mut p.values, key, *value);
                }
                next.count_turned();
            }
            Action::SetSoftCap(cap) => next.soft_cap = *cap,
            Action::SetQkNorm(eps) => next.qk_norm = *eps,
            Action::SetSink(value) => {
                next.sink = match (value, next.sink.take()) {
                    (None, _) => None,
                    (Some(value), None) => Some(vec![*value; self.shape.heads]),
                    (Some(value), Some(mut sink)) => {
                        if let Some(slot) = sink.get_mut(self.head) {
                            *slot = *value;
                        }
                        Some(sink)
                    }
                };
            }
            Action::Write(at, block) => next.paste(*at, block)?,
            Action::Pin(cell) => {
                next.pin =
                    cell.map(|(q, k)| (q.min(self.shape.n_q - 1), k.min(self.shape.n_k - 1)));
            }
            Action::SetDOut(d_out) => next.d_out = d_out.clone(),
            Action::Reset => return Ok(self.fresh()),
        }
        Ok(next)
    }

    fn redraw(&mut self) {
        self.data = match &self.source {
            Source::Random { seed, sigma } => Data::random(self.shape, *seed, *sigma),
            Source::Tokens { seed, d_model } => Data::tokens(self.shape, *seed, *d_model),
            Source::Typed | Source::Example(_) => return,
        };
        self.edited = 0;
    }

    /// The same source as when it was chosen, no option set.
    fn fresh(&self) -> Session {
        match &self.source {
            Source::Example(layer) => Session {
                pin: self.pin,
                ..Session::example(layer.clone(), self.head)
            },
            Source::Random { seed, sigma } => Session::random(self.shape, *seed, *sigma),
            Source::Tokens { seed, d_model } => Session::tokens(self.shape, *seed, *d_model),
            Source::Typed => Session {
                data: self.data.clone(),
                q_labels: self.q_labels.clone(),
                k_labels: self.k_labels.clone(),
                edited: self.edited,
                ..Session::plain(self.shape)
            },
        }
    }

    fn with_source(&self, kind: SourceKind) -> Session {
        if self.source.kind() == kind {
            return self.clone();
        }
        let mut next = match kind {
            SourceKind::Typed => match &self.data {
                Data::Given { .. } => self.shown_head_alone(),
                // The page sends `TakeAsTyped` with the projected numbers; without them, begin with zeros.
                Data::Tokens { .. } => Session::plain(self.shape),
            },
            SourceKind::Random => {
                let shape = if self.sizes_are_free() {
                    self.shape
                } else {
                    Shape::square(16, 64)
                };
                Session::random(shape, 7, 1.0)
            }
            SourceKind::Tokens => Session::small_example(),
            // The example itself comes with `Action::Example`, once it is there.
            SourceKind::Example => self.clone(),
        };
        next.keep_options_of(self);
        next
    }

    /// The numbers as typed ones; of a real layer those of the head on the screen.
    fn shown_head_alone(&self) -> Session {
        let mut next = Session {
            source: Source::Typed,
            edited: 0,
            ..self.clone()
        };
        let numbers = |tensor| self.numbers(tensor).map(|x| Arc::new(x.to_vec()));
        if let (Source::Example(_), Some(q), Some(k), Some(v)) = (
            &self.source,
            numbers(Tensor::Q),
            numbers(Tensor::K),
            numbers(Tensor::V),
        ) {
            next.shape = Shape {
                heads: 1,
                kv_heads: 1,
                ..self.shape
            };
            next.data = Data::Given { q, k, v };
            next.sink = self
                .sink
                .as_ref()
                .and_then(|s| s.get(self.head))
                .map(|z| vec![*z]);
            next.head = 0;
        }
        next
    }

    fn with_example(&self, layer: &Arc<ExampleLayer>, head: usize) -> Session {
        if let Some(whole) = self.completed_by(layer) {
            return Session { head, ..whole };
        }
        let mut next = Session::example(layer.clone(), head);
        next.keep_options_of(self);
        next
    }

    /// The other heads of a layer of which one was here: that one stays as it is, edits and all.
    fn completed_by(&self, layer: &Arc<ExampleLayer>) -> Option<Session> {
        let (Source::Example(now), Data::Given { q, k, v }) = (&self.source, &self.data) else {
            return None;
        };
        let here = now.only?;
        if now.sentence != layer.sentence || now.layer != layer.layer || layer.only.is_some() {
            return None;
        }
        let with = |all: &Arc<Vec<f64>>, mine: &Arc<Vec<f64>>| {
            let cells = all.len() / layer.heads.max(1);
            let head = here * cells..(here + 1) * cells;
            let mut all = all.to_vec();
            all.get_mut(head.clone())?.copy_from_slice(mine.get(head)?);
            Some(Arc::new(all))
        };
        Some(Session {
            data: Data::Given {
                q: with(&layer.q, q)?,
                k: with(&layer.k, k)?,
                v: with(&layer.v, v)?,
            },
            source: Source::Example(layer.clone()),
            ..self.clone()
        })
    }

    /// Options go on from one source to the next where they still make sense.
    fn keep_options_of(&mut self, other: &Session) {
        self.scale = other.scale;
        self.masks = other.masks.clone();
        self.hidden = other.hidden;
        self.soft_cap = other.soft_cap;
        self.qk_norm = other.qk_norm;
        self.pin = other.pin;
        self.sink = other
            .sink
            .as_ref()
            .and_then(|s| s.first())
            .map(|first| vec![*first; self.shape.heads]);
        self.drawn = if (self.shape.n_q, self.shape.n_k) == (other.shape.n_q, other.shape.n_k) {
            other.drawn.clone()
        } else {
            None
        };
        self.positions = other.positions.clone();
        let tokens = matches!(self.data, Data::Tokens { .. });
        self.positions
            .retain(|p| tokens || p.scheme.id != "sinusoidal");
        self.fit_options(other.shape);
        if self.check().is_err() {
            // A rotation of more components than there are, say: positions begin anew.
            self.positions.clear();
        }
    }

    fn paint(&mut self, cells: &[(usize, usize, bool)]) {
        let s = self.shape;
        let mut bits = self
            .drawn
            .take()
            .unwrap_or_else(|| BitMatrix::filled(s.n_q, s.n_k, true));
        for &(q, k, visible) in cells {
            if q < s.n_q && k < s.n_k {
                bits.set(QueryIdx(q), KeyIdx(k), visible);
            }
        }
        let whole = s.queries().all(|q| bits.count(q, 0..s.n_k) == s.n_k);
        self.drawn = (!whole).then_some(bits);
    }

    fn paste(&mut self, at: CellRef, block: &[Vec<f64>]) -> Result<(), SessionError> {
        let symbol = at.tensor.symbol();
        let Some((rows, cols)) = self.size_of(at.tensor) else {
            let message = match at.tensor {
                Tensor::Q | Tensor::K | Tensor::V => format!(
                    "{symbol} is computed from X here: expected an edit of X or of a W, got one of {symbol}. Change X or W below, or take {symbol} as typed numbers."
                ),
                _ => format!(
                    "{symbol} does not exist for this source. Choose “tokens X · W” to have it."
                ),
            };
            return Err(SessionError::new(symbol, message));
        };
        let (h, w) = (block.len(), block.iter().map(Vec::len).max().unwrap_or(0));
        if at.row + h > rows || at.col + w > cols {
            return Err(SessionError::new(
                symbol,
                format!(
                    "The block does not fit {symbol}: expected at most {} × {} from row {}, column {}, got {h} × {w}. {}",
                    rows.saturating_sub(at.row),
                    cols.saturating_sub(at.col),
                    at.row,
                    at.col,
                    if self.sizes_are_free() {
                        "Change the sizes, or begin further up or left."
                    } else {
                        "Begin further up or left, or paste less."
                    }
                ),
            ));
        }
        for (r, row) in block.iter().enumerate() {
            if let Some(c) = row.iter().position(|x| !x.is_finite()) {
                return Err(SessionError::new(
                    symbol,
                    format!(
                        "{symbol}, row {}, column {}: expected a number up to 1.8e308, got one beyond. Write a smaller one.",
                        at.row + r,
                        at.col + c
                    ),
                ));
            }
        }
        self.write(at, block);
        Ok(())
    }
}

fn set_param(params: &[attention::Param], values: &mut [f64], key: &str, value: f64) {
    if let Some((_, slot)) = params.iter().zip(values).find(|(p, _)| p.key == key) {
        *slot = value;
    }
}
