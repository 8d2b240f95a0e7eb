use super::*;
use crate::{
    canvas::{heat::Look, scene::Mark},
    ctx::ViewOptions,
    labs::bench::{board, inspector::fixture, layout::Room, names},
    session::{Action, Session},
};
use attention::{Scale, Shape};

fn words(n: usize) -> Arc<[String]> {
    ["[CLS]", "the", "animal", "didn", "'", "because", "."]
        .iter()
        .cycle()
        .take(n)
        .map(|s| s.to_string())
        .collect()
}

fn picture(session: &Session, width: f64, stage: Option<Matrix>) -> (Layout, Scene, Heats) {
    let trace = fixture::trace_of(session, 0, 0);
    let seen = board::visibility(session);
    let show = board::show(session, ViewOptions::default(), &seen, false);
    let text = |labels: &[String]| {
        labels
            .iter()
            .map(|l| names::label(l).text)
            .collect::<Vec<_>>()
    };
    let room = Room::new(
        width,
        500.0,
        &text(&session.q_labels),
        &text(&session.k_labels),
    );
    let layout = match stage {
        Some(stage) => Layout::stage(session.shape, &room, stage),
        None => Layout::wide(session.shape, &room),
    };
    let heats = Heats::new(&trace, &show);
    let scene = pipeline(&layout, &trace, &heats, &show);
    (layout, scene, heats)
}

fn sessions() -> Vec<(&'static str, Session)> {
    let mut all = vec![("small example", Session::small_example())];
    for (name, n, d) in [
        ("tiny", 1, 1),
        ("eight", 8, 8),
        ("head", 16, 32),
        ("middle", 40, 64),
        ("large", 200, 32),
    ] {
        all.push((name, Session::random(Shape::square(n, d), 7, 1.0)));
    }
    let mut labelled = Session::random(Shape::square(16, 32), 7, 1.0);
    (labelled.q_labels, labelled.k_labels) = (words(16), words(16));
    all.push(("words", labelled.clone()));
    all.push((
        "masked",
        labelled.after(&Action::SetMaskPreset("causal")).unwrap(),
    ));
    all.push((
        "saturated",
        labelled
            .after(&Action::SetScale(Scale::Custom(900.0)))
            .unwrap(),
    ));
    all.push((
        "cross",
        Session::random(
            Shape {
                n_k: 5,
                ..Shape::square(3, 4)
            },
            7,
            1.0,
        ),
    ));
    all
}

#[test]
fn texts_do_not_run_into_each_other() {
    for (name, session) in sessions() {
        for width in [872.0, 1100.0, 640.0] {
            let (_, scene, _) = picture(&session, width, None);
            let boxes = scene.text_boxes();
            for (i, (a, words)) in boxes.iter().enumerate() {
                for (b, other) in &boxes[i + 1..] {
                    // Estimates are on the wide side, so a touch of two boxes is not yet one of two words.
                    let (a, b) = (a.grown(-1.5), b.grown(-1.5));
                    assert!(
                        !a.overlaps(b),
                        "{name} at {width}: “{words}” {a:?} and “{other}” {b:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn everything_stays_inside_the_picture() {
    for (name, session) in sessions() {
        for width in [872.0, 1100.0] {
            let (layout, scene, _) = picture(&session, width, None);
            for (rect, words) in scene.text_boxes() {
                let inside = rect.x > -8.0
                    && rect.right() < layout.width.max(width) + 12.0
                    && rect.y > -4.0
                    && rect.bottom() < scene.height + 4.0;
                assert!(
                    inside,
                    "{name} at {width}: “{words}” {rect:?} of {} × {}",
                    scene.width, scene.height
                );
            }
        }
        for stage in Matrix::PIPELINE {
            let (_, scene, _) = picture(&session, 358.0, Some(stage));
            for (rect, words) in scene.text_boxes() {
                assert!(
                    rect.x > -8.0 && rect.x < 358.0,
                    "{name}, {stage:?}: “{words}” {rect:?}"
                );
            }
        }
    }
}

#[test]
fn masked_weights_are_hatched_and_rows_that_see_nothing_are_crossed() {
    let session = Session::random(
        Shape {
            n_k: 3,
            ..Shape::square(6, 4)
        },
        7,
        1.0,
    )
    .after(&Action::SetMaskPreset("causal"))
    .unwrap();
    // Bottom right: the first three queries stand before the first key.
    let (_, _, heats) = picture(&session, 872.0, None);
    assert_eq!(
        heats.cell(Matrix::A, 0, 0, (6, 3)),
        Some((0.0, Look::Empty))
    );
    assert_eq!(
        heats.cell(Matrix::M, 0, 0, (6, 3)).map(|c| c.1),
        Some(Look::Masked)
    );
    assert_eq!(
        heats.cell(Matrix::A, 3, 2, (6, 3)),
        Some((0.0, Look::Masked))
    );
    assert_eq!(
        heats.cell(Matrix::A, 3, 0, (6, 3)),
        Some((1.0, Look::Plain))
    );
    assert_eq!(
        heats.cell(Matrix::O, 0, 0, (6, 4)),
        Some((0.0, Look::Empty))
    );
}

#[test]
fn a_cell_hidden_by_hand_says_so() {
    let session = Session::random(Shape::square(4, 4), 7, 1.0)
        .after(&Action::PaintMask(vec![(1, 2, false)]))
        .unwrap();
    let (_, _, heats) = picture(&session, 872.0, None);
    assert_eq!(
        heats.cell(Matrix::A, 1, 2, (4, 4)),
        Some((0.0, Look::MaskedByHand))
    );
    assert_eq!(
        heats.cell(Matrix::M, 1, 2, (4, 4)).map(|c| c.1),
        Some(Look::MaskedByHand)
    );
    assert_eq!(
        heats.cell(Matrix::M, 1, 1, (4, 4)),
        Some((0.0, Look::Plain))
    );
}

#[test]
fn an_underflowed_weight_looks_like_one() {
    let session = Session::random(Shape::square(8, 16), 7, 10.0)
        .after(&Action::SetScale(Scale::Custom(100.0)))
        .unwrap();
    let (_, _, heats) = picture(&session, 872.0, None);
    let looks: Vec<Look> = (0..64)
        .filter_map(|i| heats.cell(Matrix::A, i / 8, i % 8, (8, 8)).map(|c| c.1))
        .collect();
    assert!(looks.contains(&Look::Underflow), "{looks:?}");
}

#[test]
fn the_band_is_one_straight_line_under_everything() {
    let (layout, scene, _) = picture(&Session::random(Shape::square(16, 32), 7, 1.0), 872.0, None);
    let Some(Mark::Fill {
        at, ink: Ink::Band, ..
    }) = scene.marks.first()
    else {
        panic!("the band comes first")
    };
    assert_eq!((at.x, at.w), (0.0, layout.width));
}

#[test]
fn no_number_of_a_picture_is_nan() {
    for (name, session) in sessions() {
        let (_, scene, _) = picture(&session, 872.0, None);
        for (_, words) in scene.text_boxes() {
            assert!(!words.contains("NaN"), "{name}: {words}");
        }
    }
}
