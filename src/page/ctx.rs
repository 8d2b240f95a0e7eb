//! What every component of the page shares. Components read signals and send actions; nothing else writes state.

use crate::prelude::*;
use crate::{
    canvas::palette::Palette,
    link::Opened,
    session::{Action, Data, Desk, Session, SessionError},
    soon::Soon,
    source::SourceKind,
};
use protocol::{CellLook, FastCheck, Revision, RowLook, Trace};
use std::{ops::Deref, sync::Arc};

/// A picture and how true it is.
#[derive(Clone, Debug, Default)]
pub enum Computed<T> {
    /// Nothing was asked yet.
    #[default]
    Idle,
    /// Asked; the last picture, if there was one, stays.
    Pending(Option<T>),
    /// True of the present session.
    Ready(T),
    /// Could not be computed; the last picture stays and is marked stale.
    Failed(Option<T>, String),
}

impl<T> Computed<T> {
    /// The newest picture, true or stale.
    pub fn last(&self) -> Option<&T> {
        match self {
            Computed::Idle => None,
            Computed::Pending(last) | Computed::Failed(last, _) => last.as_ref(),
            Computed::Ready(now) => Some(now),
        }
    }

    /// Whether the picture is not, or not yet, that of the present session.
    pub fn is_stale(&self) -> bool {
        !matches!(self, Computed::Ready(_))
    }
}

/// How the engine is.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EngineState {
    /// Words for the header: "float64, one thread".
    pub words: String,
    /// Something the reader should know (a fall-back, a restart).
    pub note: Option<String>,
    /// It cannot start: what to do.
    pub failed: Option<String>,
    /// Rows done and to do of a job that takes long.
    pub progress: Option<(u64, u64)>,
}

/// The row and the cell under the hand, as the engine computed them.
#[derive(Clone, Debug, PartialEq)]
pub struct Looked {
    /// The row.
    pub row: RowLook,
    /// The cell.
    pub cell: CellLook,
}

/// How the views are drawn; not part of the session's numbers and not undone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ViewOptions {
    /// Colours of the weights follow their square root, so that small ones can be told apart.
    pub root_weights: bool,
    /// Q and K are shown as the scores use them (after norm and rotation), not as they were given.
    pub as_used: bool,
}

/// Which sheet is open on a narrow screen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sheet {
    /// None.
    #[default]
    Closed,
    /// The inputs.
    Inputs,
    /// The inspector.
    Inspector,
}

/// What all components share.
pub struct Shared {
    /// Session, history, problems.
    pub desk: RwSignal<Desk>,
    /// The head's picture.
    pub view: RwSignal<Computed<Arc<Trace>>>,
    /// How the float32 path agreed with the view that was held against it last, and which that was. An error says why it
    /// did not load.
    pub checked: RwSignal<Option<Result<(Revision, FastCheck), String>>>,
    /// The row and cell that the inspector shows; follows the hover, else the pin.
    pub looked: RwSignal<Option<Arc<Looked>>>,
    /// The cell under the pointer or under the keyboard's cursor: query, key.
    pub hover: RwSignal<Option<(usize, usize)>>,
    /// Colours of the theme in force.
    pub palette: RwSignal<Arc<Palette>>,
    /// How views are drawn.
    pub options: RwSignal<ViewOptions>,
    /// The engine.
    pub engine: RwSignal<EngineState>,
    /// Which sheet is open.
    pub sheet: RwSignal<Sheet>,
    /// Said by screen readers when it changes.
    pub live: RwSignal<String>,
    /// Whether the invitation was followed.
    pub invited: RwSignal<bool>,
    /// What waits for the engine's answer.
    pub soon: Soon,
    /// Parts of the page that are still on their way.
    pub coming: RwSignal<u32>,
    /// What of the link that was opened last could not be read.
    pub link_notes: RwSignal<Vec<String>>,
    /// Cells and the mask cannot be changed by hand, as an embedding page wished.
    pub locked: bool,
    /// The mask cannot be changed by hand, as an embedding page wished.
    pub mask_held: bool,
    /// What an embedding page opened: reset leads back to it.
    pub home: StoredValue<Option<(Session, ViewOptions)>>,
}

