//! Sessions and their traces, computed by the engine itself, for tests of scenes.

use super::facts::{Setting, Shown};
use crate::{
    canvas::scene::{Mark, Rect, Scene},
    ctx::Looked,
    session::{Action, CellRef, Session, Size, Tensor},
};
use attention::{Shape, rows::Serial};
use engine::view::View;
use protocol::{Job, Revision, Trace};
use std::sync::Arc;

/// What the engine computes for a session, looking at a cell.
pub(crate) fn trace_of(session: &Session, query: usize, key: usize) -> Trace {
    let Job::View(job) = session.job(Revision(1), Some((query, key))) else {
        panic!("a view job")
    };
    let mut view = View::new(job).unwrap_or_else(|r| panic!("{}", r.message));
    while view.step(&Serial, 1) {}
    let (trace, _) = view.finish().unwrap_or_else(|r| panic!("{}", r.message));
    *trace
}

/// The session as the engine shows it, looking at a cell.
pub(crate) fn shown(session: &Session, query: usize, key: usize) -> Shown {
    let trace = trace_of(session, query, key);
    let looked = Looked {
        row: trace.row.clone(),
        cell: trace.cell.clone(),
    };
    Shown::new(
        Arc::new(trace),
        Arc::new(looked),
        Arc::new(Setting::of(session)),
        false,
    )
    .expect("they fit")
}

/// Random numbers.
pub(crate) fn random(n: usize, d: usize) -> Session {
    Session::random(Shape::square(n, d), 7, 1.0)
}

/// Random numbers under a sentence.
pub(crate) fn sentence(d: usize) -> Session {
    let tokens = [
        "[CLS]", "the", "animal", "didn", "'", "t", "cross", "the", "street", "because", "it",
        "was", "too", "tired", ".", "[SEP]",
    ];
    let mut session = random(tokens.len(), d);
    session.q_labels = tokens.iter().map(|t| (*t).to_owned()).collect();
    session.k_labels = session.q_labels.clone();
    session
}

/// The 3 × 5 example of the pictures: causal from the top left, one cell hidden by hand, one score of −759.
pub(crate) fn small_numbers() -> Session {
    let shape = Shape {
        n_q: 3,
        n_k: 5,
        ..Shape::square(3, 4)
    };
    let write = |s: Session, tensor, block: &[[f64; 4]]| {
        let block = block.iter().map(|r| r.to_vec()).collect();
        s.after(&Action::Write(
            CellRef {
                tensor,
                row: 0,
                col: 0,
            },
            block,
        ))
        .unwrap()
    };
    let mut s = Session::plain(shape);
    s = write(
        s,
        Tensor::Q,
        &[
            [1.0, 0.0, 0.5, -1.0],
            [1.0, 0.05, -1.0, 2.0],
            [1.5, -40.0, 0.5, 1.0],
        ],
    );
    s = write(
        s,
        Tensor::K,
        &[
            [1.0, 0.02, 0.5, -1.0],
            [0.5, 38.0, 0.4, 1.0],
            [0.5, -0.05, 1.0, 1.0],
            [-1.0, 0.0, 2.0, 0.5],
            [0.0, 1.0, -1.0, 0.0],
        ],
    );
    s = write(
        s,
        Tensor::V,
        &[
            [1.0, 0.0, 2.0, -1.0],
            [0.5, 1.0, 0.0, 3.0],
            [-2.0, 1.0, 1.0, 0.0],
            [0.0, 0.0, 1.0, 1.0],
            [4.0, -1.0, 0.5, 0.0],
        ],
    );
    s = s.after(&Action::SetMaskPreset("causal")).unwrap();
    s = s
        .after(&Action::SetMaskParam("causal", "align", 1.0))
        .unwrap_or(s);
    s.after(&Action::PaintMask(vec![(0, 0, false), (1, 1, true)]))
        .unwrap()
}

