use super::{maps_picture, mask_icon};
use crate::session::MASK_PRESETS;

#[test]
fn icons_show_what_the_masks_hide() {
    let cells = |path: &str| path.matches('M').count();
    let of = |id: &str| {
        let preset = MASK_PRESETS.iter().find(|p| p.id == id).unwrap();
        cells(&mask_icon::icon_of(preset.uses))
    };
    assert_eq!(of("none"), 36);
    assert_eq!(of("causal"), 21);
    assert_eq!(of("prefix"), 21 + 3);
    assert!(of("window") < of("causal"));
    assert_eq!(of("padding"), 30);
    let all: Vec<String> = MASK_PRESETS
        .iter()
        .map(|p| mask_icon::icon_of(p.uses))
        .chain([mask_icon::drawn()])
        .collect();
    for (at, icon) in all.iter().enumerate() {
        assert!(
            all[..at].iter().all(|other| other != icon),
            "two masks look alike"
        );
    }
}

#[test]
fn presets_are_valid_at_every_shape_the_sizes_allow() {
    use crate::session::{Action, Session};
    for (n_q, n_k) in [(1, 1), (3, 5), (5, 3), (16, 16), (1, 512)] {
        let mut shape = attention::Shape::square(n_k, 4);
        shape.n_q = n_q;
        for preset in MASK_PRESETS {
            let after = Session::plain(shape).after(&Action::SetMaskPreset(preset.id));
            assert!(
                after.is_ok(),
                "{} at {n_q} × {n_k}: {:?}",
                preset.id,
                after.err()
            );
        }
    }
}

#[test]
fn the_picture_of_heads_fits_its_column() {
    for width in [150.0, 204.0, 330.0, 500.0] {
        let grid = maps_picture::Grid::new(6, 12, width);
        assert!(
            grid.width() <= width && grid.width() > width - 12.0 || grid.pitch == 33.0,
            "{width}: {grid:?}"
        );
    }
}

#[test]
fn a_mask_becomes_one_drawn_by_hand() {
    use crate::session::{Action, Session};
    use attention::{KeyIdx, QueryIdx};
    let causal = Session::plain(attention::Shape::square(4, 2))
        .after(&Action::SetMaskPreset("causal"))
        .unwrap();
    let drawn = causal.after(&Action::MaskByHand).unwrap();
    assert!(drawn.masks.is_empty());
    let bits = drawn.drawn.clone().unwrap();
    assert!(bits.get(QueryIdx(2), KeyIdx(2)) && !bits.get(QueryIdx(2), KeyIdx(3)));
    assert_eq!(
        drawn.after(&Action::SetMaskPreset("none")).unwrap().drawn,
        None
    );
    assert_eq!(
        Session::plain(attention::Shape::square(4, 2))
            .after(&Action::MaskByHand)
            .unwrap()
            .drawn,
        None
    );
}
