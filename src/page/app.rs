//! The application: one session, one engine, and the effects that tie them together.

use crate::prelude::*;
use crate::{
    beside::Beside,
    canvas::{
        paint::Fonts,
        palette::Palette,
        picture::{CanvasFonts, Ratio},
    },
    client::{Client, Event, files},
    ctx::{Computed, Ctx, EngineState, Looked, Shared, ViewOptions},
    examples::shelf::{self, Shelf},
    header::{EngineFailed, LinkNotes, restore_theme, when_fonts_arrive},
    labs::bench::{Framed, Window, whole::whole},
    links::{self, Frame},
    session::{Action, Desk, Session},
    soon::Soon,
    source::Source,
    text::{t, tf},
};
use attention::Scale;
use protocol::{Job, Look, Ready, Reply, Revision, Variant};
use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};
use wasm_bindgen::{JsCast, closure::Closure};

/// A picture older than this, while a newer one is owed, is marked as waiting.
const PATIENCE: Duration = Duration::from_millis(200);
/// Without the opening example after this long, the page begins with the small one.
const OPENING: Duration = Duration::from_millis(4000);

/// Stops what the engine is doing.
#[derive(Clone, Copy)]
pub struct Stop(pub Callback<()>);

/// Has the view held against the float32 path.
#[derive(Clone, Copy)]
pub struct Prove(pub Callback<()>);

/// What was asked of the engine last.
#[derive(Clone, Debug, Default)]
struct Asked {
    revision: u64,
    view: u64,
    look: Option<Look>,
    answered: u64,
}

/// The whole page.
#[component]
pub fn App() -> impl IntoView {
    let frame = Frame::read();
    provide_context(frame);
    if !frame.embedded {
        restore_theme();
    }
    let ctx = Ctx::provide(Shared {
        desk: RwSignal::new(Desk::new(Session::small_example())),
        view: RwSignal::new(Computed::Idle),
        checked: RwSignal::new(None),
        looked: RwSignal::new(None),
        hover: RwSignal::new(None),
        palette: RwSignal::new(Arc::new(read_palette())),
        options: RwSignal::new(ViewOptions::default()),
        engine: RwSignal::new(EngineState {
            words: t("engine-starting").into(),
            ..EngineState::default()
        }),
        sheet: RwSignal::default(),
        live: RwSignal::new(String::new()),
        invited: RwSignal::new(false),
        soon: Soon::default(),
        coming: RwSignal::new(0),
        link_notes: RwSignal::new(Vec::new()),
        locked: frame.locked,
        mask_held: frame.mask_held,
        home: StoredValue::new(None),
    });
    Beside::provide(ctx);
    let size = Window(RwSignal::new(window_size(frame)));
    let ratio = Ratio(RwSignal::new(window().device_pixel_ratio()));
    provide_context(size);
    provide_context(ratio);
    provide_context(CanvasFonts(Arc::new(Fonts {
        ui: property("--ui"),
        prose: property("--prose"),
    })));
    watch_window(size, ratio, frame);
    watch_density(ratio.0, Rc::default());
    watch_theme(ctx);
    ctx.soon.watch();
    watch_keys(ctx);

    let shelf = Shelf::provide();
    let there = links::begin(ctx, shelf);
    // The first picture is the example's, unless it does not come.
    let late = RwSignal::new(there);
    set_timeout(move || late.set(true), OPENING);
    let begun = Memo::new(move |before: Option<&bool>| {
        before == Some(&true)
            || late.get()
            || ctx.session(|s| matches!(s.source, Source::Example(_)))
            || ctx.problem(shelf::FIELD).is_some()
    });

    let asked = StoredValue::new(Asked::default());
    let client = StoredValue::new_local(None::<Client>);
    let on_event = move |event: Event| answer(ctx, asked, event);
    client.set_value(Some(Client::start(&files(), Rc::new(on_event))));
    let send = move |job: Job| {
        client.with_value(|c| {
            if let Some(c) = c {
                c.send(job)
            }
        })
    };
    ask(ctx, asked, begun, send);
    let stop = callback(move |()| {
        client.with_value(|c| {
            if let Some(c) = c {
                c.cancel()
            }
        })
    });
    provide_context(Stop(stop));
    let prove = callback(move |()| {
        client.with_value(|c| {
            if let Some(c) = c {
                c.check()
            }
        })
    });
    provide_context(Prove(prove));
    let retry = callback(move |()| {
        ctx.engine.update(|e| e.failed = None);
        client.with_value(|c| {
            if let Some(c) = c {
                c.retry()
            }
        });
    });
    effect(move || {
        if ctx.session(|s| s.scale != Scale::InverseSqrt) {
            ctx.invited.set(true);
        }
    });
    let on_theme = callback(move |()| ctx.palette.set(Arc::new(read_palette())));
    when_fonts_arrive(on_theme);
    let owed = move || asked.with_value(|a| a.answered < a.view);
    links::follow(ctx, shelf, frame, owed);
    if let Some(starting) = document().get_element_by_id("starting") {
        starting.remove();
    }
    view! {
        <div class="app" class:embedded=frame.embedded>
            {match frame.embedded {
                true => view! { <EngineFailed retry/> <LinkNotes/> <Framed/> },
                false => whole(on_theme, retry),
            }}
            <div class="live" aria-live="polite" data-name="live">{move || ctx.live.get()}</div>
        </div>
    }
}

