//! What the address asks for, and what a page around this one can ask and is told.

pub mod address;
mod tell;

use crate::prelude::*;
use crate::{
    ctx::Ctx,
    examples::shelf::{Shelf, Wish},
    link::{self, ROOM, Wanted},
    session::Session,
    text::t,
};
use attention::{AttentionSpec, Hidden, KeyIdx, QueryIdx};
use js_sys::{Array, Float64Array, Object, Reflect};
use protocol::Trace;
use std::{cell::RefCell, sync::Arc};
use wasm_bindgen::{JsValue, prelude::wasm_bindgen};

thread_local! {
    /// What the functions that the page exports work on.
    static PAGE: RefCell<Option<(Ctx, Shelf)>> = const { RefCell::new(None) };
}

/// How a page is embedded, as far as the application needs to know. The rest (themes, hiding single controls, the line
/// below) is done from outside by `www/embed-view.js`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// It is a view in somebody else's page.
    pub embedded: bool,
    /// Numbers cannot be changed by hand.
    pub locked: bool,
    /// The mask cannot be changed by hand: its control is fixed, or others are shown and it is not.
    pub mask_held: bool,
    /// Some control is shown.
    pub controls: bool,
    /// Parts that are shown, of [`PARTS`].
    show: [bool; PARTS.len()],
}

/// Parts of the bench that an embedded page can show by themselves.
pub const PARTS: [&str; 8] = [
    "stage",
    "weights",
    "readouts",
    "jacobian",
    "gradient",
    "output",
    "formula",
    "waterfall",
];

impl Frame {
    /// Reads it from the page's address.
    pub fn read() -> Frame {
        Frame::of(&fragment())
    }

    /// Reads it from a fragment.
    pub fn of(fragment: &str) -> Frame {
        let pairs = || fragment.trim_start_matches('#').split('&');
        let has = |pair: &str| pairs().any(|p| p == pair);
        let value = |key: &str| {
            let given = pairs().find_map(|p| p.strip_prefix(key)?.strip_prefix('='));
            given.map(link::unescaped)
        };
        // Whether a list names a control; nothing where there is no list.
        let names = |control: &str, list: Option<String>| {
            list.map(|l| l.split(',').any(|name| name == control || name == "all"))
        };
        let embedded = has("embed=1");
        let show = value("show");
        let shown = show
            .as_ref()
            .map(|names| names.split(',').collect::<Vec<_>>())
            .filter(|names| names.iter().any(|n| PARTS.contains(n)));
        Frame {
            embedded,
            locked: embedded && has("lock=1"),
            mask_held: embedded
                && (names("mask", value("fixed")) == Some(true)
                    || names("mask", value("controls")) == Some(false)),
            controls: !embedded
                || [value("controls"), value("fixed")]
                    .into_iter()
                    .flatten()
                    .any(|names| !names.is_empty() && names != "none"),
            show: PARTS.map(|part| !embedded || shown.as_ref().is_none_or(|s| s.contains(&part))),
        }
    }

    /// The page's.
    pub fn get() -> Frame {
        use_context().unwrap_or_else(|| Frame::of(""))
    }

    /// Whether a part is on the page.
    pub fn shows(&self, part: &str) -> bool {
        PARTS
            .iter()
            .zip(self.show)
            .any(|(p, shown)| *p == part && shown)
    }
}

/// The page's fragment with its `#`, or nothing.
fn fragment() -> String {
    window().location().hash().unwrap_or_default()
}

/// Whether a fragment is a link at all, and not the name of a place in the page.
fn is_link(fragment: &str) -> bool {
    fragment.contains('=')
}

/// Opens what the address asks for, or what the page opens with. Returns whether it is there already.
pub fn begin(ctx: Ctx, shelf: Shelf) -> bool {
    PAGE.set(Some((ctx, shelf)));
    let fragment = fragment();
    if is_link(&fragment) {
        open(ctx, shelf, link::read(&fragment), true)
    } else {
        shelf.open(ctx, Wish::first());
        false
    }
}

/// Shows what a link wants; an example is fetched first. Returns whether it is there already.
fn open(ctx: Ctx, shelf: Shelf, wanted: Wanted, first: bool) -> bool {
    match wanted.example() {
        Some((sentence, head)) => {
            shelf.open(
                ctx,
                Wish {
                    sentence,
                    head,
                    pin: wanted.pin,
                    first,
                    link: Some(Arc::new(wanted)),
                },
            );
            false
        }
        None => {
            shelf.forget();
            ctx.open(wanted.open(None), first);
            true
        }
    }
}

/// Tells the document what happens, and an embedded page follows its address, which its host may change. A page of its
/// own keeps address and session together: [`address::keep`].
pub fn follow(
    ctx: Ctx,
    shelf: Shelf,
    frame: Frame,
    owed: impl Fn() -> bool + Copy + Send + Sync + 'static,
) {
    if frame.embedded {
        let changed = window_event_listener(leptos::ev::hashchange, move |_| {
            let fragment = fragment();
            if is_link(&fragment) {
                open(ctx, shelf, link::read(&fragment), false);
                ctx.say(t("link-opened"));
            }
        });
        on_cleanup(move || changed.remove());
    }
    tell::tell(ctx, owed);
}

fn page<T>(with: impl FnOnce(Ctx, Shelf) -> T) -> Option<T> {
    PAGE.with_borrow(|page| page.map(|(ctx, shelf)| (ctx, shelf)))
        .map(|(ctx, shelf)| with(ctx, shelf))
}

