// Statements about the divisor √d_k, each on the page with its number. tests/claims.md says which and how they are set.
// Statistics are of one seeded draw, so that they are the same in every run; their tolerances are the statements'.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';
import {
  about, drawn, entropy, frobenius, gap, mean, near, plus, projected, put, scores, small, stream, times,
  typed, variance, zero,
} from './lib/claims.mjs';

/** 200 queries and keys, every component normal: 40000 pairs. */
const pairs = (bench, d_k, seed = 2) => bench.random({ heads: 1, n_q: 200, n_k: 200, d_k, d_v: 1, seed });

test('variance-is-dk', async () => {
  const bench = await open();
  for (const d_k of [4, 64, 128]) {
    await pairs(bench, d_k);
    await bench.set('scale', 1);
    const before = (await bench.table('S')).flat();
    about(`variance at d_k ${d_k}`, d_k, variance(before), 0.05);
    if (d_k === 128) about('standard deviation at 128', 11.3137, Math.sqrt(variance(before)), 0.05);
    await bench.choose('scale-choice', 'inverse_sqrt');
    about('after dividing by √d_k', 1, variance((await bench.table('S')).flat()), 0.05);
  }
  await pairs(bench, 256);
  await bench.set('scale', 1 / 8);
  about('d_k 256 divided by 8', 4, variance((await bench.table('S')).flat()), 0.05);
});

test('unit-vectors-have-variance-dk', async () => {
  const bench = await open();
  await pairs(bench, 64);
  // Divided by their root mean square vectors have length √d_k; a scale of 1/d_k makes them unit vectors.
  await bench.unfold('extras');
  await bench.toggle('qk_norm-on', true);
  await bench.set('scale', 1 / 64);
  const cosines = (await bench.table('S')).flat();
  about('variance', 0.015625, variance(cosines), 0.04);
  assert.ok(Math.max(...cosines.map(Math.abs)) <= 1, 'the size is never above 1');
});

test('independence-is-needed', async () => {
  const bench = await open();
  const same = (next) => drawn(next, 200, 1).map(([x]) => Array(64).fill(x));
  let next = stream(16);
  await typed(bench, { Q: same(next), K: same(next), scale: 1 });
  about('all components equal: variance', 4096, variance((await bench.table('S')).flat()), 0.06);
  next = stream(12);
  const [q, k] = [drawn(next, 200, 64), drawn(next, 200, 64)];
  await put(bench, 'Q', q);
  await put(bench, 'K', q[0].map((_, c) => q.map((row) => row[c])));
  about('q = k: mean', 64, mean((await bench.table('S')).map((row, i) => row[i])), 0.02);
  const ones = Array(200).fill(Array(64).fill(1));
  await put(bench, 'Q', plus(q, ones));
  await put(bench, 'K', k[0].map((_, c) => k.map((row) => row[c] + 1)));
  const shifted = (await bench.table('S')).flat();
  about('means 1: mean', 64, mean(shifted), 0.02);
  about('means 1: variance', 192, variance(shifted), 0.04);
});

test('score-size-grows-linearly', async () => {
  const bench = await open();
  const sizes = [];
  for (const [d_k, expected] of [[64, 6.383], [256, 12.766]]) {
    await pairs(bench, d_k);
    await bench.set('scale', 1);
    sizes.push(mean((await bench.table('S')).flat().map(Math.abs)));
    about(`mean size at ${d_k}`, expected, sizes.at(-1), 0.03);
  }
  about('four times d_k', 2, sizes[1] / sizes[0], 0.03);
});

test('unscaled-rows-saturate', async () => {
  const bench = await open();
  // 512 rows over 16 keys.
  await bench.random({ heads: 1, n_q: 512, n_k: 16, d_k: 128, d_v: 1, seed: 11 });
  const rows = async (top, sure, median, norm) => {
    near('mean top weight', top, await bench.read('mean_top_weight'), 0.01);
    near('mean ‖J‖', norm, await bench.read('mean_jacobian_norm'), 0.01);
    const weights = await bench.table('A');
    near('share of rows above 0.99', sure, mean(weights.map((row) => Number(Math.max(...row) > 0.99))), 0.01);
    const norms = weights.map(frobenius).sort((a, b) => a - b);
    near('median ‖J‖', median, (norms[255] + norms[256]) / 2, 0.01);
    near('the page’s mean is that of its weights', mean(norms), await bench.read('mean_jacobian_norm'), 1e-9);
  };
  await rows(0.246, 0, 0.304, 0.305);
  await bench.set('scale', 1);
  await rows(0.89, 0.44, 0.034, 0.134);
});

test('scaling-prevents-overflow', async () => {
  const bench = await open();
  await scores(bench, [1000, 0]);
  assert.deepEqual(await bench.table('S'), [[1000, 0]]);
  near('scores 1000 and 0, the maximum subtracted', 1, (await bench.table('A'))[0][0]);
  const along = (x) => [x, ...Array(127).fill(0)];
  await typed(bench, { Q: [along(1)], K: [along(12000), along(0)] });
  await bench.choose('scale-choice', 'inverse_sqrt');
  near('12000 / √128', 12000 / Math.sqrt(128), (await bench.table('S'))[0][0]);
  near('weight', 1, (await bench.table('A'))[0][0]);
  await bench.sound();
});

test('large-scores-saturate', async () => {
  const bench = await open();
  await scores(bench, [1, 2, 3]);
  const before = await bench.table('A');
  await scores(bench, [1001, 1002, 1003]);
  near('adding 1000 to every score changes the weights by', 0, gap(before, await bench.table('A')), 1e-12);
  await scores(bench, [1000, 1000, 0]);
  assert.deepEqual(await bench.table('A'), [[0.5, 0.5, 0]]);
  near('‖J‖, far from vanished', 0.5, await bench.read('jacobian_norm'));
});

test('scale-is-tunable', async () => {
  const bench = await open();
  const { Wq } = await small(bench);
  for (const c of [0.1, 0.5, 3]) {
    await put(bench, 'Wq', Wq);
    await bench.set('scale', c);
    const scaled = await bench.table('O');
    await put(bench, 'Wq', times(Wq, c));
    await bench.set('scale', 1);
    zero(`scale ${c} against ${c} W_Q`, gap(scaled, await bench.table('O')));
  }
});

test('sqrt-dk-is-a-temperature', async () => {
  const bench = await open();
  const along = (x) => [x, ...Array(63).fill(0)];
  await typed(bench, { Q: [along(1)], K: [along(8), along(0)] });
  await bench.choose('scale-choice', 'inverse_sqrt');
  const [[a, b]] = await bench.table('A');
  near('raw scores 8 and 0 at d_k 64: ratio', Math.E, a / b);
  const { X, Wq, Wk, Wv } = await small(bench);
  near('mean entropy before', 1.68075, mean((await bench.table('A')).map(entropy)), 1e-5);
  await projected(bench, { X, Wq: times(Wq, 4), Wk, Wv });
  const wide = await bench.table('A');
  near('mean entropy after W_Q × 4', 0.987809, mean(wide.map(entropy)), 1e-5);
  await put(bench, 'Wq', Wq);
  await bench.set('scale', 2);
  zero('W_Q × 4 against a quarter of the temperature', gap(wide, await bench.table('A')));
});
