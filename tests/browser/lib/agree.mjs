// Holds every number of the page against the oracle.

import assert from 'node:assert/strict';
import { near, sameMatrix } from './near.mjs';
import { attention, jacobian, rowGradient, summary } from './oracle.mjs';

const ROW = ['entropy', 'keys_in_effect', 'top_weight', 'row_sum', 'lse', 'jacobian_norm'];
const MEANS = ['mean_top_weight', 'mean_jacobian_norm', 'top_column'];
/** The norm is a root: near 0 the oracle's formula keeps half as many digits. */
const ROOT = 1e-7;

/**
 * Computes the head on the screen from its Q, K and V with the oracle's `options` and compares S, M, A, O, the row's
 * read-outs, its Jacobian, the gradient at its scores and the means over all rows. `options.given` replaces what the
 * page says Q, K and V are; `options.d_out` is a typed gradient. Returns what the oracle has.
 */
export async function agrees(bench, options = {}, what = 'page') {
  const used = options.rope || options.qk_norm !== undefined;
  const page = await bench.tables('Q', 'K', 'V', 'S', 'M', 'A', 'O', 'J', ...(used ? ['Q_used', 'K_used'] : []));
  const [q, k, v] = [page.Q, page.K, page.V];
  if (options.given) {
    for (const name of ['q', 'k', 'v']) sameMatrix(page[name.toUpperCase()], options.given[name], `${what}: ${name.toUpperCase()}`);
  }
  const wanted = attention({ ...options, q, k, v });
  if (used) {
    sameMatrix(page.Q_used, wanted.q_used, `${what}: Q as used`);
    sameMatrix(page.K_used, wanted.k_used, `${what}: K as used`);
  }
  sameMatrix(page.S, wanted.S, `${what}: S`);
  sameMatrix(page.M, wanted.M, `${what}: M`);
  sameMatrix(page.A, wanted.A, `${what}: A`);
  sameMatrix(page.O, wanted.O, `${what}: O`);

  const [i, j] = await bench.row();
  const row = wanted.rows[i];
  sameMatrix(page.J, jacobian(row.weights), `${what}: J of row ${i}`);
  const read = await bench.reads(...ROW, ...MEANS, 'formula-weight', 'formula-score', 'sink_weight');
  for (const name of ROW) {
    const nothing = row.visible === 0 && options.hidden === undefined;
    const value = name === 'keys_in_effect' ? (nothing ? 0 : Math.exp(row.entropy)) : row[name];
    near(read[name], value, `${what}: ${name} of row ${i}`, name === 'jacobian_norm' ? ROOT : undefined);
  }
  if (options.sink !== undefined) near(read.sink_weight, row.sink_weight, `${what}: weight of the sink`);
  const d_out = options.d_out ?? wanted.O[i].map((o, c) => o - v[j][c]);
  sameMatrix([await bench.list('d_scores')], [rowGradient(row.weights, v, d_out)], `${what}: gradient at the scores`);
  const means = summary(wanted, options.hidden);
  for (const name of MEANS) near(read[name], means[name], `${what}: ${name}`, name === 'mean_jacobian_norm' ? ROOT : undefined);
  near(read['formula-weight'], row.weights[j], `${what}: weight in the formula`);
  near(read['formula-score'], masked(wanted, i, j, options.hidden), `${what}: score in the formula`);
  sameMatrix([await bench.list('formula-output')], [wanted.O[i]], `${what}: output in the formula`);
  assert.deepEqual(await bench.nonsense(), [], what);
  return { ...wanted, page, row: i, key: j };
}

/** The score of a cell as the softmax takes it. */
function masked({ S, sees }, i, j, hidden = -Infinity) {
  if (sees[i][j]) return S[i][j];
  return hidden === -Infinity ? -Infinity : S[i][j] + hidden;
}
