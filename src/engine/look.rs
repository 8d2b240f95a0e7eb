//! A closer look at a row and a cell of a prepared head: O(n_k² + d), cheap enough for a moving pointer.

use crate::numbers::{hold, refuse};
use attention::naive::{Prepared, RowBuffers, jacobian};
use attention::{QueryIdx, math};
use protocol::{CellLook, Look, Refusal, Revision, RowLook, Target};

/// Looks at `look.query` and `look.key`.
///
/// Fails where the place is outside of the matrix, or a typed gradient is not d_v finite numbers.
pub fn look(
    revision: Revision,
    head: &Prepared,
    look: &Look,
) -> Result<(RowLook, CellLook), Refusal> {
    let shape = head.spec().shape();
    let inside = |what: &str, at: usize, size: usize| {
        if at < size {
            return Ok(());
        }
        let message = format!(
            "{what}: expected 0 to {}, got {at}. Choose one of these.",
            size - 1
        );
        Err(refuse(revision, "look", message))
    };
    inside("Row", look.query, shape.n_q)?;
    inside("Column", look.key, shape.n_k)?;
    match &look.target {
        Target::Value(key) => inside("Value to pull towards", *key, shape.n_k)?,
        Target::Typed(d_out) => {
            if d_out.len() != shape.d_v || d_out.iter().any(|x| !x.is_finite()) {
                let message = format!(
                    "Gradient at the output: expected {} finite numbers, got {} of which {} are finite. Type one for \
                     each component of the output.",
                    shape.d_v,
                    d_out.len(),
                    d_out.iter().filter(|x| x.is_finite()).count()
                );
                return Err(refuse(revision, "d_out", message));
            }
        }
    }
    let mut row = RowBuffers::new(head.spec());
    let facts = head.row(QueryIdx(look.query), &mut row);
    let (d_out, loss) = match &look.target {
        Target::Value(key) => {
            let value = &head.v()[key * shape.d_v..][..shape.d_v];
            let d_out: Vec<f64> = row
                .out
                .iter()
                .zip(value)
                .map(|(o, v)| hold(o - v))
                .collect();
            let loss = hold(d_out.iter().map(|d| 0.5 * d * d).sum());
            (d_out, Some(loss))
        }
        Target::Typed(d_out) => (d_out.clone(), None),
    };
    let row_look = RowLook {
        query: look.query,
        jacobian: jacobian(&row.weights, facts.sink_weight),
        jacobian_norm: facts.jacobian_norm,
        d_scores: head.row_gradient(&row, facts.sink_weight, &d_out),
        d_out,
        loss,
    };
    Ok((row_look, cell(head, look, &row)))
}

/// From the products to the weight, as the row was computed.
fn cell(head: &Prepared, look: &Look, row: &RowBuffers) -> CellLook {
    let (spec, shape) = (head.spec(), head.spec().shape());
    let q = &head.q_pos()[look.query * shape.d_k..][..shape.d_k];
    let k = &head.k_pos()[look.key * shape.d_k..][..shape.d_k];
    let sink = spec.sink(head.head());
    let max = row
        .masked
        .iter()
        .copied()
        .chain(sink)
        .fold(f64::NEG_INFINITY, f64::max);
    // Where nothing is visible, −∞ − −∞ has no value, and no weight to explain.
    let exp = |score: f64| {
        if score == f64::NEG_INFINITY {
            0.0
        } else {
            math::exp(score - max)
        }
    };
    let denominator = row.masked.iter().copied().chain(sink).map(exp).sum();
    CellLook {
        query: look.query,
        key: look.key,
        terms: q.iter().zip(k).map(|(q, k)| hold(q * k)).collect(),
        dot: row.dot[look.key],
        scaled: row.scaled[look.key],
        capped: row.capped[look.key],
        bias: spec.relative_bias(head.head(), look.query as isize - look.key as isize),
        score: row.biased[look.key],
        visible: row.visible[look.key],
        max,
        exp: exp(row.masked[look.key]),
        denominator,
        weight: row.weights[look.key],
    }
}
