// Statements about scores, each on the page with its number. tests/claims.md says which and how they are set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';
import {
  dot, eigenvalues, entropy, eye, gap, largest, mean, minus, near, product, projected, put, rank, size, small,
  times, transpose, typed, zero,
} from './lib/claims.mjs';
import { tokens } from './lib/oracle.mjs';

test('score-is-one-bilinear-form', async () => {
  const bench = await open();
  const { X, Wq, Wk } = await small(bench);
  await bench.set('scale', 1);
  const { Q, K, S } = await bench.tables('Q', 'K', 'S');
  zero('Q Kᵀ against entry by entry', gap(S, Q.map((q) => K.map((k) => dot(q, k)))));
  zero('X M Xᵀ against Q Kᵀ', gap(S, product(product(X, product(Wq, transpose(Wk))), transpose(X))));
});

test('asymmetry-from-unequal-projections', async () => {
  const bench = await open();
  const { Wq } = await small(bench);
  await bench.set('scale', 1);
  const free = await bench.table('S');
  near('free: max |S − Sᵀ|', 3.41827, gap(free, transpose(free)), 1e-5);
  await put(bench, 'Wk', times(Wq, 2));
  const doubled = await bench.table('S');
  zero('W_K = 2 W_Q: max |S − Sᵀ|', gap(doubled, transpose(doubled)));
  await put(bench, 'Wk', Wq);
  await bench.choose('scale-choice', 'inverse_sqrt');
  const weights = await bench.table('A');
  near('W_K = W_Q: max |A − Aᵀ|', 0.181223, gap(weights, transpose(weights)), 1e-5);
});

test('tied-form-is-hwh', async () => {
  const bench = await open();
  const { X, Wq } = await small(bench);
  await bench.set('scale', 1);
  await put(bench, 'Wk', Wq);
  const S = await bench.table('S');
  zero('H W Wᵀ Hᵀ against Q Kᵀ', gap(S, product(product(X, product(Wq, transpose(Wq))), transpose(X))));
  const least = eigenvalues(S)[0];
  assert.ok(least >= -1e-12, `the smallest eigenvalue is not below 0: ${least}`);
  const excess = largest(S.map((row, i) => row.map((s, j) => Math.max(0, 2 * Math.abs(s) - S[i][i] - S[j][j]))));
  assert.ok(excess <= 1e-12, `2 |s_ij| is never above s_ii + s_jj: ${excess}`);
  const own = S.map((row, i) => row[i]);
  const longest = own.indexOf(Math.max(...own));
  assert.equal(S[longest].indexOf(Math.max(...S[longest])), longest, 'the longest query reads itself most');
});

test('tied-collapses-to-mean', async () => {
  const bench = await open();
  await bench.tokens({ n_q: 16, d_k: 16, d_v: 1, d_model: 64 });
  const found = { free: [], tied: [], self: [] };
  for (const seed of [4, 5, 6, 7, 8, 9]) {
    await bench.set('seed', seed);
    found.free.push(...(await bench.table('A')).map(entropy));
    await put(bench, 'Wk', tokens({ n: 16, d_model: 64, d_k: 16, d_v: 1, seed }).w_q[0]);
    const tied = await bench.table('A');
    found.tied.push(...tied.map(entropy));
    found.self.push(...tied.map((row, i) => row[i]));
  }
  near('tied: mean entropy / ln n', 0.506, mean(found.tied) / Math.log(16), 0.02);
  near('tied: mean weight on itself', 0.622, mean(found.self), 0.02);
  near('free: mean entropy / ln n', 0.853, mean(found.free) / Math.log(16), 0.02);
  await put(bench, 'Wq', Array(64).fill(Array(16).fill(0)));
  near('W_Q = 0: entropy / ln n', 1, mean((await bench.table('A')).map(entropy)) / Math.log(16));
});

test('decoupling-raises-rank', async () => {
  const bench = await open();
  const { Wq, Wk, Wv } = await small(bench);
  // With X the unit matrix the scores are M itself.
  await projected(bench, { X: eye(8), Wq, Wk, Wv });
  await bench.set('scale', 1);
  const free = await bench.table('S');
  await put(bench, 'Wk', Wq);
  const tied = await bench.table('S');
  assert.deepEqual([rank(tied), rank(free)], [4, 4]);
  const negative = (m) => eigenvalues(m.map((row, i) => row.map((x, j) => x + m[j][i]))).filter((x) => x < -1e-9).length;
  assert.deepEqual([negative(tied), negative(free)], [0, 4]);
});

test('decoupling-is-required', async () => {
  const bench = await open();
  const wanted = [[0, 1], [0, 0]];
  const miss = async (Q, K) => {
    await typed(bench, { Q, K, scale: 1 });
    return size(minus(await bench.table('S'), wanted));
  };
  near('the best symmetric scores miss by', 0.707107, await miss(eye(2), [[0, 0.5], [0.5, 0]]), 1e-6);
  near('the best tied scores miss by', 0.866025, await miss([[0.5], [0.5]], [[0.5], [0.5]]), 1e-6);
  near('free queries and keys with d_k 1 miss by', 0, await miss([[1], [0]], [[0], [1]]));
});

test('dot-product-is-cosine', async () => {
  const bench = await open();
  const keys = [[1, 0], [3, 3], [3, 30]];
  await typed(bench, { Q: [[1, 0]], K: keys, scale: 1 });
  assert.deepEqual(await bench.table('S'), [[1, 3, 3]]);
  await typed(bench, { Q: [[1, 0]], K: keys.map((k) => times([k], 1 / Math.hypot(...k))[0]) });
  const [cosines] = await bench.table('S');
  [1, 0.707107, 0.0995037].forEach((expected, j) => near(`cosine with key ${j}`, expected, cosines[j], 1e-6));
});

test('qk-circuit-is-wqt-wk', async () => {
  const bench = await open();
  const { Wq, Wk } = await small(bench);
  const shape = (m) => [m.length, m[0].length];
  // Rows of W_Q against rows of W_K: W_Q W_Kᵀ, for row vectors; columns against columns: W_Qᵀ W_K.
  await typed(bench, { Q: Wq, K: Wk, scale: 1 });
  const rows = await bench.table('S');
  await typed(bench, { Q: transpose(Wq), K: transpose(Wk) });
  const columns = await bench.table('S');
  assert.deepEqual([shape(columns), shape(rows)], [[4, 4], [8, 8]]);
  // Column convention: W is d_k × d_model, and W_Qᵀ W_K is M again.
  const [cq, ck] = [transpose(Wq), transpose(Wk)];
  zero('the two agree', gap(rows, product(transpose(cq), ck)));
});

test('rank-of-m-is-at-most-dk', async () => {
  const bench = await open();
  for (const [d_k, expected] of [[1, 1], [4, 4], [12, 8]]) {
    const { Wq, Wk, Wv } = await small(bench, { d_k });
    await projected(bench, { X: eye(8), Wq, Wk, Wv });
    await bench.set('scale', 1);
    assert.equal(rank(await bench.table('S')), expected, `d_k ${d_k}, d_model 8`);
  }
});
