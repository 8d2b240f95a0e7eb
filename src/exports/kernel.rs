//! A thin adapter until `tiled` has them.

use attention::rows::{RowRunner, Stopped};
use attention::{AttentionSpec, Inputs, lanes, naive, tiled};

#[derive(Debug, Default)]
pub struct Workspace;

pub struct Gradients<'a> {
    pub d_q: &'a mut Vec<f32>,
    pub d_k: &'a mut Vec<f32>,
    pub d_v: &'a mut Vec<f32>,
}

pub fn forward_into<R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    runner: &R,
    _: &mut Workspace,
    out: &mut [f32],
    lse: &mut [f32],
) -> Result<usize, Stopped> {
    let o = tiled::forward::<lanes::Best, _>(spec, inputs, runner)?;
    out.copy_from_slice(&o.out);
    lse.copy_from_slice(&o.lse);
    Ok(o.overflowed_rows)
}

#[expect(clippy::too_many_arguments)]
pub fn backward_into<R: RowRunner>(
    spec: &AttentionSpec,
    inputs: &Inputs<'_, f32>,
    _out: &[f32],
    _lse: &[f32],
    d_out: &[f32],
    _: &R,
    _: &mut Workspace,
    g: Gradients<'_>,
) -> Result<(), attention::InputError> {
    let wide = |x: &[f32]| x.iter().map(|&x| f64::from(x)).collect::<Vec<_>>();
    let (q, k, v) = (wide(inputs.q()), wide(inputs.k()), wide(inputs.v()));
    let wide_inputs = Inputs::new(spec, &q, &k, &v)?;
    let f = naive::forward(spec, &wide_inputs);
    let b = naive::backward(spec, &wide_inputs, &f, &wide(d_out))?;
    for (to, from) in [(g.d_q, b.d_q), (g.d_k, b.d_k), (g.d_v, b.d_v)] {
        for (to, from) in to.iter_mut().zip(from) {
            *to = from as f32;
        }
    }
    Ok(())
}

pub fn scratch_bytes(spec: &AttentionSpec, _: usize) -> usize {
    let s = spec.shape();
    4 * (s.k_len() + s.v_len() + s.q_len() + s.out_len())
}
pub fn backward_scratch_bytes(spec: &AttentionSpec, threads: usize) -> usize {
    2 * scratch_bytes(spec, threads)
}
pub fn steps(spec: &AttentionSpec) -> usize {
    let s = spec.shape();
    2 * s.heads * s.n_q.div_ceil(32)
}
pub fn backward_steps(spec: &AttentionSpec) -> usize {
    steps(spec)
}
