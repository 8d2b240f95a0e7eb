//! A view: everything that the page shows of one head, in float64, row by row.

use crate::limits;
use crate::look::look;
use crate::numbers::{Heads, refuse, refuse_input, refuse_spec, resolve};
use attention::naive::{CellState, Inputs, Prepared, RowBuffers, RowStatus, RowSummary};
use attention::rows::{RowRunner, Serial};
use attention::{AttentionSpec, HeadIdx, KvHeadIdx, QueryIdx, Shape};
use protocol::{CheckJob, Refusal, Revision, RowFacts, Summary, Trace, ViewJob, cell_number};

/// Multiplications between two looks at the clock: a fraction of a millisecond.
const BLOCK_PRODUCTS: usize = 1 << 19;

/// Below this many multiplications threads cost more than they give.
const THREADS_PAY: usize = 1 << 20;

/// What the engine keeps of a view that was answered.
pub struct Kept {
    /// For closer looks.
    pub head: Prepared,
    /// For holding the float32 path against it.
    pub check: CheckJob,
}

/// A view on its way.
pub struct View {
    job: ViewJob,
    head: Prepared,
    trace: Box<Trace>,
    /// What the position schemes add at j − i + n_q − 1; empty without one that does.
    bias: Vec<f64>,
    done: usize,
    block: usize,
    threads_pay: bool,
}

impl View {
    /// Validates the job and makes room for its answer.
    pub fn new(mut job: ViewJob) -> Result<View, Refusal> {
        let revision = job.revision;
        let spec = AttentionSpec::new(job.config.clone()).map_err(|e| refuse_spec(revision, &e))?;
        limits::check_bytes(revision, "this view", limits::view_bytes(&job.config))?;
        let shape = spec.shape();
        if job.head >= shape.heads {
            let last = shape.heads - 1;
            let message = format!(
                "Head: expected 0 to {last}, got {}. Choose one of these.",
                job.head
            );
            return Err(refuse(revision, "head", message));
        }
        let head = HeadIdx(job.head);
        let numbers = std::mem::replace(
            &mut job.numbers,
            protocol::Numbers::Given {
                q: Vec::new(),
                k: Vec::new(),
                v: Vec::new(),
            },
        );
        let qkv = resolve(revision, &spec, numbers, Heads::One(head))?;
        let inputs =
            Inputs::new(&spec, &qkv.q, &qkv.k, &qkv.v).map_err(|e| refuse_input(revision, &e))?;
        let prepared = Prepared::new(&spec, &inputs, head);
        let KvHeadIdx(kv) = shape.kv_head(head);
        let of_head = |cells: &[f64], at: usize, n: usize, width: usize| {
            cells[at * n * width..][..n * width].to_vec()
        };
        let cells = shape.n_q * shape.n_k;
        let trace = Box::new(Trace {
            revision,
            shape: shape.into(),
            head: job.head,
            scale: spec.scale(),
            q: of_head(&qkv.q, head.0, shape.n_q, shape.d_k),
            k: of_head(&qkv.k, kv, shape.n_k, shape.d_k),
            v: of_head(&qkv.v, kv, shape.n_k, shape.d_v),
            q_pos: prepared.q_pos().to_vec(),
            k_pos: prepared.k_pos().to_vec(),
            scores: vec![0.0; cells],
            bias: if spec.has_bias() {
                vec![0.0; cells]
            } else {
                Vec::new()
            },
            weights: vec![0.0; cells],
            states: vec![0.0; cells],
            out: vec![0.0; shape.n_q * shape.d_v],
            rows: vec![RowFacts::default(); shape.n_q],
            summary: Summary::default(),
            row: Default::default(),
            cell: Default::default(),
            millis: 0.0,
        });
        let per_row = shape.n_k.saturating_mul(shape.d_k + shape.d_v);
        let first = shape.n_q as isize - 1;
        let offsets = (0..shape.n_q + shape.n_k - 1).map(|at| first - at as isize);
        Ok(View {
            bias: if spec.has_bias() {
                offsets
                    .map(|offset| spec.relative_bias(head, offset))
                    .collect()
            } else {
                Vec::new()
            },
            job,
            head: prepared,
            trace,
            done: 0,
            block: (BLOCK_PRODUCTS / per_row).max(1),
            threads_pay: per_row.saturating_mul(shape.n_q) >= THREADS_PAY,
        })
    }

    /// Rows done, and rows to do.
    pub fn rows(&self) -> (u64, u64) {
        (self.done as u64, self.head.spec().shape().n_q as u64)
    }

    /// Of which request this is.
    pub fn revision(&self) -> Revision {
        self.job.revision
    }

    /// Does a block of rows for each thread. False where nothing is left to do but to [`View::finish`].
    pub fn step(&mut self, runner: &impl RowRunner, threads: usize) -> bool {
        if self.done == self.head.spec().shape().n_q {
            return false;
        }
        if self.threads_pay {
            self.some_rows(runner, self.block * threads.max(1));
        } else {
            self.some_rows(&Serial, self.block);
        }
        true
    }

