//! The stages of attention by name: what pages, files and tests call them.

/// One stage on the way from tokens to output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Name in code and files, as in [`naive::Forward`](crate::naive::Forward).
    pub id: &'static str,
    /// Symbol in formulas.
    pub symbol: &'static str,
    /// Axes, outermost first.
    pub shape: &'static str,
    /// One sentence.
    pub help: &'static str,
}

/// Every stage, in the order in which they are computed.
pub static STAGES: &[Stage] = &[
    Stage {
        id: "q",
        symbol: "Q",
        shape: "heads × n_q × d_k",
        help: "Queries, X·W_Q: what each token asks for.",
    },
    Stage {
        id: "k",
        symbol: "K",
        shape: "kv_heads × n_k × d_k",
        help: "Keys, X·W_K: what each token offers to be found by.",
    },
    Stage {
        id: "v",
        symbol: "V",
        shape: "kv_heads × n_k × d_v",
        help: "Values, X·W_V: what each token hands over.",
    },
    Stage {
        id: "q_pos",
        symbol: "Q′",
        shape: "heads × n_q × d_k",
        help: "Queries after QK-norm and rotation by their places.",
    },
    Stage {
        id: "k_pos",
        symbol: "K′",
        shape: "kv_heads × n_k × d_k",
        help: "Keys after QK-norm and rotation by their places.",
    },
    Stage {
        id: "dot",
        symbol: "QKᵀ",
        shape: "heads × n_q × n_k",
        help: "The dot product of each query with each key.",
    },
    Stage {
        id: "scaled",
        symbol: "S",
        shape: "heads × n_q × n_k",
        help: "Dot products times the scale, 1/√d_k as a rule.",
    },
    Stage {
        id: "capped",
        symbol: "c·tanh(S/c)",
        shape: "heads × n_q × n_k",
        help: "Scaled scores bent into −c to c; unchanged without a soft cap.",
    },
    Stage {
        id: "scores",
        symbol: "S + B",
        shape: "heads × n_q × n_k",
        help: "Scores with the bias of their distance added: the logits, before the mask.",
    },
    Stage {
        id: "masked",
        symbol: "S + B + M",
        shape: "heads × n_q × n_k",
        help: "Scores with −∞ where the mask hides the key.",
    },
    Stage {
        id: "lse",
        symbol: "ℓ",
        shape: "heads × n_q",
        help: "The logarithm of the sum of exponentials of a row, sink included; −∞ where the row sees nothing.",
    },
    Stage {
        id: "weights",
        symbol: "A",
        shape: "heads × n_q × n_k",
        help: "The softmax of each row, exp(masked − ℓ).",
    },
    Stage {
        id: "entropy",
        symbol: "H",
        shape: "heads × n_q",
        help: "−Σ a ln a of a row in nats; exp(H) is the number of keys in effect.",
    },
    Stage {
        id: "row_sum",
        symbol: "Σ A",
        shape: "heads × n_q",
        help: "The sum of a row's weights: 1, less with a sink, 0 where the row sees nothing.",
    },
    Stage {
        id: "out",
        symbol: "O",
        shape: "heads × n_q × d_v",
        help: "A·V: the mean of the values under each row's weights.",
    },
];

/// The stage of that name.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Stage> {
    STAGES.iter().find(|s| s.id == id)
}
