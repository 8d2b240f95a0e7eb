// Statements about masks, and those about numbers that a mask or a mask's constant brings about, each on the page.
// tests/claims.md says which and how they are set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';
import {
  about, causal, gap, largest, near, plus, put, rowSums, scores, small, sum, transpose, typed, zero,
} from './lib/claims.mjs';

const upper = (m) => m.flatMap((row, i) => row.slice(i + 1));

test('causal-rows-still-sum-to-one', async () => {
  const bench = await open();
  await small(bench);
  await causal(bench);
  const A = await bench.table('A');
  assert.ok(upper(A).every((w) => w === 0), 'the upper triangle is 0');
  for (const [row, total] of rowSums(A).entries()) {
    near(`sum of row ${row}`, 1, total, 4e-15);
    await bench.cell('A', row, 0);
    near(`as printed`, 1, await bench.read('row_sum'), 4e-15);
  }
  assert.deepEqual(A[0], [1, 0, 0, 0, 0, 0]);
  near('smallest weight on oneself', 0.248415, Math.min(...A.map((row, i) => row[i])), 1e-5);
  // A strict mask, its first cell hidden by hand: the row says so where the formula has 0/0.
  await bench.cell('M', 0, 0);
  const first = (await bench.cells('A'))[0];
  assert.ok(first.every((cell) => cell.value === 0 && cell.state === 'row sees no key'));
  await bench.cell('A', 0, 0);
  assert.match(await bench.text('sees_nothing'), /sees no key/);
  await bench.sound();
});

test('mask-after-normalising', async () => {
  const bench = await open();
  await typed(bench, { Q: Array(4).fill([0]), K: Array(4).fill([0]) });
  const free = await bench.table('A');
  near('zeroed after the softmax: sum of row 1', 0.25, free[0][0]);
  await causal(bench);
  const masked = await bench.table('A');
  near('masked before: sum of row 1', 1, sum(masked[0]));
  const late = free.map((row, i) => row.map((w, j) => (j <= i ? w : 0)));
  zero('zeroed and renormalised against masked', gap(masked, late.map((row) => row.map((w) => w / sum(row)))));
});

test('subtracting-minus-infinity', async () => {
  const bench = await open();
  await typed(bench, { Q: Array(4).fill([0]), K: Array(4).fill([0]) });
  await causal(bench);
  const M = await bench.table('M');
  assert.ok(upper(M).every((x) => x === -Infinity));
  near('added: row 1’s weight on the future', 0, sum((await bench.table('A'))[0].slice(1)));
  // To subtract a mask of −1e9 is to add one of 1e9.
  await bench.choose('hidden-choice', 'custom');
  await bench.set('hidden', 1e9);
  near('subtracted: row 1’s weight on the future', 1, sum((await bench.table('A'))[0].slice(1)));
});

test('future-cannot-leak', async () => {
  const bench = await open();
  const { X } = await small(bench);
  await causal(bench);
  // The same numbers to the last bit, before and after.
  await put(bench, 'X', X);
  const before = await bench.table('O');
  await put(bench, 'X', X.map((row, i) => (i === 5 ? row.map((x) => x + 10) : row)));
  const change = plus(await bench.table('O'), before, -1);
  assert.equal(largest(change.slice(0, 5)), 0, 'outputs 1 to 5');
  near('output 6', 23.0222, largest([change[5]]), 1e-5);
});

test('causal-mask-is-free', async () => {
  const bench = await open();
  await bench.random({ heads: 1, n_q: 8, n_k: 8, d_k: 4, d_v: 4 });
  await bench.choose('mask', 'prefix');
  await bench.set('causal.prefix', 3);
  const seen = (await bench.table('M')).flat().filter((x) => x === 0);
  assert.equal(seen.length, 39, 'n 8, prefix 3: visible pairs');
});

test('minus-1e9-is-minus-infinity', async () => {
  const bench = await open();
  const list = [0.1, 0.7, 1.3];
  await scores(bench, list);
  const [free] = await bench.table('A');
  await bench.cell('M', 0, 2);
  assert.equal((await bench.table('A'))[0][2], 0, 'hidden by −∞');
  await bench.choose('hidden-choice', '1e9');
  assert.equal((await bench.table('A'))[0][2], 0, 'hidden by −1e9');
  await bench.cell('M', 0, 0);
  await bench.cell('M', 0, 1);
  zero('all hidden by −1e9: distance to the unmasked weights', gap(await bench.table('A'), [free]), 1e-6);
  await bench.choose('hidden-choice', 'inf');
  assert.deepEqual(await bench.table('A'), [[0, 0, 0]], 'all hidden by −∞: 0 by rule');
});

test('shift-changes-nothing', async () => {
  const bench = await open();
  await small(bench);
  const { A, K } = await bench.tables('A', 'K');
  await bench.choose('source', 'typed');
  await put(bench, 'K', transpose(K.map((row) => row.map((x, c) => x + [5, -3, 2, 1][c]))));
  zero('the same vector added to every key', gap(A, await bench.table('A')));
  await scores(bench, [10000, 9999, -10000]);
  near('scores 10000, 9999, −10000: first weight', 0.731059, (await bench.table('A'))[0][0], 1e-6);
});

test('weights-are-never-exactly-zero', async () => {
  const bench = await open();
  await scores(bench, [745.13, 0]);
  const [[, faint]] = await bench.cells('A');
  assert.ok(faint.value > 0 && faint.state === '', `lead 745.13: ${faint.value}`);
  about('the least float64', 5e-324, faint.value, 0.5);
  await scores(bench, [745.14, 0]);
  const [[, gone]] = await bench.cells('A');
  assert.deepEqual([gone.value, gone.state], [0, 'underflow']);
});