    /// The answer, and what stays of it. Fails where the place to look at does not exist.
    pub fn finish(self) -> Result<(Box<Trace>, Kept), Refusal> {
        let View {
            job,
            head,
            mut trace,
            ..
        } = self;
        trace.summary = summary(head.spec().shape(), &trace);
        (trace.row, trace.cell) = look(job.revision, &head, &job.look)?;
        let check = CheckJob {
            revision: job.revision,
            config: job.config,
            head: job.head,
            overflowed: beyond_float32(&trace),
            q: trace.q.clone(),
            k: trace.k.clone(),
            v: trace.v.clone(),
            out: trace.out.clone(),
        };
        Ok((trace, Kept { head, check }))
    }

    fn some_rows(&mut self, runner: &impl RowRunner, count: usize) {
        let shape = self.head.spec().shape();
        let (from, n_k) = (self.done, shape.n_k);
        let until = (from + count).min(shape.n_q);
        let trace = &mut *self.trace;
        let scores = trace.scores[from * n_k..until * n_k].chunks_exact_mut(n_k);
        let weights = trace.weights[from * n_k..until * n_k].chunks_exact_mut(n_k);
        let states = trace.states[from * n_k..until * n_k].chunks_exact_mut(n_k);
        let out = trace.out[from * shape.d_v..until * shape.d_v].chunks_exact_mut(shape.d_v);
        let rows = trace.rows[from..until].iter_mut();
        let tasks: Vec<_> = (from..until)
            .zip(scores.zip(weights))
            .zip(states.zip(out.zip(rows)))
            .collect();
        let head = &self.head;
        runner.for_each(
            tasks.into_iter(),
            || RowBuffers::new(head.spec()),
            |row, ((i, (scores, weights)), (states, (out, facts)))| {
                let summary = head.row(QueryIdx(i), row);
                scores.copy_from_slice(&row.biased);
                weights.copy_from_slice(&row.weights);
                out.copy_from_slice(&row.out);
                for (j, state) in states.iter_mut().enumerate() {
                    let of = CellState::of_weight(
                        row.weights[j],
                        row.biased[j],
                        row.visible[j],
                        summary.status,
                    );
                    *state = cell_number(of);
                }
                *facts = row_facts(&summary);
            },
        );
        if !self.bias.is_empty() {
            for i in from..until {
                trace.bias[i * n_k..][..n_k]
                    .copy_from_slice(&self.bias[shape.n_q - 1 - i..][..n_k]);
            }
        }
        self.done = until;
    }
}

/// Visible scores that float32 cannot hold.
fn beyond_float32(trace: &Trace) -> usize {
    let hidden = [CellState::Masked, CellState::RowSeesNothing].map(cell_number);
    let beyond = |(score, state): &(&f64, &f64)| {
        score.abs() > f64::from(f32::MAX) && !hidden.contains(state)
    };
    let cells = trace.scores.iter().zip(&trace.states);
    cells.filter(beyond).count()
}

fn row_facts(row: &RowSummary) -> RowFacts {
    let (top_key, top_weight) = row
        .largest
        .map_or((0, 0.0), |(key, weight)| (key.0, weight));
    RowFacts {
        lse: row.lse,
        max: row.max,
        entropy: row.entropy,
        row_sum: row.row_sum,
        top_key,
        top_weight,
        visible: row.visible,
        underflowed: row.underflowed,
        jacobian_norm: row.jacobian_norm,
        sink_weight: row.sink_weight,
        overflowed: row.status == RowStatus::Overflowed,
    }
}

/// Means over the rows in which something takes part; a column's weight is averaged over the same rows.
fn summary(shape: Shape, trace: &Trace) -> Summary {
    let empty = cell_number(CellState::RowSeesNothing);
    let sees = |i: usize| trace.states[i * shape.n_k] != empty;
    let rows: Vec<usize> = (0..shape.n_q).filter(|&i| sees(i)).collect();
    if rows.is_empty() {
        return Summary {
            empty_rows: shape.n_q,
            ..Summary::default()
        };
    }
    let count = rows.len() as f64;
    let mean =
        |of: fn(&RowFacts) -> f64| rows.iter().map(|&i| of(&trace.rows[i])).sum::<f64>() / count;
    let mut columns = vec![0.0; shape.n_k];
    for &i in &rows {
        for (column, weight) in columns
            .iter_mut()
            .zip(&trace.weights[i * shape.n_k..][..shape.n_k])
        {
            *column += weight;
        }
    }
    let mut top_column = (0, 0.0);
    for (j, sum) in columns.into_iter().enumerate() {
        if sum / count > top_column.1 {
            top_column = (j, sum / count);
        }
    }
    Summary {
        mean_top_weight: mean(|r| r.top_weight),
        mean_jacobian_norm: mean(|r| r.jacobian_norm),
        mean_entropy: mean(|r| r.entropy),
        top_column,
        empty_rows: shape.n_q - rows.len(),
    }
}
