//! The pipeline as a picture: pure functions from a trace and a layout to marks.

use super::{
    layout::{BRACKET, Layout, Matrix, Place},
    names::{self, Label},
};
use crate::{
    canvas::{
        heat::{Heat, Look, Print, Scale},
        scene::{Anchor, Ink, Mark, Rect, Run, Scene, Type},
    },
    format,
};
use attention::naive::CellState;
use protocol::{Trace, cell_state};
use std::sync::Arc;

/// Everything that the picture shows beside its numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Show {
    /// Labels of the queries; empty for q₀, q₁, …
    pub queries: Arc<[String]>,
    /// Labels of the keys; empty for k₀, k₁, …
    pub keys: Arc<[String]>,
    /// The band: query and key.
    pub band: (usize, usize),
    /// Whether the band is pinned (a thick frame) or follows the pointer (a thin one).
    pub pinned: bool,
    /// The cell under the keyboard's cursor, with focus.
    pub cursor: Option<(Matrix, usize, usize)>,
    /// The cell under the pointer.
    pub pointed: Option<(Matrix, usize, usize)>,
    /// Words for the mask's title: "none, all 0".
    pub mask_words: String,
    /// What hidden scores become: −∞, or a finite number.
    pub hidden: f64,
    /// Cells that the masks leave visible, `[n_q, n_k]`; empty where all are.
    pub visible: Arc<Vec<bool>>,
    /// Cells hidden by hand, `[n_q, n_k]`, true where hidden; empty where none is.
    pub by_hand: Arc<Vec<bool>>,
    /// Colours of weights by their square root.
    pub root_weights: bool,
    /// Q and K as the scores use them.
    pub as_used: bool,
    /// Whether S is capped or biased, for its title.
    pub score_words: String,
    /// Whether the numbers of Q, K and V were typed (printed as typed) or computed.
    pub typed: bool,
    /// The numbers are the last ones; new ones are on their way or could not be had.
    pub stale: bool,
}

/// The heat of each matrix, with its scale: made once a trace, not once a hover.
#[derive(Clone, Debug, PartialEq)]
pub struct Heats {
    entries: Vec<(Matrix, Source)>,
}

