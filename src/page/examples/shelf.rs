//! What the page wants of the examples: the newest wish wins, and one that failed can be tried again.

use super::{Index, Maps};
use crate::prelude::*;
use crate::text::tf;
use crate::{
    ctx::Ctx,
    link::Wanted,
    session::{Action, Desk, Session},
};
use std::{ops::Deref, sync::Arc};
use wasm_bindgen_futures::spawn_local;

/// A head that the reader wants to see.
#[derive(Clone, Debug, PartialEq)]
pub struct Wish {
    /// Name of the sentence; empty for the first.
    pub sentence: String,
    /// Layer and head; the sentence's first suggestion where there is none.
    pub head: Option<(usize, usize)>,
    /// Query and key to pin; those of a suggestion, or what is pinned now, where there is none.
    pub pin: Option<(usize, usize)>,
    /// Whether the page opens with it: then there is nothing to undo.
    pub first: bool,
    /// The link that wants it, with what is to be set once it is here.
    pub link: Option<Arc<Wanted>>,
}

impl Wish {
    /// What the page opens with: the first suggestion of the first sentence.
    pub fn first() -> Wish {
        Wish {
            sentence: String::new(),
            head: None,
            pin: None,
            first: true,
            link: None,
        }
    }

    /// A head of a sentence.
    pub fn head(sentence: &str, layer: usize, head: usize) -> Wish {
        Wish {
            sentence: sentence.to_owned(),
            head: Some((layer, head)),
            pin: None,
            first: false,
            link: None,
        }
    }

    /// A sentence, at the head that its first suggestion names.
    pub fn sentence(sentence: &str) -> Wish {
        Wish {
            sentence: sentence.to_owned(),
            head: None,
            pin: None,
            first: false,
            link: None,
        }
    }
}

/// The name under which what went wrong with the examples stands among the problems.
pub const FIELD: &str = "example";

