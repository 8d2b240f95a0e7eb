//! A block of numbers as it is pasted: from a spreadsheet, a CSV file, a line of text, or a printed array.

use crate::number::{self, Comma, NumberError, shorten, trim};
use std::fmt;

/// No table has more cells; the largest matrix that the bench shows, 512 × 512, has a quarter of it.
pub const MAX_CELLS: usize = 1 << 20;

/// A block of numbers, all finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Rows, at least 1.
    pub rows: usize,
    /// Columns, at least 1.
    pub cols: usize,
    /// `[rows, cols]`, row-major.
    pub values: Vec<f64>,
    /// What parted the cells.
    pub separator: Separator,
    /// Two columns parted by a bare comma and no decimal point anywhere (`0,5`): the commas may have been decimal
    /// signs. [`parse_decimal_comma`] reads the text that way.
    pub maybe_decimal_comma: bool,
}

/// What parts the cells of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// A tab: what a spreadsheet puts on the clipboard.
    Tab,
    /// A semicolon.
    Semicolon,
    /// A comma.
    Comma,
    /// White space.
    Space,
    /// Brackets and commas or white space, as NumPy, PyTorch or JSON print an array.
    Brackets,
}

/// Why a text is not a table. Rows and columns are counted from 0 here and from 1 in the sentence, as in a spreadsheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableError {
    /// Nothing but white space.
    Empty,
    /// A cell is not a number.
    Cell {
        /// Its row, from 0.
        row: usize,
        /// Its column, from 0.
        column: usize,
        /// What is wrong with it.
        error: NumberError,
    },
    /// A row has more or fewer cells than the first.
    Ragged {
        /// The row, from 0.
        row: usize,
        /// Its cells.
        got: usize,
        /// The cells of the first row.
        expected: usize,
    },
    /// A quoted cell or a bracket has no end; where it begins.
    Unclosed {
        /// Its row, from 0.
        row: usize,
        /// `"` or `[`.
        mark: char,
    },
    /// Brackets deeper than two levels, or text outside them.
    NotAMatrix(String),
    /// More than [`MAX_CELLS`] cells.
    TooManyCells,
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Empty => f.write_str(
                "A block of numbers is expected, and there is nothing. Copy the cells again.",
            ),
            TableError::Cell {
                row,
                column,
                error: NumberError::Empty,
            } => {
                write!(
                    f,
                    "Row {}, column {} is empty. Write 0 if it means zero.",
                    row + 1,
                    column + 1
                )
            }
            TableError::Cell { row, column, error } => {
                write!(f, "Row {}, column {}: {error}", row + 1, column + 1)
            }
            TableError::Ragged { row, got, expected } => write!(
                f,
                "Row {} has {}, row 1 has {expected}. Make all rows equally long.",
                row + 1,
                cells(*got)
            ),
            TableError::Unclosed { row, mark: '[' } => {
                write!(
                    f,
                    "The bracket that opens in row {} is never closed. Add the missing ].",
                    row + 1
                )
            }
            TableError::Unclosed { row, mark } => {
                write!(
                    f,
                    "The quote {mark} that opens in row {} is never closed. Add it or take it out.",
                    row + 1
                )
            }
            TableError::NotAMatrix(got) => {
                write!(
                    f,
                    "A matrix is expected, as [[1, 2], [3, 4]], and this is {got}. Paste one matrix."
                )
            }
            TableError::TooManyCells => {
                write!(
                    f,
                    "The block has more than {MAX_CELLS} cells. Paste a smaller part of it."
                )
            }
        }
    }
}

impl std::error::Error for TableError {}

fn cells(n: usize) -> String {
    if n == 1 {
        "1 cell".into()
    } else {
        format!("{n} cells")
    }
}

/// Reads a block of numbers. Cells are parted by tabs, semicolons, commas or white space, whichever is found first in
/// this order, or stand in brackets as an array is printed. Cells may be quoted; empty lines around the block and an
/// empty last column of all rows are ignored; the comma is the decimal sign where something else parts the cells.
///
/// Fails with the first cell that is no finite number, or the first row of another length.
pub fn parse(text: &str) -> Result<Table, TableError> {
    let text = trim_lines(text);
    if text.is_empty() {
        return Err(TableError::Empty);
    }
    if let Some(body) = bracketed(text) {
        return brackets(body);
    }
    let separator = detect(text);
    let rows = split(text, separator)?;
    let mut table = numbers(&rows, separator)?;
    table.maybe_decimal_comma = separator == Separator::Comma
        && table.cols == 2
        && !text.contains(['.', ' ', '\u{a0}'])
        && rows
            .iter()
            .all(|r| r.iter().all(|c| !c.is_empty()) && r[1].bytes().all(|b| b.is_ascii_digit()));
    Ok(table)
}

