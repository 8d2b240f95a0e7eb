// Comparisons of numbers that say where they fail.

import assert from 'node:assert/strict';

/** The page's engine and the oracle sum in different orders: a few last bits of numbers of the size of the inputs. */
export const EXACT = 1e-10;

/** Holds two numbers against each other, relative to their size where that is above 1. */
export function near(got, wanted, what, tolerance = EXACT) {
  if (Object.is(got, wanted) || got === wanted) return;
  const size = Math.max(1, Math.abs(wanted));
  assert.ok(Math.abs(got - wanted) <= tolerance * size, `${what}: expected ${wanted}, got ${got}`);
}

/** The same for matrices, row by row. */
export function sameMatrix(got, wanted, what, tolerance = EXACT) {
  assert.equal(got.length, wanted.length, `${what}: rows`);
  got.forEach((row, i) => {
    assert.equal(row.length, wanted[i].length, `${what}: columns of row ${i}`);
    row.forEach((x, j) => near(x, wanted[i][j], `${what}[${i}, ${j}]`, tolerance));
  });
}

/** Whether two matrices differ anywhere by more than the tolerance: a test that an edit did something. */
export function differs(a, b, tolerance = 1e-6) {
  return a.length !== b.length || a.some((row, i) => row.length !== b[i].length || row.some((x, j) => Math.abs(x - b[i][j]) > tolerance));
}
