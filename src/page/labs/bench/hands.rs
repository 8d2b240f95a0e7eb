//! What hands do to a board: pointing, pinning, dragging a number, painting the mask, keys, paste.

use super::{
    board, edit,
    layout::{Layout, Matrix},
    scene::Heats,
};
use crate::prelude::*;
use crate::{
    canvas::heat::Scale,
    ctx::Ctx,
    session::{Action, CellRef},
    text::{t, tf},
};
use attention::{BitMatrix, KeyIdx, QueryIdx};
use std::ops::Deref;

/// A cell of a board: matrix, row, column on the screen.
pub type Spot = (Matrix, usize, usize);

/// A text being typed into a cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Editor {
    /// Where.
    pub spot: Spot,
    /// What was typed so far.
    pub text: String,
    /// What is wrong with it.
    pub error: Option<String>,
}

/// What a pressed pointer is doing.
#[derive(Clone, Debug, Default)]
enum Gesture {
    #[default]
    None,
    /// Pressed on a cell and not moved yet.
    Press {
        spot: Spot,
        y: f64,
        start: Option<(CellRef, f64, f64)>,
    },
    /// Changing a number.
    Drag {
        cell: CellRef,
        start: f64,
        y: f64,
        scale: f64,
    },
    /// Hiding or showing a rectangle of the mask.
    Paint {
        from: (usize, usize),
        visible: bool,
        before: Box<Option<BitMatrix>>,
        reach: (usize, usize),
    },
}

