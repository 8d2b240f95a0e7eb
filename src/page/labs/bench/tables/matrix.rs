//! The matrices of a trace as tables of exact numbers.

use crate::{
    canvas::heat::Look,
    format,
    labs::bench::inspector::{facts::Shown, names::Name},
    text::t,
};
use attention::Hidden;

/// A matrix that can be read as a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matrix {
    /// Queries as given.
    Q,
    /// Keys as given.
    K,
    /// Queries as the scores use them.
    QUsed,
    /// Keys as the scores use them.
    KUsed,
    /// Values.
    V,
    /// Scores before the mask.
    S,
    /// What the mask adds.
    M,
    /// Weights.
    A,
    /// Outputs.
    O,
    /// The Jacobian of the row looked at.
    J,
}

impl Matrix {
    /// In the order of the picture, with the id that tests use.
    pub const ALL: [(Matrix, &'static str); 10] = [
        (Matrix::Q, "Q"),
        (Matrix::K, "K"),
        (Matrix::QUsed, "Q_used"),
        (Matrix::KUsed, "K_used"),
        (Matrix::V, "V"),
        (Matrix::S, "S"),
        (Matrix::M, "M"),
        (Matrix::A, "A"),
        (Matrix::O, "O"),
        (Matrix::J, "J"),
    ];

    /// The matrix of an id.
    pub fn by_id(id: &str) -> Option<Matrix> {
        Matrix::ALL
            .iter()
            .find(|(_, name)| *name == id)
            .map(|(m, _)| *m)
    }

    /// Its id.
    pub fn id(self) -> &'static str {
        Matrix::ALL
            .iter()
            .find(|(m, _)| *m == self)
            .map_or("", |(_, id)| *id)
    }

    /// Words for the menu.
    pub fn words(self) -> &'static str {
        match self {
            Matrix::Q => t("table-q"),
            Matrix::K => t("table-k"),
            Matrix::QUsed => t("table-q-used"),
            Matrix::KUsed => t("table-k-used"),
            Matrix::V => t("table-v"),
            Matrix::S => t("table-s"),
            Matrix::M => t("table-m"),
            Matrix::A => t("table-a"),
            Matrix::O => t("table-o"),
            Matrix::J => t("table-j"),
        }
    }

    /// Rows and columns.
    pub fn size(self, shown: &Shown) -> (usize, usize) {
        let s = shown.trace().shape;
        match self {
            Matrix::Q | Matrix::QUsed => (s.n_q, s.d_k),
            Matrix::K | Matrix::KUsed => (s.n_k, s.d_k),
            Matrix::V => (s.n_k, s.d_v),
            Matrix::S | Matrix::M | Matrix::A => (s.n_q, s.n_k),
            Matrix::O => (s.n_q, s.d_v),
            Matrix::J => (s.n_k, s.n_k),
        }
    }

    /// A row's name.
    pub fn row_name(self, shown: &Shown, row: usize) -> Name {
        let names = &shown.setting.names;
        match self {
            Matrix::Q | Matrix::QUsed | Matrix::S | Matrix::M | Matrix::A | Matrix::O => {
                names.query(row)
            }
            Matrix::K | Matrix::KUsed | Matrix::J => names.key(row),
            Matrix::V => names.value(row),
        }
    }

    /// A column's name: a key's where columns are keys, otherwise the number of the component.
    pub fn col_name(self, shown: &Shown, col: usize) -> Option<Name> {
        matches!(self, Matrix::S | Matrix::M | Matrix::A | Matrix::J)
            .then(|| shown.setting.names.key(col))
    }

    /// The number in a cell and what it is beside that.
    pub fn cell(self, shown: &Shown, row: usize, col: usize) -> (f64, Look) {
        let trace = shown.trace();
        let (_, cols) = self.size(shown);
        let at = |values: &[f64]| values.get(row * cols + col).copied().unwrap_or(0.0);
        let over = |x: f64| {
            if x.abs() >= f64::MAX {
                Look::Overflow
            } else {
                Look::Plain
            }
        };
        match self {
            Matrix::Q => (at(&trace.q), Look::Plain),
            Matrix::K => (at(&trace.k), Look::Plain),
            Matrix::QUsed => (at(&trace.q_pos), Look::Plain),
            Matrix::KUsed => (at(&trace.k_pos), Look::Plain),
            Matrix::V => (at(&trace.v), Look::Plain),
            Matrix::S => (at(&trace.scores), over(at(&trace.scores))),
            Matrix::M if shown.sees(row, col) => (0.0, Look::Plain),
            Matrix::M => match shown.setting.hidden() {
                Hidden::NegInfinity => (f64::NEG_INFINITY, Look::Masked),
                Hidden::Finite(x) => (x, Look::Masked),
            },
            Matrix::A => (at(&trace.weights), shown.look(row, col)),
            Matrix::O => {
                let nothing = shown.row_sees_nothing(row);
                (
                    at(&trace.out),
                    if nothing {
                        Look::Empty
                    } else {
                        over(at(&trace.out))
                    },
                )
            }
            Matrix::J => {
                let looks = [row, col].map(|k| shown.look(shown.query(), k));
                let of = |wanted: Look| looks.contains(&wanted).then_some(wanted);
                let look = of(Look::Empty)
                    .or(of(Look::Masked))
                    .or(of(Look::Underflow))
                    .unwrap_or_default();
                (at(&shown.looked().row.jacobian), look)
            }
        }
    }

    /// The whole matrix as CSV: names in the first row and column, numbers as JavaScript, Python and C read them.
    pub fn csv(self, shown: &Shown) -> String {
        let (rows, cols) = self.size(shown);
        let mut text = String::new();
        for col in 0..cols {
            text.push(',');
            text.push_str(&quoted(
                &self
                    .col_name(shown, col)
                    .map_or_else(|| col.to_string(), |n| n.to_string()),
            ));
        }
        text.push('\n');
        for row in 0..rows {
            text.push_str(&quoted(&self.row_name(shown, row).to_string()));
            for col in 0..cols {
                let (x, _) = self.cell(shown, row, col);
                text.push(',');
                if x.is_infinite() {
                    text.push_str(if x > 0.0 { "inf" } else { "-inf" });
                } else {
                    text.push_str(&format!("{x:?}"));
                }
            }
            text.push('\n');
        }
        text
    }
}

fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

/// The word of a state; empty for a number that is what it is.
pub fn word(look: Look) -> &'static str {
    match look {
        Look::Plain => "",
        Look::Masked | Look::MaskedByHand => t("inspector-hidden"),
        Look::Empty => t("table-sees-nothing"),
        Look::Underflow => t("inspector-underflow"),
        Look::Overflow => t("table-overflow"),
    }
}

/// The text of a cell: every digit.
pub fn text(x: f64) -> String {
    format::exact(x)
}