/// As [`parse`], with every comma a decimal sign: for a single column copied where 0,5 is a half.
pub fn parse_decimal_comma(text: &str) -> Result<Table, TableError> {
    let text = trim_lines(text);
    if text.is_empty() {
        return Err(TableError::Empty);
    }
    let separator = match detect(text) {
        Separator::Comma => Separator::Space,
        other => other,
    };
    numbers(&split(text, separator)?, separator)
}

/// Drops what is empty around the block, but no tab at its start or end: that one parts cells.
fn trim_lines(text: &str) -> &str {
    let text = text.trim_start_matches('\u{FEFF}').trim_end_matches('\0');
    let blank = |line: &str| trim(line).is_empty() && !line.contains('\t');
    let mut text = text;
    while let Some((line, rest)) = text.split_once(['\n', '\r']) {
        if !blank(line) {
            break;
        }
        text = rest;
    }
    while let Some((rest, line)) = text.rsplit_once(['\n', '\r']) {
        if !trim(line).is_empty() {
            break;
        }
        text = rest;
    }
    if trim(text).is_empty() { "" } else { text }
}

fn detect(text: &str) -> Separator {
    let (mut semicolon, mut comma, mut quoted) = (false, false, false);
    // A comma with a digit on both sides may be a decimal sign; one that is not parts cells for certain.
    let (mut sure_comma, mut inner_space) = (false, false);
    let mut before = '\n';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or('\n');
        match c {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '\t' => return Separator::Tab,
            ';' => semicolon = true,
            ',' => {
                comma = true;
                sure_comma |= !(before.is_ascii_digit() && next.is_ascii_digit());
            }
            ' ' | '\u{a0}' => {
                inner_space |=
                    !matches!(before, '\n' | '\r' | ' ') && !matches!(next, '\n' | '\r' | ' ')
            }
            _ => {}
        }
        before = c;
    }
    match (semicolon, comma) {
        (true, _) => Separator::Semicolon,
        (_, true) if sure_comma || !inner_space => Separator::Comma,
        _ => Separator::Space,
    }
}

/// The cells of each row, unquoted and trimmed.
fn split(text: &str, separator: Separator) -> Result<Vec<Vec<String>>, TableError> {
    let mut rows = vec![Vec::new()];
    let mut count = 0;
    let mut cell = String::new();
    let mut chars = text.chars().peekable();
    // `closed`: the cell was quoted and its quote is over, so that an empty one still counts for white space.
    let (mut quoted_in, mut closed) = (None, false);
    while let Some(c) = chars.next() {
        let row = rows.len() - 1;
        if quoted_in.is_some() {
            match c {
                '"' if chars.peek() == Some(&'"') => cell.extend(chars.next()),
                '"' => (quoted_in, closed) = (None, true),
                _ => cell.push(c),
            }
            continue;
        }
        let parts = match separator {
            Separator::Tab => c == '\t',
            Separator::Semicolon => c == ';',
            Separator::Comma => c == ',',
            Separator::Space | Separator::Brackets => c.is_whitespace() && c != '\n' && c != '\r',
        };
        let spaced = matches!(separator, Separator::Space | Separator::Brackets);
        match c {
            '"' if trim(&cell).is_empty() && !closed => {
                (quoted_in, cell) = (Some(row), String::new())
            }
            '\n' | '\r' => {
                if c == '\r' && chars.peek() == Some(&'\n') {
                    chars.next();
                }
                if !spaced || closed || !cell.is_empty() {
                    rows[row].push(trim(&cell).to_owned());
                }
                (cell, closed) = (String::new(), false);
                rows.push(Vec::new());
                count += 1;
            }
            _ if parts => {
                if !spaced || closed || !cell.is_empty() {
                    rows[row].push(trim(&cell).to_owned());
                    count += 1;
                }
                (cell, closed) = (String::new(), false);
            }
            _ => cell.push(c),
        }
        if count > MAX_CELLS {
            return Err(TableError::TooManyCells);
        }
    }
    if let Some(row) = quoted_in {
        return Err(TableError::Unclosed { row, mark: '"' });
    }
    let last = rows.len() - 1;
    let spaced = matches!(separator, Separator::Space | Separator::Brackets);
    if !spaced || closed || !cell.is_empty() {
        rows[last].push(trim(&cell).to_owned());
    }
    // `1,2,` in every row: the last separator ends the row and opens no cell.
    let width = rows[0].len();
    if width > 1
        && rows
            .iter()
            .all(|r| r.len() == width && r.last().is_some_and(String::is_empty))
    {
        rows.iter_mut().for_each(|r| {
            r.pop();
        });
    }
    Ok(rows)
}