/// Asks the engine whenever the session or the look changes.
fn ask(
    ctx: Ctx,
    asked: StoredValue<Asked>,
    begun: Memo<bool>,
    send: impl Fn(Job) + Copy + Send + Sync + 'static,
) {
    let next = move |view: bool, look: &Look| {
        asked.try_update_value(|a| {
            a.revision += 1;
            if view {
                a.view = a.revision;
            }
            a.look = Some(look.clone());
            Revision(a.revision)
        })
    };
    let posted = StoredValue::new(None::<Session>);
    let post = move |session: &Session| {
        let same = posted.with_value(|p| p.as_ref().is_some_and(|p| p.asks_the_same(session)));
        posted.set_value(Some(session.clone()));
        if same {
            return;
        }
        let hover = ctx
            .hover
            .get_untracked()
            .filter(|(q, k)| *q < session.shape.n_q && *k < session.shape.n_k);
        if let Some(revision) = next(true, &session.look(hover)) {
            send(session.job(revision, hover));
            set_timeout(
                move || {
                    let owed = asked
                        .try_with_value(|a| a.view == revision.0 && a.answered < a.view)
                        .unwrap_or(false);
                    if owed {
                        ctx.view.update(|view| {
                            if let Computed::Ready(last) = view {
                                *view = Computed::Pending(Some(last.clone()));
                            }
                        });
                    }
                },
                PATIENCE,
            );
        }
    };
    // Whatever changed the session: what was asked for already is not asked again.
    Effect::new(move || {
        if begun.get() {
            ctx.session(post);
        }
    });
    ctx.soon.set_ask(move |session| {
        if begun.get_untracked() {
            post(session);
        }
    });
    effect(move || {
        let hover = ctx.hover.get();
        let look =
            ctx.session(|s| s.look(hover.filter(|(q, k)| *q < s.shape.n_q && *k < s.shape.n_k)));
        if !begun.get() || asked.with_value(|a| a.view == 0 || a.look.as_ref() == Some(&look)) {
            return;
        }
        if let Some(revision) = next(false, &look) {
            send(Job::Look { revision, look });
        }
    });
}

/// What the engine says becomes state.
fn answer(ctx: Ctx, asked: StoredValue<Asked>, event: Event) {
    ctx.soon.settle();
    match event {
        Event::Ready(ready) => ctx.engine.update(|e| {
            e.words = engine_words(&ready);
            e.failed = None;
        }),
        Event::Reply(Reply::Trace(trace)) => {
            asked.update_value(|a| a.answered = a.answered.max(trace.revision.0));
            let looked = Looked {
                row: trace.row.clone(),
                cell: trace.cell.clone(),
            };
            batch(|| {
                ctx.looked.set(Some(Arc::new(looked)));
                ctx.view.set(Computed::Ready(Arc::new(*trace)));
                if ctx.engine.with_untracked(|e| e.progress.is_some()) {
                    ctx.engine.update(|e| e.progress = None);
                }
                ctx.clear("view");
            });
        }
        Event::Reply(Reply::Look { row, cell, .. }) => {
            ctx.looked.set(Some(Arc::new(Looked { row, cell })))
        }
        Event::Reply(Reply::Progress { done, total, .. }) => {
            ctx.engine.update(|e| e.progress = Some((done, total)))
        }
        Event::Reply(Reply::Refused(refusal)) => {
            asked.update_value(|a| a.answered = a.answered.max(refusal.revision.0));
            fail(ctx, refusal.message);
        }
        Event::Reply(Reply::Cancelled) => {
            ctx.engine.update(|e| e.progress = None);
            fail(ctx, t("job-stopped").to_owned());
        }
        Event::Reply(Reply::Checked { of, check }) => {
            if ctx
                .view
                .with_untracked(|v| v.last().is_some_and(|t| t.revision == of))
            {
                ctx.checked.set(check.map(|check| Ok((of, check))));
            }
        }
        Event::Unchecked(why) => ctx.checked.set(Some(Err(why))),
        // The page asks for none of these.
        Event::Reply(Reply::Ready(_) | Reply::Kernel(_) | Reply::Stages(_)) => {}
        Event::Failed {
            message,
            will_retry,
        } => {
            ctx.engine.update(|e| {
                e.progress = None;
                if will_retry {
                    e.note = Some(message.clone());
                } else {
                    e.failed = Some(message.clone());
                }
            });
            ctx.say(message);
        }
        Event::Restarted => ctx
            .engine
            .update(|e| e.note = Some(t("engine-restarted").to_owned())),
        Event::EngineNote(words) => ctx.engine.update(|e| e.note = Some(words)),
    }
}

fn fail(ctx: Ctx, why: String) {
    ctx.view
        .update(|view| *view = Computed::Failed(view.last().cloned(), why));
}

