//! From what a job gives to checked inputs of the attention crate.

use attention::naive::{CEILING, project};
use attention::{AttentionSpec, HeadIdx, InputError, KvHeadIdx, Shape, SpecError, positions};
use protocol::{Numbers, Refusal, Revision};

/// Q, K and V of all heads, row-major, of the right lengths.
pub struct Qkv {
    /// `[heads, n_q, d_k]`
    pub q: Vec<f64>,
    /// `[kv_heads, n_k, d_k]`
    pub k: Vec<f64>,
    /// `[kv_heads, n_k, d_v]`
    pub v: Vec<f64>,
}

/// Which heads to project.
#[derive(Clone, Copy)]
pub enum Heads {
    /// All of them.
    All,
    /// This one and its key/value head. The others stay 0: nothing reads them.
    One(HeadIdx),
}

/// A spec's error as an answer.
pub fn refuse_spec(revision: Revision, error: &SpecError) -> Refusal {
    Refusal {
        revision,
        field: error.field.to_owned(),
        scheme: error.scheme.map(str::to_owned),
        message: error.to_string(),
    }
}

/// An input's error as an answer.
pub fn refuse_input(revision: Revision, error: &InputError) -> Refusal {
    let (InputError::Length { tensor, .. } | InputError::NotFinite { tensor, .. }) = error;
    Refusal {
        revision,
        field: (*tensor).to_owned(),
        scheme: None,
        message: error.to_string(),
    }
}

/// Any other reason.
pub fn refuse(revision: Revision, field: &str, message: String) -> Refusal {
    Refusal {
        revision,
        field: field.to_owned(),
        scheme: None,
        message,
    }
}

/// Takes given numbers as they are and projects tokens.
///
/// Fails where tokens are asked for as many queries as keys but the two differ, or an array has another length.
pub fn resolve(
    revision: Revision,
    spec: &AttentionSpec,
    numbers: Numbers,
    heads: Heads,
) -> Result<Qkv, Refusal> {
    let shape = spec.shape();
    let (d_model, mut x, w_q, w_k, w_v) = match numbers {
        Numbers::Given { q, k, v } => return Ok(Qkv { q, k, v }),
        Numbers::Tokens {
            d_model,
            x,
            w_q,
            w_k,
            w_v,
        } => (d_model, x, w_q, w_k, w_v),
    };
    if shape.n_q != shape.n_k {
        let message = format!(
            "Keys: expected {} as there are queries, since both are made from the same tokens, got {}. Make them equal.",
            shape.n_q, shape.n_k
        );
        return Err(refuse(revision, "n_k", message));
    }
    let n = shape.n_q;
    // Tokens and weights are huge only by mistake: then the lengths do not fit, and nothing is multiplied.
    let length = |a: usize, b: usize| a.saturating_mul(d_model).saturating_mul(b);
    for (tensor, got, expected) in [
        ("x", x.len(), length(n, 1)),
        ("w_q", w_q.len(), length(shape.heads, shape.d_k)),
        ("w_k", w_k.len(), length(shape.kv_heads, shape.d_k)),
        ("w_v", w_v.len(), length(shape.kv_heads, shape.d_v)),
    ] {
        if got != expected || d_model == 0 {
            return Err(refuse_input(
                revision,
                &InputError::Length {
                    tensor,
                    expected,
                    got,
                },
            ));
        }
    }
    positions::add_to_tokens(&spec.config().positions, &mut x, d_model);
    let projection =
        |tensor: &'static str, w: &[f64], heads: usize, only: Option<usize>, width: usize| {
            let mut all = Vec::with_capacity(heads * n * width);
            for (head, w) in w.chunks_exact(d_model * width).enumerate() {
                if only.is_some_and(|only| only != head) {
                    all.resize(all.len() + n * width, 0.0);
                } else {
                    let part = project(&x, w, n, d_model, width);
                    all.extend(part.map_err(|e| refuse_input(revision, &rename(e, tensor)))?);
                }
            }
            Ok(all)
        };
    let (query, kv) = chosen(shape, heads);
    Ok(Qkv {
        q: projection("w_q", &w_q, shape.heads, query, shape.d_k)?,
        k: projection("w_k", &w_k, shape.kv_heads, kv, shape.d_k)?,
        v: projection("w_v", &w_v, shape.kv_heads, kv, shape.d_v)?,
    })
}

fn chosen(shape: Shape, heads: Heads) -> (Option<usize>, Option<usize>) {
    match heads {
        Heads::All => (None, None),
        Heads::One(head) => {
            let KvHeadIdx(kv) = shape.kv_head(head);
            (Some(head.0), Some(kv))
        }
    }
}

/// `project` calls every matrix of weights "w".
fn rename(error: InputError, name: &'static str) -> InputError {
    let renamed = |tensor| if tensor == "w" { name } else { tensor };
    match error {
        InputError::Length {
            tensor,
            expected,
            got,
        } => InputError::Length {
            tensor: renamed(tensor),
            expected,
            got,
        },
        InputError::NotFinite {
            tensor,
            index,
            value,
        } => InputError::NotFinite {
            tensor: renamed(tensor),
            index,
            value,
        },
    }
}

/// Holds what leaves float64 at its end, as the attention crate does, so that no infinity reaches the screen.
pub fn hold(x: f64) -> f64 {
    x.clamp(-CEILING, CEILING)
}
