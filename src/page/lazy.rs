//! Parts of the page whose code lies in files of their own, which come after the first picture.
//!
//! [`part!`](crate::part) writes such a part. In a build that is not taken apart (all but `cargo xtask build`) the
//! part is simply there. Its place stands from the start, so that nothing moves when it comes.

use crate::prelude::*;
use crate::{beside::after_frame, ctx::Ctx, text::t};
use leptos::task::spawn_local;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Without a picture after this long, the parts come all the same.
const PATIENCE: Duration = Duration::from_millis(4000);

/// The file that the first picture of a page of its own waits for; `www/boot.js` has asked for it by then.
pub const AT_ONCE: &str = "bench";

/// A part's file did not come.
#[derive(Debug)]
pub struct Missing;

#[cfg(feature = "parts")]
impl From<wasm_split_helpers::SplitLoaderError> for Missing {
    fn from(_: wasm_split_helpers::SplitLoaderError) -> Missing {
        Missing
    }
}

/// A file on its way.
pub type Coming = Pin<Box<dyn Future<Output = Result<(), Missing>>>>;

/// A function that makes a view, and whose code lies in the file `in NAME` together with all that only such parts use.
/// Its arguments are signals and the like: they are copied.
#[macro_export]
macro_rules! part {
    ($(#[$doc:meta])* $vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) in $file:ident $body:block) => {
        $(#[$doc])*
        $vis fn $name($($arg: $type),*) -> $crate::prelude::AnyView {
            #[cfg(not(feature = "parts"))]
            return $body;
            #[cfg(feature = "parts")]
            {
                // The linker's table is not typed: what crosses is a pointer.
                #[wasm_split_helpers::wasm_split($file, fallible, preload(load))]
                fn $name($($arg: $type),*) -> Result<Box<$crate::prelude::AnyView>, $crate::lazy::Missing> {
                    $crate::text::bring::$file();
                    Ok(Box::new($body))
                }
                static THERE: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
                $crate::lazy::place(
                    &THERE,
                    stringify!($file) == $crate::lazy::AT_ONCE,
                    || Box::pin(async { Ok(load().await?) }),
                    std::sync::Arc::new(move || $crate::lazy::now($name($($arg),*))),
                )
            }
        }
    };
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Coming,
    There,
    Failed,
}

/// A part on its way.
type Made<'a> = Pin<&'a mut dyn Future<Output = Result<Box<AnyView>, Missing>>>;

/// What a part makes whose file is there: it waits for nothing.
pub fn now(part: impl Future<Output = Result<Box<AnyView>, Missing>>) -> AnyView {
    fn poll(part: Made) -> AnyView {
        match part.poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(view)) => *view,
            _ => ().into_any(),
        }
    }
    poll(std::pin::pin!(part))
}

/// The place of a part: empty until its file is there; a sentence and a button where it does not come.
pub fn place(
    there: &'static AtomicBool,
    at_once: bool,
    load: fn() -> Coming,
    make: Arc<dyn Fn() -> AnyView + Send + Sync>,
) -> AnyView {
    if there.load(Ordering::Relaxed) {
        return make();
    }
    let ctx = Ctx::get();
    let state = RwSignal::new(State::Coming);
    let counted = StoredValue::new(true);
    ctx.coming.update(|n| *n += 1);
    let arrived = move || {
        if counted.try_update_value(std::mem::take) == Some(true) {
            ctx.coming.update(|n| *n = n.saturating_sub(1));
        }
    };
    // A place that goes before its part has come waits for nothing.
    on_cleanup(arrived);
    let ask = move || {
        spawn_local(async move {
            let outcome = load().await;
            there.fetch_or(outcome.is_ok(), Ordering::Relaxed);
            // The place may be gone by now.
            state.try_set(match outcome {
                Ok(()) => State::There,
                Err(Missing) => State::Failed,
            });
            arrived();
        });
    };
    if at_once || ctx.is_begun_untracked() {
        ask();
    } else {
        after_picture(ctx, ask);
    }
    let again = move |_| {
        state.set(State::Coming);
        ask();
    };
    dynamic(move || match state.get() {
        State::There => make(),
        State::Coming => view! { <div class="part-coming" aria-busy="true"></div> },
        State::Failed => view! {
            <p class="note problem part-missing" role="alert">
                {t("part-missing")} " "
                <button type="button" class="text-button" data-name="part-again" on:click=again>{t("try-again")}</button>
            </p>
        },
    })
}

/// The first picture does not share the wire with the parts.
fn after_picture(ctx: Ctx, ask: impl Fn() + Copy + 'static) {
    let late = RwSignal::new(false);
    set_timeout(
        move || {
            late.try_set(true);
        },
        PATIENCE,
    );
    let begun = memo(move || late.get() || ctx.is_begun());
    effect(move || {
        if begun.get() {
            after_frame(ask);
        }
    });
}
