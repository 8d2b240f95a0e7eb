//! The cells of each matrix: numbers, looks and colour scales, made once a trace and not once a hover.

use super::Show;
use crate::{
    canvas::heat::{Heat, Look, Print, Scale, round_up},
    labs::bench::layout::{Matrix, Place},
};
use attention::naive::CellState;
use protocol::{Trace, cell_number, cell_state};
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
        // An empty list of looks means that all are plain, which is the usual case and the quick one.
        let ordinary = cell_number(CellState::Ordinary);
        let weights: Vec<Look> = if trace.states.iter().all(|s| *s == ordinary) {
            Vec::new()
        } else {
            let states = trace.states.iter().enumerate();
            states.map(|(i, s)| weight_look(*s, by_hand(i))).collect()
        };
        let hidden = |i: usize| show.visible.get(i).is_some_and(|v| !v);
        let cells = if show.visible.is_empty() {
            0
        } else {
            trace.states.len()
        };
        let masked: Vec<Look> = (0..cells)
            .map(
                |i| match (hidden(i) && show.hidden.is_infinite(), by_hand(i)) {
                    (true, true) => Look::MaskedByHand,
                    (true, false) => Look::Masked,
                    (false, _) => Look::Plain,
                },
            )
            .collect();
        let mask: Vec<f64> = if show.hidden.is_finite() && !show.visible.is_empty() {
            let added = |i: usize| if hidden(i) { show.hidden } else { 0.0 };
            (0..trace.states.len()).map(added).collect()
        } else {
            // A bias of positions is in the scores already, as the title of S says.
            vec![0.0; trace.states.len()]
        };
        let beyond = |x: &f64| x.abs() >= f64::MAX;
        let scores: Vec<Look> = if trace.scores.iter().any(beyond) {
            let look = |x: &f64| {
                if beyond(x) {
                    Look::Overflow
                } else {
                    Look::Plain
                }
            };
            trace.scores.iter().map(look).collect()
        } else {
            Vec::new()
        };
        let d_v = trace.shape.d_v;
        let sees_nothing = |row: usize| trace.rows.get(row).is_some_and(|r| r.visible == 0);
        let out: Vec<Look> = if trace.summary.empty_rows > 0 && show.hidden.is_infinite() {
            let look = |i: usize| {
                if sees_nothing(i / d_v.max(1)) {
                    Look::Empty
                } else {
                    Look::Plain
                }
            };
            (0..trace.out.len()).map(look).collect()
        } else {
            Vec::new()
        };
        let source =
            |values: &[f64], looks: Vec<Look>, scale: Scale, transposed: bool, print: Print| {
                let counts =
                    |i: usize| matches!(looks.get(i), None | Some(Look::Plain | Look::Overflow));
                let beyond = values.iter().enumerate().filter(|(_, x)| scale.clips(**x));
                let clipped = beyond.filter(|(i, _)| counts(*i)).count();
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
