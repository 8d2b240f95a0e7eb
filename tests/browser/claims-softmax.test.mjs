// Statements about the softmax and its Jacobian, each on the page with its number. tests/claims.md says which and how
// they are set.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';
import {
  about, causal, eigenvalues, eye, gap, gradient, largest, mean, near, product, projected, put, rowSums,
  scores, small, stream, sum, transpose, typed, zero,
} from './lib/claims.mjs';

test('rows-are-distributions', async () => {
  const bench = await open();
  await small(bench);
  const free = await bench.table('A');
  near('smallest weight', 0.0431513, Math.min(...free.flat()), 1e-6);
  for (let row = 0; row < 6; row += 1) {
    await bench.cell('A', row, 0);
    near(`the printed sum of row ${row}`, 1, await bench.read('row_sum'), 1e-14);
  }
  await causal(bench);
  const hidden = (await bench.cells('A')).flat().filter((cell) => cell.value === 0 && cell.state === 'hidden');
  assert.equal(hidden.length, 15, 'causal: 15 zeros of 36');
});

test('weights-are-a-markov-chain', async () => {
  const bench = await open();
  await small(bench);
  const A = await bench.table('A');
  const power = (m, times) => Array.from({ length: times - 1 }).reduce((p) => product(p, m), m);
  // A positive matrix: its powers tend to a row-stochastic one exactly where its radius is 1.
  near('spectral radius', 1, Math.max(...rowSums(power(A, 400))), 1e-12);
  near('row sums of A A', 1, Math.max(...rowSums(product(A, A))), 1e-12);
  const columns = rowSums(transpose(A));
  near('worst column sum is off by', 0.269493, Math.max(...columns.map((s) => Math.abs(s - 1))), 1e-5);
  near('what the page says a key receives most', Math.max(...columns) / 6, await bench.read('top_column'));
  await causal(bench);
  const chain = power(await bench.table('A'), 200);
  near('causal: all mass on token 1 after 200 steps', 1, Math.min(...chain.map((row) => row[0])), 1e-6);
});

test('gap-becomes-ratio', async () => {
  const bench = await open();
  for (const [difference, ratio] of [[1, 2.718282], [5, 148.4132]]) {
    await scores(bench, [3 + difference, 3, -1]);
    const [[a, b]] = await bench.table('A');
    near(`difference ${difference}: ratio of the weights`, ratio, a / b, 1e-6);
  }
  await scores(bench, [5, 0, 0, 0]);
  near('lead 5 at n 4: top weight', 0.980186, await bench.read('top_weight'), 2e-6);
});

test('mean-to-lookup', async () => {
  const bench = await open();
  await small(bench);
  const V = await bench.table('V');
  await bench.set('scale', 0);
  const middle = transpose(V).map(mean);
  near('scale 0: distance to the mean of the values', 0, gap(await bench.table('O'), Array(6).fill(middle)), 1e-14);
  await bench.set('scale', 1000);
  const { S, O } = await bench.tables('S', 'O');
  const best = S.map((row) => V[row.indexOf(Math.max(...row))]);
  near('scale 1000: distance to the best value', 0, gap(O, best), 1e-9);

  // The slope of the output by the query is the gradient at the scores, of a gradient of 1 at the output, times the keys.
  await typed(bench, { Q: [[1.2]], K: [[0], [1], [2]], V: [[5], [1], [9]], scale: 1 });
  const slopes = await gradient(bench, [1]);
  near('slope of the soft lookup', 1.56187, sum(slopes.map((g, key) => g * key)), 1e-5);
  const at = async (q) => {
    await put(bench, 'Q', [[q]]);
    return (await bench.table('O'))[0][0];
  };
  near('and by hand', 1.56187, ((await at(1.2001)) - (await at(1.1999))) / 0.0002, 1e-5);
});

test('output-is-an-expectation', async () => {
  const bench = await open();
  await scores(bench, [1, 2, 3], [[5], [1], [9]]);
  near('sum of weight times value', 6.68205, (await bench.table('O'))[0][0], 1e-5);
});

test('softmax-jacobian', async () => {
  const bench = await open();
  await scores(bench, [1, 2, 3]);
  const J = await bench.table('J');
  for (const [i, j, expected] of [[0, 0, 0.0819251], [0, 1, -0.0220333], [0, 2, -0.0598918], [2, 2, 0.2226954]]) {
    near(`J${i + 1}${j + 1}`, expected, J[i][j], 1e-6);
  }
  near('smallest eigenvalue', 0, eigenvalues(J)[0], 1e-12);
});

