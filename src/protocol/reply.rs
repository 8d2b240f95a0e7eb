//! What the engine answers.

use crate::{Frame, FrameError, Revision, frame::Message};
use attention::{Shape, naive::CellState};
use serde::{Deserialize, Serialize};

/// An answer of the engine.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "one reply is alive at a time")]
pub enum Reply {
    /// The engine has started.
    Ready(Ready),
    /// How far a long job is: rows done of rows to do.
    Progress {
        /// Of which request.
        revision: Revision,
        /// Rows done.
        done: u64,
        /// Rows to do.
        total: u64,
    },
    /// Answer to `Job::View`.
    Trace(Box<Trace>),
    /// Answer to `Job::Look`.
    Look {
        /// Of which request.
        revision: Revision,
        /// The row.
        row: RowLook,
        /// The cell.
        cell: CellLook,
    },
    /// Answer to `Job::Check`.
    Checked {
        /// Of which view.
        of: Revision,
        /// `None` where a number is beyond float32, or the head is too large to be held against it in passing.
        check: Option<FastCheck>,
    },
    /// Answer to `Job::Kernel`.
    Kernel(Kernel),
    /// Answer to `Job::Stages`.
    Stages(Box<Stages>),
    /// The job cannot be done as asked; nothing was computed.
    Refused(Refusal),
    /// Answer to `Job::Cancel`: nothing runs now.
    Cancelled,
}

/// How the engine was built and runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Variant {
    /// simd128, one thread.
    Simd,
    /// simd128 and threads.
    SimdThreads,
    /// Not WebAssembly (tests).
    Native,
}

/// See [`Reply::Ready`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ready {
    /// Which engine.
    pub variant: Variant,
    /// Threads that share the rows.
    pub threads: usize,
}

/// A sentence for the reader, and which setting it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// Of which request.
    pub revision: Revision,
    /// `SpecError::field` of the attention crate, or `"q"`, `"k"`, `"v"`, `"x"`… for a bad number in an input.
    pub field: String,
    /// The id of the mask or position scheme that the field is a setting of.
    pub scheme: Option<String>,
    /// Expected, got, what to do: whole sentences.
    pub message: String,
}

/// One row of the shown head, in float64.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowFacts {
    /// Log-sum-exp of the row (nats), with the sink logit if there is one; −∞ where it sees nothing.
    pub lse: f64,
    /// Largest visible score.
    pub max: f64,
    /// Entropy of the weights in nats.
    pub entropy: f64,
    /// Sum of the weights: 1, less with a sink logit, 0 where the row sees nothing.
    pub row_sum: f64,
    /// Key with the largest weight.
    pub top_key: usize,
    /// The largest weight.
    pub top_weight: f64,
    /// Keys that the mask leaves visible.
    pub visible: usize,
    /// Keys that take part and have a weight too small for float64, hence 0.
    pub underflowed: usize,
    /// Frobenius norm of diag(a) − aaᵀ.
    pub jacobian_norm: f64,
    /// Weight that the sink logit takes.
    pub sink_weight: f64,
    /// A score of the row left the range of float64; the weights follow the rule that `attention` documents.
    pub overflowed: bool,
}

/// Means over the rows that see a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// Mean largest weight.
    pub mean_top_weight: f64,
    /// Mean Frobenius norm of the Jacobian.
    pub mean_jacobian_norm: f64,
    /// Mean entropy in nats.
    pub mean_entropy: f64,
    /// Mean weight that each key receives: the largest, and on which key. A sink shows here.
    pub top_column: (usize, f64),
    /// Rows that see no key.
    pub empty_rows: usize,
}

/// The float32 fast path held against the float64 view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FastCheck {
    /// Largest |out₃₂ − out₆₄| of the shown head.
    pub max_error: f64,
    /// Largest |v|, the unit of the tolerance.
    pub max_value: f64,
    /// Visible scores beyond float32 (±3.4e38): the fast path hands their rows to the float64 one.
    pub overflowed: usize,
}