/// Sessions that nobody would call nice.
pub(crate) fn hostile() -> Vec<(&'static str, Session)> {
    let one = random(1, 1);
    let huge = {
        let mut s = random(6, 4);
        for tensor in [Tensor::Q, Tensor::K, Tensor::V] {
            let at = CellRef {
                tensor,
                row: 2,
                col: 1,
            };
            s = s
                .after(&Action::Write(at, vec![vec![1e38, -1e38]]))
                .unwrap();
        }
        s
    };
    let beyond = {
        let mut s = random(6, 4);
        for tensor in [Tensor::Q, Tensor::K, Tensor::V] {
            let at = CellRef {
                tensor,
                row: 2,
                col: 1,
            };
            s = s
                .after(&Action::Write(at, vec![vec![1e300, -1e300]]))
                .unwrap();
        }
        s
    };
    let blind = {
        let cells = (0..6)
            .flat_map(|q| (0..6).map(move |k| (q, k, false)))
            .collect();
        random(6, 4).after(&Action::PaintMask(cells)).unwrap()
    };
    let leaking = {
        let s = random(6, 4)
            .after(&Action::SetHidden(attention::Hidden::Finite(-1.0)))
            .unwrap();
        s.after(&Action::SetMaskPreset("causal")).unwrap()
    };
    let with_sink = random(6, 4).after(&Action::SetSink(Some(3.0))).unwrap();
    let capped = random(6, 4)
        .after(&Action::SetSoftCap(Some(2.0)))
        .unwrap()
        .after(&Action::SetPositionPreset("alibi"))
        .unwrap();
    let zeros = Session::plain(Shape::square(5, 3));
    let thin = random(40, 8).after(&Action::SetSize(Size::DV, 1)).unwrap();
    let mut long_words = random(16, 16);
    long_words.k_labels = (0..16)
        .map(|i| format!("Donaudampfschifffahrt{i}"))
        .collect();
    long_words.q_labels = long_words.k_labels.clone();
    vec![
        ("one", one),
        ("1e38", huge),
        ("1e300", beyond),
        ("all hidden", blind),
        ("leaking", leaking),
        ("sink", with_sink),
        ("capped and biased", capped),
        ("zeros", zeros),
        ("d_v 1", thin),
        ("long words", long_words),
        ("small numbers", small_numbers()),
    ]
}

/// Fails where texts run into each other, leave the frame, or say NaN, and where a mark is not finite.
pub(crate) fn check(scene: &Scene, what: &str) {
    let boxes = scene.text_boxes();
    for (i, (a, text)) in boxes.iter().enumerate() {
        assert!(
            !text.contains("NaN") && !text.contains("inf"),
            "{what}: prints {text}"
        );
        assert!(
            a.x >= -0.5
                && a.right() <= scene.width + 0.5
                && a.y >= -1.0
                && a.bottom() <= scene.height + 1.0,
            "{what}: “{text}” at {a:?} leaves {} × {}",
            scene.width,
            scene.height
        );
        for (b, other) in &boxes[i + 1..] {
            // An index stands at its letter.
            let shrunk = Rect::new(a.x + 0.5, a.y + 1.0, (a.w - 1.0).max(0.0), a.h - 2.0);
            assert!(
                !shrunk.overlaps(*b),
                "{what}: “{text}” {a:?} runs into “{other}” {b:?}"
            );
        }
    }
    for mark in &scene.marks {
        let numbers: Vec<f64> = match mark {
            Mark::Fill { at, .. } | Mark::Frame { at, .. } => vec![at.x, at.y, at.w, at.h],
            Mark::Line { points, .. } => points.iter().flat_map(|p| [p.0, p.1]).collect(),
            Mark::Disc { x, y, r, .. } => vec![*x, *y, *r],
            Mark::Text { x, y, .. } | Mark::Runs { x, y, .. } => vec![*x, *y],
            Mark::Heat(h) => vec![h.x, h.y, h.cell_w, h.cell_h],
        };
        assert!(
            numbers
                .iter()
                .all(|x| x.is_finite() && (-20.0..=20_000.0).contains(x)),
            "{what}: {mark:?}"
        );
    }
}
