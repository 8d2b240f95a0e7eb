//! Every number of the picture as a table: for screen readers, for whoever wants all digits, and for tests.

pub mod matrix;

use super::inspector::{self, Dialog, facts::Shown, js, names::Name};
use crate::prelude::*;
use crate::{
    ctx::Ctx,
    text::{t, tf},
};
use leptos::{ev, html::Textarea, task::spawn_local};
use matrix::Matrix;
pub use matrix::word;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

/// Rows and columns that are shown at a time.
pub const PAGE: usize = 50;

/// Which table is open: any part of the page may ask for one.
#[derive(Clone, Copy)]
pub struct Wanted {
    open: RwSignal<bool>,
    matrix: RwSignal<Matrix>,
    /// First row and column of the page.
    from: RwSignal<(usize, usize)>,
}

impl Wanted {
    /// Makes it known to the components below this one.
    pub fn provide() {
        provide_context(Wanted::new());
    }

    /// The one that was provided.
    pub fn get() -> Wanted {
        use_context().unwrap_or_else(Wanted::new)
    }

    fn new() -> Wanted {
        Wanted {
            open: RwSignal::new(false),
            matrix: RwSignal::new(Matrix::A),
            from: RwSignal::new((0, 0)),
        }
    }

    /// Opens a matrix at the page that has a cell.
    pub fn ask(self, matrix: Matrix, row: usize, col: usize) {
        self.matrix.set(matrix);
        self.from.set((row / PAGE * PAGE, col / PAGE * PAGE));
        self.open.set(true);
    }
}

/// The button "Numbers as a table" and its dialog; the key "t" opens it from anywhere but a field.
#[component]
pub fn Tables() -> impl IntoView {
    let ctx = Ctx::get();
    let shown = inspector::shown();
    let wanted = Wanted::get();
    let open = wanted.open;
    let have = memo(move || shown.with(Option::is_some));
    let key = window_event_listener(ev::keydown, move |event| {
        let with_modifier = event.ctrl_key() || event.meta_key() || event.alt_key();
        if event.key() == "t"
            && !with_modifier
            && !in_field(&event)
            && have.get_untracked()
            && !open.get_untracked()
        {
            event.prevent_default();
            open.set(true);
        }
    });
    on_cleanup(move || key.remove());
    let title = derive(|| t("table-title").to_owned());
    view! {
        <button
            class="quiet tables-open"
            data-name="tables"
            aria-keyshortcuts="t"
            disabled=move || !have.get()
            on:click=move |_| open.set(true)
        >
            {t("table-open")}
        </button>
        <Dialog open=open title=title name="tables">
            <Inside shown wanted ctx />
        </Dialog>
    }
}

/// Whether a key was meant for a field.
fn in_field(event: &ev::KeyboardEvent) -> bool {
    let Some(element) = event
        .target()
        .and_then(|t| t.dyn_into::<web_sys::Element>().ok())
    else {
        return false;
    };
    matches!(
        element.tag_name().as_str(),
        "INPUT" | "SELECT" | "TEXTAREA" | "DIALOG"
    ) || element.has_attribute("contenteditable")
        || element.closest("dialog").ok().flatten().is_some()
}

/// What the dialog holds.
#[component]
fn Inside(shown: Memo<Option<Shown>>, wanted: Wanted, ctx: Ctx) -> impl IntoView {
    let Wanted { matrix, from, .. } = wanted;
    let size = memo(move || shown.with(|s| s.as_ref().map_or((0, 0), |s| matrix.get().size(s))));
    // A page that a smaller matrix no longer has is not asked for.
    let begin = memo(move || {
        let ((row, col), (rows, cols)) = (from.get(), size.get());
        let last = |n: usize| n.saturating_sub(1) / PAGE * PAGE;
        (row.min(last(rows)), col.min(last(cols)))
    });
    let copied = RwSignal::new(None::<Result<(), String>>);
    let choose = move |event: ev::Event| {
        if let Some(m) = Matrix::by_id(&event_target_value(&event)) {
            from.set((0, 0));
            copied.set(None);
            matrix.set(m);
        }
    };
    let copy = move |_| {
        let Some(csv) = shown.with_untracked(|s| s.as_ref().map(|s| matrix.get_untracked().csv(s)))
        else {
            return;
        };
        spawn_local(async move {
            let result = to_clipboard(&csv).await;
            ctx.say(if result.is_ok() {
                t("table-copied")
            } else {
                t("table-not-copied")
            });
            copied.set(Some(result.map_err(|()| csv)));
        });
    };
    let options = Matrix::ALL
        .iter()
        .map(|(m, id)| {
            let m = *m;
            view! { <option value=*id selected=move || matrix.get() == m>{m.words()}</option> }
        })
        .collect_view();
    view! {
        <div class="tables-head">
            <label>
                {t("table-which")} " "
                <select data-name="table-matrix" on:change=choose prop:value=move || matrix.get().id()>
                    {options}
                </select>
            </label>
            <span class="note">{move || {
                let (rows, cols) = size.get();
                tf("table-size", &[("rows", &rows), ("cols", &cols)])
            }}</span>
            <Pages size=size begin=begin from=from />
            <button class="quiet" data-name="table-copy" on:click=copy>{t("table-copy")}</button>
        </div>
        {move || match copied.get() {
            None => ().into_any(),
            Some(Ok(())) => view! { <p class="note" role="status">{t("table-copied")}</p> },
            Some(Err(csv)) => view! { <ByHand csv=csv /> },
        }}
        <div class="tables-cells" tabindex="0" role="region" aria-label=move || matrix.get().words()>
            {move || shown.with(|s| s.as_ref().map(|s| table(s, matrix.get(), begin.get())))}
        </div>
    }
}

