//! The session with its past and with what was asked of it and could not be done yet.

use super::{Action, Session, SessionError};
use crate::source::Source;

/// A refused action: its sentence stands at its control, and it is tried again with every later one.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// Why.
    pub error: SessionError,
    /// What was asked. `None` where the text was no number at all.
    pub action: Option<Action>,
}

/// Session, undo, redo, and open problems.
#[derive(Clone, Debug)]
pub struct Desk {
    session: Session,
    /// Sessions that undo goes back to, the newest last.
    past: Vec<Session>,
    future: Vec<Session>,
    gesture: Option<String>,
    problems: Vec<Problem>,
}

/// Steps that undo remembers: a session shares its arrays with its neighbours, so a step is cheap.
const MEMORY: usize = 200;

impl Desk {
    /// A desk with nothing on it but this session.
    pub fn new(session: Session) -> Desk {
        Desk {
            session,
            past: Vec::new(),
            future: Vec::new(),
            gesture: None,
            problems: Vec::new(),
        }
    }

    /// Puts another session on the desk; undo leads back.
    pub fn open(&mut self, session: Session) {
        self.problems.clear();
        self.commit(session, &Action::Reset);
    }

    /// The last valid session.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// What was refused and not yet mended.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The sentence at a control, if it has one.
    pub fn problem(&self, field: &str) -> Option<&Problem> {
        self.problems.iter().find(|p| p.error.field == field)
    }

    /// Whether there is something to undo, to redo.
    pub fn can(&self) -> (bool, bool) {
        (!self.past.is_empty(), !self.future.is_empty())
    }

    /// Applies an action. Where it fails, its sentence is kept at its control, and every later action is tried
    /// together with it: two settings that only fit together can be made one after the other.
    /// Returns whether the session changed.
    pub fn apply(&mut self, action: Action) -> bool {
        if action == Action::Reset {
            self.problems.clear();
        }
        let field = field_of(&action);
        // A newer wish for the same control replaces the older.
        self.problems.retain(|p| match (&p.action, &field) {
            (_, Some(field)) => {
                p.error.field != *field
                    && p.action.as_ref().and_then(field_of).as_ref() != Some(field)
            }
            (Some(old), None) => std::mem::discriminant(old) != std::mem::discriminant(&action),
            (None, None) => true,
        });
        match self.session.after(&action) {
            Ok(mut next) => {
                self.problems.retain(|problem| match &problem.action {
                    Some(waiting) => match next.after(waiting) {
                        Ok(with) => {
                            next = with;
                            false
                        }
                        Err(_) => true,
                    },
                    None => true,
                });
                self.commit(next, &action)
            }
            Err(mut error) => {
                // The sentence stands where the hand is, even if it is about something else as well.
                if let Some(field) = field {
                    error.field = field;
                }
                if let Some(next) = self.together(&action) {
                    self.problems.retain(|p| p.action.is_none());
                    return self.commit(next, &action);
                }
                self.problems.retain(|p| p.error.field != error.field);
                self.problems.push(Problem {
                    error,
                    action: Some(action),
                });
                false
            }
        }
    }

    /// All waiting actions and this one at once, if that is valid.
    fn together(&self, action: &Action) -> Option<Session> {
        let waiting: Vec<&Action> = self
            .problems
            .iter()
            .filter_map(|p| p.action.as_ref())
            .collect();
        if waiting.is_empty() {
            return None;
        }
        let orders = [
            waiting.iter().copied().chain([action]).collect::<Vec<_>>(),
            [action]
                .into_iter()
                .chain(waiting.iter().copied())
                .collect(),
        ];
        orders.iter().find_map(|order| {
            let mut next = self.session.clone();
            for step in order {
                next = next.unchecked(step).ok()?;
            }
            next.check().is_ok().then_some(next)
        })
    }

    fn commit(&mut self, next: Session, action: &Action) -> bool {
        if next == self.session {
            return false;
        }
        let gesture = action.gesture();
        if action.is_look() {
            self.session = next;
            self.gesture = None;
            return true;
        }
        let before = std::mem::replace(&mut self.session, next);
        if gesture.is_none() || gesture != self.gesture {
            self.past.push(before);
            if self.past.len() > MEMORY {
                self.past.remove(0);
            }
        }
        self.gesture = gesture;
        self.future.clear();
        true
    }

    /// The hand has let go: what follows is a new step of undo.
    pub fn end_gesture(&mut self) {
        self.gesture = None;
    }

    /// A text that is no number: its sentence stands at the control until the control holds something better.
    pub fn note(&mut self, error: SessionError) {
        self.problems.retain(|p| p.error.field != error.field);
        self.problems.push(Problem {
            error,
            action: None,
        });
    }

    /// Takes the sentence away from a control.
    pub fn clear(&mut self, field: &str) {
        self.problems.retain(|p| p.error.field != field);
    }

    /// One step back. Where the reader looks stays.
    pub fn undo(&mut self) -> bool {
        let Some(before) = self.past.pop() else {
            return false;
        };
        let now = std::mem::replace(&mut self.session, before);
        self.keep_looking(&now);
        self.future.push(now);
        self.gesture = None;
        self.problems.clear();
        true
    }

    /// One step forward again.
    pub fn redo(&mut self) -> bool {
        let Some(after) = self.future.pop() else {
            return false;
        };
        let now = std::mem::replace(&mut self.session, after);
        self.keep_looking(&now);
        self.past.push(now);
        self.gesture = None;
        self.problems.clear();
        true
    }

    fn keep_looking(&mut self, now: &Session) {
        // Another layer has other heads to look at: each keeps its own.
        if let (Source::Example(before), Source::Example(now)) = (&self.session.source, &now.source)
            && !before.is_same(now)
        {
            return;
        }
        let s = self.session.shape;
        self.session.pin = now.pin.map(|(q, k)| (q.min(s.n_q - 1), k.min(s.n_k - 1)));
        if s.heads == now.shape.heads {
            self.session.head = now.head;
        }
        // A step back to when one head of the layer was here: the others have no numbers there.
        if let Source::Example(layer) = &self.session.source
            && let Some(only) = layer.only
        {
            self.session.head = only;
        }
    }
}

/// The control that an action belongs to, where that is one control.
fn field_of(action: &Action) -> Option<String> {
    match action {
        Action::SetSize(size, _) => Some(size.field().to_owned()),
        Action::SetMaskParam(scheme, key, _) | Action::SetPositionParam(scheme, key, _) => {
            Some(format!("{scheme}.{key}"))
        }
        Action::SetScale(_) => Some("scale".to_owned()),
        Action::SetSoftCap(_) => Some("soft_cap".to_owned()),
        Action::SetQkNorm(_) => Some("qk_norm".to_owned()),
        Action::SetSink(_) => Some("sink".to_owned()),
        Action::SetSigma(_) => Some("sigma".to_owned()),
        Action::SetSeed(_) => Some("seed".to_owned()),
        Action::Write(at, _) => Some(at.tensor.symbol().to_owned()),
        Action::SetPositionPreset(_) => Some("positions".to_owned()),
        Action::SetMaskPreset(_) | Action::MaskByHand => Some("masks".to_owned()),
        Action::SetHidden(_) => Some("hidden".to_owned()),
        _ => None,
    }
}
