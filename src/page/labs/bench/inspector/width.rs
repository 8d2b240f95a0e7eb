//! The width of an element, as it changes.

use crate::prelude::*;
use crate::widgets::measured;
use leptos::html::Div;
use wasm_bindgen::JsCast;

/// Whole CSS pixels inside an element; `first` until it is measured.
pub fn of(element: NodeRef<Div>, first: f64) -> ReadSignal<f64> {
    let (width, set_width) = signal(first);
    let size = measured(move || element.get().map(|e| e.unchecked_into()));
    effect(move || {
        let now = size.get().0;
        if now > 0.0 && width.get_untracked() != now {
            set_width.set(now);
        }
    });
    width
}
