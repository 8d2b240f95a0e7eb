use super::scene::{draw, steps, sums};
use crate::{
    canvas::scene::Scene,
    labs::bench::inspector::fixture::{check, hostile, random, sentence, shown, small_numbers},
    session::{Action, Session},
};

fn words(scene: &Scene) -> Vec<&str> {
    scene.text_boxes().into_iter().map(|b| b.1).collect()
}

#[test]
fn it_holds_at_every_length_and_width() {
    for d in [1, 2, 4, 6, 7, 16, 32, 64, 100, 128, 256] {
        for width in [342.0, 600.0, 680.0, 872.0] {
            for cell in [(0, 1), (2, 0)] {
                let drawn = draw(&shown(&random(3, d), cell.0, cell.1), width);
                check(&drawn.scene, &format!("d {d}, {width} px, cell {cell:?}"));
                let at = drawn.chart.at;
                assert!(
                    at.x >= 0.0 && at.right() <= width && at.bottom() <= drawn.chart.size.1,
                    "d {d}, {width} px: {at:?}"
                );
                assert_eq!(drawn.chart.bars.len(), d);
            }
        }
    }
}

#[test]
fn it_holds_on_hostile_inputs() {
    for (what, session) in hostile() {
        for width in [342.0, 872.0] {
            let n = session.shape.n_k;
            let drawn = draw(&shown(&session, 0, n - 1), width);
            check(&drawn.scene, &format!("{what}, {width} px"));
            for bar in &drawn.chart.bars {
                assert!(
                    bar.y.0.is_finite() && bar.y.1.is_finite() && bar.y.0.abs() <= 1.0,
                    "{what}: {bar:?}"
                );
            }
        }
    }
}

#[test]
fn the_sum_ends_in_the_dot_product() {
    let s = shown(&sentence(32), 11, 13);
    let cell = &s.looked().cell;
    let sums = sums(&cell.terms);
    assert_eq!(sums.len(), 33);
    assert!((sums[32] - cell.dot).abs() < 1e-12 * (1.0 + cell.dot.abs()));
}

#[test]
fn few_products_stand_there_as_numbers() {
    let drawn = draw(&shown(&small_numbers(), 2, 2), 872.0);
    let words = words(&drawn.scene);
    for product in ["+0.8", "+2.0", "+0.5", "+1.0"] {
        assert!(words.contains(&product), "{product} in {words:?}");
    }
    assert!(
        words.contains(&"4.25") && words.contains(&"2.125"),
        "{words:?}"
    );
}

fn names(session: &Session) -> Vec<String> {
    steps(&shown(session, 0, 5))
        .into_iter()
        .map(|s| {
            format!("{} {} {}", s.words, s.number, s.after)
                .trim()
                .to_owned()
        })
        .collect()
}

#[test]
fn steps_in_force_are_written_and_others_are_not() {
    assert_eq!(names(&random(6, 4)).len(), 4, "dot, scale, score, weight");
    let capped = random(6, 4).after(&Action::SetSoftCap(Some(2.0))).unwrap();
    assert!(
        names(&capped).iter().any(|w| w.starts_with("capped at 2:")),
        "{:?}",
        names(&capped)
    );
    let biased = random(6, 4)
        .after(&Action::SetPositionPreset("alibi"))
        .unwrap();
    assert!(
        names(&biased).iter().any(|w| w.starts_with("bias")),
        "{:?}",
        names(&biased)
    );
    let masked = random(6, 4)
        .after(&Action::SetMaskPreset("causal"))
        .unwrap();
    assert!(
        names(&masked).iter().any(|w| w.starts_with("mask −∞")),
        "{:?}",
        names(&masked)
    );
    assert!(
        names(&masked).last().is_some_and(|w| w.contains("hidden")),
        "{:?}",
        names(&masked)
    );
}
