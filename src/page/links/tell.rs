//! What a page around this one is told.

use crate::ctx::{Computed, Ctx};
use crate::{examples::shelf, prelude::*};
use wasm_bindgen::JsValue;

/// Says on the document what a page around it may want to know: `lab-ready`, `lab-change`, `lab-error`.
/// `owed`: whether the picture of the present session is still to come. The one before, drawn anew for a font, is no news.
pub fn tell(ctx: Ctx, owed: impl Fn() -> bool + Copy + Send + Sync + 'static) {
    let ready = StoredValue::new(false);
    // Frames since anything of it changed; whether they are counted.
    let still = StoredValue::new(0u32);
    let counting = StoredValue::new(false);
    let there = move || ctx.view.with(|v| matches!(v, Computed::Ready(_)));
    effect(move || {
        let shown = there();
        ctx.looked.with(|_| ());
        ctx.desk.with(|_| ());
        ctx.options.with(|_| ());
        still.set_value(0);
        // What stands beside the picture is part of it for a page around this one.
        if !shown || ctx.coming.get() > 0 || counting.get_value() {
            return;
        }
        counting.set_value(true);
        when_still(still, move || {
            if owed() && untrack(there) {
                return false;
            }
            counting.set_value(false);
            if !owed() {
                let first = !ready.get_value();
                ready.set_value(true);
                dispatch(
                    if first { "lab-ready" } else { "lab-change" },
                    &JsValue::NULL,
                );
            }
            true
        });
    });
    let failed = memo(move || ctx.engine.with(|e| e.failed.clone()));
    let example = memo(move || ctx.problem(shelf::FIELD));
    for words in [failed, example] {
        effect(move || {
            if let Some(words) = words.get() {
                dispatch("lab-error", &words.into());
            }
        });
    }
    effect(move || {
        ctx.link_notes.with(|notes| {
            if !notes.is_empty() {
                dispatch("lab-error", &notes.join(" ").into());
            }
        })
    });
}

/// Calls `done` in the second frame in which nothing changed (read-outs follow the picture a frame later), and in each
/// frame after it until it says so.
fn when_still(still: StoredValue<u32>, done: impl Fn() -> bool + 'static) {
    request_animation_frame(move || {
        let frames = still.try_update_value(|frames| {
            *frames += 1;
            *frames
        });
        match frames {
            // The page is gone.
            None => {}
            Some(frames) if frames > 1 && done() => {}
            Some(_) => when_still(still, done),
        }
    });
}

fn dispatch(name: &str, detail: &JsValue) {
    let init = web_sys::CustomEventInit::new();
    init.set_detail(detail);
    if let Ok(event) = web_sys::CustomEvent::new_with_event_init_dict(name, &init) {
        let _ = document().dispatch_event(&event);
    }
}