fn sentences(notes: Vec<String>) -> Array {
    notes.into_iter().map(JsValue::from).collect()
}

fn written() -> Option<link::Written> {
    page(|ctx, _| {
        let view = ctx.options.get_untracked();
        ctx.desk
            .with_untracked(|d| link::write(d.session(), view, ROOM))
    })
}

/// The present session as a fragment.
#[wasm_bindgen(js_name = lab_link)]
pub fn lab_link() -> String {
    written().map(|link| link.text).unwrap_or_default()
}

/// What of the present session a link cannot carry: a sentence, or nothing.
#[wasm_bindgen(js_name = lab_left_out)]
pub fn lab_left_out() -> Option<String> {
    written()?.left_out
}

/// Opens a fragment; the sentences say what of it could not be read. An example arrives later.
#[wasm_bindgen(js_name = lab_open)]
pub fn lab_open(fragment: &str) -> Array {
    page(|ctx, shelf| {
        let wanted = link::read(fragment);
        let notes = wanted.notes.clone().sentences();
        if open(ctx, shelf, wanted, false) {
            return sentences(ctx.link_notes.get_untracked());
        }
        sentences(notes)
    })
    .unwrap_or_default()
}

/// Changes what a fragment gives and leaves the rest as it is, as it does what cannot be read.
#[wasm_bindgen(js_name = lab_set)]
pub fn lab_set(fragment: &str) -> Array {
    let now = page(|ctx, _| {
        let view = ctx.options.get_untracked();
        ctx.desk
            .with_untracked(|d| link::write(d.session(), view, usize::MAX).text)
    });
    let (change, notes) = link::readable(fragment);
    let notes = sentences(notes);
    match now {
        Some(now) => notes.concat(&lab_open(&link::merged(&now, &change))),
        None => notes,
    }
}

/// The numbers of the picture on the screen, row by row, or null before the first.
#[wasm_bindgen(js_name = lab_data)]
pub fn lab_data() -> JsValue {
    let shown = page(|ctx, _| {
        let trace = ctx.view.with_untracked(|v| v.last().cloned())?;
        Some(ctx.desk.with_untracked(|d| data(&trace, d.session())))
    });
    shown.flatten().map_or(JsValue::NULL, JsValue::from)
}

/// `masked` is left out while the session is ahead of the picture.
fn data(trace: &Trace, session: &Session) -> Object {
    let object = Object::new();
    // Fails only for frozen objects.
    let set = |name: &str, value: JsValue| {
        let _ = Reflect::set(&object, &name.into(), &value);
    };
    let s = trace.shape;
    for (name, size) in [
        ("head", trace.head),
        ("n_q", s.n_q),
        ("n_k", s.n_k),
        ("d_k", s.d_k),
        ("d_v", s.d_v),
    ] {
        set(name, (size as f64).into());
    }
    set("scale", trace.scale.into());
    let column =
        |of: fn(&protocol::RowFacts) -> f64| trace.rows.iter().map(of).collect::<Vec<f64>>();
    let spec = AttentionSpec::new(session.config()).ok();
    let spec = spec.filter(|_| (session.shape.n_q, session.shape.n_k) == (s.n_q, s.n_k));
    let masked: Vec<f64> = match &spec {
        None => Vec::new(),
        Some(spec) => (0..s.n_q * s.n_k)
            .zip(&trace.scores)
            .map(|(at, score)| {
                match (
                    spec.visible(QueryIdx(at / s.n_k), KeyIdx(at % s.n_k)),
                    session.hidden,
                ) {
                    (true, _) => *score,
                    (false, Hidden::NegInfinity) => f64::NEG_INFINITY,
                    (false, Hidden::Finite(constant)) => score + constant,
                }
            })
            .collect(),
    };
    for (name, numbers) in [
        ("q", &trace.q),
        ("k", &trace.k),
        ("v", &trace.v),
        ("scores", &trace.scores),
        ("masked", &masked),
        ("weights", &trace.weights),
        ("output", &trace.out),
        ("lse", &column(|row| row.lse)),
        ("entropy", &column(|row| row.entropy)),
    ] {
        set(name, Float64Array::from(numbers.as_slice()).into());
    }
    object
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_shows_what_its_address_names_escaped_or_not() {
        for show in ["weights,jacobian", "weights%2Cjacobian"] {
            let frame = Frame::of(&format!("#embed=1&show={show}&controls=none&lock=1"));
            let shown: Vec<&str> = PARTS.into_iter().filter(|p| frame.shows(p)).collect();
            assert_eq!(shown, ["weights", "jacobian"], "{show}");
            assert!(frame.embedded && frame.locked && !frame.controls);
        }
        for (asked, held) in [
            ("embed=1", false),
            ("embed=1&controls=mask,scale", false),
            ("embed=1&controls=all", false),
            ("embed=1&controls=scale", true),
            ("embed=1&controls=none", true),
            ("embed=1&fixed=mask", true),
            ("embed=1&controls=all&fixed=scale%2Cmask", true),
            ("controls=scale&fixed=mask", false),
        ] {
            assert_eq!(Frame::of(asked).mask_held, held, "{asked}");
        }
        assert!(
            Frame::of("#show=weights&lock=1").shows("stage"),
            "not embedded"
        );
        assert!(
            Frame::of("#embed=1&show=nonsense").shows("stage"),
            "nothing that is known"
        );
    }
}
