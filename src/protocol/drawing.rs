//! A drawn mask as text: `2x3.kA` is two queries by three keys, then the cells row by row, six to a character.

use attention::{BitMatrix, KeyIdx, QueryIdx};

/// The alphabet of base64url (RFC 4648, section 5). The first cell is the highest bit.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

fn cells(n_q: usize, n_k: usize) -> impl Iterator<Item = (QueryIdx, KeyIdx)> {
    (0..n_q).flat_map(move |q| (0..n_k).map(move |k| (QueryIdx(q), KeyIdx(k))))
}

pub(crate) fn write(bits: &BitMatrix) -> String {
    let (n_q, n_k) = (bits.n_q(), bits.n_k());
    let mut text = format!("{n_q}x{n_k}.");
    let mut cells = cells(n_q, n_k).peekable();
    while cells.peek().is_some() {
        let six = (0..6).fold(0, |six, _| {
            let visible = cells.next().is_some_and(|(q, k)| bits.get(q, k));
            six << 1 | usize::from(visible)
        });
        text.push(char::from(ALPHABET[six]));
    }
    text
}

/// `None` where the text is not as [`write`] writes it: another length, another letter, bits beyond the last cell.
pub(crate) fn read(text: &str) -> Option<BitMatrix> {
    let (size, letters) = text.split_once('.')?;
    let (n_q, n_k) = size.split_once('x')?;
    let (n_q, n_k) = (n_q.parse::<usize>().ok()?, n_k.parse::<usize>().ok()?);
    // The length of the text bounds the memory: n_k is at most 6 letters' worth unless there are no cells at all.
    if n_q.checked_mul(n_k)?.div_ceil(6) != letters.len() || (n_q == 0) != (n_k == 0) {
        return None;
    }
    let mut bits = BitMatrix::filled(n_q, n_k, false);
    let mut cells = cells(n_q, n_k);
    for letter in letters.bytes() {
        let six = ALPHABET.iter().position(|&a| a == letter)?;
        for at in (0..6).rev() {
            let visible = six >> at & 1 == 1;
            match cells.next() {
                Some((q, k)) => bits.set(q, k, visible),
                None if visible => return None,
                None => {}
            }
        }
    }
    Some(bits)
}
