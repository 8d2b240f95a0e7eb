//! Tokens times a weight matrix.

use super::element::check;
use super::hold;
use super::sums::{CarefulDot, accumulate};
use crate::error::InputError;

/// X·W: `x` `[n, d_in]` times `w` `[d_in, d_out]` gives `[n, d_out]`, all row-major, as Q = X·W_Q.
///
/// Fails where a length is not what the sizes say or a cell is not finite. A sum beyond float64 is held at its end.
///
/// ```
/// let q = attention::naive::project(&[1.0, 2.0], &[3.0, 4.0, 5.0, 6.0], 1, 2, 2)?;
/// assert_eq!(q, [13.0, 16.0]);
/// # Ok::<(), attention::InputError>(())
/// ```
pub fn project(
    x: &[f64],
    w: &[f64],
    n: usize,
    d_in: usize,
    d_out: usize,
) -> Result<Vec<f64>, InputError> {
    check("x", x, &[n, d_in])?;
    check("w", w, &[d_in, d_out])?;
    let mut out = vec![0.0; n * d_out];
    if d_in == 0 || d_out == 0 {
        return Ok(out);
    }
    for (x, out) in x.chunks_exact(d_in).zip(out.chunks_exact_mut(d_out)) {
        accumulate(out, x, w);
        for (c, cell) in out.iter_mut().enumerate() {
            if !cell.is_finite() {
                let column: Vec<f64> = w.iter().skip(c).step_by(d_out).copied().collect();
                *cell = hold(CarefulDot::new(x, &column).times(1.0));
            }
        }
    }
    Ok(out)
}