#[derive(Clone, Debug, PartialEq)]
struct Source {
    values: Arc<Vec<f64>>,
    looks: Arc<Vec<Look>>,
    scale: Scale,
    transposed: bool,
    clipped: usize,
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
        let (q, k) = if show.as_used { (&trace.q_pos, &trace.k_pos) } else { (&trace.q, &trace.k) };
        let given = if show.typed && !show.as_used { Print::Typed } else { Print::Computed };
        let qk = Scale::signed_for(q.iter().chain(k));
        let vo = Scale::signed_for(trace.v.iter().chain(&trace.out));
        let by_hand = |i: usize| show.by_hand.get(i).copied().unwrap_or(false);
        let weights: Vec<Look> = trace.states.iter().enumerate().map(|(i, s)| weight_look(*s, by_hand(i))).collect();
        let hidden = |i: usize| show.visible.get(i).is_some_and(|v| !v);
        let masked: Vec<Look> = (0..trace.states.len())
            .map(|i| match (hidden(i) && show.hidden.is_infinite(), by_hand(i)) {
                (true, true) => Look::MaskedByHand,
                (true, false) => Look::Masked,
                (false, _) => Look::Plain,
            })
            .collect();
        let mask: Vec<f64> = (0..trace.states.len())
            .map(|i| {
                let bias = trace.bias.get(i).copied().unwrap_or(0.0);
                if show.hidden.is_finite() && hidden(i) { bias + show.hidden } else { bias }
            })
            .collect();
        let scores: Vec<Look> =
            trace.scores.iter().map(|x| if x.abs() >= f64::MAX { Look::Overflow } else { Look::Plain }).collect();
        let d_v = trace.shape.d_v;
        let out: Vec<Look> = (0..trace.out.len())
            .map(|i| {
                let empty = trace.rows.get(i / d_v.max(1)).is_some_and(|r| r.visible == 0) && show.hidden.is_infinite();
                if empty { Look::Empty } else { Look::Plain }
            })
            .collect();
        let source = |values: &[f64], looks: Vec<Look>, scale: Scale, transposed: bool, print: Print| {
            let clipped = values
                .iter()
                .enumerate()
                .filter(|(i, x)| {
                    matches!(looks.get(*i).copied().unwrap_or_default(), Look::Plain | Look::Overflow) && scale.clips(**x)
                })
                .count();
            Source { values: Arc::new(values.to_vec()), looks: Arc::new(looks), scale, transposed, clipped, print }
        };
        let scale_s = Scale::signed_for(&trace.scores);
        let scale_m = Scale::signed_for(mask.iter().filter(|x| x.abs() < 1e3));
        let weight_scale = Scale::Weights { max: 1.0, root: show.root_weights };
        Heats {
            entries: vec![
                (Matrix::Q, source(q, vec![], qk, false, given)),
                (Matrix::K, source(k, vec![], qk, true, given)),
                (Matrix::S, source(&trace.scores, scores, scale_s, false, Print::Computed)),
                (Matrix::M, source(&mask, masked, scale_m, false, Print::Mask)),
                (Matrix::A, source(&trace.weights, weights, weight_scale, false, Print::Computed)),
                (Matrix::V, source(&trace.v, vec![], vo, false, if show.typed { Print::Typed } else { Print::Computed })),
                (Matrix::O, source(&trace.out, out, vo, false, Print::Computed)),
            ],
        }
    }

    fn get(&self, matrix: Matrix) -> Option<&Source> {
        self.entries.iter().find(|(m, _)| *m == matrix).map(|(_, s)| s)
    }

    /// The colour scale of a matrix.
    pub fn scale(&self, matrix: Matrix) -> Option<Scale> {
        self.get(matrix).map(|s| s.scale)
    }

    /// The number and the look of a cell of the screen.
    pub fn cell(&self, matrix: Matrix, row: usize, col: usize, size: (usize, usize)) -> Option<(f64, Look)> {
        let source = self.get(matrix)?;
        let at = if source.transposed { col * size.0 + row } else { row * size.1 + col };
        Some((*source.values.get(at)?, source.looks.get(at).copied().unwrap_or_default()))
    }

    fn heat(&self, matrix: Matrix, place: &Place, numbers: bool, stale: bool) -> Option<Heat> {
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

/// Bracket and text colour of a matrix.
pub fn hue(matrix: Matrix) -> (Ink, Ink) {
    match matrix {
        Matrix::Q | Matrix::Wq => (Ink::Q, Ink::QText),
        Matrix::K | Matrix::Wk => (Ink::K, Ink::KText),
        Matrix::V | Matrix::Wv => (Ink::V, Ink::VText),
        Matrix::A => (Ink::A, Ink::AText),
        Matrix::S | Matrix::M => (Ink::Ink3, Ink::Ink),
        Matrix::O | Matrix::X => (Ink::Ink, Ink::Ink),
    }
}

/// The picture.
pub fn pipeline(layout: &Layout, trace: &Trace, heats: &Heats, show: &Show) -> Scene {
    let mut art = Art { scene: Scene::new(layout.width, layout.height), layout, trace, heats, show };
    art.bands();
    for (matrix, place) in &layout.places {
        art.matrix(*matrix, place);
    }
    art.row_labels();
    art.col_labels();
    if layout.narrow.is_none() {
        art.sums();
        art.arrows();
        art.value_label();
    } else {
        art.stage_sums();
    }
    art.frames();
    art.scene
}

struct Art<'a> {
    scene: Scene,
    layout: &'a Layout,
    trace: &'a Trace,
    heats: &'a Heats,
    show: &'a Show,
}

