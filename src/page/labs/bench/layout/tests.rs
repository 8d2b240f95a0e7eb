use super::*;

fn words(n: usize) -> Vec<String> {
    ["[CLS]", "the", "animal", "didn", "because", "street"]
        .iter()
        .cycle()
        .take(n)
        .map(|s| s.to_string())
        .collect()
}

fn shapes() -> Vec<Shape> {
    let mut shapes = vec![];
    for n in [1, 2, 6, 16, 33, 64, 128, 512] {
        for d in [1, 4, 8, 32, 64, 128, 256] {
            shapes.push(Shape::square(n, d));
        }
    }
    shapes.push(Shape {
        n_k: 5,
        ..Shape::square(3, 4)
    });
    shapes.push(Shape {
        n_k: 512,
        ..Shape::square(1, 64)
    });
    shapes.push(Shape {
        n_k: 1,
        ..Shape::square(512, 64)
    });
    shapes.push(Shape {
        d_v: 256,
        ..Shape::square(16, 2)
    });
    shapes
}

#[test]
fn rows_run_straight_and_columns_fall() {
    for shape in shapes() {
        let layout = Layout::wide(shape, &Room::new(872.0, 500.0, &[], &[]));
        let place = |m| *layout.place(m).unwrap();
        let (q, k, s, a, v, o) = (
            place(Matrix::Q),
            place(Matrix::K),
            place(Matrix::S),
            place(Matrix::A),
            place(Matrix::V),
            place(Matrix::O),
        );
        for p in [q, a, o] {
            assert_eq!((p.rect.y, p.rect.h), (s.rect.y, s.rect.h), "{shape:?}");
        }
        assert_eq!((k.rect.x, k.rect.w), (s.rect.x, s.rect.w));
        assert_eq!((v.rect.x, v.rect.w), (o.rect.x, o.rect.w));
    }
}

#[test]
fn nothing_overlaps_and_all_stays_inside() {
    for shape in shapes() {
        for (w, h) in [
            (872.0, 500.0),
            (1200.0, 700.0),
            (640.0, 500.0),
            (430.0, 600.0),
        ] {
            for labels in [vec![], words(shape.n_q.max(shape.n_k))] {
                let layout = Layout::wide(shape, &Room::new(w, h, &labels, &labels));
                for (i, (m, a)) in layout.places.iter().enumerate() {
                    assert!(a.rect.x >= 0.0 && a.rect.y >= 0.0, "{m:?} of {shape:?}");
                    for (other, b) in &layout.places[i + 1..] {
                        let apart = !a.rect.grown(BRACKET).overlaps(b.rect.grown(BRACKET));
                        assert!(
                            apart,
                            "{m:?} and {other:?} of {shape:?} at {w}: {:?} {:?}",
                            a.rect, b.rect
                        );
                    }
                }
                assert!(
                    layout.width <= w + 1.0 || shape.d_k + shape.d_v + 2 * shape.n_k > 120,
                    "{shape:?} at {w}: {}",
                    layout.width
                );
            }
        }
    }
}

#[test]
fn the_opening_picture_has_the_measures_of_the_design() {
    let labels = words(16);
    let layout = Layout::wide(
        Shape::square(16, 32),
        &Room::new(872.0, 500.0, &labels, &labels),
    );
    assert_eq!(layout.place(Matrix::S).unwrap().cell_w(), 14.0);
    assert_eq!(layout.place(Matrix::Q).unwrap().cell_w(), 3.0);
    assert!(layout.width <= 872.0, "{}", layout.width);
    assert!(layout.height <= 500.0, "{}", layout.height);
}

#[test]
fn small_matrices_have_numbers_in_their_cells() {
    let layout = Layout::wide(
        Shape {
            n_k: 5,
            ..Shape::square(3, 4)
        },
        &Room::new(872.0, 500.0, &[], &[]),
    );
    assert!(layout.numbers);
    assert!(
        Layout::wide(Shape::square(6, 4), &Room::new(872.0, 500.0, &[], &[])).numbers,
        "the small example too"
    );
    assert!(!Layout::wide(Shape::square(16, 32), &Room::new(872.0, 500.0, &[], &[])).numbers);
}

#[test]
fn a_point_finds_its_cell() {
    let layout = Layout::wide(Shape::square(16, 32), &Room::new(872.0, 500.0, &[], &[]));
    for (m, p) in &layout.places {
        let cell = p.cell(p.rows - 1, p.cols / 2);
        assert_eq!(
            layout.hit(cell.x + cell.w / 2.0, cell.y + cell.h / 2.0),
            Some((*m, p.rows - 1, p.cols / 2))
        );
    }
    assert_eq!(layout.hit(-20.0, -20.0), None);
}

#[test]
fn phone_stages_fit_the_width() {
    for stage in Matrix::PIPELINE {
        let labels = words(16);
        let layout = Layout::stage(
            Shape::square(16, 32),
            &Room::new(358.0, 420.0, &labels, &labels),
            stage,
        );
        let p = layout.place(stage).unwrap();
        assert!(p.rect.right() + BRACKET <= 358.0, "{stage:?}: {:?}", p.rect);
    }
}

#[test]
fn tokens_and_projections_fit_a_phone_and_do_not_overlap() {
    for (n, d_model, d_k, d_v) in [
        (6, 8, 4, 4),
        (6, 8, 1, 4),
        (16, 64, 64, 64),
        (512, 8, 64, 1),
        (1, 1, 1, 1),
    ] {
        let shape = Shape {
            d_v,
            ..Shape::square(n, d_k)
        };
        for w in [288.0, 358.0, 700.0, 1200.0] {
            let layout = Layout::tokens(shape, d_model, &Room::new(w, 170.0, &[], &[]));
            let boxes: Vec<_> = layout.places.iter().map(|(_, p)| p.rect).collect();
            assert_eq!(boxes.len(), 4);
            for (i, a) in boxes.iter().enumerate() {
                let at = format!("{shape:?} in {w}: {a:?}");
                assert!(a.right() + BRACKET <= layout.width, "{at}");
                assert!(a.bottom() + BRACKET <= layout.height, "{at}");
                assert!(layout.width <= w, "{at} wants {}", layout.width);
                for b in &boxes[..i] {
                    let beside = b.right() + 2.0 * BRACKET <= a.x;
                    let below = b.bottom() + TITLE <= a.y;
                    assert!(beside || below, "{at} on {b:?}");
                }
            }
        }
    }
}
