//! How wide an element is now.

use crate::prelude::*;
use leptos::ev;
use wasm_bindgen::{JsCast, closure::Closure};

/// Width of an element's content in CSS px and the screen's device pixels per CSS px, kept up to date. The width is 0
/// until the element is there.
pub fn measured(node: impl Fn() -> Option<web_sys::Element> + 'static) -> Signal<(f64, f64)> {
    let size = RwSignal::new((0.0, 1.0));
    let held = StoredValue::new_local(None::<Observed>);
    let element = StoredValue::new_local(None::<web_sys::Element>);
    let look = move || {
        let found =
            element.try_with_value(|e| e.as_ref().map_or(0, web_sys::Element::client_width));
        let Some(width) = found else { return };
        let now = (f64::from(width), window().device_pixel_ratio().max(0.5));
        if size.try_get_untracked().is_some_and(|before| before != now) {
            size.set(now);
        }
    };
    Effect::new(move |_| {
        let Some(found) = node() else { return };
        if element.with_value(|e| e.as_ref() == Some(&found)) {
            return;
        }
        element.set_value(Some(found.clone()));
        look();
        // In the next frame: what follows from another width may give observed elements other sizes, and those are
        // not to be told within the frame that told this one.
        let on_size = Closure::<dyn FnMut()>::new(move || request_animation_frame(look));
        if let Ok(observer) = web_sys::ResizeObserver::new(on_size.as_ref().unchecked_ref()) {
            observer.observe(&found);
            held.set_value(Some(Observed {
                observer,
                _on_size: on_size,
            }));
        }
    });
    // A zoom changes the pixels of a CSS px, and not always a width.
    let listener = window_event_listener(ev::resize, move |_| look());
    on_cleanup(move || listener.remove());
    size.into()
}

struct Observed {
    observer: web_sys::ResizeObserver,
    _on_size: Closure<dyn FnMut()>,
}

impl Drop for Observed {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}
