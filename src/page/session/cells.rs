//! Single cells of the editable tensors of the shown head.

use super::{Data, Session};
use attention::HeadIdx;
use std::{ops::Range, sync::Arc};

/// The tensors a reader can edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tensor {
    /// Queries, `[n_q, d_k]` per head.
    Q,
    /// Keys, `[n_k, d_k]` per key/value head. On the screen transposed.
    K,
    /// Values, `[n_k, d_v]` per key/value head.
    V,
    /// Tokens, `[n, d_model]`.
    X,
    /// Query projection, `[d_model, d_k]` per head.
    Wq,
    /// Key projection, `[d_model, d_k]` per key/value head.
    Wk,
    /// Value projection, `[d_model, d_v]` per key/value head.
    Wv,
}

impl Tensor {
    /// All of them.
    pub const ALL: [Tensor; 7] = [
        Tensor::Q,
        Tensor::K,
        Tensor::V,
        Tensor::X,
        Tensor::Wq,
        Tensor::Wk,
        Tensor::Wv,
    ];

    /// Its symbol in prose and messages.
    pub fn symbol(self) -> &'static str {
        match self {
            Tensor::Q => "Q",
            Tensor::K => "K",
            Tensor::V => "V",
            Tensor::X => "X",
            Tensor::Wq => "W_Q",
            Tensor::Wk => "W_K",
            Tensor::Wv => "W_V",
        }
    }
}

/// A cell of a tensor of the shown head, in the tensor's own rows and columns (K not transposed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CellRef {
    /// Which tensor.
    pub tensor: Tensor,
    /// Row.
    pub row: usize,
    /// Column.
    pub col: usize,
}

impl Session {
    /// Rows and columns of a tensor as one head sees it; `None` where the source has no such tensor to edit.
    pub fn size_of(&self, tensor: Tensor) -> Option<(usize, usize)> {
        let s = self.shape;
        match (&self.data, tensor) {
            (Data::Given { .. }, Tensor::Q) => Some((s.n_q, s.d_k)),
            (Data::Given { .. }, Tensor::K) => Some((s.n_k, s.d_k)),
            (Data::Given { .. }, Tensor::V) => Some((s.n_k, s.d_v)),
            (Data::Tokens { d_model, .. }, Tensor::X) => Some((s.n_q, *d_model)),
            (Data::Tokens { d_model, .. }, Tensor::Wq | Tensor::Wk) => Some((*d_model, s.d_k)),
            (Data::Tokens { d_model, .. }, Tensor::Wv) => Some((*d_model, s.d_v)),
            _ => None,
        }
    }

    /// The numbers of a tensor for the shown head, row-major.
    pub fn numbers(&self, tensor: Tensor) -> Option<&[f64]> {
        let range = self.range(tensor)?;
        self.array(tensor)?.get(range)
    }

    /// The number in a cell.
    pub fn value(&self, cell: CellRef) -> Option<f64> {
        let (rows, cols) = self.size_of(cell.tensor)?;
        if cell.row >= rows || cell.col >= cols {
            return None;
        }
        self.numbers(cell.tensor)?
            .get(cell.row * cols + cell.col)
            .copied()
    }

    fn range(&self, tensor: Tensor) -> Option<Range<usize>> {
        let (rows, cols) = self.size_of(tensor)?;
        let index = match tensor {
            Tensor::Q | Tensor::Wq => self.head,
            Tensor::K | Tensor::V | Tensor::Wk | Tensor::Wv => {
                self.shape.kv_head(HeadIdx(self.head)).0
            }
            Tensor::X => 0,
        };
        Some(index * rows * cols..(index + 1) * rows * cols)
    }

    fn array(&self, tensor: Tensor) -> Option<&Arc<Vec<f64>>> {
        self.data.array(tensor)
    }

    /// Writes a block of numbers whose first cell is `at`. The caller has checked that it fits.
    pub(super) fn write(&mut self, at: CellRef, block: &[Vec<f64>]) -> Option<()> {
        let (_, cols) = self.size_of(at.tensor)?;
        let start = self.range(at.tensor)?.start;
        let array = self.data.array_mut(at.tensor)?;
        for (r, row) in block.iter().enumerate() {
            for (c, &value) in row.iter().enumerate() {
                if let Some(slot) = array.get_mut(start + (at.row + r) * cols + at.col + c) {
                    if *slot != value {
                        self.edited += 1;
                    }
                    *slot = value;
                }
            }
        }
        Some(())
    }
}

impl Data {
    /// All heads of a tensor; `None` where there is no such tensor.
    pub fn array(&self, tensor: Tensor) -> Option<&Arc<Vec<f64>>> {
        match (self, tensor) {
            (Data::Given { q, .. }, Tensor::Q) => Some(q),
            (Data::Given { k, .. }, Tensor::K) => Some(k),
            (Data::Given { v, .. }, Tensor::V) => Some(v),
            (Data::Tokens { x, .. }, Tensor::X) => Some(x),
            (Data::Tokens { w_q, .. }, Tensor::Wq) => Some(w_q),
            (Data::Tokens { w_k, .. }, Tensor::Wk) => Some(w_k),
            (Data::Tokens { w_v, .. }, Tensor::Wv) => Some(w_v),
            _ => None,
        }
    }

    /// The same to be written into: this session's own, whoever shares it now.
    pub fn array_mut(&mut self, tensor: Tensor) -> Option<&mut Vec<f64>> {
        let array = match (self, tensor) {
            (Data::Given { q, .. }, Tensor::Q) => q,
            (Data::Given { k, .. }, Tensor::K) => k,
            (Data::Given { v, .. }, Tensor::V) => v,
            (Data::Tokens { x, .. }, Tensor::X) => x,
            (Data::Tokens { w_q, .. }, Tensor::Wq) => w_q,
            (Data::Tokens { w_k, .. }, Tensor::Wk) => w_k,
            (Data::Tokens { w_v, .. }, Tensor::Wv) => w_v,
            _ => return None,
        };
        Some(Arc::make_mut(array))
    }
}
