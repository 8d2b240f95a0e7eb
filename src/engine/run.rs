//! A job on its way to its reply, in steps. Pure: the clock and the threads come from outside.

use crate::limits::{self, MAX_KERNEL_PRODUCTS};
use crate::numbers::{Heads, Qkv, refuse, refuse_input, refuse_spec, resolve};
use crate::view::View;
use attention::naive::{Inputs, Prepared, backward, forward};
use attention::rows::RowRunner;
use attention::{AttentionSpec, lanes, tiled};
use protocol::{Job, Kernel, KernelJob, Refusal, Reply, Revision, Stages, StagesJob};

/// A clock in milliseconds, from any start.
pub type Clock = fn() -> f64;

/// A job that is being computed.
pub struct Running {
    work: Work,
    clock: Clock,
    /// Milliseconds spent on it.
    spent: f64,
}

enum Work {
    /// In many steps.
    View(Box<View>),
    /// In one step: for tests, which wait.
    Kernel(Box<KernelJob>),
    /// In one step.
    Stages(Box<StagesJob>),
    Finished,
}

/// What a step comes to.
#[allow(clippy::large_enum_variant, reason = "one step is alive at a time")]
pub enum Step {
    /// There is more to do.
    More {
        /// Rows done.
        done: u64,
        /// Rows to do.
        total: u64,
    },
    /// The answer, and the head for closer looks if it is one to a view.
    Done(Reply, Option<Prepared>),
}

impl Running {
    /// Validates a job and makes room for it. `None` for what is no computation.
    pub fn start(job: Job, clock: Clock) -> Option<Result<Running, Refusal>> {
        let from = clock();
        let work = match job {
            Job::View(job) => View::new(job).map(|view| Work::View(Box::new(view))),
            Job::Kernel(job) => Ok(Work::Kernel(Box::new(job))),
            Job::Stages(job) => Ok(Work::Stages(Box::new(job))),
            Job::Look { .. } | Job::Cancel | Job::Panic => return None,
        };
        Some(work.map(|work| Running {
            work,
            clock,
            spent: clock() - from,
        }))
    }

    /// Of which request this is.
    pub fn revision(&self) -> Revision {
        match &self.work {
            Work::View(view) => view.revision(),
            Work::Kernel(job) => job.revision,
            Work::Stages(job) => job.revision,
            Work::Finished => Revision::default(),
        }
    }

    /// Works until the clock shows `deadline` or the job is done. Only a view can stop before it is done.
    pub fn step(&mut self, deadline: f64, runner: &impl RowRunner, threads: usize) -> Step {
        let from = (self.clock)();
        let reply = match std::mem::replace(&mut self.work, Work::Finished) {
            Work::View(mut view) => loop {
                if !view.step(runner, threads) {
                    break view
                        .finish()
                        .map(|(trace, head)| (Reply::Trace(trace), Some(head)));
                }
                let now = (self.clock)();
                if now >= deadline {
                    let (done, total) = view.rows();
                    self.work = Work::View(view);
                    self.spent += now - from;
                    return Step::More { done, total };
                }
            },
            Work::Kernel(job) => kernel(*job, runner).map(|kernel| (Reply::Kernel(kernel), None)),
            Work::Stages(job) => stages(*job).map(|stages| (Reply::Stages(Box::new(stages)), None)),
            // A job is stepped until it is done and then dropped; a reply nobody waits for is harmless.
            Work::Finished => Ok((Reply::Cancelled, None)),
        };
        let (mut reply, head) = reply.unwrap_or_else(|refusal| (Reply::Refused(refusal), None));
        let millis = self.spent + (self.clock)() - from;
        match &mut reply {
            Reply::Trace(trace) => trace.millis = millis,
            Reply::Kernel(kernel) => kernel.millis = millis,
            _ => {}
        }
        Step::Done(reply, head)
    }
}

fn kernel(job: KernelJob, runner: &impl RowRunner) -> Result<Kernel, Refusal> {
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

fn stages(job: StagesJob) -> Result<Stages, Refusal> {
    let revision = job.revision;
    let spec = AttentionSpec::new(job.config).map_err(|e| refuse_spec(revision, &e))?;
    limits::check_bytes(revision, "all stages", limits::stages_bytes(spec.shape()))?;
    let qkv = resolve(revision, &spec, job.numbers, Heads::All)?;
    let inputs =
        Inputs::new(&spec, &qkv.q, &qkv.k, &qkv.v).map_err(|e| refuse_input(revision, &e))?;
    let f = forward(&spec, &inputs);
    let g = backward(&spec, &inputs, &f, &job.d_out).map_err(|e| refuse_input(revision, &e))?;
    let mut stages = vec![
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
    stages.extend(g.d_sink.map(|d_sink| ("d_sink", d_sink)));
    let (names, tensors) = stages
        .into_iter()
        .map(|(name, tensor)| (name.to_owned(), tensor))
        .unzip();
    Ok(Stages {
        revision,
        names,
        tensors,
    })
}
