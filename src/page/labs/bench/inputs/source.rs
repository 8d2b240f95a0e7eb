//! Where the numbers come from.

use super::{Group, heads::HeadPicker, hint, suggested::Suggested};
use crate::prelude::*;
use crate::{
    ctx::Ctx,
    examples::{self, Shelf, Wish},
    session::Action,
    source::{Source, SourceKind, Stream},
    text::{t, tf},
    widgets::{NumberField, Problem, Select, Word},
};

/// The menu of sources and what belongs to the chosen one.
#[component]
pub fn SourceInput() -> impl IntoView {
    let ctx = Ctx::get();
    let shelf = Shelf::get();
    // An example on its way, or one that did not arrive, is what the reader chose.
    let kind = memo(
        move || match shelf.wish.with(|w| w.as_ref().is_some_and(|w| !w.first)) {
            true => SourceKind::Example,
            false => ctx.session(|s| s.source.kind()),
        },
    );
    let value = derive(move || {
        let now = kind.get();
        SourceKind::ALL
            .iter()
            .find(|(k, ..)| *k == now)
            .map_or("", |(_, id, _)| id)
            .to_owned()
    });
    let options = derive(|| {
        SourceKind::ALL
            .iter()
            .map(|(_, id, words)| Word::new(*id, *words))
            .collect()
    });
    let choose = move |id: String| {
        let Some((chosen, ..)) = SourceKind::ALL.iter().find(|(_, known, _)| *known == id) else {
            return;
        };
        if *chosen != SourceKind::Example {
            shelf.wish.set(None);
            ctx.clear(examples::FIELD);
        }
        ctx.clear("source");
        match chosen {
            SourceKind::Example => shelf.open(ctx, Wish::sentence("")),
            kind => ctx.act(Action::SetSource(*kind)),
        }
    };
    let edited = memo(move || ctx.session(|s| (s.edited, s.source.kind() != SourceKind::Typed)));
    view! {
        <Group title=t("source") side=view! { <DrawAgain /> }>
            <Select name="source" label=t("source") options=options value=value choose=choose />
            <Problem field="source" />
            {move || match kind.get() {
                SourceKind::Example => view! { <ExampleInput /> },
                SourceKind::Typed => hint("source-typed").into_any(),
                SourceKind::Random => view! { <SeedInput sigma=true /> },
                SourceKind::Tokens => view! { <SeedInput sigma=false /> {hint("source-tokens")} },
            }}
            {move || match edited.get() {
                (1, true) => Some(hint("source-edited-one").into_any()),
                (n @ 2.., true) => {
                    Some(view! { <p class="hint">{tf("source-edited", &[("n", &n)])}</p> })
                }
                _ => None,
            }}
        </Group>
    }
}

/// Why an example did not come, and a button that asks again. Where another source is shown, the pipeline says so.
#[component]
fn ExampleProblem() -> impl IntoView {
    let ctx = Ctx::get();
    let shelf = Shelf::get();
    let failed = memo(move || {
        let shown = ctx.session(|s| s.source.kind() == SourceKind::Example);
        shown && ctx.problem(examples::FIELD).is_some()
    });
    view! {
        <Show when=move || failed.get()>
            <Problem field=examples::FIELD />
            <button type="button" class="text-button" data-name="retry-example" on:click=move |_| shelf.retry(ctx)>
                {t("try-again")}
            </button>
        </Show>
    }
}

/// A sentence, the picture of its heads, and what is worth a look among them.
#[component]
fn ExampleInput() -> impl IntoView {
    let ctx = Ctx::get();
    let shelf = Shelf::get();
    let sentence = memo(move || {
        let wished = shelf.wish.with(|w| {
            w.as_ref()
                .map(|w| w.sentence.clone())
                .filter(|s| !s.is_empty())
        });
        let shown = ctx.session(|s| match &s.source {
            Source::Example(layer) => Some(layer.sentence.clone()),
            _ => None,
        });
        wished.or(shown).unwrap_or_default()
    });
    let options = derive(move || {
        shelf.index.with(|index| {
            let sentences = index.as_ref().map_or(&[][..], |i| &i.sentences[..]);
            sentences
                .iter()
                .map(|s| Word::new(&*s.name, format!("“{}”", s.title)))
                .collect::<Vec<_>>()
        })
    });
    let choose = move |name: String| shelf.open(ctx, Wish::sentence(&name));
    // The pictures of the heads of the sentence that is shown.
    Effect::new(move |_| {
        let name = sentence.get();
        let there = shelf
            .maps
            .with_untracked(|m| m.as_ref().is_some_and(|(of, _)| *of == name));
        if !name.is_empty() && !there {
            shelf.want_maps(ctx, name);
        }
    });
    view! {
        <Select name="sentence" label=t("sentence") options=options value=sentence choose=choose />
        <ExampleProblem />
        <HeadPicker />
        <Suggested />
    }
}

/// Other numbers of the same kind.
#[component]
fn DrawAgain() -> impl IntoView {
    let ctx = Ctx::get();
    let seed = memo(move || ctx.session(|s| seed_of(&s.source)));
    let again = move |_| {
        if let Some(seed) = seed.get_untracked() {
            ctx.clear("seed");
            ctx.act(Action::SetSeed(seed % *Stream::SEEDS.end() + 1));
        }
    };
    view! {
        <Show when=move || seed.get().is_some()>
            <button type="button" class="text-button" data-name="draw-again" title=t("draw-again-help") on:click=again>
                {t("draw-again")}
            </button>
        </Show>
    }
}

/// The seed of the stream, and σ or nothing more.
#[component]
fn SeedInput(
    /// Whether σ can be set.
    sigma: bool,
) -> impl IntoView {
    let ctx = Ctx::get();
    let seed = derive(move || f64::from(ctx.session(|s| seed_of(&s.source)).unwrap_or(1)));
    let set_seed = move |to: f64| {
        let (least, most) = (*Stream::SEEDS.start(), *Stream::SEEDS.end());
        if (f64::from(least)..=f64::from(most)).contains(&to) {
            ctx.act(Action::SetSeed(to as u32));
        } else {
            let got = crate::format::exact(to);
            ctx.note(
                "seed",
                tf(
                    "seed-range",
                    &[("least", &least), ("most", &most), ("got", &got)],
                ),
            );
        }
    };
    let sigma_now = derive(move || {
        ctx.session(|s| match s.source {
            Source::Random { sigma, .. } => sigma,
            _ => 1.0,
        })
    });
    view! {
        <div class="pair-row">
            <NumberField name="seed" value=seed commit=set_seed integer=true min=1.0 max=2147483646.0 chars=10 help=t("seed-help")>
                {t("seed")}
            </NumberField>
            {sigma.then(|| {
                view! {
                    <NumberField name="sigma" value=sigma_now commit=move |to| ctx.act(Action::SetSigma(to)) min=0.0 chars=8 help=t("sigma-help")>
                        <var>"σ"</var>
                    </NumberField>
                }
            })}
        </div>
    }
}

fn seed_of(source: &Source) -> Option<u32> {
    match source {
        Source::Random { seed, .. } | Source::Tokens { seed, .. } => Some(*seed),
        Source::Typed | Source::Example(_) => None,
    }
}