impl Art<'_> {
    fn place(&self, matrix: Matrix) -> Option<Place> {
        self.layout.place(matrix).copied()
    }

    /// The marker's bands lie behind labels and between matrices; no number is tinted by them.
    fn bands(&mut self) {
        let (row, col) = self.show.band;
        let lead = self.layout.narrow.and_then(|m| self.place(m));
        if let Some(place) = self.place(Matrix::S).filter(|_| self.layout.narrow.is_none()).or(lead) {
            let rows_are_queries = self.layout.narrow.is_none_or(|m| !matches!(m, Matrix::K | Matrix::V));
            let row = if rows_are_queries { row } else if self.layout.narrow == Some(Matrix::V) { col } else { usize::MAX };
            if row < place.rows {
                let band = place.row(row);
                let h = band.h.max(16.0);
                let y = band.y + band.h / 2.0 - h / 2.0;
                self.scene.fill(Rect::new(0.0, y, self.layout.width, h), Ink::Band);
            }
        }
        for matrix in [Matrix::S, Matrix::A, Matrix::K, Matrix::M] {
            let narrow = self.layout.narrow;
            let shows = match narrow {
                None => matrix == Matrix::S,
                Some(stage) => matrix == stage,
            };
            if let Some(place) = self.place(matrix).filter(|p| shows && col < p.cols) {
                let column = place.col(col);
                let w = column.w.max(14.0);
                let x = column.x + column.w / 2.0 - w / 2.0;
                let y = place.rect.y - 2.0 * BRACKET - self.layout.col_label_room;
                self.scene.fill(Rect::new(x, y, w, self.layout.col_label_room + BRACKET), Ink::Band);
            }
        }
    }

    fn matrix(&mut self, matrix: Matrix, place: &Place) {
        let peeking = self.layout.narrow.is_some_and(|stage| stage != matrix);
        // Nothing of the band may shine through the gaps between cells.
        self.scene.fill(place.rect, Ink::Paper);
        if let Some(heat) = self.heats.heat(matrix, place, self.layout.numbers && !peeking, self.show.stale) {
            self.scene.marks.push(Mark::Heat(Box::new(heat)));
        }
        self.bracket(place.rect, hue(matrix).0);
        if !peeking {
            self.title(matrix, place);
            self.scale_bar(matrix, place);
        }
    }

    fn bracket(&mut self, rect: Rect, ink: Ink) {
        let r = rect.grown(BRACKET);
        let tick = 5.0;
        for (x, inward) in [(r.x, tick), (r.right(), -tick)] {
            self.scene.line(&[(x + inward, r.y), (x, r.y), (x, r.bottom()), (x + inward, r.bottom())], ink, 1.5);
        }
    }

    fn title(&mut self, matrix: Matrix, place: &Place) {
        let text = hue(matrix).1;
        let (rows, cols) = (place.rows, place.cols);
        let mut runs = vec![Run::new(matrix.symbol(), Type::TITLE, text)];
        let quiet = |s: String| Run::new(s, Type::LABEL, Ink::Ink2);
        let loud = |s: &str, ink: Ink| Run::new(s, Type::LABEL, ink);
        match matrix {
            Matrix::S => {
                runs.push(loud(" = ", Ink::Ink));
                runs.push(loud("Q", Ink::QText));
                runs.push(loud("Kᵀ", Ink::KText));
                runs.push(Run::new(format!(" × {}", format::short(self.trace.scale)), Type::LABEL, Ink::Ink));
                if !self.show.score_words.is_empty() {
                    runs.push(Run::new(format!(", {}", self.show.score_words), Type::LABEL, Ink::Ink));
                }
            }
            Matrix::A => {
                let words = if place.rect.w > 150.0 { " = softmax of each row" } else { " = softmax" };
                runs.push(loud(words, Ink::Ink));
            }
            Matrix::O => {
                runs.push(loud(" = ", Ink::Ink));
                runs.push(loud("A", Ink::AText));
                runs.push(loud("V", Ink::VText));
            }
            Matrix::M => runs.push(quiet(format!(" {}", self.show.mask_words))),
            Matrix::Q | Matrix::K if self.show.as_used => runs.push(loud(" as used", Ink::Ink)),
            _ => {}
        }
        if matrix != Matrix::M {
            runs.push(quiet(format!(" {rows} × {cols}")));
        }
        let clipped = self.heats.get(matrix).map_or(0, |s| s.clipped);
        if matches!(matrix, Matrix::K | Matrix::V) && clipped > 0 && self.layout.narrow.is_none() {
            runs.push(quiet(format!(", {clipped} clipped")));
        }
        let above = matches!(matrix, Matrix::K | Matrix::M | Matrix::V) && self.layout.narrow.is_none();
        let y = if above { place.rect.y - BRACKET - 11.0 } else { place.rect.bottom() + BRACKET + 15.0 };
        let width: f64 = runs.iter().map(|r| r.font.width(&r.text)).sum();
        // A title wider than its matrix loses its sizes rather than run into its neighbour.
        let room = match matrix {
            Matrix::Q => place.rect.w + 40.0,
            Matrix::O | Matrix::V => self.layout.width - place.rect.x + 8.0,
            Matrix::M => place.rect.w.max(150.0) + 30.0,
            _ => place.rect.w + 56.0,
        };
        if width > room && matrix != Matrix::M {
            runs.retain(|r| !r.text.contains('×') || r.text.starts_with(" × "));
        }
        self.scene.runs(place.rect.x - BRACKET, y, runs);
    }

    /// The scale under the matrices that have one below them, and how many cells it clips.
    fn scale_bar(&mut self, matrix: Matrix, place: &Place) {
        let beside = self.layout.narrow.is_some();
        if !beside && !matches!(matrix, Matrix::Q | Matrix::S | Matrix::A | Matrix::O) {
            return;
        }
        let Some(source) = self.heats.get(matrix) else { return };
        if matrix == Matrix::M && source.values.iter().all(|x| *x == 0.0) {
            return;
        }
        let y = place.rect.bottom() + BRACKET + 28.0;
        let width: f64 = 96.0;
        let x = place.rect.x;
        let steps = 48;
        let (low, ends) = match source.scale {
            Scale::Weights { max, .. } => (0.0, [(0.0, "0".to_owned()), (0.5, String::new()), (1.0, format::short(max))]),
            Scale::Signed { max } => {
                let end = trim(&format::short(max));
                (-1.0, [(0.0, format!("−{end}")), (0.5, "0".into()), (1.0, end)])
            }
        };
        // By the scale itself, so that a square root shows in where the half stands.
        let values: Vec<f64> = (0..steps)
            .map(|i| {
                let t = low + (1.0 - low) * (f64::from(i) + 0.5) / f64::from(steps);
                match source.scale {
                    Scale::Weights { max, root } => if root { t * t * max } else { t * max },
                    Scale::Signed { max } => t * max,
                }
            })
            .collect();
        self.scene.marks.push(Mark::Heat(Box::new(Heat {
            x,
            y,
            cell_w: width / f64::from(steps),
            cell_h: 5.0,
            rows: 1,
            cols: steps as usize,
            values: Arc::new(values),
            transposed: false,
            looks: Arc::default(),
            scale: source.scale,
            print: None,
            stale: false,
        })));
        for (t, words) in ends {
            let at = x + t * width;
            self.scene.line(&[(at.min(x + width - 0.5), y + 5.0), (at.min(x + width - 0.5), y + 8.0)], Ink::Ink3, 1.0);
            if !words.is_empty() {
                let anchor = if t == 0.0 { Anchor::Start } else if t == 1.0 { Anchor::End } else { Anchor::Middle };
                self.scene.text(at, y + 15.0, words, Type::LABEL, Ink::Ink2, anchor);
            }
        }
        if let Scale::Weights { root, .. } = source.scale {
            let half = if root { 0.5f64.sqrt() } else { 0.5 };
            self.scene.text(x + half * width - if root { 4.0 } else { 0.0 }, y + 15.0, "0.5", Type::LABEL, Ink::Ink2, Anchor::Middle);
        }
        let room = match matrix {
            Matrix::Q if !beside => 0.0,
            Matrix::O if !beside => self.layout.width - x - width,
            _ => place.rect.w.max(230.0) - width,
        };
        let shared = match matrix {
            Matrix::Q => self.heats.get(Matrix::Q).map_or(0, |s| s.clipped),
            _ => source.clipped,
        };
        let root = matches!(source.scale, Scale::Weights { root: true, .. });
        let words = if root { format!("{shared} clipped, √ scale") } else { format!("{shared} clipped") };
        if room >= Type::LABEL.width(&words) + 8.0 {
            self.scene.text(x + width + 8.0, y + 2.0, words, Type::LABEL, Ink::Ink2, Anchor::Start);
        } else if shared > 0 {
            self.scene.text(x, y + 29.0, words, Type::LABEL, Ink::Ink2, Anchor::Start);
        }
    }

    fn label(&self, labels: &[String], letter: &str, index: usize) -> Label {
        match labels.get(index) {
            Some(token) => names::label(token),
            None => Label { text: format!("{letter}{}", crate::session::subscript(index)), mark: false },
        }
    }

    fn row_labels(&mut self) {
        let (matrix, letter) = match self.layout.narrow {
            None => (Matrix::S, "q"),
            Some(Matrix::V) => (Matrix::V, "v"),
            Some(Matrix::K) => (Matrix::K, ""),
            Some(stage) => (stage, "q"),
        };
        let Some(place) = self.place(matrix) else { return };
        let (query, key) = self.show.band;
        let labels = if matrix == Matrix::V { self.show.keys.clone() } else { self.show.queries.clone() };
        let here = match matrix {
            Matrix::V => Some(key),
            Matrix::K => None,
            _ => Some(query),
        };
        let step = names::step(place.cell_h(), 13.0);
        for row in 0..place.rows {
            let near = here.is_some_and(|h| h != row && (h.abs_diff(row) as f64 * place.cell_h()) < 13.0);
            if (row % step != 0 && here != Some(row)) || near {
                continue;
            }
            let strong = here == Some(row);
            let label = if matrix == Matrix::K {
                Label { text: row.to_string(), mark: false }
            } else {
                self.label(&labels, letter, row)
            };
            let variable = matrix != Matrix::K && labels.is_empty();
            let font = if variable {
                Type { bold: strong, ..Type::VARIABLE }
            } else {
                Type { bold: strong, italic: label.mark, ..Type::LABEL }
            };
            let ink = match (variable, matrix) {
                (true, Matrix::V) => Ink::VText,
                (true, _) => Ink::QText,
                _ if strong => Ink::Ink,
                _ if matrix == Matrix::V => Ink::VText,
                _ => Ink::Ink2,
            };
            let text = names::fit(&label.text, font, self.layout.row_label_room);
            let middle = place.row(row).y + (place.cell_h() - 1.0).max(0.0) / 2.0;
            self.scene.text(self.layout.row_labels, middle, text, font, ink, Anchor::End);
        }
    }

    fn col_labels(&mut self) {
        let targets: &[Matrix] = match self.layout.narrow {
            None => &[Matrix::S, Matrix::A],
            Some(Matrix::S) => &[Matrix::S],
            Some(Matrix::M) => &[Matrix::M],
            Some(Matrix::A) => &[Matrix::A],
            Some(Matrix::K) => &[Matrix::K],
            _ => &[],
        };
        let key = self.show.band.1;
        let labels = self.show.keys.clone();
        for matrix in targets {
            let Some(place) = self.place(*matrix) else { continue };
            let need = if self.layout.upright { 13.0 } else { 22.0 };
            let step = names::step(place.cell_w(), need);
            for col in 0..place.cols {
                let near = key != col && (key.abs_diff(col) as f64 * place.cell_w()) < need;
                if (col % step != 0 && col != key) || near {
                    continue;
                }
                let strong = col == key;
                let label = self.label(&labels, "k", col);
                let variable = labels.is_empty();
                let font = if variable {
                    Type { bold: strong, ..Type::VARIABLE }
                } else {
                    Type { bold: strong, italic: label.mark, ..Type::LABEL }
                };
                let ink = if variable { Ink::KText } else if strong { Ink::Ink } else { Ink::Ink2 };
                let text = names::fit(&label.text, font, self.layout.col_label_room - 2.0);
                let middle = place.col(col).x + (place.cell_w() - 1.0).max(0.0) / 2.0;
                let y = place.rect.y - BRACKET - 5.0;
                if self.layout.upright {
                    self.scene.marks.push(Mark::Text { x: middle, y, text, font, ink, anchor: Anchor::Start, up: true });
                } else {
                    self.scene.text(middle, y - 7.0, text, font, ink, Anchor::Middle);
                }
            }
        }
    }

    fn sum_text(&self, row: usize) -> String {
        match self.trace.rows.get(row) {
            Some(r) if r.row_sum == 0.0 => "0".into(),
            Some(r) => format::fixed(r.row_sum, 3),
            None => String::new(),
        }
    }

    fn sums(&mut self) {
        let Some(place) = self.place(Matrix::A) else { return };
        let row = self.show.band.0;
        let all = place.cell_h() >= 11.5;
        self.scene.text(self.layout.sums, place.rect.y - BRACKET - 11.0, "Σ", Type::LABEL, Ink::AText, Anchor::Middle);
        for r in 0..place.rows {
            if all || r == row {
                let middle = place.row(r).y + (place.cell_h() - 1.0).max(0.0) / 2.0;
                let (font, ink) = if r == row { (Type::STRONG, Ink::Ink) } else { (Type::LABEL, Ink::Ink2) };
                self.scene.text(self.layout.sums, middle, self.sum_text(r), font, ink, Anchor::Middle);
            }
        }
    }

    fn stage_sums(&mut self) {
        let Some(place) = self.place(Matrix::A).filter(|_| self.layout.narrow == Some(Matrix::A)) else { return };
        let same = self.trace.rows.iter().all(|r| (r.row_sum - 1.0).abs() < 5e-4);
        let words = if same { "row sums 1.000".to_owned() } else { format!("this row’s sum {}", self.sum_text(self.show.band.0)) };
        let (x, y) = (place.rect.x + 96.0 + 90.0, place.rect.bottom() + BRACKET + 30.0);
        self.scene.text(x, y, words, Type::LABEL, Ink::Ink2, Anchor::Start);
    }

    fn arrows(&mut self) {
        let get = |m| self.layout.place(m).copied();
        let (Some(q), Some(k), Some(s), Some(m), Some(a), Some(v), Some(o)) =
            (get(Matrix::Q), get(Matrix::K), get(Matrix::S), get(Matrix::M), get(Matrix::A), get(Matrix::V), get(Matrix::O))
        else {
            return;
        };
        let row = self.show.band.0.min(s.rows.saturating_sub(1));
        let y = s.row(row).y + (s.cell_h() - 1.0).max(0.0) / 2.0;
        let clear = 3.0;
        self.scene.arrow(&[(q.rect.right() + BRACKET + clear, y), (s.rect.x - BRACKET - clear, y)], Ink::Ink, 1.5);
        self.scene.arrow(&[(s.rect.right() + BRACKET + clear, y), (a.rect.x - BRACKET - clear, y)], Ink::Ink, 1.5);
        let after_sum = self.layout.sums + 19.0;
        self.scene.arrow(&[(after_sum, y), (o.rect.x - BRACKET - clear, y)], Ink::Ink, 1.5);
        // softmax stands below the arrow, above it in the last rows.
        let x_mid = (s.rect.right() + a.rect.x) / 2.0;
        let below = y + 15.0 < s.rect.bottom() + BRACKET;
        if a.rect.x - s.rect.right() > 54.0 {
            let at = if below { y + 15.0 } else { y - 15.0 };
            self.scene.text(x_mid, at, "softmax", Type::LABEL, Ink::Ink2, Anchor::Middle);
        }
        // K falls into S, V into O.
        let fall = |scene: &mut Scene, x: f64, from: f64, to: f64| {
            if to - from > 10.0 {
                scene.arrow(&[(x, from), (x, to)], Ink::Ink3, 1.0);
            }
        };
        fall(&mut self.scene, v.rect.x + v.rect.w / 2.0, v.rect.bottom() + BRACKET + 4.0, o.rect.y - BRACKET - 4.0);
        if v.rect.x - a.rect.x > 260.0 || !self.layout.upright {
            // Room beside the labels of A's columns.
            let words_x = v.rect.x + v.rect.w / 2.0 - 8.0;
            let y = (v.rect.bottom() + o.rect.y) / 2.0;
            if self.layout.upright && words_x - 100.0 > a.rect.right() {
                self.scene.text(words_x, y, "weights × values", Type::LABEL, Ink::Ink2, Anchor::End);
            }
        }
        let _ = k;
        // The mask comes down to the arrow between S and A.
        let (x, top) = (x_mid, m.rect.y + m.rect.h / 2.0);
        let end = if below { y - 5.0 } else { y - 24.0 };
        let label = (s.rect.y + (s.rect.y + y) / 2.0) / 2.0 + 4.0;
        let label = label.max(s.rect.y + 4.0).min(end - 14.0);
        self.scene.line(&[(m.rect.x - BRACKET - 4.0, top), (x, top), (x, label - 9.0)], Ink::Ink3, 1.0);
        self.scene.text(x, label, "+ M", Type::LABEL, Ink::Ink2, Anchor::Middle);
        if end - label > 16.0 {
            self.scene.arrow(&[(x, label + 9.0), (x, end)], Ink::Ink3, 1.0);
        }
    }

    /// The looked-at key at its value's row, left of V.
    fn value_label(&mut self) {
        let (Some(v), Some(a)) = (self.place(Matrix::V), self.place(Matrix::A)) else { return };
        let key = self.show.band.1;
        if key >= v.rows {
            return;
        }
        let label = self.label(&self.show.keys.clone(), "v", key);
        let variable = self.show.keys.is_empty();
        let font = if variable { Type { bold: true, ..Type::VARIABLE } } else { Type { bold: true, italic: label.mark, ..Type::LABEL } };
        let room = v.rect.x - a.rect.right() - 20.0;
        let text = names::fit(&label.text, font, room.clamp(20.0, 76.0));
        let middle = v.row(key).y + v.cell_h() / 2.0;
        let right = v.rect.x - BRACKET - 6.0;
        let w = font.width(&text);
        if self.layout.numbers {
            // Every value has room for its label here.
            for row in (0..v.rows).filter(|r| *r != key) {
                let label = self.label(&self.show.keys.clone(), "v", row);
                let font = if variable { Type::VARIABLE } else { Type { italic: label.mark, ..Type::LABEL } };
                let text = names::fit(&label.text, font, room.clamp(20.0, 76.0));
                let y = v.row(row).y + v.cell_h() / 2.0;
                self.scene.text(right, y, text, font, Ink::VText, Anchor::End);
            }
        }
        self.scene.fill(Rect::new(right - w - 6.0, middle - 8.0, w + 8.0, 16.0), Ink::Band);
        self.scene.text(right, middle, text, font, if variable { Ink::VText } else { Ink::Ink }, Anchor::End);
    }

    fn frames(&mut self) {
        let (row, col) = self.show.band;
        let layout = self.layout;
        for (matrix, place) in &layout.places {
            let thin = |rect: Rect| {
                let r = Rect::new(rect.x - 0.5, rect.y - 0.5, rect.w, rect.h).grown(0.5);
                Rect::new(r.x, r.y, r.w.max(3.0), r.h.max(3.0))
            };
            let (rows, cols) = (row < place.rows, col < place.cols);
            match matrix {
                Matrix::Q | Matrix::O if rows => self.scene.frame(thin(place.row(row)), Ink::Cursor, 1.0),
                Matrix::K if cols => self.scene.frame(thin(place.col(col)), Ink::Cursor, 1.0),
                Matrix::V if col < place.rows => self.scene.frame(thin(place.row(col)), Ink::Cursor, 1.0),
                Matrix::S | Matrix::M | Matrix::A => {
                    if rows {
                        self.scene.frame(thin(place.row(row)), Ink::Cursor, 1.0);
                    }
                    if cols && (*matrix == Matrix::S || layout.narrow == Some(*matrix)) {
                        self.scene.frame(thin(place.col(col)), Ink::Cursor, 1.0);
                    }
                    if rows && cols && *matrix != Matrix::M {
                        let width = if self.show.pinned { 2.5 } else { 1.0 };
                        self.scene.frame(thin(place.cell(row, col)).grown(1.0), Ink::Cursor, width);
                    }
                }
                _ => {}
            }
        }
        for (cursor, focus) in [(self.show.pointed, false), (self.show.cursor, true)] {
            if let Some((matrix, r, c)) = cursor
                && let Some(place) = self.place(matrix).filter(|p| r < p.rows && c < p.cols)
            {
                let cell = place.cell(r, c);
                let (w, h) = (cell.w.max(5.0), cell.h.max(5.0));
                let frame = Rect::new(cell.x + (cell.w - w) / 2.0, cell.y + (cell.h - h) / 2.0, w, h).grown(1.0);
                if focus {
                    self.scene.frame(frame.grown(3.0), Ink::Accent, 2.0);
                    self.scene.frame(frame.grown(1.0), Ink::Ink, 2.0);
                } else {
                    self.scene.frame(frame, Ink::Cursor, 1.0);
                }
            }
        }
    }
}

fn trim(number: &str) -> String {
    if number.contains('.') && !number.contains('e') {
        number.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        number.to_owned()
    }
}
