//! Memory: what a call takes is what it says, and a call like the last one takes nothing.

#![allow(clippy::unwrap_used)] // that is how a test fails

use attention::lanes::Best;
use attention::rows::Serial;
use attention::tiled::{self, Gradients, Workspace};
use attention::{AttentionSpec, Config, Inputs, MaskUse, PositionUse, Shape};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's, which counts for the thread that asks.
struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is left to the system's allocator; the counters are plain cells without destructors.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        BYTES.set(BYTES.get().wrapping_add(layout.size()));
        // SAFETY: handed on as it came.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        BYTES.set(BYTES.get().wrapping_sub(layout.size()));
        // SAFETY: handed on as it came.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

struct Call {
    spec: AttentionSpec,
    tensors: [Vec<f32>; 4],
    out: Vec<f32>,
    lse: Vec<f32>,
    gradients: Gradients,
    workspace: Workspace,
}

impl Call {
    fn new(config: Config) -> Self {
        let spec = AttentionSpec::new(config).unwrap();
        let shape = spec.shape();
        let cells = |n: usize| (0..n).map(|i| (i % 17) as f32 * 0.1 - 0.8).collect();
        Self {
            tensors: [shape.q_len(), shape.k_len(), shape.v_len(), shape.out_len()].map(cells),
            out: vec![0.0; shape.out_len()],
            lse: vec![0.0; shape.rows()],
            gradients: Gradients::zero(&spec),
            workspace: Workspace::new(),
            spec,
        }
    }

    fn forward(&mut self) {
        let [q, k, v, _] = &self.tensors;
        let inputs = Inputs::new(&self.spec, q, k, v).unwrap();
        let (out, lse) = (&mut self.out, &mut self.lse);
        tiled::forward_into::<Best, _>(&self.spec, &inputs, &Serial, &mut self.workspace, out, lse)
            .unwrap();
    }

    fn backward(&mut self) {
        let [q, k, v, d_out] = &self.tensors;
        let inputs = Inputs::new(&self.spec, q, k, v).unwrap();
        tiled::backward_into::<Best, _>(
            &self.spec,
            &inputs,
            (&self.out, &self.lse),
            d_out,
            &Serial,
            &mut self.workspace,
            &mut self.gradients,
        )
        .unwrap();
    }
}

/// What `work` allocates and keeps: how often, and how many bytes.
fn counted(work: impl FnOnce()) -> (usize, usize) {
    let (calls, bytes) = (CALLS.get(), BYTES.get());
    work();
    (CALLS.get() - calls, BYTES.get().wrapping_sub(bytes))
}

fn configs() -> Vec<Config> {
    let shape = |heads, n_q, n_k, d_k, d_v| Shape {
        heads,
        kv_heads: 1,
        n_q,
        n_k,
        d_k,
        d_v,
    };
    let causal = vec![MaskUse::new("causal", &[("align", "bottom_right".into())]).unwrap()];
    let shapes = [
        shape(1, 16, 16, 8, 8),
        shape(2, 300, 300, 64, 64),
        shape(1, 70, 500, 33, 7),
        shape(4, 1, 3_000, 64, 64),
        shape(1, 3, 9, 5, 130),
    ];
    let plain = shapes.map(Config::new);
    let masked = shapes.map(|shape| Config {
        masks: causal.clone(),
        sink: Some(vec![0.5; shape.heads]),
        soft_cap: Some(20.0),
        ..Config::new(shape)
    });
    let alibi = vec![PositionUse::new("alibi", &[]).unwrap()];
    let biased = shapes.map(|shape| Config {
        positions: alibi.clone(),
        ..Config::new(shape)
    });
    plain.into_iter().chain(masked).chain(biased).collect()
}

#[test]
fn a_call_takes_what_it_says() {
    for config in configs() {
        let mut call = Call::new(config);
        let shape = call.spec.shape();
        let (_, bytes) = counted(|| call.forward());
        let said = tiled::scratch_bytes(&call.spec, 1);
        assert!(
            bytes <= said && said <= bytes + 1024,
            "{shape:?}: forward took {bytes}, said {said}"
        );
        call.workspace = Workspace::new();
        let (_, bytes) = counted(|| call.backward());
        let said = tiled::backward_scratch_bytes(&call.spec, 1);
        assert!(
            bytes <= said && said <= bytes + 1024,
            "{shape:?}: backward took {bytes}, said {said}"
        );
    }
}

#[test]
fn a_call_like_the_last_takes_nothing() {
    for config in configs() {
        let mut call = Call::new(config);
        call.forward();
        assert_eq!(
            counted(|| call.forward()),
            (0, 0),
            "{:?}",
            call.spec.shape()
        );
    }
}

#[test]
fn memory_does_not_grow_with_the_length() {
    let of = |n: usize, positions: Vec<PositionUse>| {
        let config = Config {
            positions,
            ..Config::new(Shape::square(n, 64))
        };
        tiled::scratch_bytes(&AttentionSpec::new(config).unwrap(), 1)
    };
    assert_eq!(of(1_000, Vec::new()), of(60_000, Vec::new()));
    assert!(of(60_000, Vec::new()) < 2_000_000);
    // Turned queries and keys are copies of 4 bytes a number.
    let rope = vec![PositionUse::new("rope", &[]).unwrap()];
    let turned = of(1_000, rope) - of(1_000, Vec::new());
    assert_eq!(turned, 2 * 4 * 1_000 * 64);
}
