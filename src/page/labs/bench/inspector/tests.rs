use super::{
    fixture::{check, hostile, random, sentence, shown, small_numbers},
    *,
};
use crate::canvas::{
    heat::Look,
    scene::{Ink, Mark, Scene},
};

const WIDTHS: [f64; 3] = [256.0, 342.0, 358.0];

fn every_scene(shown: &Shown, what: &str) {
    for width in WIDTHS {
        let what = format!("{what}, {width} px");
        let lines = shown.lines();
        check(
            &bars::scene(shown, &lines, width, 6.0),
            &format!("bars of {what}"),
        );
        let grid = Grid::small(width, shown.n_k(), shown.setting.names.tokens());
        let small = jacobian::scene(shown, &grid);
        assert!(
            small.width <= width,
            "Jacobian of {what}: {} wide",
            small.width
        );
        check(&small, &format!("Jacobian of {what}"));
        let across = if grid.numbers {
            width
        } else {
            width - Grid::beside(width)
        };
        check(
            &jacobian::gradient(shown, &grid, across),
            &format!("gradient of {what}"),
        );
        let large = Grid::large(680.0, shown.n_k());
        check(
            &jacobian::large(shown, &large, None),
            &format!("large Jacobian of {what}"),
        );
        let trace = shown.trace();
        if let Some(plane) = Plane::of(
            &trace.v,
            shown.weights_of(shown.query()),
            trace.shape.d_v,
            None,
        ) {
            check(
                &output::scene(shown, &plane, width, 112.0),
                &format!("output of {what}"),
            );
            assert!(!plane_words(shown, Some(&plane)).contains("NaN"));
        }
        for line in readouts::row(shown).iter().chain(&readouts::all(shown)) {
            assert!(!line.value.is_nan(), "{what}: {line:?}");
        }
    }
}

#[test]
fn scenes_hold_at_every_length() {
    for (n, d) in [
        (2, 3),
        (3, 2),
        (5, 4),
        (6, 4),
        (8, 8),
        (12, 16),
        (16, 32),
        (17, 8),
        (40, 16),
        (96, 8),
        (97, 8),
        (200, 4),
    ] {
        let session = random(n, d);
        for (query, key) in [(0, 0), (n / 2, n - 1), (n - 1, n / 3)] {
            every_scene(
                &shown(&session, query, key),
                &format!("n {n}, d {d}, cell {query}, {key}"),
            );
        }
    }
}

#[test]
fn scenes_hold_with_words_on_the_axes() {
    let session = sentence(32);
    for cell in [(0, 0), (11, 13), (4, 14), (15, 9)] {
        every_scene(
            &shown(&session, cell.0, cell.1),
            &format!("sentence, cell {cell:?}"),
        );
    }
}

#[test]
fn scenes_hold_on_hostile_inputs() {
    for (what, session) in hostile() {
        let s = session.shape;
        for query in 0..s.n_q.min(3) {
            every_scene(&shown(&session, query, s.n_k - 1), what);
        }
    }
}

#[test]
fn the_small_example_has_the_numbers_of_its_picture() {
    let s = shown(&small_numbers(), 2, 1);
    let line = s.line(1);
    assert!((line.logit + 759.025).abs() < 1e-9, "{line:?}");
    assert_eq!((line.weight, line.look), (0.0, Look::Underflow));
    assert_eq!(s.line(3).look, Look::Masked);
    assert_eq!(s.line(3).logit, f64::NEG_INFINITY);
    let reads = readouts::row(&s);
    let read = |name: &str| {
        reads
            .iter()
            .find(|r| r.name == name)
            .map(|r| format::fixed(r.value, r.digits))
    };
    assert_eq!(read("entropy").as_deref(), Some("0.334"));
    assert_eq!(read("keys_in_effect").as_deref(), Some("1.40"));
    assert_eq!(read("top_weight").as_deref(), Some("0.896"));
    assert_eq!(format::fixed(s.looked().row.jacobian_norm, 3), "0.187");
    assert!(mix::fits(&s));
    assert!(shown(&small_numbers(), 0, 0).sees_nothing());
}

#[test]
fn sixteen_largest_and_the_one_looked_at_are_listed_in_order() {
    let s = shown(&random(89, 16), 3, 70);
    let lines = s.lines();
    let (more, together) = s.rest(&lines).unwrap();
    assert!(lines.windows(2).all(|w| w[0].key < w[1].key));
    assert!(lines.iter().any(|l| l.key == 70));
    assert_eq!(lines.len() + more, 89);
    let listed: f64 = lines.iter().map(|l| l.weight).sum();
    assert!(
        (listed + together - 1.0).abs() < 1e-12,
        "{listed} and {together}"
    );
    let least = lines
        .iter()
        .filter(|l| l.key != 70)
        .map(|l| l.weight)
        .fold(1.0, f64::min);
    let others = (0..89)
        .filter(|k| lines.iter().all(|l| l.key != *k))
        .map(|k| s.line(k).weight);
    assert!(
        others.fold(0.0, f64::max) <= least,
        "those left out are the smallest"
    );
    assert_eq!(
        shown(&random(16, 4), 0, 0).rest(&shown(&random(16, 4), 0, 0).lines()),
        None
    );
}

