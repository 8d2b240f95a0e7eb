use super::*;
use crate::source::SourceKind;
use attention::{Hidden, ParamKind, masks, positions};

fn example() -> Arc<ExampleLayer> {
    let d = Arc::new(
        (0..2 * 5 * 4)
            .map(|i| f64::from(i) * 0.1)
            .collect::<Vec<_>>(),
    );
    Arc::new(ExampleLayer {
        sentence: "s".into(),
        layer: 1,
        heads: 2,
        tokens: ["a", "b", "c", "d", "e"].map(String::from).into(),
        d: 4,
        only: None,
        q: d.clone(),
        k: d.clone(),
        v: d,
    })
}

#[test]
fn the_small_example_is_stream_seven_in_its_order() {
    let session = Session::small_example();
    let mut stream = Stream::new(7);
    let x = stream.normals(6 * 8, 1.0);
    let w_q: Vec<f64> = (0..8 * 4).map(|_| stream.normal() / 8f64.sqrt()).collect();
    assert_eq!(session.numbers(Tensor::X), Some(&x[..]));
    assert_eq!(session.numbers(Tensor::Wq), Some(&w_q[..]));
    assert_eq!(session.check(), Ok(()));
}

#[test]
fn a_size_of_zero_is_a_sentence_and_changes_nothing() {
    let session = Session::random(Shape::square(4, 4), 7, 1.0);
    for size in [
        Size::Queries,
        Size::Keys,
        Size::DK,
        Size::DV,
        Size::Heads,
        Size::KvHeads,
    ] {
        for to in [0, 100_000] {
            let error = session.after(&Action::SetSize(size, to)).unwrap_err();
            assert_eq!(error.field, size.field());
            assert!(
                error.message.contains("expected") && error.message.contains("got"),
                "{}",
                error.message
            );
        }
    }
}

#[test]
fn two_settings_that_only_fit_together_can_be_made_one_after_the_other() {
    let mut desk = Desk::new(Session::random(
        Shape {
            heads: 4,
            kv_heads: 2,
            ..Shape::square(4, 4)
        },
        7,
        1.0,
    ));
    assert!(
        !desk.apply(Action::SetSize(Size::KvHeads, 3)),
        "3 does not divide 4"
    );
    assert!(
        desk.problem("kv_heads")
            .is_some_and(|p| p.error.message.contains("1, 2 or 4"))
    );
    assert_eq!(
        desk.session().shape.kv_heads,
        2,
        "the last good session stays"
    );
    assert!(
        desk.apply(Action::SetSize(Size::Heads, 6)),
        "with 6 heads, 3 divides"
    );
    assert_eq!(
        (desk.session().shape.heads, desk.session().shape.kv_heads),
        (6, 3)
    );
    assert!(desk.problems().is_empty());
}

#[test]
fn undo_and_redo_walk_the_same_way_and_a_drag_is_one_step() {
    let mut desk = Desk::new(Session::random(Shape::square(4, 4), 7, 1.0));
    let first = desk.session().clone();
    for i in 1..=20 {
        desk.apply(Action::SetScale(Scale::Custom(f64::from(i) * 0.1)));
    }
    desk.end_gesture();
    desk.apply(Action::SetScale(Scale::Custom(9.0)));
    assert!(desk.undo());
    assert_eq!(desk.session().scale, Scale::Custom(2.0));
    assert!(desk.undo());
    assert_eq!(*desk.session(), first);
    assert!(!desk.undo());
    assert!(desk.redo() && desk.redo() && !desk.redo());
    assert_eq!(desk.session().scale, Scale::Custom(9.0));
}

#[test]
fn a_refused_change_keeps_the_past() {
    let mut desk = Desk::new(Session::random(Shape::square(4, 4), 7, 1.0));
    desk.apply(Action::SetSize(Size::DK, 8));
    desk.apply(Action::SetSize(Size::DK, 0));
    assert_eq!(desk.session().shape.d_k, 8);
    assert!(desk.problem("d_k").is_some());
    desk.apply(Action::SetSize(Size::DK, 6));
    assert!(desk.problem("d_k").is_none());
    assert_eq!(desk.session().shape.d_k, 6);
}

