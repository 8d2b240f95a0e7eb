//! What stands below a board: the cell under the hand in words, a job that takes long, what was refused and why.

use crate::prelude::*;
use crate::{
    app::{Prove, Stop},
    beside::after_frame,
    ctx::{Computed, Ctx},
    examples::shelf::{self, Shelf},
    format,
    labs::bench::{
        board::{self, Same},
        hands::Hands,
        scene::Heats,
    },
    session::{Action, Data},
    source::{Source, SourceKind},
    text::{t, tf},
};

/// The line under a board: the cell under the hand, in words; and how to change it.
#[component]
pub fn StageLine(
    hands: Hands,
    heats: Signal<Option<Same<Heats>>>,
    /// What stands there while no cell is under the hand.
    #[prop(into)]
    hint: Signal<&'static str>,
) -> impl IntoView {
    let ctx = Ctx::get();
    let spot = memo(move || hands.pointed.get().or_else(|| hands.shown_cursor()));
    let words = move || match spot.get() {
        Some((m, r, c)) => {
            heats.with(|h| ctx.session(|s| board::describe(h.as_deref(), s, m, r, c)))
        }
        None => hint.get().to_owned(),
    };
    let can_edit = move || {
        let (m, _, _) = hands.cursor.get();
        hands.focused.get().is_some()
            && !ctx.locked
            && ctx.session(|s| m.tensor().is_some_and(|t| s.size_of(t).is_some()))
    };
    view! {
        <p class="stage-line" data-name="stage-line">
            <span data-read="cell">{move || words()}</span>
            <button
                type="button"
                class="quiet"
                data-name="edit-cell"
                class:away=move || !can_edit()
                tabindex="-1"
                on:pointerdown=move |ev| ev.prevent_default()
                on:click=move |_| hands.edit(hands.cursor.get_untracked(), None)
            >
                {t("stage-change")}
            </button>
        </p>
    }
}

/// A job that takes long says how far it is and can be stopped; else how well the float32 kernel agrees.
#[component]
pub fn Running() -> impl IntoView {
    let ctx = Ctx::get();
    let stop = expect_context::<Stop>();
    let progress = memo(move || ctx.engine.with(|e| e.progress));
    let prove = expect_context::<Prove>();
    let asked = StoredValue::new(false);
    // The picture first, and all that belongs to it: only then is it held against the float32 path.
    effect(move || {
        let ready = ctx.view.with(|v| matches!(v, Computed::Ready(_)));
        if !ready || ctx.coming.get() > 0 || asked.get_value() {
            return;
        }
        asked.set_value(true);
        after_frame(move || {
            asked.set_value(false);
            prove.0.run(());
        });
    });
    let check = memo(move || ctx.checked.get());
    // Between a picture and its own check stands that of the picture before: its words stay, and are no number of this one.
    let stale = memo(move || {
        check.with(|c| match c {
            Some(Ok((of, _))) => ctx
                .view
                .with(|v| v.last().is_none_or(|t| t.revision != *of)),
            _ => false,
        })
    });
    dynamic(move || match (progress.get(), check.get()) {
        (Some((done, total)), _) => {
            let share = 100 * done / total.max(1);
            view! {
                <p class="running" data-name="running">
                    <progress max=total.to_string() value=done.to_string()></progress>
                    " "
                    {tf("running", &[("share", &share)])}
                    " "
                    <button type="button" data-name="stop" on:click=move |_| stop.0.run(())>{t("running-stop")}</button>
                </p>
            }
        }
        (None, Some(Err(why))) => view! {
            <p class="running fast" title=why data-name="unchecked">{t("fast-missing")}</p>
        },
        (None, Some(Ok((_, check)))) => {
            let words = if check.overflowed > 0 {
                tf("fast-overflow", &[("n", &check.overflowed)])
            } else {
                tf("fast-agrees", &[("error", &format::rough(check.max_error))])
            };
            view! {
                <p
                    class="running fast"
                    class:stale=move || stale.get()
                    title=t("fast-help")
                    data-read="fast_error"
                    data-value=move || if stale.get() { String::new() } else { format!("{:?}", check.max_error) }
                >
                    {words}
                </p>
            }
        }
        // Its room, so that nothing moves when it comes after the picture.
        (None, None) => view! {
            <p class="running fast to-come" aria-hidden="true">{tf("fast-agrees", &[("error", &"2.4e−7")])}</p>
        },
    })
}

/// What is wrong with an edit of a tensor, and why the picture is not that of the present settings.
#[component]
pub fn StageProblems() -> impl IntoView {
    let ctx = Ctx::get();
    const FIELDS: [&str; 10] = ["Q", "K", "V", "X", "W_Q", "W_K", "W_V", "S", "A", "O"];
    let failed = move || {
        ctx.view.with(|v| match v {
            Computed::Failed(last, why) => Some((last.is_some(), why.clone())),
            _ => None,
        })
    };
    let one = move |field: &'static str| {
        let projected = move || {
            matches!(field, "Q" | "K" | "V")
                && ctx.session(|s| matches!(s.data, Data::Tokens { .. }))
        };
        move || {
            ctx.problem(field).map(|words| view! {
                <p class="problem" role="alert" data-problem=field>
                    <span>{words}</span>
                    " "
                    {move || projected().then(|| view! {
                        <button
                            type="button"
                            data-name="take-as-typed-here"
                            on:click=move |_| {
                                ctx.act(Action::SetSource(SourceKind::Typed));
                                ctx.clear(field);
                            }
                        >
                            {t("stage-take")}
                        </button>
                    })}
                    " "
                    <button type="button" class="quiet" data-name="dismiss" on:click=move |_| ctx.clear(field)>
                        {t("dismiss")}
                    </button>
                </p>
            })
        }
    };
    let shelf = Shelf::get();
    // An example that did not come while another source is shown: its own place in the inputs is not there then.
    let example = move || {
        let shown = ctx.session(|s| matches!(s.source, Source::Example(_)));
        if shown {
            None
        } else {
            ctx.problem(shelf::FIELD)
        }
    };
    // Nothing was ever drawn, because there is no engine to compute it.
    let nothing =
        move || ctx.engine.with(|e| e.failed.is_some()) && ctx.view.with(|v| v.last().is_none());
    view! {
        <div class="stage-problems">
            {FIELDS.into_iter().map(one).collect_view()}
            {move || example().map(|words| view! {
                <p class="problem" role="alert" data-problem="opening">
                    <span>{words}</span>
                    " "
                    <button type="button" data-name="retry-opening" on:click=move |_| shelf.retry(ctx)>
                        {t("try-again")}
                    </button>
                </p>
            })}
            {move || failed().map(|(stale, why)| view! {
                <p class="problem" role="alert" data-problem="view">{why} " " {stale.then(|| t("stage-stale"))}</p>
            })}
            {move || nothing().then(|| view! { <p class="nothing">{t("stage-nothing")}</p> })}
        </div>
    }
}
