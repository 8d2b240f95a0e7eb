//! A thin adapter until `tiled` has them.

use attention::rows::RowRunner;
use attention::tiled::{self, Workspace};
use attention::{AttentionSpec, Inputs, naive};

pub struct Gradients<'a> {
    pub d_q: &'a mut Vec<f32>,
    pub d_k: &'a mut Vec<f32>,
    pub d_v: &'a mut Vec<f32>,
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

pub fn backward_scratch_bytes(spec: &AttentionSpec, threads: usize) -> usize {
    2 * tiled::scratch_bytes(spec, threads)
}
pub fn backward_steps(spec: &AttentionSpec, threads: usize) -> usize {
    tiled::steps(spec, threads)
}
