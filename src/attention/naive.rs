//! The oracle: float64, every stage materialised, in an order one can read. The source of every small view.
//!
//! By rows, so that a caller can show some, stop between two, or spread them over threads:
//! [`Prepared`] holds what the rows of a head share, [`Prepared::row`] computes one into [`RowBuffers`].
//! Or all at once: [`forward()`] and [`backward()`].
//!
//! # What happens at the edges
//!
//! No result is NaN, and all are finite but for −∞ where a key is hidden.
//!
//! - A row that sees nothing: weights, output, entropy and gradients 0, log-sum-exp −∞ (the sink, if there is one).
//! - A number beyond float64 (1e308 · 1e308): it is held at ±[`f64::MAX`], with the sign of the true value. A row in
//!   which a visible score is held there is [`RowStatus::Overflowed`]: keys at the upper end tie and share the weight,
//!   keys at the lower end get none. Where one key alone is at the upper end, or none, that is the true result; where
//!   several are, their true differences are lost, and the page has to say so.

mod backward;
mod element;
mod forward;
mod jacobian;
mod prepare;
mod project;
mod row;
mod sums;

pub(crate) use backward::backward_by_rows;
pub use backward::{Gradients, backward, row_gradient};
pub use element::{Element, Inputs};
pub(crate) use element::{Heads, check};
pub use forward::{Forward, forward};
pub use jacobian::{jacobian, jacobian_norm};
pub use prepare::Prepared;
pub use project::project;
pub use row::{CellState, RowBuffers, RowStatus, RowSummary};

/// What a number beyond float64 is held at; its negative for the other sign.
pub const CEILING: f64 = f64::MAX;

/// Whether a score is held at the end of float64: its true size is not known.
#[must_use]
pub fn overflowed(score: f64) -> bool {
    score.abs() == CEILING
}

/// Holds ±∞ at ±[`CEILING`].
pub(crate) fn hold(x: f64) -> f64 {
    x.clamp(-CEILING, CEILING)
}