test('offdiagonal-over-sum-squared', async () => {
  const bench = await open();
  await scores(bench, [1, 2, 3]);
  const { A, J } = await bench.tables('A', 'J');
  const [a] = A;
  const total = Math.exp(await bench.read('lse'));
  near('sum of exponentials', 30.19287, total, 1e-6);
  about('−a₁a₂ over its square', -2.41695e-5, (-a[0] * a[1]) / total ** 2, 1e-4);
  near('the entry', -0.0220333, J[0][1], 1e-6);
  near('row 1 would sum to', 0.0818357, J[0][0] + (J[0][1] + J[0][2]) / total ** 2, 1e-5);
  zero('and sums to', largest([rowSums(J)]));
});

test('scores-compete', async () => {
  const bench = await open();
  const next = stream(7);
  const list = Array.from({ length: 6 }, next);
  await scores(bench, list);
  const [before] = await bench.table('A');
  await bench.write('K', 0, 2, String(list[2] + 0.5));
  const [after] = await bench.table('A');
  zero('total change', sum(after) - sum(before));
  const others = [0, 1, 3, 4, 5];
  assert.ok(others.every((j) => after[j] < before[j]), 'the five others fall');
  const shares = others.map((j) => after[j] / before[j]);
  zero('by one factor', Math.max(...shares) - Math.min(...shares));
});

test('saturation-kills-the-jacobian', async () => {
  const bench = await open();
  for (const [lead, expected] of [[0, 0.433013], [5, 0.0275278], [10, 1.92566e-4], [20, 8.74473e-9]]) {
    await scores(bench, [lead, 0, 0, 0]);
    const norm = await bench.read('jacobian_norm');
    about(`lead ${lead}: ‖J‖`, expected, norm, 2e-4);
    const trace = sum((await bench.table('J')).map((row, i) => row[i]));
    assert.ok(norm <= trace * (1 + 1e-6), 'never above 1 − Σ a²');
  }
  await scores(bench, [3.7]);
  near('one visible key', 0, await bench.read('jacobian_norm'));
  await scores(bench, [1, 1]);
  near('a (1 − a) at a = 1/2', 0.25, (await bench.table('J'))[0][0]);
});

test('bounded-so-never-vanishing', async () => {
  const bench = await open();
  const spectral = async () => Math.max(...eigenvalues(await bench.table('J')).map(Math.abs));
  await scores(bench, [1, 1]);
  near('two tied keys', 0.5, await spectral());
  await scores(bench, [20, 0]);
  about('lead 20', 4.12231e-9, await spectral(), 1e-5);
  await bench.random({ heads: 1, n_q: 200, n_k: 6, d_k: 4, d_v: 1, seed: 7, sigma: 2 });
  const norms = (await bench.table('A')).map((a) => {
    const J = a.map((x, i) => a.map((y, j) => (i === j ? x : 0) - x * y));
    return Math.max(...eigenvalues(J));
  });
  assert.ok(Math.max(...norms) <= 0.5 + 1e-12, 'never above 1/2');
  assert.ok(Math.min(...norms) < 0.01, 'and no bound below');
});

test('row-sums-prevent-explosion', async () => {
  const bench = await open();
  for (const [a, expected] of [[1, 1], [10, 67], [100, 6667]]) {
    await projected(bench, { X: [[0], [a], [-a]], Wq: [[1]], Wk: [[1]], Wv: [[1]] });
    await bench.set('scale', 1);
    const step = 1e-6;
    await put(bench, 'X', [[step], [a], [-a]]);
    const up = (await bench.table('O'))[0][0];
    await put(bench, 'X', [[-step], [a], [-a]]);
    const down = (await bench.table('O'))[0][0];
    about(`a ${a}: slope of the first output by the first token`, expected, (up - down) / (2 * step), 1e-6);
  }
});

test('softmax-prime-is-a-multiplier', async () => {
  const bench = await open();
  // Values that are the unit vectors hand the gradient at the output on to the weights as it is.
  await scores(bench, [1, 2, 3], eye(3));
  near('a (1 − a) of key 3', 0.2226954, (await bench.table('J'))[2][2], 1e-6);
  near('upstream (1, 1, 1)', 0, (await gradient(bench, [1, 1, 1]))[2], 1e-12);
  near('upstream (1, 0, 0)', -0.0598918, (await gradient(bench, [1, 0, 0]))[2], 1e-6);
});

test('saturated-heads-stop-learning', async () => {
  const bench = await open();
  await scores(bench, [20, 0], eye(2));
  const [[, a2]] = await bench.table('A');
  about('of (a₂ − 1)²', 4.1223e-9, Math.abs((await gradient(bench, [0, 2 * (a2 - 1)]))[1]), 1e-4);
  near('of −ln a₂', 1, Math.abs((await gradient(bench, [0, -1 / a2]))[1]), 1e-8);
});
