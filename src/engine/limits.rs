//! What the engine takes on at most, so that a wish too large is a sentence and not a dead tab.

use attention::{Config, Shape};
use protocol::{Refusal, Revision};

/// Memory of one job, in bytes. The page keeps a second copy of what a view shows and the browser carries a third, so
/// a tab stays under a gigabyte. A view of 2560 × 2560 fits.
pub const MAX_BYTES: u64 = 256 << 20;

/// Multiplications for which the float32 path is run beside a view: about 50 ms on one thread. It runs in one piece,
/// and a longer piece would keep newer messages waiting.
pub const MAX_CHECK_PRODUCTS: u64 = 1 << 27;

/// Multiplications of a float32 job: some ten seconds on one thread.
pub const MAX_KERNEL_PRODUCTS: u64 = 1 << 36;

fn product(factors: &[usize]) -> u64 {
    factors
        .iter()
        .fold(1, |product: u64, &f| product.saturating_mul(f as u64))
}

fn numbers(shape: Shape) -> u64 {
    let q_and_out = product(&[shape.heads, shape.n_q, shape.d_k + shape.d_v]);
    q_and_out.saturating_add(product(&[shape.kv_heads, shape.n_k, shape.d_k + shape.d_v]))
}

/// Multiplications of all heads' scores and outputs.
pub fn products(shape: Shape) -> u64 {
    product(&[shape.heads, shape.n_q, shape.n_k, shape.d_k + shape.d_v])
}

/// Bytes that a view works with: inputs of all heads, the matrices of one head, and the Jacobian of one row.
pub fn view_bytes(config: &Config) -> u64 {
    let shape = config.shape;
    let matrices = 3 + u64::from(!config.positions.is_empty());
    let cells = product(&[shape.n_q, shape.n_k]).saturating_mul(matrices);
    let jacobian = product(&[shape.n_k, shape.n_k]);
    cells
        .saturating_add(jacobian)
        .saturating_add(numbers(shape).saturating_mul(2))
        .saturating_mul(8)
}

/// Bytes that the stages of all heads take: seven matrices of scores on the way forward, one back.
pub fn stages_bytes(shape: Shape) -> u64 {
    let matrices = product(&[shape.heads, shape.n_q, shape.n_k, 8]);
    matrices
        .saturating_add(numbers(shape).saturating_mul(4))
        .saturating_mul(8)
}

/// Bytes that the float32 path works with, replies included.
pub fn kernel_bytes(shape: Shape) -> u64 {
    numbers(shape).saturating_mul(8 + 4 + 4)
}

/// Refuses what needs more than [`MAX_BYTES`].
pub fn check_bytes(revision: Revision, what: &str, bytes: u64) -> Result<(), Refusal> {
    if bytes <= MAX_BYTES {
        return Ok(());
    }
    Err(Refusal {
        revision,
        field: "n_k".to_owned(),
        scheme: None,
        message: format!(
            "Memory of {what}: expected at most {} MiB, got {} MiB. Take fewer tokens or heads.",
            MAX_BYTES >> 20,
            bytes.div_ceil(1 << 20)
        ),
    })
}