/// See [`Reply::Trace`]. Matrices are row-major, float64, of the shown head.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    /// Of which request.
    pub revision: Revision,
    /// All heads' shape.
    pub shape: ShapeFacts,
    /// The shown head.
    pub head: usize,
    /// Multiplier of the dot products.
    pub scale: f64,
    /// `[n_q, d_k]`: the head's queries (projected, before norm and positions).
    #[serde(skip)]
    pub q: Vec<f64>,
    /// `[n_k, d_k]`: its keys (projected, before norm and positions).
    #[serde(skip)]
    pub k: Vec<f64>,
    /// `[n_k, d_v]`: its values.
    #[serde(skip)]
    pub v: Vec<f64>,
    /// `[n_q, d_k]`: queries after QK-norm and positions.
    #[serde(skip)]
    pub q_pos: Vec<f64>,
    /// `[n_k, d_k]`: keys after QK-norm and positions.
    #[serde(skip)]
    pub k_pos: Vec<f64>,
    /// `[n_q, n_k]`: scores after scale, soft cap and bias, before the mask.
    #[serde(skip)]
    pub scores: Vec<f64>,
    /// `[n_q, n_k]`: what the scheme (ALiBi) added, 0 elsewhere; empty without such a scheme.
    #[serde(skip)]
    pub bias: Vec<f64>,
    /// `[n_q, n_k]`: weights.
    #[serde(skip)]
    pub weights: Vec<f64>,
    /// `[n_q, n_k]`: the state of each weight as a number, read with [`cell_state`].
    #[serde(skip)]
    pub states: Vec<f64>,
    /// `[n_q, d_v]`: outputs.
    #[serde(skip)]
    pub out: Vec<f64>,
    /// One per query.
    pub rows: Vec<RowFacts>,
    /// Over all rows.
    pub summary: Summary,
    /// The row looked at.
    pub row: RowLook,
    /// The cell looked at.
    pub cell: CellLook,
    /// Time inside the engine, milliseconds.
    pub millis: f64,
}

/// What every number in [`Trace::states`] stands for, at its own index.
const CELL_STATES: [CellState; 6] = [
    CellState::Ordinary,
    CellState::Zero,
    CellState::Masked,
    CellState::RowSeesNothing,
    CellState::Underflowed,
    CellState::Overflowed,
];

/// The number of a state in [`Trace::states`].
pub fn cell_number(state: CellState) -> f64 {
    CELL_STATES.iter().position(|s| *s == state).unwrap_or(0) as f64
}

/// The state of a number in [`Trace::states`]; numbers that stand for nothing count as ordinary.
pub fn cell_state(number: f64) -> CellState {
    CELL_STATES
        .get(number as usize)
        .copied()
        .unwrap_or(CellState::Ordinary)
}

/// [`Shape`] as it travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShapeFacts {
    /// Query heads.
    pub heads: usize,
    /// Key/value heads.
    pub kv_heads: usize,
    /// Queries.
    pub n_q: usize,
    /// Keys.
    pub n_k: usize,
    /// Width of queries and keys.
    pub d_k: usize,
    /// Width of values.
    pub d_v: usize,
}

impl From<Shape> for ShapeFacts {
    fn from(s: Shape) -> Self {
        ShapeFacts {
            heads: s.heads,
            kv_heads: s.kv_heads,
            n_q: s.n_q,
            n_k: s.n_k,
            d_k: s.d_k,
            d_v: s.d_v,
        }
    }
}

/// A row looked at closely.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RowLook {
    /// Which query.
    pub query: usize,
    /// `[n_k, n_k]`: diag(a) − aaᵀ.
    #[serde(skip)]
    pub jacobian: Vec<f64>,
    /// Its Frobenius norm.
    pub jacobian_norm: f64,
    /// `[n_k]`: gradient of the loss at the scores of the row.
    pub d_scores: Vec<f64>,
    /// `[d_v]`: gradient of the loss at the output of the row.
    pub d_out: Vec<f64>,
    /// The loss, where the target is a value.
    pub loss: Option<f64>,
}