#[test]
fn every_scheme_of_the_registries_can_be_chosen_and_set() {
    for shape in [
        Shape::square(8, 8),
        Shape {
            n_k: 5,
            ..Shape::square(3, 4)
        },
    ] {
        let session = Session::random(shape, 7, 1.0);
        for preset in MASK_PRESETS {
            let next = session
                .after(&Action::SetMaskPreset(preset.id))
                .unwrap_or_else(|e| panic!("{}: {e}", preset.id));
            assert_eq!(mask_preset(&next).map(|p| p.id), Some(preset.id));
        }
        for scheme in masks::ALL.iter().filter(|s| !s.needs_drawing) {
            let chosen = MASK_PRESETS
                .iter()
                .any(|p| (p.uses)(shape).iter().any(|u| u.scheme.id == scheme.id));
            assert!(
                chosen || extra_masks().any(|s| s.id == scheme.id),
                "{} can be chosen",
                scheme.id
            );
        }
        for preset in POSITION_PRESETS.iter().filter(|p| p.id != "sinusoidal") {
            let next = session
                .after(&Action::SetPositionPreset(preset.id))
                .unwrap_or_else(|e| panic!("{}: {e}", preset.id));
            assert_eq!(position_preset(&next).map(|p| p.id), Some(preset.id));
            for used in &next.positions {
                for param in used.scheme.params {
                    if let ParamKind::Choice(options) = param.kind {
                        for i in 0..options.len() {
                            next.after(&Action::SetPositionParam(
                                used.scheme.id,
                                param.key,
                                i as f64,
                            ))
                            .unwrap();
                        }
                    }
                }
            }
        }
    }
    assert!(
        positions::ALL
            .iter()
            .all(|s| POSITION_PRESETS.iter().any(|p| p.id == s.id)
                || extra_positions().any(|e| e.id == s.id))
    );
}

#[test]
fn sinusoids_need_tokens() {
    let session = Session::random(Shape::square(4, 4), 7, 1.0);
    assert!(
        session
            .after(&Action::SetPositionPreset("sinusoidal"))
            .unwrap_err()
            .message
            .contains("tokens X")
    );
    let tokens = Session::small_example()
        .after(&Action::SetPositionPreset("sinusoidal"))
        .unwrap();
    let back = tokens
        .after(&Action::SetSource(SourceKind::Random))
        .unwrap();
    assert!(
        back.positions.is_empty(),
        "the source without tokens drops them"
    );
}

#[test]
fn rope_on_an_odd_width_is_a_sentence() {
    let mut desk = Desk::new(Session::random(Shape::square(4, 6), 7, 1.0));
    assert!(desk.apply(Action::SetPositionPreset("rope")));
    assert!(!desk.apply(Action::SetPositionParam("rope", "dims", 3.0)));
    assert!(desk.problem("rope.dims").is_some(), "{:?}", desk.problems());
}

#[test]
fn a_rotation_of_all_components_stays_one_when_there_are_more_or_fewer() {
    let turned = |session: &Session| session.positions[0].value("dims");
    let rope = Session::random(Shape::square(4, 8), 7, 1.0)
        .after(&Action::SetPositionPreset("rope"))
        .unwrap();
    for (d_k, all) in [(16, 16.0), (5, 4.0), (8, 8.0)] {
        let next = rope.after(&Action::SetSize(Size::DK, d_k)).unwrap();
        assert_eq!(turned(&next), Some(all), "d_k = {d_k}");
    }
    let partly = rope
        .after(&Action::SetPositionParam("rope", "dims", 6.0))
        .unwrap();
    for (d_k, some) in [(16, 6.0), (4, 4.0)] {
        let next = partly.after(&Action::SetSize(Size::DK, d_k)).unwrap();
        assert_eq!(turned(&next), Some(some), "d_k = {d_k}");
    }
    let all = partly
        .after(&Action::SetPositionParam("rope", "dims", 0.0))
        .unwrap();
    assert_eq!(turned(&all), Some(8.0), "0 stands for all");
}

#[test]
fn painting_hides_and_shows_and_forgets_itself_when_nothing_is_hidden() {
    let session = Session::random(Shape::square(4, 4), 7, 1.0);
    let hidden = session
        .after(&Action::PaintMask(vec![(1, 2, false), (3, 3, false)]))
        .unwrap();
    assert_eq!(hidden.config().masks.len(), 1);
    let bits = hidden.drawn.clone().unwrap();
    assert!(!bits.get(attention::QueryIdx(1), attention::KeyIdx(2)));
    let shown = hidden
        .after(&Action::PaintMask(vec![(1, 2, true), (3, 3, true)]))
        .unwrap();
    assert_eq!(shown.drawn, None);
}

#[test]
fn a_block_is_written_where_it_fits_and_refused_where_not() {
    let session = Session::plain(Shape::square(3, 2));
    let at = |row, col| CellRef {
        tensor: Tensor::K,
        row,
        col,
    };
    let block = vec![vec![1.0, 2.0], vec![3.0, 4.0]];
    let next = session
        .after(&Action::Write(at(1, 0), block.clone()))
        .unwrap();
    assert_eq!(
        next.numbers(Tensor::K),
        Some(&[0.0, 0.0, 1.0, 2.0, 3.0, 4.0][..])
    );
    assert_eq!(next.edited, 4);
    let error = session.after(&Action::Write(at(2, 0), block)).unwrap_err();
    assert!(
        error.message.contains("1 × 2") && error.message.contains("got 2 × 2"),
        "{error}"
    );
    let computed = Session::small_example()
        .after(&Action::Write(at(0, 0), vec![vec![1.0]]))
        .unwrap_err();
    assert!(computed.message.contains("computed from X"));
}