#[test]
fn equal_weights_list_the_first() {
    assert_eq!(facts::chosen(&[0.1; 20], 19, 3), [0, 1, 2, 19]);
    assert_eq!(facts::chosen(&[0.1, 0.5, 0.4], 0, 16), [0, 1, 2]);
}

#[test]
fn bars_grow_with_their_weights_and_hidden_keys_have_none() {
    let s = shown(&small_numbers(), 2, 2);
    let scene = bars::scene(&s, &s.lines(), 256.0, 6.0);
    let weights: Vec<f64> = scene
        .marks
        .iter()
        .filter_map(|m| match m {
            Mark::Fill {
                at, ink: Ink::A, ..
            } => Some(at.w),
            _ => None,
        })
        .collect();
    assert_eq!(weights.len(), 2, "only two keys have weight");
    assert!(weights[1] > 7.0 * weights[0], "{weights:?}");
    let words: Vec<&str> = scene.text_boxes().into_iter().map(|b| b.1).collect();
    assert_eq!(words.iter().filter(|w| **w == "hidden").count(), 2);
    assert!(
        words.contains(&"underflow") && words.contains(&"−∞") && words.contains(&"−759"),
        "{words:?}"
    );
}

fn fills(scene: &Scene, ink: Ink) -> usize {
    scene
        .marks
        .iter()
        .filter(|m| matches!(m, Mark::Fill { ink: i, .. } if *i == ink))
        .count()
}

#[test]
fn a_finite_constant_that_leaks_shows_weight_behind_a_hatch() {
    let (_, leaking) = hostile()
        .into_iter()
        .find(|(what, _)| *what == "leaking")
        .unwrap();
    let s = shown(&leaking, 0, 0);
    assert!(s.lines().iter().skip(1).all(|l| l.leaks && l.weight > 0.0));
    let scene = bars::scene(&s, &s.lines(), 256.0, 6.0);
    assert_eq!(fills(&scene, Ink::A), 6);
    assert_eq!(
        scene
            .marks
            .iter()
            .filter(|m| matches!(m, Mark::Heat(_)))
            .count(),
        5,
        "five hidden keys are hatched"
    );
}

#[test]
fn the_jacobian_says_where_it_is_no_number() {
    use Look::{Empty, Masked, Plain, Underflow};
    assert_eq!(jacobian::looks(&[Plain, Plain]), []);
    assert_eq!(
        jacobian::looks(&[Plain, Underflow]),
        [Plain, Underflow, Underflow, Underflow]
    );
    assert_eq!(
        jacobian::looks(&[Underflow, Masked]),
        [Underflow, Masked, Masked, Masked]
    );
    assert_eq!(jacobian::looks(&[Empty]), [Empty]);
}

#[test]
fn the_cell_under_a_point_is_the_nearest() {
    let g = Grid::large(680.0, 16);
    assert_eq!(g.at(g.x + 1.0, g.y + 1.0), Some((0, 0)));
    assert_eq!(g.at(g.x + 15.5 * g.w, g.y + 0.5 * g.h), Some((0, 15)));
    assert_eq!(g.at(g.x + 16.0 * g.w + 1.0, g.y + 3.2 * g.h), Some((3, 15)));
    assert_eq!(g.at(-900.0, 0.0), None);
}

#[test]
fn typed_gradients_are_read_or_refused_with_a_sentence() {
    assert_eq!(gradient::parse("1 2 −3", 3), Ok(vec![1.0, 2.0, -3.0]));
    assert_eq!(gradient::parse("1\n2\n-3", 3), Ok(vec![1.0, 2.0, -3.0]));
    assert_eq!(gradient::parse("[0.5, 1e-3]", 2), Ok(vec![0.5, 1e-3]));
    assert_eq!(gradient::parse("4", 1), Ok(vec![4.0]));
    for bad in ["", "1 2", "a b c", "1 2 nan", "1 2; 3 4"] {
        let why = gradient::parse(bad, 3).unwrap_err();
        assert!(why.len() > 20 && !why.contains('{'), "{bad}: {why}");
    }
}

#[test]
fn a_trace_and_a_row_of_another_are_not_mixed() {
    let (a, b) = (shown(&random(4, 4), 0, 0), shown(&random(9, 4), 8, 8));
    let looked = Arc::new(b.looked().clone());
    assert!(Shown::new(a.shared().clone(), looked, a.setting.clone(), false).is_none());
}

#[test]
fn numbers_read_back_exactly_in_javascript() {
    assert_eq!(js(0.1), "0.1");
    assert_eq!(js(1e300), "1e300");
    assert_eq!(js(f64::NEG_INFINITY), "-Infinity");
    assert_eq!(js(-2.0), "-2.0");
}

#[test]
fn the_plane_is_that_of_the_row_to_return_to() {
    let mut session = sentence(32);
    session.pin = Some((11, 13));
    let own = shown(&session, 11, 13);
    let other = shown(&session, 3, 2);
    let trace = own.trace();
    let plane = Plane::of(&trace.v, own.weights_of(11), 32, None);
    assert!(
        plane_words(&own, plane.as_ref()).starts_with("plane with"),
        "{}",
        plane_words(&own, plane.as_ref())
    );
    assert!(
        plane_words(&other, plane.as_ref()).starts_with("plane of row 11"),
        "{}",
        plane_words(&other, plane.as_ref())
    );
}
