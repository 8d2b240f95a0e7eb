//! What every component uses: Leptos' own prelude, and in the place of some of its parts ones that keep the page small.
//!
//! Leptos writes code out for each type of view and each closure that it is given. Here every view is an [`AnyView`] as
//! soon as it is made, and closures go through functions that take them in a box, so that it is there once for each
//! type of value. What is not written so works as well; it is some hundred bytes more to load each time.

pub use crate::view;
pub use leptos::prelude::*;

use leptos::tachys::reactive_graph::SharedReactiveFunction;
use std::sync::{Arc, Mutex};

/// Leptos' `view!`, as an [`AnyView`].
#[macro_export]
macro_rules! view {
    ($($tokens:tt)*) => {
        ::leptos::prelude::IntoAny::into_any(::leptos::view! { $($tokens)* }.into_inner())
    };
}

/// A view that is made again when what it read has changed. (A closure written out inside `view!` is one already.)
pub fn dynamic<T>(view: impl FnMut() -> T + Send + 'static) -> AnyView
where
    T: RenderHtml + 'static,
    T::State: 'static,
{
    let view: SharedReactiveFunction<T> = Arc::new(Mutex::new(view));
    view.into_any()
}

/// A memo of a function that needs no value before.
pub fn memo<T>(value: impl Fn() -> T + Send + Sync + 'static) -> Memo<T>
where
    T: PartialEq + Send + Sync + 'static,
{
    type Boxed<T> = Box<dyn Fn() -> T + Send + Sync>;
    fn boxed<T: PartialEq + Send + Sync + 'static>(value: Boxed<T>) -> Memo<T> {
        Memo::new(move |_| value())
    }
    boxed(Box::new(value))
}

/// A signal that is worked out whenever it is read.
pub fn derive<T>(value: impl Fn() -> T + Send + Sync + 'static) -> Signal<T>
where
    T: Send + Sync + 'static,
{
    type Boxed<T> = Box<dyn Fn() -> T + Send + Sync>;
    fn boxed<T: Send + Sync + 'static>(value: Boxed<T>) -> Signal<T> {
        Signal::derive(value)
    }
    boxed(Box::new(value))
}

/// Runs once the page stands, and again when what it read has changed.
pub fn effect(run: impl FnMut() + 'static) {
    fn boxed(run: Box<dyn FnMut()>) {
        Effect::new(run);
    }
    boxed(Box::new(run));
}

/// Something to call with a value.
pub fn callback<T, R>(run: impl Fn(T) -> R + Send + Sync + 'static) -> Callback<T, R>
where
    T: 'static,
    R: 'static,
{
    type Boxed<T, R> = Box<dyn Fn(T) -> R + Send + Sync>;
    fn boxed<T: 'static, R: 'static>(run: Boxed<T, R>) -> Callback<T, R> {
        Callback::new(run)
    }
    boxed(Box::new(run))
}

/// What is inside exists while `when` holds; the fallback exists else.
#[component]
pub fn Show(
    /// Whether it is there.
    #[prop(into)]
    when: Signal<bool>,
    /// What is there else.
    #[prop(optional, into)]
    fallback: ViewFn,
    /// What is inside.
    children: ChildrenFn,
) -> impl IntoView {
    let when = memo(move || when.get());
    dynamic(move || {
        if when.get() {
            children()
        } else {
            fallback.run()
        }
    })
}