#[test]
fn no_cell_takes_an_infinity() {
    let session = Session::plain(Shape::square(3, 2));
    let at = CellRef {
        tensor: Tensor::Q,
        row: 0,
        col: 0,
    };
    assert!(session.after(&Action::Write(at, vec![vec![1e38]])).is_ok());
    assert!(
        session
            .after(&Action::Write(at, vec![vec![f64::INFINITY]]))
            .is_err()
    );
}

#[test]
fn sizes_of_a_real_head_are_fixed_until_its_numbers_are_taken() {
    let session = Session::example(example(), 1);
    assert!(
        session
            .after(&Action::SetSize(Size::Keys, 3))
            .unwrap_err()
            .message
            .contains("fixed")
    );
    let typed = session
        .after(&Action::SetSource(SourceKind::Typed))
        .unwrap();
    assert_eq!(typed.numbers(Tensor::Q), session.numbers(Tensor::Q));
    let smaller = typed.after(&Action::SetSize(Size::Keys, 3)).unwrap();
    assert_eq!(smaller.numbers(Tensor::K).map(<[f64]>::len), Some(12));
    assert_eq!(
        smaller.numbers(Tensor::K).unwrap()[..4],
        session.numbers(Tensor::K).unwrap()[..4]
    );
}

#[test]
fn options_survive_a_change_of_source_where_they_can() {
    let session = Session::random(
        Shape {
            heads: 2,
            kv_heads: 2,
            ..Shape::square(6, 8)
        },
        7,
        1.0,
    );
    let set = session
        .after(&Action::SetMaskPreset("padding"))
        .and_then(|s| s.after(&Action::SetSink(Some(0.5))))
        .and_then(|s| s.after(&Action::SetHidden(Hidden::Finite(-1e4))))
        .unwrap();
    let next = set.after(&Action::Example(example(), 1)).unwrap();
    assert_eq!(next.check(), Ok(()));
    assert_eq!(
        (next.sink.as_deref(), next.hidden),
        (Some(&[0.5, 0.5][..]), Hidden::Finite(-1e4))
    );
    assert_eq!(next.masks.len(), 1);
}

#[test]
fn names_of_rows_are_tokens_or_letters() {
    assert_eq!(Session::example(example(), 0).query_name(2), "c");
    assert_eq!(Session::plain(Shape::square(12, 2)).key_name(10), "k₁₀");
}

#[test]
fn the_rest_of_a_layer_joins_the_head_that_was_here_edits_and_all() {
    let whole = example();
    let cells = 5 * 4;
    let alone = |x: &Arc<Vec<f64>>| {
        let mut head = vec![0.0; x.len()];
        head[cells..].copy_from_slice(&x[cells..]);
        Arc::new(head)
    };
    let one = Arc::new(ExampleLayer {
        sentence: "s".into(),
        layer: 1,
        heads: 2,
        tokens: whole.tokens.clone(),
        d: 4,
        only: Some(1),
        q: alone(&whole.q),
        k: alone(&whole.k),
        v: alone(&whole.v),
    });
    let mut desk = Desk::new(Session::example(one, 1));
    let at = CellRef {
        tensor: Tensor::Q,
        row: 0,
        col: 0,
    };
    assert!(desk.apply(Action::Write(at, vec![vec![9.0]])));
    assert!(desk.apply(Action::Example(whole.clone(), 0)));
    assert_eq!(
        desk.session().numbers(Tensor::Q),
        Some(&whole.q[..cells]),
        "the other head is there"
    );
    desk.apply(Action::SetHead(1));
    assert_eq!(desk.session().value(at), Some(9.0), "the edit stays");
    desk.apply(Action::SetHead(0));
    desk.undo();
    assert_eq!(
        desk.session().head,
        1,
        "a step back never shows a head without numbers"
    );
}

#[test]
fn undoing_another_layer_goes_back_to_its_own_head() {
    let other = Arc::new(ExampleLayer {
        layer: 0,
        sentence: "s".into(),
        tokens: example().tokens.clone(),
        q: example().q.clone(),
        k: example().k.clone(),
        v: example().v.clone(),
        ..*example()
    });
    let mut desk = Desk::new(Session::example(example(), 0));
    desk.apply(Action::Example(other, 1));
    assert!(desk.undo());
    assert_eq!(desk.session().head, 0);
}