fn numbers(rows: &[Vec<String>], separator: Separator) -> Result<Table, TableError> {
    let cols = rows.first().map_or(0, Vec::len);
    // With a decimal point somewhere in the block, `1,250` is not sure to be a decimal comma.
    let point = rows.iter().flatten().any(|c| c.contains('.'));
    let comma = if point {
        Comma::DecimalIfSure
    } else {
        Comma::Decimal
    };
    let mut values = Vec::with_capacity(rows.len() * cols);
    for (row, line) in rows.iter().enumerate() {
        // An empty line among others, or one cell too many: the length says more than the cell.
        if line.len() != cols {
            return Err(TableError::Ragged {
                row,
                got: if is_blank(line) { 0 } else { line.len() },
                expected: cols,
            });
        }
        for (column, text) in line.iter().enumerate() {
            let value = number::parse_with(text, comma).map_err(|error| TableError::Cell {
                row,
                column,
                error,
            })?;
            values.push(value);
        }
    }
    Ok(Table {
        rows: rows.len(),
        cols,
        values,
        separator,
        maybe_decimal_comma: false,
    })
}

fn is_blank(line: &[String]) -> bool {
    matches!(line, [only] if only.is_empty())
}

/// What stands between the outermost brackets of `[[1, 2]]`, `array([[1., 2.]])` or `tensor([[1., 2.]], dtype=…)`, brackets
/// included.
fn bracketed(text: &str) -> Option<&str> {
    let start = text.find('[')?;
    let name = trim(text.get(..start)?);
    let bare = name.trim_end_matches('(');
    let word = bare
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '=' | ' '));
    let call = name.ends_with('(') || name.ends_with('=') || name.is_empty();
    if !(word && call && !bare.starts_with(|c: char| c.is_ascii_digit())) {
        return None;
    }
    let end = text.rfind(']').map_or(text.len(), |e| e + 1);
    text.get(start..end)
}

/// Rows are what the innermost brackets hold.
fn brackets(body: &str) -> Result<Table, TableError> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let (mut depth, mut deepest, mut count) = (0_usize, 0, 0);
    let mut cell = String::new();
    // Whether the current bracket has held a cell since the last comma: `[1, , 2]` has an empty cell, `[1, 2,]` has none.
    let mut filled = true;
    for c in body.chars() {
        let ends_cell = matches!(c, ',' | '[' | ']') || c.is_whitespace();
        if ends_cell && !cell.is_empty() {
            let Some(row) = rows.last_mut().filter(|_| depth == deepest) else {
                return Err(TableError::NotAMatrix(format!(
                    "a number outside the rows, \"{}\"",
                    shorten(&cell)
                )));
            };
            row.push(std::mem::take(&mut cell));
            (filled, count) = (true, count + 1);
        }
        match c {
            '[' => {
                depth += 1;
                if depth > 2 {
                    return Err(TableError::NotAMatrix(
                        "an array with three axes or more".into(),
                    ));
                }
                if depth == 1 && deepest > 0 {
                    return Err(TableError::NotAMatrix("more than one array".into()));
                }
                if depth > deepest {
                    if rows.last().is_some_and(|r| !r.is_empty()) {
                        return Err(TableError::NotAMatrix("a row inside a row".into()));
                    }
                    deepest = depth;
                    rows.clear();
                }
                rows.push(Vec::new());
                (filled, count) = (true, count + 1);
            }
            ']' => {
                depth = depth
                    .checked_sub(1)
                    .ok_or_else(|| TableError::NotAMatrix("a ] without its [".into()))?;
                filled = true;
            }
            ',' => {
                if !filled && let Some(row) = rows.last_mut() {
                    row.push(String::new());
                }
                filled = depth < deepest;
            }
            c if c.is_whitespace() => {}
            c => cell.push(c),
        }
        if count > MAX_CELLS {
            return Err(TableError::TooManyCells);
        }
    }
    if depth > 0 {
        return Err(TableError::Unclosed {
            row: rows.len().saturating_sub(1),
            mark: '[',
        });
    }
    if rows.iter().all(Vec::is_empty) {
        return Err(TableError::Empty);
    }
    numbers(&rows, Separator::Brackets)
}
