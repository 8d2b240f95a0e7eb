//! An action whose answer is worth waiting for: the engine is asked at once, and the page changes when the answer is
//! there, all of it in one frame. Drawing the page twice, first without the answer, would make it a frame late.
//!
//! Whatever happens first ends the wait: the answer, another action, a key, a press, or the clock.

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    session::{Action, Session},
};
use std::{rc::Rc, time::Duration};
use wasm_bindgen::{JsCast, JsValue, closure::Closure};

/// Most of the time that a frame takes on an ordinary display.
const WAIT: Duration = Duration::from_millis(12);

type Ask = Rc<dyn Fn(&Session)>;
type Then = Box<dyn FnOnce()>;

/// What waits, and how the engine is asked.
#[derive(Clone, Copy)]
pub struct Soon {
    ask: StoredValue<Option<Ask>, LocalStorage>,
    waiting: StoredValue<Option<Then>, LocalStorage>,
}

impl Default for Soon {
    /// Nothing waits.
    fn default() -> Soon {
        Soon {
            ask: StoredValue::new_local(None),
            waiting: StoredValue::new_local(None),
        }
    }
}

impl Soon {
    /// Says how the engine is asked.
    pub fn set_ask(&self, ask: impl Fn(&Session) + 'static) {
        self.ask.set_value(Some(Rc::new(ask)));
    }

    /// Asks the engine now.
    pub fn ask(&self, session: &Session) {
        if let Some(ask) = self.ask.get_value() {
            ask(session);
        }
    }

    /// Asks the engine about the session after `action`; the page gets that session, and `then` is done, as soon as
    /// the answer is there.
    pub fn act(&self, ctx: Ctx, action: Action, then: impl FnOnce() + 'static) {
        self.settle();
        let mut desk = ctx.desk.get_untracked();
        desk.apply(action);
        self.ask(desk.session());
        let soon = *self;
        self.waiting.set_value(Some(Box::new(move || {
            ctx.desk.set(desk);
            then();
        })));
        set_timeout(
            move || {
                soon.settle();
            },
            WAIT,
        );
    }

    /// Does what waits. Returns whether something did.
    pub fn settle(&self) -> bool {
        let waiting = self.waiting.try_update_value(Option::take).flatten();
        waiting.is_some_and(|then| {
            then();
            true
        })
    }

    /// Keys and presses meet a page on which nothing waits.
    pub fn watch(&self) {
        let soon = *self;
        let before = Closure::<dyn Fn(web_sys::Event)>::new(move |ev: web_sys::Event| {
            let field = ev
                .target()
                .and_then(|e| e.dyn_into::<web_sys::Element>().ok());
            if soon.settle()
                && let Some(key) = ev.dyn_ref::<web_sys::KeyboardEvent>()
                && field.is_some_and(|f| document().active_element().as_ref() != Some(&f))
            {
                // The field that it was typed into is gone: it goes where the focus went.
                ev.stop_immediate_propagation();
                ev.prevent_default();
                let _ = again(key);
            }
        });
        for name in ["keydown", "pointerdown", "paste"] {
            let listener = before.as_ref().unchecked_ref();
            let _ = window().add_event_listener_with_callback_and_bool(name, listener, true);
        }
        // The page listens as long as it lives.
        before.forget();
    }
}

/// The same key once more, on what has focus now.
fn again(key: &web_sys::KeyboardEvent) -> Result<(), JsValue> {
    let kind = js_sys::Reflect::get(&js_sys::global(), &"KeyboardEvent".into())?;
    let made = js_sys::Reflect::construct(
        kind.unchecked_ref::<js_sys::Function>(),
        &js_sys::Array::of2(&key.type_().into(), key),
    )?;
    if let Some(now) = document().active_element() {
        now.dispatch_event(made.unchecked_ref())?;
    }
    Ok(())
}
