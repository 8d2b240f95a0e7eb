//! The cells of each matrix: numbers, looks and colour scales, made once a trace and not once a hover.

use super::Show;
use crate::{
    canvas::heat::{Heat, Look, Print, Scale, round_up},
    labs::bench::layout::{Matrix, Place},
};
use attention::naive::CellState;
use protocol::{Trace, cell_state};
use std::sync::Arc;

/// The heat of each matrix, with its scale: made once a trace, not once a hover.
#[derive(Clone, Debug, PartialEq)]
pub struct Heats {
    entries: Vec<(Matrix, Source)>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) values: Arc<Vec<f64>>,
    looks: Arc<Vec<Look>>,
    pub(super) scale: Scale,
    transposed: bool,
    pub(super) clipped: usize,
    print: Print,
}

/// How a weight's cell looks.
fn weight_look(state: f64, by_hand: bool) -> Look {
    match cell_state(state) {
        CellState::Masked if by_hand => Look::MaskedByHand,
        CellState::Masked => Look::Masked,
        CellState::RowSeesNothing => Look::Empty,
        CellState::Underflowed => Look::Underflow,
        CellState::Overflowed => Look::Overflow,
        CellState::Ordinary | CellState::Zero => Look::Plain,
    }
}

impl Heats {
    /// The heats of a trace.
    pub fn new(trace: &Trace, show: &Show) -> Heats {
        let (q, k) = if show.as_used {
            (&trace.q_pos, &trace.k_pos)
        } else {
            (&trace.q, &trace.k)
        };
        let given = if show.typed && !show.as_used {
            Print::Typed
        } else {
            Print::Computed
        };
        let qk = Scale::signed_for(q.iter().chain(k));
        let vo = Scale::signed_for(trace.v.iter().chain(&trace.out));
        let by_hand = |i: usize| show.by_hand.get(i).copied().unwrap_or(false);
        let weights: Vec<Look> = trace
            .states
            .iter()
            .enumerate()
            .map(|(i, s)| weight_look(*s, by_hand(i)))
            .collect();
        let hidden = |i: usize| show.visible.get(i).is_some_and(|v| !v);
        let masked: Vec<Look> = (0..trace.states.len())
            .map(
                |i| match (hidden(i) && show.hidden.is_infinite(), by_hand(i)) {
                    (true, true) => Look::MaskedByHand,
                    (true, false) => Look::Masked,
                    (false, _) => Look::Plain,
                },
            )
            .collect();
        let mask: Vec<f64> = (0..trace.states.len())
            .map(|i| {
                let bias = trace.bias.get(i).copied().unwrap_or(0.0);
                if show.hidden.is_finite() && hidden(i) {
                    bias + show.hidden
                } else {
                    bias
                }
            })
            .collect();
        let scores: Vec<Look> = trace
            .scores
            .iter()
            .map(|x| {
                if x.abs() >= f64::MAX {
                    Look::Overflow
                } else {
                    Look::Plain
                }
            })
            .collect();
        let d_v = trace.shape.d_v;
        let out: Vec<Look> = (0..trace.out.len())
            .map(|i| {
                let empty = trace
                    .rows
                    .get(i / d_v.max(1))
                    .is_some_and(|r| r.visible == 0)
                    && show.hidden.is_infinite();
                if empty { Look::Empty } else { Look::Plain }
            })
            .collect();
        let source =
            |values: &[f64], looks: Vec<Look>, scale: Scale, transposed: bool, print: Print| {
                let clipped = values
                    .iter()
                    .enumerate()
                    .filter(|(i, x)| {
                        matches!(
                            looks.get(*i).copied().unwrap_or_default(),
                            Look::Plain | Look::Overflow
                        ) && scale.clips(**x)
                    })
                    .count();
                Source {
                    values: Arc::new(values.to_vec()),
                    looks: Arc::new(looks),
                    scale,
                    transposed,
                    clipped,
                    print,
                }
            };
        let scale_s = Scale::signed_for(&trace.scores);
        let scale_m = Scale::signed_for(mask.iter().filter(|x| x.abs() < 1e3));
        // Weights run to 1. In long rows of small weights that would be a blank panel: there the end is the next round
        // number above the largest, and is printed.
        let largest = trace.weights.iter().copied().fold(0.0, f64::max);
        let long = trace.shape.n_k > 32 && largest > 0.0 && largest < 0.5;
        let max = if long { round_up(largest) } else { 1.0 };
        let weight_scale = Scale::Weights {
            max,
            root: show.root_weights,
        };
        Heats {
            entries: vec![
                (Matrix::Q, source(q, vec![], qk, false, given)),
                (Matrix::K, source(k, vec![], qk, true, given)),
                (
                    Matrix::S,
                    source(&trace.scores, scores, scale_s, false, Print::Computed),
                ),
                (
                    Matrix::M,
                    source(&mask, masked, scale_m, false, Print::Mask),
                ),
                (
                    Matrix::A,
                    source(
                        &trace.weights,
                        weights,
                        weight_scale,
                        false,
                        Print::Computed,
                    ),
                ),
                (
                    Matrix::V,
                    source(
                        &trace.v,
                        vec![],
                        vo,
                        false,
                        if show.typed {
                            Print::Typed
                        } else {
                            Print::Computed
                        },
                    ),
                ),
                (
                    Matrix::O,
                    source(&trace.out, out, vo, false, Print::Computed),
                ),
            ],
        }
    }

    pub(super) fn get(&self, matrix: Matrix) -> Option<&Source> {
        self.entries
            .iter()
            .find(|(m, _)| *m == matrix)
            .map(|(_, s)| s)
    }

    /// The colour scale of a matrix.
    pub fn scale(&self, matrix: Matrix) -> Option<Scale> {
        self.get(matrix).map(|s| s.scale)
    }

    /// The number and the look of a cell of the screen.
    pub fn cell(
        &self,
        matrix: Matrix,
        row: usize,
        col: usize,
        size: (usize, usize),
    ) -> Option<(f64, Look)> {
        let source = self.get(matrix)?;
        let at = if source.transposed {
            col * size.0 + row
        } else {
            row * size.1 + col
        };
        Some((
            *source.values.get(at)?,
            source.looks.get(at).copied().unwrap_or_default(),
        ))
    }

    pub(super) fn heat(
        &self,
        matrix: Matrix,
        place: &Place,
        numbers: bool,
        stale: bool,
    ) -> Option<Heat> {
        let source = self.get(matrix)?;
        Some(Heat {
            x: place.rect.x,
            y: place.rect.y,
            cell_w: place.cell_w(),
            cell_h: place.cell_h(),
            rows: place.rows,
            cols: place.cols,
            values: source.values.clone(),
            transposed: source.transposed,
            looks: source.looks.clone(),
            scale: source.scale,
            print: numbers.then_some(source.print),
            stale,
        })
    }
}