/// The hands on one board; a pointer, as [`Ctx`] is.
#[derive(Clone, Copy)]
pub struct Hands(&'static Inside);

/// What [`Hands`] point to.
pub struct Inside {
    ctx: Ctx,
    /// The keyboard's cursor; it stays when focus leaves.
    pub cursor: RwSignal<Spot>,
    /// The matrix that has focus.
    pub focused: RwSignal<Option<Matrix>>,
    /// The cell under the pointer.
    pub pointed: RwSignal<Option<Spot>>,
    /// The open editor.
    pub editor: RwSignal<Option<Editor>>,
    gesture: StoredValue<Gesture>,
}

impl Deref for Hands {
    type Target = Inside;

    fn deref(&self) -> &Inside {
        self.0
    }
}

impl Hands {
    /// Hands that rest on a matrix. They live as long as the page, so there is one pair for each board.
    pub fn new(ctx: Ctx, on: Matrix) -> Hands {
        Hands(Box::leak(Box::new(Inside {
            ctx,
            cursor: RwSignal::new((on, 0, 0)),
            focused: RwSignal::new(None),
            pointed: RwSignal::new(None),
            editor: RwSignal::new(None),
            gesture: StoredValue::new(Gesture::None),
        })))
    }

    /// The cursor where it is drawn: with focus only.
    pub fn shown_cursor(&self) -> Option<Spot> {
        let cursor = self.cursor.get();
        (self.focused.get() == Some(cursor.0)).then_some(cursor)
    }

    /// The keyboard's cursor rests on a cell of the matrix that has focus. Nothing is drawn anew where it did already.
    pub fn rest(&self, spot: Spot) {
        if self.cursor.get_untracked() != spot {
            self.cursor.set(spot);
        }
        if self.focused.get_untracked() != Some(spot.0) {
            self.focused.set(Some(spot.0));
        }
    }

    /// The keyboard has left: its cursor is not drawn, and nothing is previewed but what the pointer is on.
    pub fn unfocus(&self) {
        self.focused.set(None);
        if self.pointed.with_untracked(Option::is_none) {
            self.ctx.hover.set(None);
        }
    }

    /// The query and the key of a spot, the pinned ones where it has none.
    fn meaning(&self, (matrix, row, col): Spot) -> (usize, usize) {
        let (query, key) = matrix.meaning(row, col);
        let at = self.ctx.desk.with_untracked(|d| d.session().look_at());
        (query.unwrap_or(at.0), key.unwrap_or(at.1))
    }

    /// The pointer is somewhere on the board.
    pub fn move_to(&self, layout: &Layout, x: f64, y: f64, shift: bool) {
        match self.gesture.get_value() {
            Gesture::None => self.point(layout.hit(x, y)),
            Gesture::Press { y: from, start, .. } => {
                if (y - from).abs() < 3.0 {
                    return;
                }
                if let Some((cell, value, scale)) = start {
                    self.gesture.set_value(Gesture::Drag {
                        cell,
                        start: value,
                        y: from,
                        scale,
                    });
                    self.move_to(layout, x, y, shift);
                } else {
                    self.point(layout.hit(x, y));
                }
            }
            Gesture::Drag {
                cell,
                start,
                y: from,
                scale,
            } => {
                let value = edit::dragged(start, from - y, scale, shift);
                self.ctx.act(Action::Write(cell, vec![vec![value]]));
            }
            Gesture::Paint {
                from,
                visible,
                before,
                reach,
            } => {
                let Some(place) = layout.place(Matrix::M) else {
                    return;
                };
                let Some(to) = place.at(x, y, 1e6) else {
                    return;
                };
                if to != reach {
                    self.paint(from, reach, to, visible, before.as_ref().as_ref());
                    self.gesture.set_value(Gesture::Paint {
                        from,
                        visible,
                        before,
                        reach: to,
                    });
                    self.point(Some((Matrix::M, to.0, to.1)));
                }
            }
        }
    }

    fn point(&self, spot: Option<Spot>) {
        if self.pointed.get_untracked() == spot {
            return;
        }
        self.pointed.set(spot);
        let hover = spot.map(|s| self.meaning(s));
        if self.ctx.hover.get_untracked() != hover {
            self.ctx.hover.set(hover);
        }
    }

    /// The pointer has left the board.
    pub fn leave(&self) {
        if matches!(
            self.gesture.get_value(),
            Gesture::None | Gesture::Press { .. }
        ) {
            self.point(None);
        }
    }

    /// The pointer was pressed. `finger`: a touch, which points and pins but does not drag numbers.
    /// Returns the matrix that should have focus.
    pub fn press(
        &self,
        layout: &Layout,
        heats: Option<&Heats>,
        x: f64,
        y: f64,
        finger: bool,
    ) -> Option<Matrix> {
        let spot = layout.hit(x, y)?;
        self.point(Some(spot));
        self.cursor.set(spot);
        if spot.0 == Matrix::M && !finger {
            let (q, k) = (spot.1, spot.2);
            let before = self.ctx.desk.with_untracked(|d| d.session().drawn.clone());
            let visible = before
                .as_ref()
                .is_some_and(|bits| !bits.get(QueryIdx(q), KeyIdx(k)));
            self.paint((q, k), (q, k), (q, k), visible, before.as_ref());
            self.gesture.set_value(Gesture::Paint {
                from: (q, k),
                visible,
                before: Box::new(before),
                reach: (q, k),
            });
            return Some(spot.0);
        }
        let start = spot
            .0
            .cell(spot.1, spot.2)
            .filter(|_| !finger)
            .and_then(|cell| {
                let value = self.ctx.desk.with_untracked(|d| d.session().value(cell))?;
                let scale = match heats.and_then(|h| h.scale(spot.0)) {
                    Some(Scale::Signed { max } | Scale::Weights { max, .. }) => max,
                    None => 1.0,
                };
                Some((cell, value, scale))
            });
        self.gesture.set_value(Gesture::Press { spot, y, start });
        Some(spot.0)
    }

    /// The pointer was let go.
    pub fn release(&self, finger: bool) {
        match self.gesture.get_value() {
            Gesture::Press { spot, .. } => {
                self.ctx.act(Action::Pin(Some(self.meaning(spot))));
                if spot.0 == Matrix::M && finger {
                    self.toggle_mask(spot.1, spot.2);
                }
                if finger {
                    self.point(None);
                }
            }
            Gesture::Drag { .. } | Gesture::Paint { .. } => self.ctx.end_gesture(),
            Gesture::None => {}
        }
        self.gesture.set_value(Gesture::None);
    }

    /// The gesture was taken away (a scroll, a call): nothing is pinned.
    pub fn cancel(&self) {
        self.gesture.set_value(Gesture::None);
        self.ctx.end_gesture();
        self.point(None);
    }

    fn paint(
        &self,
        from: (usize, usize),
        reach: (usize, usize),
        to: (usize, usize),
        visible: bool,
        before: Option<&BitMatrix>,
    ) {
        let span = |a: usize, b: usize| a.min(b)..=a.max(b);
        let mut cells = Vec::new();
        for q in span(from.0, reach.0) {
            for k in span(from.1, reach.1) {
                cells.push((
                    q,
                    k,
                    before.is_none_or(|bits| bits.get(QueryIdx(q), KeyIdx(k))),
                ));
            }
        }
        for q in span(from.0, to.0) {
            for k in span(from.1, to.1) {
                cells.push((q, k, visible));
            }
        }
        self.ctx.act(Action::PaintMask(cells));
    }

    /// Whether numbers are not to be changed here, which is said then.
    fn locked(&self) -> bool {
        if self.ctx.locked {
            self.ctx.say(t("locked"));
        }
        self.ctx.locked
    }

    /// Hides or shows one cell by hand.
    pub fn toggle_mask(&self, q: usize, k: usize) {
        if self.locked() {
            return;
        }
        let hidden = self.ctx.desk.with_untracked(|d| {
            d.session()
                .drawn
                .as_ref()
                .is_some_and(|bits| !bits.get(QueryIdx(q), KeyIdx(k)))
        });
        self.ctx.act(Action::PaintMask(vec![(q, k, hidden)]));
        self.ctx.end_gesture();
        self.ctx.say(t(if hidden {
            "stage-shown-by-hand"
        } else {
            "stage-hidden-by-hand"
        }));
    }

    /// Opens the editor at a spot, with a first text or the number that is there.
    pub fn edit(&self, spot: Spot, text: Option<String>) {
        if self.locked() {
            return;
        }
        let Some(cell) = spot.0.cell(spot.1, spot.2) else {
            return;
        };
        let Some(value) = self.ctx.desk.with_untracked(|d| d.session().value(cell)) else {
            // Not editable here: the refusal says why and what to do.
            self.ctx.act(Action::Write(cell, vec![vec![0.0]]));
            return;
        };
        let text = text.unwrap_or_else(|| crate::format::exact(value));
        self.editor.set(Some(Editor {
            spot,
            text,
            error: None,
        }));
    }

    /// Takes what stands in the editor; a text that is no number stays there with its sentence.
    /// Returns whether the editor is closed.
    pub fn commit(&self) -> bool {
        self.ctx.soon.settle();
        let Some((action, close)) = self.typed() else {
            return self.editor.with_untracked(Option::is_none);
        };
        self.ctx.act(action);
        close();
        true
    }

    /// The same, and `then`, as soon as the picture with this number is there.
    pub fn commit_soon(&self, then: impl FnOnce() + 'static) {
        if let Some((action, close)) = self.typed() {
            let done = move || {
                close();
                then();
            };
            self.ctx.soon.act(self.ctx, action, done);
        }
    }

    /// What the text in the editor does, and what closes the editor after it.
    fn typed(&self) -> Option<(Action, impl FnOnce() + use<>)> {
        let editor = self.editor.get_untracked()?;
        let cell = editor.spot.0.cell(editor.spot.1, editor.spot.2)?;
        let hands = *self;
        match formats::number::parse(&editor.text) {
            Ok(value) => Some((Action::Write(cell, vec![vec![value]]), move || {
                hands.ctx.end_gesture();
                hands.editor.set(None);
            })),
            Err(error) => {
                let was = self
                    .ctx
                    .desk
                    .with_untracked(|d| d.session().value(cell))
                    .unwrap_or(0.0);
                let error = tf(
                    "stage-esc-restores",
                    &[("error", &error), ("was", &crate::format::brief(was))],
                );
                self.ctx.say(error.clone());
                self.editor.set(Some(Editor {
                    error: Some(error),
                    ..editor
                }));
                None
            }
        }
    }

    /// A key on a focused matrix. Returns whether it was used.
    pub fn key(&self, matrix: Matrix, heats: Option<&Heats>, key: &str, jump: bool) -> bool {
        let (m, row, col) = self.cursor.get_untracked();
        let at = if m == matrix { (row, col) } else { (0, 0) };
        let size = self
            .ctx
            .desk
            .with_untracked(|d| board::size(d.session(), matrix));
        if let Some((row, col)) = edit::step(key, jump, at, size) {
            self.go(matrix, heats, row, col);
            return true;
        }
        let spot = (matrix, at.0, at.1);
        let editable = matrix.tensor().is_some();
        match key {
            "Enter" | "F2" if editable => self.edit(spot, None),
            " " | "Enter" if matrix == Matrix::M => self.toggle_mask(at.0, at.1),
            " " | "Enter" => self.ctx.act(Action::Pin(Some(self.meaning(spot)))),
            "Delete" | "Backspace" if editable => {
                if let Some(cell) = matrix.cell(at.0, at.1) {
                    self.ctx.act(Action::Write(cell, vec![vec![0.0]]));
                    self.ctx.end_gesture();
                }
            }
            k if editable
                && !jump
                && k.chars().count() == 1
                && k.starts_with(|c: char| c.is_ascii_digit() || "-−+.,".contains(c)) =>
            {
                self.edit(spot, Some(k.to_owned()));
            }
            _ => return false,
        }
        true
    }

    /// Moves the cursor and says what is there.
    pub fn go(&self, matrix: Matrix, heats: Option<&Heats>, row: usize, col: usize) {
        self.cursor.set((matrix, row, col));
        self.ctx.hover.set(Some(self.meaning((matrix, row, col))));
        let words = self
            .ctx
            .desk
            .with_untracked(|d| board::describe(heats, d.session(), matrix, row, col));
        self.ctx.say(words);
    }

    /// A text was pasted on a focused matrix.
    pub fn paste(&self, matrix: Matrix, text: &str) {
        if self.locked() {
            return;
        }
        let (m, row, col) = self.cursor.get_untracked();
        let at = if m == matrix { (row, col) } else { (0, 0) };
        let symbol = matrix.tensor().map_or(matrix.symbol(), |t| t.symbol());
        if matrix.tensor().is_none() {
            self.ctx
                .note(symbol, tf("stage-paste-computed", &[("matrix", &symbol)]));
            return;
        }
        let table = match formats::number::parse(text) {
            Ok(value) => Ok((1, 1, vec![value])),
            Err(_) => formats::table::parse(text).map(|t| (t.rows, t.cols, t.values.clone())),
        };
        match table {
            Ok((rows, cols, values)) => {
                let block = self.ctx.desk.with_untracked(|d| {
                    edit::paste(d.session(), matrix, at, (rows, cols), &values)
                });
                if let Some((cell, block)) = block {
                    self.ctx.act(Action::Write(cell, block));
                    self.ctx.end_gesture();
                    if self.ctx.problem_untracked(symbol).is_none() {
                        self.ctx.say(tf(
                            "stage-pasted",
                            &[("rows", &rows), ("cols", &cols), ("matrix", &symbol)],
                        ));
                    }
                }
            }
            Err(error) => self.ctx.note(symbol, error.to_string()),
        }
    }
}
