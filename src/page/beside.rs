//! What the views beside the picture show: inspector, waterfall, formulas, tables.
//!
//! An answer of the engine is painted into the picture at once. What stands beside it follows when that frame is
//! rendered, so that a hand that changes a number sees the matrices move first. Until then these views still show the
//! numbers before, all of them, and are marked `aria-busy`.

use crate::ctx::{Computed, Ctx, Looked};
use crate::prelude::*;
use protocol::Trace;
use std::sync::Arc;
use wasm_bindgen::{JsCast, closure::Closure};

/// A picture, and the row and cell of it that is looked at.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// The head's numbers.
    pub view: Computed<Arc<Trace>>,
    /// Row and cell.
    pub looked: Option<Arc<Looked>>,
}

/// The numbers beside the picture.
#[derive(Clone, Copy)]
pub struct Beside {
    ctx: Ctx,
    numbers: RwSignal<Numbers>,
}

impl Beside {
    /// That of the page.
    pub fn get() -> Beside {
        expect_context::<Beside>()
    }

    /// Makes it, and lets it follow the picture.
    pub fn provide(ctx: Ctx) {
        let beside = Beside {
            ctx,
            numbers: RwSignal::new(Numbers::default()),
        };
        provide_context(beside);
        let coming = StoredValue::new(false);
        effect(move || {
            ctx.view.track();
            ctx.looked.track();
            if coming.get_value() {
                return;
            }
            if !beside.is_behind_untracked() {
                beside.catch_up();
                return;
            }
            coming.set_value(true);
            after_frame(move || {
                coming.set_value(false);
                beside.catch_up();
            });
        });
    }

    /// Reads the numbers.
    pub fn with<T>(&self, read: impl FnOnce(&Numbers) -> T) -> T {
        self.numbers.with(read)
    }

    /// Whether the picture shows newer numbers.
    pub fn is_behind(&self) -> bool {
        self.ctx.view.track();
        self.numbers.track();
        self.is_behind_untracked()
    }

    /// The first numbers of all wait for nothing.
    fn is_behind_untracked(&self) -> bool {
        self.ctx.view.with_untracked(|view| {
            self.numbers
                .with_untracked(|n| match (view.last(), n.view.last()) {
                    (Some(now), Some(before)) => !Arc::ptr_eq(now, before),
                    _ => false,
                })
        })
    }

    fn catch_up(&self) {
        let numbers = Numbers {
            view: self.ctx.view.get_untracked(),
            looked: self.ctx.looked.get_untracked(),
        };
        self.numbers.set(numbers);
    }
}

/// Calls `then` when the frame that is drawn next is rendered.
pub fn after_frame(then: impl FnOnce() + 'static) {
    request_animation_frame(move || {
        let then = Closure::once_into_js(then);
        if let Some(then) = then.dyn_ref() {
            // Refused only for a closed window.
            let _ = window().set_timeout_with_callback(then);
        }
    });
}
