//! What the page asks of the engine.

use crate::{Frame, FrameError, Revision, frame::Message, options};
use attention::Config;
use serde::{Deserialize, Serialize};

/// A request. The engine answers each with one [`crate::Reply`], or with none if a newer revision came first.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[allow(clippy::large_enum_variant, reason = "one job is alive at a time")]
pub enum Job {
    /// Compute everything that the views of one head show.
    View(ViewJob),
    /// Look closer at a row and a cell of the last view: cheap, for a moving pointer.
    Look {
        /// The revision of this request.
        revision: Revision,
        /// Where to look.
        look: Look,
    },
    /// Run the float32 fast path and return its output and log-sum-exp for all heads.
    Kernel(KernelJob),
    /// Run the float64 oracle and return every stage and every gradient for all heads.
    Stages(StagesJob),
    /// Give up whatever runs. Answered by `Reply::Cancelled`.
    Cancel,
    /// Stop with a panic: how the tests prove that the page survives one. The page never sends it by itself.
    Panic,
    /// Run the float32 fast path on the head of a view and hold its output against the view's.
    Check(CheckJob),
}

/// Where Q, K and V come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Numbers {
    /// Given: `q` `[heads, n_q, d_k]`, `k` `[kv_heads, n_k, d_k]`, `v` `[kv_heads, n_k, d_v]`, row-major.
    Given {
        /// Queries.
        #[serde(skip)]
        q: Vec<f64>,
        /// Keys.
        #[serde(skip)]
        k: Vec<f64>,
        /// Values.
        #[serde(skip)]
        v: Vec<f64>,
    },
    /// Projected from tokens: `x` `[n, d_model]`, `w_q` `[heads, d_model, d_k]`, `w_k` `[kv_heads, d_model, d_k]`,
    /// `w_v` `[kv_heads, d_model, d_v]`; `n` is both `n_q` and `n_k`. A sinusoidal position scheme adds to `x`.
    Tokens {
        /// Width of a token.
        d_model: usize,
        /// Tokens.
        #[serde(skip)]
        x: Vec<f64>,
        /// Query projection.
        #[serde(skip)]
        w_q: Vec<f64>,
        /// Key projection.
        #[serde(skip)]
        w_k: Vec<f64>,
        /// Value projection.
        #[serde(skip)]
        w_v: Vec<f64>,
    },
}

impl Numbers {
    fn arrays(&mut self) -> Vec<&mut Vec<f64>> {
        match self {
            Numbers::Given { q, k, v } => vec![q, k, v],
            Numbers::Tokens {
                x, w_q, w_k, w_v, ..
            } => vec![x, w_q, w_k, w_v],
        }
    }
}

/// What the loss behind the gradient at the scores is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Target {
    /// ½|o_i − v_j|², pulling the output of the row towards value `j`.
    Value(usize),
    /// A gradient at the output typed by the reader, `[d_v]`.
    Typed(Vec<f64>),
}

/// The row and the cell that the reader looks at.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Look {
    /// The query's row.
    pub query: usize,
    /// The key's column.
    pub key: usize,
    /// The loss of the gradient.
    pub target: Target,
}

/// See [`Job::View`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ViewJob {
    /// The revision of this request.
    pub revision: Revision,
    /// The attention to compute.
    #[serde(with = "options::as_text")]
    pub config: Config,
    /// On what.
    pub numbers: Numbers,
    /// The head to show.
    pub head: usize,
    /// Where to look closer.
    pub look: Look,
}

/// See [`Job::Check`]. Arrays are those of the view: of the shown head, row-major.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct CheckJob {
    /// The revision of the view.
    pub revision: Revision,
    /// The attention of the view, all heads.
    #[serde(with = "options::as_text")]
    pub config: Config,
    /// The shown head.
    pub head: usize,
    /// Visible scores of the view that are beyond float32.
    pub overflowed: usize,
    /// `[n_q, d_k]`.
    #[serde(skip)]
    pub q: Vec<f64>,
    /// `[n_k, d_k]`.
    #[serde(skip)]
    pub k: Vec<f64>,
    /// `[n_k, d_v]`.
    #[serde(skip)]
    pub v: Vec<f64>,
    /// `[n_q, d_v]`: the output in float64.
    #[serde(skip)]
    pub out: Vec<f64>,
}

/// See [`Job::Kernel`]; the numbers are rounded to float32 on arrival.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KernelJob {
    /// The revision of this request.
    pub revision: Revision,
    /// The attention to compute.
    #[serde(with = "options::as_text")]
    pub config: Config,
    /// On what.
    pub numbers: Numbers,
}

/// See [`Job::Stages`].
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StagesJob {
    /// The revision of this request.
    pub revision: Revision,
    /// The attention to compute.
    #[serde(with = "options::as_text")]
    pub config: Config,
    /// On what.
    pub numbers: Numbers,
    /// Gradient at the output `[heads, n_q, d_v]`.
    #[serde(skip)]
    pub d_out: Vec<f64>,
}

impl Message for Job {
    fn arrays(&mut self) -> Vec<&mut Vec<f64>> {
        match self {
            Job::View(job) => job.numbers.arrays(),
            Job::Check(job) => vec![&mut job.q, &mut job.k, &mut job.v, &mut job.out],
            Job::Kernel(job) => job.numbers.arrays(),
            Job::Stages(job) => {
                let mut arrays = job.numbers.arrays();
                arrays.push(&mut job.d_out);
                arrays
            }
            Job::Look { .. } | Job::Cancel | Job::Panic => Vec::new(),
        }
    }
}

impl Job {
    /// The revision that it carries; none for `Cancel` and `Panic`.
    pub fn revision(&self) -> Option<Revision> {
        match self {
            Job::View(job) => Some(job.revision),
            Job::Look { revision, .. } => Some(*revision),
            Job::Check(job) => Some(job.revision),
            Job::Kernel(job) => Some(job.revision),
            Job::Stages(job) => Some(job.revision),
            Job::Cancel | Job::Panic => None,
        }
    }

    /// As a message.
    pub fn into_frame(self) -> Frame {
        Frame::write(self)
    }

    /// From a message. Fails where it was written by another version.
    pub fn from_frame(frame: Frame) -> Result<Job, FrameError> {
        frame.read()
    }
}
