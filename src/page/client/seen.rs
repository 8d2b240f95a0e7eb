//! Whether a page in a frame is seen: scrolled near enough to show, in a tab that is shown. A page of its own always
//! counts as seen, so that a tab opened in the background is ready when it is looked at.

use js_sys::Array;
use std::{cell::Cell, rc::Rc};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{IntersectionObserver, IntersectionObserverEntry};

/// Calls `then` whenever a framed page comes into view or goes out of it, first when that is known. False, and no
/// calls, for a page that is in no frame and where the browser cannot tell.
pub fn watch(then: impl Fn(bool) + 'static) -> bool {
    let Some(window) = web_sys::window() else {
        return false;
    };
    let framed = window
        .parent()
        .ok()
        .flatten()
        .is_some_and(|parent| parent != window);
    let Some(document) = window.document().filter(|_| framed) else {
        return false;
    };
    let Some(root) = document.document_element() else {
        return false;
    };
    let here = Rc::new(Cell::new(None::<bool>));
    let tell = {
        let here = Rc::clone(&here);
        let document = document.clone();
        Rc::new(move || {
            if let Some(here) = here.get() {
                then(here && !document.hidden());
            }
        })
    };
    let moved = {
        let tell = Rc::clone(&tell);
        Closure::<dyn FnMut(Array)>::new(move |entries: Array| {
            // The last is the newest.
            let entry = entries.pop().dyn_into::<IntersectionObserverEntry>();
            here.set(Some(entry.map_or(true, |e| e.is_intersecting())));
            tell();
        })
    };
    let Ok(observer) = IntersectionObserver::new(moved.as_ref().unchecked_ref()) else {
        return false;
    };
    observer.observe(&root);
    let turned = Closure::<dyn FnMut()>::new(move || tell());
    let _ = document
        .add_event_listener_with_callback("visibilitychange", turned.as_ref().unchecked_ref());
    // The page watches as long as it lives.
    moved.forget();
    turned.forget();
    std::mem::forget(observer);
    true
}
