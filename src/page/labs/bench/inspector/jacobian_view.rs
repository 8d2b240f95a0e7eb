//! The Jacobian large enough to read, with a cursor.

use super::{
    dialog::Dialog,
    facts::Shown,
    jacobian::{self, Grid},
    js,
};
use crate::prelude::*;
use crate::{
    canvas::picture::Picture,
    format,
    text::{t, tf},
};
use leptos::{ev, html::Div};
use std::sync::Arc;

/// A dialog with the Jacobian of the row; pointer and arrow keys move over its entries.
#[component]
pub fn Large(
    /// What is shown.
    shown: Memo<Option<Shown>>,
    /// Whether it is open.
    open: RwSignal<bool>,
) -> impl IntoView {
    let cursor = RwSignal::new(None::<(usize, usize)>);
    let title = derive(move || {
        shown.with(|s| {
            s.as_ref().map_or(String::new(), |s| {
                let norm = format::fixed(s.looked().row.jacobian_norm, 3);
                tf("jacobian-title", &[("row", &s.query()), ("norm", &norm)])
            })
        })
    });
    view! {
        <Dialog open=open title=title name="jacobian-dialog">
            <Inside shown cursor />
        </Dialog>
    }
}

/// What the dialog holds.
#[component]
fn Inside(shown: Memo<Option<Shown>>, cursor: RwSignal<Option<(usize, usize)>>) -> impl IntoView {
    let frame = NodeRef::<Div>::new();
    let width = super::width::of(frame, 640.0);
    let grid = memo(move || {
        // As much as fits the window with the words around it.
        let high = window()
            .inner_height()
            .ok()
            .and_then(|h| h.as_f64())
            .unwrap_or(900.0);
        let side = width.get().min(680.0).min((high - 290.0).max(260.0));
        shown.with(|s| s.as_ref().map(|s| Grid::large(side, s.n_k())))
    });
    // A cursor of an earlier, larger matrix does not point outside.
    let here = memo(move || {
        shown.with(|s| {
            s.as_ref().map(|s| {
                let last = s.n_k().saturating_sub(1);
                let (row, col) = cursor.get().unwrap_or((s.key(), s.key()));
                (row.min(last), col.min(last))
            })
        })
    });
    let scene = memo(move || {
        shown.with(|s| match (s, grid.get()) {
            (Some(s), Some(g)) if g.n == s.n_k() => Arc::new(jacobian::large(s, &g, here.get())),
            _ => Arc::default(),
        })
    });
    let entry = move || {
        shown.with(|s| {
            let (s, (row, col)) = (s.as_ref()?, here.get()?);
            Some((
                row,
                col,
                s.looked().row.jacobian.get(row * s.n_k() + col).copied()?,
            ))
        })
    };
    let words = move || {
        let Some((row, col, value)) = entry() else {
            return String::new();
        };
        shown.with(|s| {
            s.as_ref().map_or(String::new(), |s| {
                let (a, b) = (s.setting.names.key(row), s.setting.names.key(col));
                let looks = [row, col].map(|k| crate::labs::bench::tables::word(s.line(k).look));
                let state = looks.into_iter().find(|w| !w.is_empty()).unwrap_or("");
                let value = format::exact(value);
                match (row == col, state) {
                    (_, state) if !state.is_empty() => tf(
                        "jacobian-state",
                        &[
                            ("row", &a),
                            ("col", &b),
                            ("value", &value),
                            ("state", &state),
                        ],
                    ),
                    (true, _) => tf("jacobian-diagonal", &[("row", &a), ("value", &value)]),
                    _ => tf(
                        "jacobian-entry",
                        &[("row", &a), ("col", &b), ("value", &value)],
                    ),
                }
            })
        })
    };
    let point = move |event: ev::PointerEvent| {
        if let Some(g) = grid.get_untracked()
            && let Some(cell) = g.at(f64::from(event.offset_x()), f64::from(event.offset_y()))
        {
            cursor.set(Some(cell));
        }
    };
    let key = move |event: ev::KeyboardEvent| {
        let (Some((row, col)), Some(g)) = (here.get_untracked(), grid.get_untracked()) else {
            return;
        };
        let last = g.n.saturating_sub(1);
        let next = match event.key().as_str() {
            "ArrowUp" => (row.saturating_sub(1), col),
            "ArrowDown" => ((row + 1).min(last), col),
            "ArrowLeft" => (row, col.saturating_sub(1)),
            "ArrowRight" => (row, (col + 1).min(last)),
            "Home" => (row, 0),
            "End" => (row, last),
            _ => return,
        };
        event.prevent_default();
        cursor.set(Some(next));
    };
    view! {
        <div class="jacobian-large" node_ref=frame>
            <p class="explain">{t("jacobian-explain")}</p>
            <div
                class="cells"
                tabindex="0"
                role="group"
                data-name="jacobian-cells"
                aria-label=t("jacobian-keys")
                on:pointermove=point
                on:pointerdown=point
                on:keydown=key
            >
                <Picture scene=scene label=derive(|| t("jacobian-picture").to_owned()) />
            </div>
            <p
                class="entry"
                aria-live="polite"
                data-read="jacobian_entry"
                data-cell=move || entry().map(|(r, c, _)| format!("{r},{c}"))
                data-value=move || entry().map(|(_, _, v)| js(v))
            >
                {move || words()}
            </p>
        </div>
    }
}