/// The page's one [`Shared`]; copied freely. It is a pointer because most closures keep one, and ten signals in each of
/// them are much code.
#[derive(Clone, Copy)]
pub struct Ctx(&'static Shared);

impl Deref for Ctx {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        self.0
    }
}

impl Ctx {
    /// Gives it to all components below. It lives as long as the page.
    pub fn provide(shared: Shared) -> Ctx {
        let ctx = Ctx(Box::leak(Box::new(shared)));
        provide_context(ctx);
        ctx
    }

    /// The context of the component that asks.
    pub fn get() -> Ctx {
        expect_context::<Ctx>()
    }

    /// Reads the session.
    pub fn session<T>(&self, read: impl FnOnce(&Session) -> T) -> T {
        self.desk.with(|desk| read(desk.session()))
    }

    /// Whether the first picture is there, or it is clear that none comes.
    pub fn is_begun(&self) -> bool {
        let shown = self
            .view
            .with(|view| view.last().is_some() || matches!(view, Computed::Failed(..)));
        shown || self.engine.with(|engine| engine.failed.is_some())
    }

    /// The same, without being told when that changes.
    pub fn is_begun_untracked(&self) -> bool {
        untrack(|| self.is_begun())
    }

    /// Changes the session; a refusal shows at its control.
    pub fn act(&self, action: Action) {
        self.soon.settle();
        if (self.locked && action.is_by_hand()) || (self.mask_held && action.paints()) {
            return;
        }
        let action = match action {
            // Projected numbers can be taken as typed ones: those of the head on the screen.
            Action::SetSource(SourceKind::Typed) => self.take_as_typed().unwrap_or(action),
            other => other,
        };
        self.desk.update(|desk| {
            desk.apply(action);
        });
        // At once, before the page draws or lays out anything for this change: the engine works meanwhile.
        self.desk
            .with_untracked(|desk| self.soon.ask(desk.session()));
    }

    /// Shows the session of a link. `first`: the page begins with it, so that there is nothing to undo.
    pub fn open(&self, opened: Opened, first: bool) {
        self.soon.settle();
        if first {
            self.home
                .set_value(Some((opened.session.clone(), opened.view)));
        }
        batch(|| {
            self.desk
                .update(|desk| match first && desk.can() == (false, false) {
                    true => *desk = Desk::new(opened.session),
                    false => desk.open(opened.session),
                });
            self.options.set(opened.view);
            self.link_notes.set(opened.notes);
        });
    }

    /// Q, K and V of the shown head as the engine projected them, where they are projected.
    pub fn take_as_typed(&self) -> Option<Action> {
        let projected = self
            .desk
            .with_untracked(|desk| matches!(desk.session().data, Data::Tokens { .. }));
        self.view.with_untracked(|view| match view {
            Computed::Ready(trace) if projected => Some(Action::TakeAsTyped {
                q: Arc::new(trace.q.clone()),
                k: Arc::new(trace.k.clone()),
                v: Arc::new(trace.v.clone()),
            }),
            _ => None,
        })
    }

    /// Ends a drag: what follows is a new step of undo.
    pub fn end_gesture(&self) {
        self.desk.update_untracked(Desk::end_gesture);
    }

    /// Puts a sentence at a control.
    pub fn note(&self, field: &str, message: String) {
        self.desk
            .update(|desk| desk.note(SessionError::new(field, message)));
    }

    /// Takes the sentence away from a control.
    pub fn clear(&self, field: &str) {
        if self
            .desk
            .with_untracked(|desk| desk.problem(field).is_some())
        {
            self.desk.update(|desk| desk.clear(field));
        }
    }

    /// The sentence at a control.
    pub fn problem(&self, field: &str) -> Option<String> {
        self.desk
            .with(|desk| desk.problem(field).map(|p| p.error.message.clone()))
    }

    /// The same, without following it.
    pub fn problem_untracked(&self, field: &str) -> Option<String> {
        self.desk
            .with_untracked(|desk| desk.problem(field).map(|p| p.error.message.clone()))
    }

    /// Says something to screen readers.
    pub fn say(&self, words: impl Into<String>) {
        self.live.set(words.into());
    }
}