/// Where the browser keeps the clipboard to itself: the text, ready to be copied by hand.
#[component]
fn ByHand(csv: String) -> impl IntoView {
    let area = NodeRef::<Textarea>::new();
    effect(move || {
        if let Some(area) = area.get() {
            area.select();
        }
    });
    view! {
        <p class="note" role="status">{t("table-not-copied")}</p>
        <textarea node_ref=area readonly rows="4" data-name="table-csv" aria-label=t("table-copy") prop:value=csv></textarea>
    }
}

/// Steps through rows and columns, where there are more than a page. Buttons that lead nowhere now keep the keyboard's
/// focus: they are not `disabled`.
#[component]
fn Pages(
    size: Memo<(usize, usize)>,
    begin: Memo<(usize, usize)>,
    from: RwSignal<(usize, usize)>,
) -> impl IntoView {
    let axis = move |rows: bool| {
        let pick = move |pair: (usize, usize)| if rows { pair.0 } else { pair.1 };
        let count = move || pick(size.get());
        let at = move || pick(begin.get());
        let go = move |to: usize| {
            let now = begin.get_untracked();
            from.set(if rows { (to, now.1) } else { (now.0, to) });
        };
        let (key, id) = if rows {
            ("table-rows", "rows")
        } else {
            ("table-cols", "cols")
        };
        let words = move || {
            let (first, last) = (at(), (at() + PAGE).min(count()).saturating_sub(1));
            tf(key, &[("first", &first), ("last", &last)])
        };
        view! {
            <Show when=move || { count() > PAGE }>
                <span class="pages" data-name=format!("table-{id}")>
                    {move || words()} " "
                    <button
                        class="quiet"
                        data-name=format!("table-{id}-back")
                        aria-disabled=move || (at() == 0).then_some("true")
                        on:click=move |_| go(at().saturating_sub(PAGE))
                    >
                        {t("table-back")}
                    </button> " "
                    <button
                        class="quiet"
                        data-name=format!("table-{id}-on")
                        aria-disabled=move || (at() + PAGE >= count()).then_some("true")
                        on:click=move |_| if at() + PAGE < count() { go(at() + PAGE) }
                    >
                        {t("table-on")}
                    </button>
                </span>
            </Show>
        }
    };
    view! { {axis(true)} {axis(false)} }
}

/// One page of a matrix.
fn table(shown: &Shown, matrix: Matrix, (row0, col0): (usize, usize)) -> impl IntoView + use<> {
    let (rows, cols) = matrix.size(shown);
    let (rows, cols) = (row0..(row0 + PAGE).min(rows), col0..(col0 + PAGE).min(cols));
    let heads = cols
        .clone()
        .map(|c| match matrix.col_name(shown, c) {
            Some(name) => view! { <th scope="col">{name.view()} {place(&name, c)}</th> },
            None => view! { <th scope="col">{c}</th> },
        })
        .collect_view();
    let body = rows
        .map(|r| {
            let cells = cols
                .clone()
                .map(|c| {
                    let (x, look) = matrix.cell(shown, r, c);
                    let state = word(look);
                    view! {
                        <td data-table-cell=format!("{r},{c}") data-value=js(x) data-state=(!state.is_empty()).then_some(state)>
                            {matrix::text(x)}
                            {(!state.is_empty()).then(|| view! { " " <i>{state}</i> })}
                        </td>
                    }
                })
                .collect_view();
            let name = matrix.row_name(shown, r);
            view! {
                <tr>
                    <th scope="row">{name.view()} {place(&name, r)}</th>
                    {cells}
                </tr>
            }
        })
        .collect_view();
    view! {
        <table data-table=matrix.id()>
            <caption class="visually-hidden">{matrix.words()}</caption>
            <thead>
                <tr>
                    <td></td>
                    {heads}
                </tr>
            </thead>
            <tbody>{body}</tbody>
        </table>
    }
}

/// The place beside a token; an index says it already.
fn place(name: &Name, index: usize) -> Option<impl IntoView + use<>> {
    matches!(name, Name::Token { .. }).then(|| view! { " " <small>{index}</small> })
}

/// Fails where the browser does not give the clipboard to this page (no secure context, no permission).
pub async fn to_clipboard(text: &str) -> Result<(), ()> {
    let navigator = window().navigator();
    let clipboard =
        js_sys::Reflect::get(&navigator, &JsValue::from_str("clipboard")).map_err(|_| ())?;
    if clipboard.is_undefined() || clipboard.is_null() {
        return Err(());
    }
    JsFuture::from(navigator.clipboard().write_text(text))
        .await
        .map(|_| ())
        .map_err(|_| ())
}

#[cfg(test)]
mod tests;
