//! The width of an element, as it changes.

use leptos::{html::Div, prelude::*};
use wasm_bindgen::{JsCast, closure::Closure};
use web_sys::{ResizeObserver, js_sys::Array};

/// Whole CSS pixels inside an element; `first` until it is measured.
pub fn of(element: NodeRef<Div>, first: f64) -> ReadSignal<f64> {
    let (width, set_width) = signal(first);
    // Observer and closure live as long as the component.
    let kept = StoredValue::new_local(None::<(ResizeObserver, Closure<dyn FnMut(Array)>)>);
    Effect::new(move || {
        let Some(element) = element.get() else { return };
        let measured = element.clone();
        let measure = move || {
            let now = f64::from(measured.client_width());
            if now > 0.0 && width.get_untracked() != now {
                set_width.set(now);
            }
        };
        measure();
        let callback = Closure::<dyn FnMut(Array)>::new(move |_| measure());
        if let Ok(observer) = ResizeObserver::new(callback.as_ref().unchecked_ref()) {
            observer.observe(&element);
            kept.update_value(|k| *k = Some((observer, callback)));
        }
    });
    on_cleanup(move || {
        kept.try_update_value(|k| {
            if let Some((observer, _)) = k.take() {
                observer.disconnect();
            }
        });
    });
    width
}
