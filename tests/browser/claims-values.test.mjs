// Statements about values and outputs, each on the page with its number. tests/claims.md says which and how they are
// set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';
import {
  about, drawn, gap, gradient, largest, mean, minus, near, plus, product, projected, put, rowSums, scores, size, small,
  stream, sum, times, transpose, typed, zero,
} from './lib/claims.mjs';

const ROWS = [0, 1, 2, 3, 4, 5];

test('output-stays-in-the-hull', async () => {
  const bench = await open();
  await small(bench);
  const { V, O } = await bench.tables('V', 'O');
  const columns = transpose(V);
  const below = Math.min(...O.flatMap((row) => row.map((x, c) => x - Math.min(...columns[c]))));
  const above = Math.min(...O.flatMap((row) => row.map((x, c) => Math.max(...columns[c]) - x)));
  near('smallest out − min v', 0.316553, below, 1e-5);
  near('smallest max v − out', 0.525573, above, 1e-5);
});

test('attention-cannot-extrapolate', async () => {
  const bench = await open();
  await projected(bench, { X: [[0.5], [1]], Wq: [[0]], Wk: [[0]], Wv: [[3]] });
  near('output, outside 0.5 to 1', 2.25, (await bench.table('O'))[0][0]);
});

test('nonlinearity-is-only-in-the-mlp', async () => {
  const bench = await open();
  const { X } = await small(bench);
  const out = async (x) => {
    await put(bench, 'X', x);
    return bench.table('O');
  };
  const one = await out(X);
  const two = await out(times(X, 2));
  near('f(2X) against 2 f(X)', 1.17493, size(minus(two, times(one, 2))) / size(times(one, 2)), 1e-5);
  const Y = drawn(stream(11), 6, 8);
  const apart = plus(one, await out(Y));
  near('f(X+Y) against f(X) + f(Y)', 0.547416, size(minus(await out(plus(X, Y)), apart)) / size(apart), 1e-5);
});

test('softmax-is-the-only-nonlinearity', async () => {
  const bench = await open();
  const { X } = await small(bench);
  await bench.set('scale', 1);
  const without = ({ S, V }) => size(product(S, V));
  const first = await bench.tables('S', 'V', 'A', 'O');
  await put(bench, 'X', times(X, 2));
  const second = await bench.tables('S', 'V');
  near('softmax removed: f(2X) over f(X)', 8, without(second) / without(first));
  // The pattern stays while only the values double.
  await put(bench, 'X', X);
  await bench.choose('source', 'typed');
  await put(bench, 'V', times(first.V, 2));
  const frozen = await bench.tables('A', 'O');
  zero('the pattern stays', gap(frozen.A, first.A));
  near('pattern frozen: f(2X) over f(X)', 2, size(frozen.O) / size(first.O));
});

test('routing-is-decoupled-from-content', async () => {
  const bench = await open();
  const next = stream(7);
  const contents = [drawn(next, 5, 4), drawn(next, 5, 4)];
  const place = drawn(next, 5, 4);
  const [wq, wk, wv] = [drawn(next, 4, 3), drawn(next, 4, 3), drawn(next, 4, 3)];
  const nothing = Array(4).fill([0, 0, 0]);
  const with_ = (content) => content.map((row, i) => [...row, ...place[i]]);
  await projected(bench, {
    X: with_(contents[0]),
    Wq: [...nothing, ...wq],
    Wk: [...nothing, ...wk],
    Wv: [...wv, ...nothing],
  });
  const before = await bench.tables('A', 'O');
  await put(bench, 'X', with_(contents[1]));
  const after = await bench.tables('A', 'O');
  assert.equal(gap(before.A, after.A), 0, 'new content: change of the weights');
  near('new content: change of the output', 1.74922, gap(before.O, after.O), 1e-5);

  await small(bench);
  const upstream = drawn(stream(3), 6, 4);
  const gradients = async () => {
    const found = [];
    for (const row of ROWS) {
      await bench.cell('S', row, 0);
      await bench.leave();
      found.push(await gradient(bench, upstream[row]));
    }
    return found;
  };
  near('values as they are: largest gradient at a score', 1.40841, largest(await gradients()), 1e-5);
  await bench.choose('source', 'typed');
  await put(bench, 'V', Array(6).fill([1, -2, 0.5, 3]));
  zero('all values equal: largest gradient at a score', largest(await gradients()));
});

test('weight-is-contribution', async () => {
  const bench = await open();
  await scores(bench, [Math.log(0.9), Math.log(0.1)], [[0.01], [1]]);
  const { A, V, O } = await bench.tables('A', 'V', 'O');
  near('weights', 0.9, A[0][0]);
  near('share of the token with weight 0.9', 0.0825688, (A[0][0] * V[0][0]) / O[0][0], 1e-6);
});

test('weight-is-contribution, in 72 real heads', async () => {
  const bench = await open();
  const [weight, moved, length] = [[], [], []];
  for (let layer = 0; layer < 6; layer += 1) {
    for (let head = 0; head < 12; head += 1) {
      await bench.click(`[data-head="${layer}.${head}"]`);
      const { A, V } = await bench.tables('A', 'V');
      const sizes = V.map((v) => Math.hypot(...v));
      weight.push(...A.map((row) => row[0]));
      moved.push(...A.map((row) => (row[0] * sizes[0]) / sum(row.map((a, j) => a * sizes[j]))));
      const others = sizes.slice(1, -1).sort((a, b) => a - b);
      length.push(sizes[0] / ((others[6] + others[7]) / 2));
    }
  }
  near('start token’s share of the weight', 0.4659, mean(weight), 0.0005);
  near('its share of weight × value length', 0.0963, mean(moved), 0.0005);
  length.sort((a, b) => a - b);
  near('its value’s length over the median of the others', 0.052, (length[35] + length[36]) / 2, 0.001);
});

test('keys-move-into-the-query', async () => {
  const bench = await open();
  await small(bench);
  const { A, V, O } = await bench.tables('A', 'V', 'O');
  await bench.choose('source', 'typed');
  await put(bench, 'V', V.map((row, j) => (j === 2 ? times([row], 2)[0] : row)));
  const change = minus(await bench.table('O'), O);
  near('doubling v₃ adds a_i3 v₃', 0, gap(change, A.map((row) => V[2].map((x) => row[2] * x))), 1e-14);
  await put(bench, 'V', V.map((row) => row.map(() => 0)));
  assert.equal(largest(await bench.table('O')), 0, 'values 0: the output, whatever the keys');
});

test('zero-weights-zero-output', async () => {
  const bench = await open();
  await typed(bench, { Q: [[0]], K: [[0], [0], [0]], V: [[1], [2], [3]] });
  near('all scores 0: output', 2, (await bench.table('O'))[0][0]);
  const X = [[1], [2], [3]];
  await projected(bench, { X, Wq: [[0]], Wk: [[0]], Wv: [[1]] });
  near('W_Q = W_K = 0: sum of the weights', 1, rowSums(await bench.table('A'))[0]);
  near('as printed', 1, await bench.read('row_sum'));
  await put(bench, 'Wv', [[0]]);
  assert.equal(largest(await bench.table('O')), 0, 'W_V = 0: output');
  about('and the weights stay', 1 / 3, (await bench.table('A'))[0][0], 1e-12);
});