/// The examples as the page's components see them; a pointer, as [`Ctx`] is.
#[derive(Clone, Copy)]
pub struct Shelf(&'static Inside);

/// What a [`Shelf`] points to.
pub struct Inside {
    /// The index, once it is there.
    pub index: RwSignal<Option<Arc<Index>>>,
    /// The pictures of the shown sentence's heads, with its name.
    pub maps: RwSignal<Option<(String, Arc<Maps>)>>,
    /// What is on its way or failed.
    pub wish: RwSignal<Option<Wish>>,
    count: StoredValue<u32>,
    /// Sentence whose pictures were asked for last.
    pictured: StoredValue<String>,
}

impl Deref for Shelf {
    type Target = Inside;

    fn deref(&self) -> &Inside {
        self.0
    }
}

impl Shelf {
    /// Makes the shelf and gives it to all components below. It lives as long as the page.
    pub fn provide() -> Shelf {
        let shelf = Shelf(Box::leak(Box::new(Inside {
            index: RwSignal::new(None),
            maps: RwSignal::new(None),
            wish: RwSignal::new(None),
            count: StoredValue::new(0),
            pictured: StoredValue::new(String::new()),
        })));
        provide_context(shelf);
        shelf
    }

    /// The shelf of the component that asks; a new one where nobody made one.
    pub fn get() -> Shelf {
        use_context::<Shelf>().unwrap_or_else(Shelf::provide)
    }

    /// Fetches what is wanted and shows it. The last picture stays until then; what goes wrong is a problem of
    /// [`FIELD`], and [`Shelf::retry`] asks again.
    pub fn open(self, ctx: Ctx, wish: Wish) {
        let number = self.count.get_value().wrapping_add(1);
        self.count.set_value(number);
        self.wish.set(Some(wish.clone()));
        ctx.clear(FIELD);
        spawn_local(async move {
            let got = fetch(self, &wish).await;
            if self.count.try_get_value() != Some(number) {
                return;
            }
            match got {
                Ok((session, pin)) => {
                    self.wish.set(None);
                    show(ctx, &wish, session, pin);
                }
                Err(why) => {
                    // Where no example is on the screen its control is not there to say it.
                    if wish.link.is_some() {
                        ctx.link_notes.set(vec![why.clone()]);
                    }
                    ctx.note(FIELD, why);
                }
            }
        });
    }

    /// What is on its way is not wanted any more.
    pub fn forget(self) {
        self.count.set_value(self.count.get_value().wrapping_add(1));
        self.wish.set(None);
    }

    /// Asks again for what failed: a head, and the pictures of its sentence.
    pub fn retry(self, ctx: Ctx) {
        ctx.clear(FIELD);
        let pictured = self.pictured.get_value();
        let there = self
            .maps
            .with_untracked(|m| m.as_ref().is_some_and(|(of, _)| *of == pictured));
        if !pictured.is_empty() && !there {
            self.want_maps(ctx, pictured);
        }
        if let Some(wish) = self.wish.get_untracked() {
            self.open(ctx, wish);
        }
    }

    /// Fetches the pictures of a sentence's heads, if they are not there.
    pub fn want_maps(self, ctx: Ctx, sentence: String) {
        self.pictured.set_value(sentence.clone());
        spawn_local(async move {
            let index = super::index().await;
            let maps = super::maps(&sentence).await;
            let still = self
                .pictured
                .try_get_value()
                .is_some_and(|newest| newest == sentence);
            if let Ok(index) = index {
                self.index.set(Some(index));
            }
            match maps {
                Ok(maps) if still => self.maps.set(Some((sentence, maps))),
                Err(why) if still => ctx.note(FIELD, why),
                _ => {}
            }
        });
    }
}

type Got = (Session, Option<(usize, usize)>);

async fn fetch(shelf: Shelf, wish: &Wish) -> Result<Got, String> {
    let index = super::index().await?;
    shelf.index.set(Some(index.clone()));
    let sentence = match index.sentences.first() {
        Some(first) if wish.sentence.is_empty() => first,
        _ => super::known(&index, &wish.sentence)?,
    };
    let opening = sentence.suggested.first();
    let (layer, head) = wish
        .head
        .or(opening.map(|s| (s.layer, s.head)))
        .unwrap_or((0, 0));
    if head >= index.heads {
        let most = index.heads.saturating_sub(1);
        return Err(tf("example-head", &[("got", &head), ("most", &most)]));
    }
    let pin = match wish.head {
        _ if wish.pin.is_some() => wish.pin,
        Some((layer, head)) => sentence.suggestion(layer, head).map(|s| (s.row, s.key)),
        None => opening.map(|s| (s.row, s.key)),
    };
    let opens = (sentence.opening.layer, sentence.opening.head) == (layer, head);
    let one_head = wish.link.as_ref().is_none_or(|link| link.needs_one_head());
    let layer = if wish.first && opens && one_head {
        super::opening(sentence).await?
    } else {
        super::load(&sentence.name, layer).await?
    };
    Ok((Session::example(layer, head), pin))
}

fn show(ctx: Ctx, wish: &Wish, session: Session, pin: Option<(usize, usize)>) {
    let crate::source::Source::Example(layer) = &session.source else {
        return;
    };
    let (layer, head) = (layer.clone(), session.head);
    if let Some(link) = &wish.link {
        let mut opened = link.open(Some((&layer, head)));
        // The suggested head of a link that names none comes with its cell.
        opened.session.pin = opened.session.pin.or(pin.filter(|_| link.head.is_none()));
        return ctx.open(opened, wish.first);
    }
    ctx.desk.update(|desk| {
        if wish.first && desk.can() == (false, false) {
            *desk = Desk::new(Session { pin, ..session });
            return;
        }
        // A head of the layer that is shown already: looking, not changing, and edits stay.
        let same = matches!(&desk.session().source, crate::source::Source::Example(now) if **now == *layer);
        desk.apply(if same { Action::SetHead(head) } else { Action::Example(layer, head) });
        if pin.is_some() {
            desk.apply(Action::Pin(pin));
        }
    });
}