fn engine_words(ready: &Ready) -> String {
    match (ready.variant, ready.threads) {
        (Variant::SimdThreads, n) if n > 1 => tf("engine-threads", &[("n", &n)]),
        _ => t("engine-one").to_owned(),
    }
}

/// An embedded page is as high as what it holds: what it holds must not follow how high it is.
const FRAME_HEIGHT: f64 = 900.0;

fn window_size(frame: Frame) -> (f64, f64) {
    let size = |v: Result<wasm_bindgen::JsValue, _>| v.ok().and_then(|v| v.as_f64()).unwrap_or(0.0);
    let height = match frame.embedded {
        true => FRAME_HEIGHT,
        false => size(window().inner_height()),
    };
    (size(window().inner_width()), height)
}

fn property(name: &str) -> String {
    let style = document()
        .document_element()
        .and_then(|root| window().get_computed_style(&root).ok().flatten());
    style
        .and_then(|s| s.get_property_value(name).ok())
        .unwrap_or_default()
        .trim()
        .to_owned()
}

/// The theme's colours as the browser resolves them: system colours too, in forced-colours mode.
fn read_palette() -> Palette {
    let Some(probe) = document()
        .create_element("span")
        .ok()
        .and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok())
    else {
        return Palette::read(property);
    };
    let _ = probe.style().set_property("forced-color-adjust", "none");
    let _ = probe.style().set_property("display", "none");
    let _ = document().body().map(|body| body.append_child(&probe));
    let palette = Palette::read(|name| {
        let _ = probe.style().set_property("color", &format!("var({name})"));
        window()
            .get_computed_style(&probe)
            .ok()
            .flatten()
            .and_then(|s| s.get_property_value("color").ok())
            .unwrap_or_default()
    });
    probe.remove();
    palette
}

fn watch_window(Window(size): Window, Ratio(ratio): Ratio, frame: Frame) {
    let resized = window_event_listener(leptos::ev::resize, move |_| {
        let (now, density) = (window_size(frame), window().device_pixel_ratio());
        if size.get_untracked() != now {
            size.set(now);
        }
        if ratio.get_untracked() != density {
            ratio.set(density);
        }
    });
    on_cleanup(move || resized.remove());
}

/// A window moved to a screen of another density fires no `resize`: a query for the present density does.
fn watch_density(ratio: RwSignal<f64>, newest: Rc<Cell<u32>>) {
    let mine = newest.get();
    let query = format!("(resolution: {}dppx)", window().device_pixel_ratio());
    let Some(list) = window().match_media(&query).ok().flatten() else {
        return;
    };
    let changed = Closure::<dyn FnMut()>::new(move || {
        // The query of an earlier density has nothing to say any more.
        if newest.get() == mine {
            newest.set(mine.wrapping_add(1));
            ratio.set(window().device_pixel_ratio());
            watch_density(ratio, newest.clone());
        }
    });
    let _ = list.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref());
    // The page listens as long as it lives; a list that nobody holds may be collected, and its listener with it.
    changed.forget();
    std::mem::forget(list);
}

fn watch_theme(ctx: Ctx) {
    for query in ["(prefers-color-scheme: dark)", "(forced-colors: active)"] {
        let Some(list) = window().match_media(query).ok().flatten() else {
            continue;
        };
        let changed =
            Closure::<dyn FnMut()>::new(move || ctx.palette.set(Arc::new(read_palette())));
        let _ = list.add_event_listener_with_callback("change", changed.as_ref().unchecked_ref());
        // The page listens as long as it lives.
        changed.forget();
        std::mem::forget(list);
    }
}

/// Whether an explanation is open: Escape closes that and nothing else.
fn explains() -> bool {
    matches!(
        document().query_selector(".gloss-note:popover-open"),
        Ok(Some(_))
    )
}

fn watch_keys(ctx: Ctx) {
    let keys = window_event_listener(leptos::ev::keydown, move |ev| {
        let typing = ev
            .target()
            .and_then(|e| e.dyn_into::<web_sys::HtmlInputElement>().ok())
            .is_some_and(|input| {
                matches!(input.type_().as_str(), "text" | "search" | "number" | "")
            });
        let jump = ev.ctrl_key() || ev.meta_key();
        match (ev.key().as_str(), jump, ev.shift_key()) {
            ("z", true, false) if !typing => {
                ctx.desk.update(|d| {
                    d.undo();
                });
                ctx.say(t("undone"));
                ev.prevent_default();
            }
            ("Z" | "z", true, true) | ("y", true, false) if !typing => {
                ctx.desk.update(|d| {
                    d.redo();
                });
                ctx.say(t("redone"));
                ev.prevent_default();
            }
            ("Escape", false, _)
                if !typing
                    && !explains()
                    && ctx.sheet.get_untracked() == crate::ctx::Sheet::Closed
                    && !ev.default_prevented()
                    && ctx.desk.with_untracked(|d| d.session().pin.is_some()) =>
            {
                ctx.act(Action::Pin(None));
                ctx.say(t("unpinned"));
            }
            _ => {}
        }
    });
    on_cleanup(move || keys.remove());
}
