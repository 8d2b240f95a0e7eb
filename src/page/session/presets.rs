//! What the pickers of masks and positions offer, made from the registries of the core.

use super::Session;
use attention::{MaskUse, PositionUse, Shape, masks, positions};

/// One entry of a picker.
pub struct Preset<T> {
    /// Id for tests and links.
    pub id: &'static str,
    /// Words for the reader.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
    /// The schemes that it puts in force.
    pub uses: fn(Shape) -> Vec<T>,
}

/// Causal, aligned so that it means something at the shape: square where there are as many queries as keys, else the
/// queries are the last tokens.
fn causal(shape: Shape, prefix: usize) -> Vec<MaskUse> {
    let align = if shape.n_q == shape.n_k {
        "square"
    } else {
        "bottom_right"
    };
    mask(
        "causal",
        &[("align", align.into()), ("prefix", prefix.into())],
    )
}

fn mask(id: &str, given: &[(&str, attention::Value<'_>)]) -> Vec<MaskUse> {
    MaskUse::new(id, given).into_iter().collect()
}

/// The mask picker. A scheme of the registry that stands in none of these is offered by [`extra_masks`].
pub static MASK_PRESETS: &[Preset<MaskUse>] = &[
    Preset {
        id: "none",
        name: "none",
        help: "Every query sees every key.",
        uses: |_| Vec::new(),
    },
    Preset {
        id: "causal",
        name: "causal",
        help: "A query sees the keys up to its own place: no token reads the future.",
        uses: |s| causal(s, 0),
    },
    Preset {
        id: "prefix",
        name: "causal with a prefix",
        help: "Causal, but everyone sees the first few keys: a prompt that is read as a whole.",
        uses: |s| causal(s, s.n_k.min(3)),
    },
    Preset {
        id: "window",
        name: "sliding window",
        help: "Causal, and only the nearest keys; the first few may be kept.",
        uses: |s| {
            let mut uses = causal(s, 0);
            uses.extend(mask("window", &[("size", s.n_k.min(4).into())]));
            uses
        },
    },
    Preset {
        id: "padding",
        name: "padding",
        help: "The last keys are filling and nobody sees them.",
        uses: |s| mask("padding", &[("key_length", (s.n_k - s.n_k / 4).into())]),
    },
];

/// The position picker.
pub static POSITION_PRESETS: &[Preset<PositionUse>] = &[
    Preset {
        id: "none",
        name: "none",
        help: "Order does not matter.",
        uses: |_| Vec::new(),
    },
    Preset {
        id: "sinusoidal",
        name: "sinusoidal, added to X",
        help: "Waves of different lengths are added to the tokens before the projections.",
        uses: |_| position("sinusoidal", &[]),
    },
    Preset {
        id: "rope",
        name: "RoPE, rotates Q and K",
        help: "Pairs of components turn by an angle that grows with the place; scores depend on distance.",
        uses: |s| position("rope", &[("dims", (s.d_k - s.d_k % 2).into())]),
    },
    Preset {
        id: "alibi",
        name: "ALiBi, added to S",
        help: "Each head subtracts a slope times the distance from the scores.",
        uses: |_| position("alibi", &[]),
    },
    Preset {
        id: "rope+alibi",
        name: "RoPE and ALiBi",
        help: "Both at once.",
        uses: |s| {
            let mut uses = position("rope", &[("dims", (s.d_k - s.d_k % 2).into())]);
            uses.extend(position("alibi", &[]));
            uses
        },
    },
];

fn position(id: &str, given: &[(&str, attention::Value<'_>)]) -> Vec<PositionUse> {
    PositionUse::new(id, given).into_iter().collect()
}

/// The preset that the session's masks come nearest to: the same schemes, and a prefix where the preset has one.
pub fn mask_preset(session: &Session) -> Option<&'static Preset<MaskUse>> {
    let prefix = |uses: &[MaskUse]| {
        uses.iter()
            .any(|m| m.value("prefix").is_some_and(|p| p > 0.0))
    };
    MASK_PRESETS.iter().find(|preset| {
        let uses = (preset.uses)(session.shape);
        uses.len() == session.masks.len()
            && uses
                .iter()
                .zip(&session.masks)
                .all(|(a, b)| a.scheme == b.scheme)
            && prefix(&uses) == (prefix(&session.masks) && preset.id != "window")
    })
}

/// The preset with the same schemes as the session's positions.
pub fn position_preset(session: &Session) -> Option<&'static Preset<PositionUse>> {
    POSITION_PRESETS.iter().find(|preset| {
        let uses = (preset.uses)(session.shape);
        uses.len() == session.positions.len()
            && uses
                .iter()
                .zip(&session.positions)
                .all(|(a, b)| a.scheme.id == b.scheme.id)
    })
}

/// Mask schemes that no preset uses, so that a new one in the registry can be chosen at once.
pub fn extra_masks() -> impl Iterator<Item = &'static masks::MaskScheme> {
    masks::ALL.iter().copied().filter(|scheme| {
        !scheme.needs_drawing
            && !MASK_PRESETS.iter().any(|p| {
                (p.uses)(Shape::square(8, 8))
                    .iter()
                    .any(|u| u.scheme.id == scheme.id)
            })
    })
}

/// Position schemes that no preset uses.
pub fn extra_positions() -> impl Iterator<Item = &'static positions::PositionScheme> {
    positions::ALL.iter().copied().filter(|scheme| {
        !POSITION_PRESETS.iter().any(|p| {
            (p.uses)(Shape::square(8, 8))
                .iter()
                .any(|u| u.scheme.id == scheme.id)
        })
    })
}
