//! Address and session of a page of its own: each follows the other. Comes with what only such a page has.
//!
//! A change is written into the address a moment after it was made. What a reader chooses (a source, a head, a mask, a
//! position scheme) is a new entry of the history, and what is typed or dragged is not. An embedded page leaves the
//! address alone, which belongs to the page around it.

use super::{fragment, is_link, open};
use crate::ctx::Ctx;
use crate::{
    examples::shelf::Shelf,
    link::{self, ROOM},
    prelude::*,
    session::Session,
    source::Source,
    text::t,
};
use std::time::Duration;
use wasm_bindgen::JsValue;

/// How long a change rests before the address follows. Browsers refuse more than some hundred changes in half a minute.
const REST: Duration = Duration::from_millis(400);

/// Keeps them together from here on.
pub fn keep(ctx: Ctx, shelf: Shelf) {
    let written = StoredValue::new(String::new());
    let kept = StoredValue::new(Vec::new());
    write_address(ctx, written, kept);
    let changed = window_event_listener(leptos::ev::hashchange, move |_| {
        let fragment = fragment();
        let text = fragment.trim_start_matches('#');
        if !is_link(text) || written.with_value(|w| w == text) {
            return;
        }
        written.set_value(text.to_owned());
        let wanted = link::read(text);
        let of_this = kept.with_value(|kept: &Vec<Kept>| {
            let known = kept.iter().find(|(link, _)| link == text);
            known.map(|(_, session)| session.clone())
        });
        match of_this {
            Some(session) => {
                shelf.forget();
                let opened = link::Opened {
                    session,
                    view: wanted.view,
                    notes: Vec::new(),
                };
                ctx.open(opened, false);
            }
            None => {
                open(ctx, shelf, wanted, false);
            }
        }
        ctx.say(t("link-opened"));
    });
    on_cleanup(move || changed.remove());
}

/// What of a session makes an entry of the history of its own.
fn entry(session: &Session) -> impl PartialEq + Clone + Send + Sync + use<> {
    let masks: Vec<&str> = session.masks.iter().map(|m| m.scheme.id).collect();
    let positions: Vec<&str> = session.positions.iter().map(|p| p.scheme.id).collect();
    let source = match &session.source {
        Source::Example(layer) => format!("{}{}", layer.sentence, layer.layer),
        _ => String::new(),
    };
    (
        session.source.kind(),
        source,
        session.head,
        masks,
        positions,
    )
}

/// A link that left numbers out, and the session with them: back and forward lead to it while the page is open.
type Kept = (String, Session);
/// So many of them.
const KEPT: usize = 16;

fn write_address(ctx: Ctx, written: StoredValue<String>, kept: StoredValue<Vec<Kept>>) {
    let entries = StoredValue::new(None);
    // The notes for whose sake the address stays as it came.
    let noted = StoredValue::new(Vec::new());
    let leaving = window_event_listener(leptos::ev::beforeunload, move |event| {
        // Loading the page anew would lose the numbers: the browser asks.
        let link = written.with_value(String::clone);
        if kept.with_value(|kept| kept.iter().any(|(left_out, _)| *left_out == link)) {
            event.prevent_default();
        }
    });
    on_cleanup(move || leaving.remove());
    let turn = StoredValue::new(0u32);
    effect(move || {
        ctx.desk.with(|_| ());
        ctx.options.with(|_| ());
        let mine = turn.get_value().wrapping_add(1);
        turn.set_value(mine);
        set_timeout(
            move || {
                // What has no picture yet (the page is still opening) has no address either.
                let shown = ctx.view.with_untracked(|v| v.last().is_some());
                if turn.try_get_value() != Some(mine) || !shown {
                    return;
                }
                let view = ctx.options.get_untracked();
                let (
                    link::Written {
                        text: link,
                        left_out,
                    },
                    now,
                ) = ctx.desk.with_untracked(|desk| {
                    let session = desk.session();
                    (link::write(session, view, ROOM), entry(session))
                });
                if left_out.is_some() {
                    let session = ctx.desk.with_untracked(|desk| desk.session().clone());
                    kept.update_value(|kept| {
                        kept.retain(|(known, _)| *known != link);
                        kept.insert(0, (link.clone(), session));
                        kept.truncate(KEPT);
                    });
                }
                if written.with_value(|w| *w == link) {
                    return;
                }
                // What could not be read stays in the address, to be corrected there, until something is changed.
                let notes = ctx.link_notes.get_untracked();
                if !notes.is_empty() && noted.with_value(|n| *n != notes) {
                    noted.set_value(notes);
                    written.set_value(link);
                    entries.set_value(Some(now));
                    return;
                }
                let before = entries
                    .try_update_value(|e| e.replace(now.clone()))
                    .flatten();
                let push = before.is_some_and(|before| before != now) && !fragment_is(&link);
                written.set_value(link.clone());
                put(&link, push);
            },
            REST,
        );
    });
}

fn fragment_is(link: &str) -> bool {
    fragment().trim_start_matches('#') == link
}

/// Refused in an opaque origin and where a page asks too often; the address is then a little old, and nothing is lost.
fn put(link: &str, push: bool) {
    let Ok(history) = window().history() else {
        return;
    };
    let address = format!("#{link}");
    let _ = match push {
        true => history.push_state_with_url(&JsValue::NULL, "", Some(&address)),
        false => history.replace_state_with_url(&JsValue::NULL, "", Some(&address)),
    };
}
