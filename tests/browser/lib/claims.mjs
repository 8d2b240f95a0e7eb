// What tests of statements about attention share: ways to set the bench, tolerances, and a little linear algebra that
// is done on numbers read from the page. tests/claims.md lists the statements.

import assert from 'node:assert/strict';
import { dot, drawn, product, stream, tokens, transpose } from './oracle.mjs';

export { dot, drawn, product, stream, transpose };

// ---- tolerances, as the statements give them ---------------------------------------------------------------------

/** |got − expected| ≤ tolerance · max(1, |expected|) */
export function near(what, expected, got, tolerance = 1e-9) {
  const room = tolerance * Math.max(1, Math.abs(expected));
  assert.ok(Math.abs(got - expected) <= room, `${what}: expected ${expected} ± ${room}, the page says ${got}`);
}

/** Relative tolerance only: for small numbers and for statistics. */
export function about(what, expected, got, tolerance) {
  const room = tolerance * Math.abs(expected);
  assert.ok(Math.abs(got - expected) <= room, `${what}: expected ${expected} ± ${100 * tolerance} %, the page says ${got}`);
}

/** 0 to rounding. */
export const zero = (what, got, tolerance = 1e-11) => near(what, 0, got, tolerance);

// ---- matrices ----------------------------------------------------------------------------------------------------

export const times = (m, c) => m.map((row) => row.map((x) => x * c));
export const plus = (a, b, c = 1) => a.map((row, i) => row.map((x, j) => x + c * b[i][j]));
export const minus = (a, b) => plus(a, b, -1);
export const eye = (n) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (_, j) => Number(i === j)));
export const size = (m) => Math.hypot(...m.flat());
export const largest = (m) => Math.max(...m.flat().map(Math.abs));
export const gap = (a, b) => largest(minus(a, b));
export const mean = (list) => list.reduce((sum, x) => sum + x, 0) / list.length;
export const variance = (list) => {
  const middle = mean(list);
  return mean(list.map((x) => (x - middle) ** 2));
};
export const sum = (list) => list.reduce((total, x) => total + x, 0);
export const rowSums = (m) => m.map(sum);
export const entropy = (row) => -sum(row.map((w) => (w > 0 ? w * Math.log(w) : 0)));

/** Frobenius norm of diag(a) − aaᵀ. */
export function frobenius(a) {
  const squares = sum(a.map((w) => w * w));
  const cubes = sum(a.map((w) => w ** 3));
  return Math.sqrt(Math.max(0, squares - 2 * cubes + squares * squares));
}

/** Eigenvalues of a symmetric matrix, ascending, by Jacobi's rotations. */
export function eigenvalues(symmetric) {
  const a = symmetric.map((row) => [...row]);
  const n = a.length;
  for (let sweep = 0; sweep < 60; sweep += 1) {
    for (let p = 0; p < n; p += 1) {
      for (let q = p + 1; q < n; q += 1) {
        if (a[p][q] === 0) continue;
        const theta = (a[q][q] - a[p][p]) / (2 * a[p][q]);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1));
        const c = 1 / Math.sqrt(t * t + 1);
        const s = t * c;
        for (let k = 0; k < n; k += 1) [a[k][p], a[k][q]] = [c * a[k][p] - s * a[k][q], s * a[k][p] + c * a[k][q]];
        for (let k = 0; k < n; k += 1) [a[p][k], a[q][k]] = [c * a[p][k] - s * a[q][k], s * a[p][k] + c * a[q][k]];
      }
    }
  }
  return a.map((row, i) => row[i]).sort((x, y) => x - y);
}

/** Singular values, descending; those of a rounding's size are 0. */
export function singular(m) {
  return eigenvalues(product(transpose(m), m))
    .map((x) => Math.sqrt(Math.max(0, x)))
    .reverse();
}

export function rank(m) {
  const values = singular(m);
  return values.filter((x) => x > 1e-7 * values[0]).length;
}

// ---- setting the bench -------------------------------------------------------------------------------------------

const text = (rows) => rows.map((row) => row.join('\t')).join('\n');

/** Numbers of a matrix, typed over what stands there. */
export async function put(bench, matrix, rows) {
  await bench.paste(matrix, text(rows));
  for (const field of ['Q', 'K', 'V', 'X', 'W_Q', 'W_K', 'W_V']) assert.equal(await bench.problem(field), null);
}

/** Q, K and V typed, one head. V is a column of 0 where the statement has no values. */
export async function typed(bench, { Q, K, V, scale }) {
  const values = V ?? K.map(() => [0]);
  await bench.choose('source', 'typed');
  await bench.sizes({ heads: 1, kv_heads: 1, n_q: Q.length, n_k: K.length, d_k: K[0].length, d_v: values[0].length });
  await put(bench, 'Q', Q);
  // On the screen K stands transposed.
  await put(bench, 'K', transpose(K));
  await put(bench, 'V', values);
  if (scale !== undefined) await bench.set('scale', scale);
}

/** One query whose scores are these numbers: d_k 1, query 1, scale 1. */
export async function scores(bench, list, V) {
  await typed(bench, { Q: [[1]], K: list.map((x) => [x]), V, scale: 1 });
}

/** The source "tokens" with stream 7: X, W_Q, W_K, W_V as they stand there, and in the answer. */
export async function small(bench, { n = 6, d_model = 8, d_k = 4, d_v = 4 } = {}) {
  await bench.choose('source', 'tokens');
  await bench.sizes({ heads: 1, kv_heads: 1, n_q: n, d_k, d_v, d_model, seed: 7 });
  const { x, w_q, w_k, w_v } = tokens({ n, d_model, d_k, d_v });
  return { X: x, Wq: w_q[0], Wk: w_k[0], Wv: w_v[0] };
}

/** Tokens and projections typed into the source "tokens". */
export async function projected(bench, { X, Wq, Wk, Wv }) {
  await small(bench, { n: X.length, d_model: X[0].length, d_k: Wq[0].length, d_v: Wv[0].length });
  await put(bench, 'X', X);
  await put(bench, 'Wq', Wq);
  await put(bench, 'Wk', Wk);
  await put(bench, 'Wv', Wv);
}

/** Puts a gradient at the output of the row looked at; gives that at its scores. */
export async function gradient(bench, d_out) {
  if (!(await bench.has('input[data-name="d_out"]'))) await bench.press('d_out-open');
  await bench.set('d_out', d_out.join('; '));
  assert.equal(await bench.problem('d_out'), null);
  return bench.list('d_scores');
}

/** Causal, the diagonal included. */
export const causal = (bench) => bench.choose('mask', 'causal');
