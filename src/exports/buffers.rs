//! The memory that calls share: inputs, results, and what JavaScript hands over in pieces.

use attention::Shape;

/// Numbers that are compared at a time.
pub const STAGE: usize = 1 << 14;

/// The buffers, in the order of their numbers for JavaScript.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Queries `[h, n_q, d_k]`.
    Q,
    /// Keys `[h_kv, n_k, d_k]`.
    K,
    /// Values `[h_kv, n_k, d_v]`.
    V,
    /// The result `[h, n_q, d_v]`.
    Out,
    /// Its log-sum-exp `[h, n_q]`.
    Lse,
    /// The gradient at the result.
    DOut,
    /// The gradient at the queries.
    DQ,
    /// The gradient at the keys.
    DK,
    /// The gradient at the values.
    DV,
    /// The gradient at the sink logits `[h]`.
    DSink,
    /// Where numbers to compare come from.
    Stage,
}

/// Every buffer.
pub const BUFFERS: [Buffer; 11] = [
    Buffer::Q,
    Buffer::K,
    Buffer::V,
    Buffer::Out,
    Buffer::Lse,
    Buffer::DOut,
    Buffer::DQ,
    Buffer::DK,
    Buffer::DV,
    Buffer::DSink,
    Buffer::Stage,
];

/// What a call is to do, which decides the buffers that it needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// The result.
    Forward,
    /// The gradients, after the result.
    Backward,
    /// The result on the keys and values of a cache, which are not in a buffer.
    Cached,
}

impl Buffer {
    /// Numbers that a call needs in it.
    #[must_use]
    pub fn len(self, shape: Shape, work: Work) -> usize {
        match self {
            Self::K | Self::V if work == Work::Cached => 0,
            Self::Q => shape.q_len(),
            Self::K => shape.k_len(),
            Self::V => shape.v_len(),
            Self::Out => shape.out_len(),
            Self::Lse => shape.rows(),
            Self::Stage => STAGE,
            _ if work != Work::Backward => 0,
            Self::DOut => shape.out_len(),
            Self::DQ => shape.q_len(),
            Self::DK => shape.k_len(),
            Self::DV => shape.v_len(),
            Self::DSink => shape.heads,
        }
    }
}

/// All buffers. They only grow.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    pub(crate) all: [Vec<f32>; BUFFERS.len()],
    /// How often they were made anew: they lie somewhere else then, and hold nothing.
    pub(crate) generation: u32,
}

impl Buffers {
    /// Makes them long enough where their memory is; `false` where one has to grow.
    pub(crate) fn suffice(&mut self, shape: Shape, work: Work) -> bool {
        let need = |buffer: Buffer| buffer.len(shape, work);
        let has_room = |(&buffer, held): (&Buffer, &Vec<f32>)| held.capacity() >= need(buffer);
        let enough = BUFFERS.iter().zip(&self.all).all(has_room);
        if enough {
            for (&buffer, held) in BUFFERS.iter().zip(&mut self.all) {
                held.resize(held.len().max(need(buffer)), 0.0);
            }
        }
        enough
    }

    /// Makes them anew for a call that needs `scratch` bytes of working memory too; none at all where there is no room.
    pub(crate) fn grow(&mut self, shape: Shape, work: Work, scratch: usize) -> bool {
        let exact = BUFFERS.map(|buffer| buffer.len(shape, work));
        // What grew once may grow again, as a cache does: a quarter more than it was. Where that is too much, only what
        // this call needs.
        let mut roomy = exact;
        for (need, held) in roomy.iter_mut().zip(&self.all) {
            *need = match *need {
                need if need <= held.capacity() => held.capacity(),
                need => need.max(held.capacity() + held.capacity() / 4),
            };
        }
        self.allocate(roomy, scratch) || self.allocate(exact, scratch)
    }

    fn allocate(&mut self, lengths: [usize; BUFFERS.len()], scratch: usize) -> bool {
        self.generation += 1;
        // Everything is given back first, so that what is free is one piece: wasm memory never shrinks.
        self.all = Default::default();
        let room = self
            .all
            .iter_mut()
            .zip(lengths)
            .all(|(buffer, length)| buffer.try_reserve_exact(length).is_ok())
            && Vec::<u8>::new().try_reserve_exact(scratch).is_ok();
        if room {
            for (buffer, length) in self.all.iter_mut().zip(lengths) {
                buffer.resize(length, 0.0);
            }
        } else {
            self.all = Default::default();
        }
        room
    }
}
