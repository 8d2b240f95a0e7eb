//! What the engine is held against the reference cases by: the float32 path on all heads, and every stage at once.

use crate::limits::{self, MAX_KERNEL_PRODUCTS};
use crate::numbers::{Heads, Qkv, refuse, refuse_input, refuse_spec, resolve};
use attention::naive::{Inputs, backward, forward, named};
use attention::rows::RowRunner;
use attention::{AttentionSpec, lanes, tiled};
use protocol::{Kernel, KernelJob, Refusal, Stages, StagesJob};

/// Output and log-sum-exp in float32.
pub fn kernel(job: KernelJob, runner: &impl RowRunner) -> Result<Kernel, Refusal> {
    let revision = job.revision;
    let spec = AttentionSpec::new(job.config).map_err(|e| refuse_spec(revision, &e))?;
    limits::check_bytes(revision, "this job", limits::kernel_bytes(spec.shape()))?;
    let products = limits::products(spec.shape());
    if products > MAX_KERNEL_PRODUCTS {
        let message = format!(
            "Work of this job: expected at most {MAX_KERNEL_PRODUCTS} multiplications, got {products}. Take fewer \
             tokens or heads."
        );
        return Err(refuse(revision, "n_k", message));
    }
    let Qkv { q, k, v } = resolve(revision, &spec, job.numbers, Heads::All)?;
    let narrow = |cells: Vec<f64>| cells.into_iter().map(|x| x as f32).collect::<Vec<f32>>();
    let (q, k, v) = (narrow(q), narrow(k), narrow(v));
    let inputs = Inputs::new(&spec, &q, &k, &v).map_err(|e| refuse_input(revision, &e))?;
    let output = tiled::forward::<lanes::Best, _>(&spec, &inputs, runner)
        .map_err(|stopped| refuse(revision, "", stopped.to_string()))?;
    let wide = |cells: Vec<f32>| cells.into_iter().map(f64::from).collect();
    Ok(Kernel {
        revision,
        out: wide(output.out),
        lse: wide(output.lse),
        millis: 0.0,
    })
}

/// Every stage and every gradient in float64.
pub fn stages(job: StagesJob) -> Result<Stages, Refusal> {
    let revision = job.revision;
    let spec = AttentionSpec::new(job.config).map_err(|e| refuse_spec(revision, &e))?;
    limits::check_bytes(revision, "all stages", limits::stages_bytes(spec.shape()))?;
    let qkv = resolve(revision, &spec, job.numbers, Heads::All)?;
    let inputs =
        Inputs::new(&spec, &qkv.q, &qkv.k, &qkv.v).map_err(|e| refuse_input(revision, &e))?;
    let f = forward(&spec, &inputs);
    let g = backward(&spec, &inputs, &f, &job.d_out).map_err(|e| refuse_input(revision, &e))?;
    let (names, tensors) = named(f, g)
        .into_iter()
        .map(|(name, tensor)| (name.to_owned(), tensor))
        .unzip();
    Ok(Stages {
        revision,
        names,
        tensors,
    })
}