/// A cell looked at closely: from the products to the weight.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CellLook {
    /// Which query.
    pub query: usize,
    /// Which key.
    pub key: usize,
    /// `[d_k]`: `q_pos[c] · k_pos[c]`.
    pub terms: Vec<f64>,
    /// Their sum.
    pub dot: f64,
    /// dot × scale.
    pub scaled: f64,
    /// After the soft cap (equal to `scaled` without one).
    pub capped: f64,
    /// What ALiBi adds.
    pub bias: f64,
    /// capped + bias.
    pub score: f64,
    /// Whether the mask leaves it visible.
    pub visible: bool,
    /// Largest visible score of the row (and the sink logit), which softmax subtracts.
    pub max: f64,
    /// exp(score − max).
    pub exp: f64,
    /// Sum of the row's exponentials, with the sink's.
    pub denominator: f64,
    /// exp / denominator.
    pub weight: f64,
}

/// See [`Reply::Kernel`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kernel {
    /// Of which request.
    pub revision: Revision,
    /// `[heads, n_q, d_v]`, float32 values.
    #[serde(skip)]
    pub out: Vec<f64>,
    /// `[heads, n_q]`, float32 values.
    #[serde(skip)]
    pub lse: Vec<f64>,
    /// Time inside the engine, milliseconds.
    pub millis: f64,
}

/// See [`Reply::Stages`]: names and tensors in the same order (`q_pos`, `k_pos`, `scores`, `probs`, `out`, `lse`,
/// `entropy`, `d_q`, `d_k`, `d_v`, `d_scores`, `d_sink`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stages {
    /// Of which request.
    pub revision: Revision,
    /// Names of the stages.
    pub names: Vec<String>,
    /// One tensor per name, all heads.
    #[serde(skip)]
    pub tensors: Vec<Vec<f64>>,
}

impl Message for Reply {
    fn arrays(&mut self) -> Vec<&mut Vec<f64>> {
        match self {
            Reply::Trace(t) => vec![
                &mut t.q,
                &mut t.k,
                &mut t.v,
                &mut t.q_pos,
                &mut t.k_pos,
                &mut t.scores,
                &mut t.bias,
                &mut t.weights,
                &mut t.states,
                &mut t.out,
                &mut t.row.jacobian,
            ],
            Reply::Look { row, .. } => vec![&mut row.jacobian],
            Reply::Kernel(k) => vec![&mut k.out, &mut k.lse],
            Reply::Stages(s) => {
                s.tensors.resize_with(s.names.len(), Vec::new);
                s.tensors.iter_mut().collect()
            }
            Reply::Ready(_)
            | Reply::Checked { .. }
            | Reply::Progress { .. }
            | Reply::Refused(_)
            | Reply::Cancelled => Vec::new(),
        }
    }
}

impl Reply {
    /// The revision of the request that it answers; none for `Ready`, `Cancelled` and `Checked`.
    pub fn revision(&self) -> Option<Revision> {
        match self {
            Reply::Trace(trace) => Some(trace.revision),
            Reply::Progress { revision, .. } | Reply::Look { revision, .. } => Some(*revision),
            Reply::Kernel(kernel) => Some(kernel.revision),
            Reply::Stages(stages) => Some(stages.revision),
            Reply::Refused(refusal) => Some(refusal.revision),
            // The engine is asked for a check by no request of its own.
            Reply::Ready(_) | Reply::Cancelled | Reply::Checked { .. } => None,
        }
    }

    /// As a message.
    pub fn into_frame(self) -> Frame {
        Frame::write(self)
    }

    /// From a message. Fails where it was written by another version.
    pub fn from_frame(frame: Frame) -> Result<Reply, FrameError> {
        frame.read()
    }
}
