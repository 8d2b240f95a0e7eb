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

/// What reference cases are held against, by the names that it has there.
///
/// ```
/// use attention::{AttentionSpec, Config, Inputs, Shape, naive};
/// let spec = AttentionSpec::new(Config::new(Shape::square(1, 1)))?;
/// let inputs = Inputs::new(&spec, &[1.0], &[1.0], &[2.0])?;
/// let f = naive::forward(&spec, &inputs);
/// let g = naive::backward(&spec, &inputs, &f, &[3.0])?;
/// assert!(naive::named(f, g).contains(&("d_v", vec![3.0])));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn named(f: Forward, g: Gradients) -> Vec<(&'static str, Vec<f64>)> {
    let mut all = vec![
        ("q_pos", f.q_pos),
        ("k_pos", f.k_pos),
        ("scores", f.scores),
        ("probs", f.weights),
        ("out", f.out),
        ("lse", f.lse),
        ("entropy", f.entropy),
        ("d_q", g.d_q),
        ("d_k", g.d_k),
        ("d_v", g.d_v),
        ("d_scores", g.d_scores),
    ];
    all.extend(g.d_sink.map(|d_sink| ("d_sink", d_sink)));
    all
}

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
