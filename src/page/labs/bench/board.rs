//! A board is a picture of matrices that a hand can work on: the pipeline, or the tokens with their projections.
//! What both need of the session and the trace is gathered here, once for each change.

use super::{
    edit,
    layout::{Layout, Matrix},
    scene::{Heats, Show},
};
use crate::{
    canvas::{
        heat::{Heat, Look, Print, Scale},
        scene::{Anchor, Ink, Mark, Run, Scene, Type},
    },
    ctx::ViewOptions,
    session::{Data, Session, mask_preset},
    text::{t, tf},
};
use attention::{AttentionSpec, Hidden, KeyIdx, QueryIdx};
use std::{ops::Deref, sync::Arc};

/// Shared data that is equal only to itself: cheap to compare, for signals.
#[derive(Debug)]
pub struct Same<T>(pub Arc<T>);

impl<T> Same<T> {
    /// Shares a value.
    pub fn new(value: T) -> Self {
        Same(Arc::new(value))
    }
}

impl<T> Clone for Same<T> {
    fn clone(&self) -> Self {
        Same(self.0.clone())
    }
}

impl<T> PartialEq for Same<T> {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Deref for Same<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

/// What the masks of a session leave visible, and what was hidden by hand. Empty lists where everything is visible.
pub fn visibility(session: &Session) -> (Vec<bool>, Vec<bool>) {
    let s = session.shape;
    let config = session.config();
    if config.masks.is_empty() {
        return (Vec::new(), Vec::new());
    }
    let Ok(spec) = AttentionSpec::new(config) else {
        return (Vec::new(), Vec::new());
    };
    let cells = || (0..s.n_q).flat_map(move |q| (0..s.n_k).map(move |k| (QueryIdx(q), KeyIdx(k))));
    let visible = cells().map(|(q, k)| spec.visible(q, k)).collect();
    let by_hand = match &session.drawn {
        Some(bits) => cells().map(|(q, k)| !bits.get(q, k)).collect(),
        None => Vec::new(),
    };
    (visible, by_hand)
}

/// What the pipeline shows beside its numbers, band and cursors left for later.
pub fn show(
    session: &Session,
    options: ViewOptions,
    seen: &(Vec<bool>, Vec<bool>),
    stale: bool,
) -> Show {
    let s = session.shape;
    let hidden_cells = seen.0.iter().filter(|v| !**v).count();
    let placed = |id| session.positions.iter().any(|p| p.scheme.id == id);
    let preset = mask_preset(session);
    let none = preset.is_some_and(|p| p.id == "none") && session.drawn.is_none();
    let name = match preset {
        Some(preset) if preset.id == "none" => t("mask-title-drawn").to_owned(),
        Some(preset) if session.drawn.is_some() => {
            tf("mask-title-and-by-hand", &[("name", &preset.name)])
        }
        Some(preset) => preset.name.to_owned(),
        None => t("mask-title-combined").to_owned(),
    };
    let hidden = || {
        let (n, all) = (hidden_cells, s.n_q * s.n_k);
        tf(
            "mask-title-hidden",
            &[("name", &name), ("n", &n), ("all", &all)],
        )
    };
    let mask_words = if none {
        t("mask-title-none").to_owned()
    } else {
        hidden()
    };
    // What stands between the Q and K that are shown and the scores.
    let (changed, normed) = (!options.as_used, session.qk_norm.is_some());
    let between = [
        (changed && normed && !placed("rope"), "title-normed"),
        (changed && !normed && placed("rope"), "title-turned"),
        (changed && normed && placed("rope"), "title-normed-turned"),
        (session.soft_cap.is_some(), "title-capped"),
        (placed("alibi"), "title-biased"),
    ];
    let score_words = between
        .into_iter()
        .filter(|(is, _)| *is)
        .map(|(_, words)| t(words))
        .collect();
    Show {
        queries: session.q_labels.clone(),
        keys: session.k_labels.clone(),
        band: session.look_at(),
        pinned: session.pin.is_some(),
        cursor: None,
        pointed: None,
        mask_words,
        hidden: match session.hidden {
            Hidden::NegInfinity => f64::NEG_INFINITY,
            Hidden::Finite(value) => value,
        },
        visible: Arc::new(seen.0.clone()),
        by_hand: Arc::new(seen.1.clone()),
        root_weights: options.root_weights,
        as_used: options.as_used && (session.qk_norm.is_some() || placed("rope")),
        score_words,
        typed: matches!(session.data, Data::Given { .. }),
        stale,
    }
}

/// The number and look of any cell on either board.
pub fn cell(
    heats: Option<&Heats>,
    session: &Session,
    matrix: Matrix,
    row: usize,
    col: usize,
) -> Option<(f64, Look)> {
    match matrix {
        Matrix::X | Matrix::Wq | Matrix::Wk | Matrix::Wv => session
            .value(matrix.cell(row, col)?)
            .map(|value| (value, Look::Plain)),
        _ => heats?.cell(matrix, row, col, matrix.size(session.shape)),
    }
}

/// Size of a matrix of either board.
pub fn size(session: &Session, matrix: Matrix) -> (usize, usize) {
    match matrix {
        Matrix::X | Matrix::Wq | Matrix::Wk | Matrix::Wv => matrix
            .tensor()
            .and_then(|t| session.size_of(t))
            .unwrap_or((0, 0)),
        _ => matrix.size(session.shape),
    }
}

/// A cell in words with its number, for the line under the picture and for screen readers.
pub fn describe(
    heats: Option<&Heats>,
    session: &Session,
    matrix: Matrix,
    row: usize,
    col: usize,
) -> String {
    let name = edit::cell_name(session, matrix, row, col);
    match cell(heats, session, matrix, row, col) {
        Some((value, look)) => {
            let words = edit::cell_words(matrix, value, look);
            tf("cell-with", &[("cell", &name), ("words", &words)])
        }
        None => name,
    }
}

/// The picture of tokens and projections.
pub fn tokens(
    layout: &Layout,
    session: &Session,
    band: (usize, usize),
    cursor: Option<(Matrix, usize, usize)>,
    pointed: Option<(Matrix, usize, usize)>,
) -> Scene {
    let mut scene = Scene::new(layout.width, layout.height);
    for (matrix, place) in &layout.places {
        let Some(values) = matrix.tensor().and_then(|t| session.numbers(t)) else {
            continue;
        };
        if *matrix == Matrix::X {
            for row in 0..place.rows {
                let strong = row == band.0 || row == band.1;
                let far = (band.0.abs_diff(row) as f64 * place.cell_h()) >= 13.0;
                if strong || (far && row % super::names::step(place.cell_h(), 13.0) == 0) {
                    let middle = place.row(row).y + place.cell_h() / 2.0;
                    let font = if strong { Type::STRONG } else { Type::LABEL };
                    scene.text(
                        layout.row_labels,
                        middle,
                        row.to_string(),
                        font,
                        if strong { Ink::Ink } else { Ink::Ink2 },
                        Anchor::End,
                    );
                }
            }
        }
        scene.marks.push(Mark::Heat(Box::new(Heat {
            x: place.rect.x,
            y: place.rect.y,
            cell_w: place.cell_w(),
            cell_h: place.cell_h(),
            rows: place.rows,
            cols: place.cols,
            values: Arc::new(values.to_vec()),
            transposed: false,
            looks: Arc::default(),
            scale: Scale::signed_for(values),
            print: layout.numbers.then_some(Print::Typed),
            stale: false,
        })));
        let (bracket, text) = super::scene::hue(*matrix);
        let r = place.rect.grown(super::layout::BRACKET);
        for (x, inward) in [(r.x, 5.0), (r.right(), -5.0)] {
            scene.line(
                &[
                    (x + inward, r.y),
                    (x, r.y),
                    (x, r.bottom()),
                    (x + inward, r.bottom()),
                ],
                bracket,
                1.5,
            );
        }
        let mut runs = match matrix {
            Matrix::X => vec![Run::new("X", Type::TITLE, Ink::Ink)],
            _ => {
                let letter = &matrix.symbol()[2..];
                vec![
                    Run::new("W", Type::TITLE, text),
                    Run {
                        text: letter.to_owned(),
                        font: Type {
                            size: 12.0,
                            ..Type::STRONG
                        },
                        ink: text,
                        drop: 4.0,
                    },
                ]
            }
        };
        runs.push(Run::new(
            format!("\u{2003}{} × {}", place.rows, place.cols),
            Type::LABEL,
            Ink::Ink3,
        ));
        scene.runs(r.x, r.y - 11.0, runs);
        for ((m, row, col), focus) in cursor
            .map(|c| (c, true))
            .into_iter()
            .chain(pointed.map(|c| (c, false)))
        {
            if m == *matrix && row < place.rows && col < place.cols {
                let cell = place.cell(row, col).grown(1.0);
                if focus {
                    scene.frame(cell.grown(3.0), Ink::Accent, 2.0);
                    scene.frame(cell.grown(1.0), Ink::Ink, 2.0);
                } else {
                    scene.frame(cell, Ink::Cursor, 1.0);
                }
            }
        }
    }
    scene
}
