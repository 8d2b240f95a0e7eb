// What a reader must be able to see by moving a slider: saturation, and the sink of a real head. Both numbers are read
// as they are printed.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Key, open } from './lib/bench.mjs';
import { mean, near } from './lib/claims.mjs';

/** A read-out as it stands on the screen. */
const printed = async (bench, name) => Number((await bench.text(name)).replace('−', '-'));

test('random numbers at d_k 64: a scale of 1 takes the largest weight up and the Jacobian down', async () => {
  const bench = await open();
  await bench.random({ heads: 1, n_q: 16, n_k: 16, d_k: 64, d_v: 64, seed: 7 });
  const slider = await bench.reach('[data-name="scale-slider"]');
  const [tops, norms] = [[], []];
  const note = async () => {
    tops.push(await printed(bench, 'mean_top_weight'));
    norms.push(await printed(bench, 'mean_jacobian_norm'));
  };
  near('at first the scale is 1/√64', 1 / 8, Number(await bench.field('scale')), 1e-6);
  await note();
  // By the slider, as a reader would, until it stands on 1.
  for (let step = 0; step < 60 && Number(await bench.field('scale')) < 1; step += 1) {
    await slider.sendKeys(...Array(5).fill(Key.ARROW_RIGHT));
    await bench.settled();
    await note();
  }
  near('the slider stops on 1', 1, Number(await bench.field('scale')), 0.05);
  const grows = (list) => list.every((x, i) => i === 0 || x >= list[i - 1] - 1e-9);
  assert.ok(grows(tops), `mean largest weight: ${tops}`);
  assert.ok(tops.at(0) < 0.4 && tops.at(-1) > 0.8, `mean largest weight: ${tops.at(0)} to ${tops.at(-1)}`);
  assert.ok(norms.at(-1) < norms.at(0) / 1.5, `mean norm of the Jacobian: ${norms.at(0)} to ${norms.at(-1)}`);
  await bench.choose('scale-choice', 'inverse_sqrt');
  assert.deepEqual([await printed(bench, 'mean_top_weight'), await printed(bench, 'mean_jacobian_norm')], [tops[0], norms[0]]);
});

test('layer 4, head 5 of the sentence on the animal parks 0.90 of its weight on [CLS]', async () => {
  const bench = await open();
  await bench.click('[data-head="4.5"]');
  const A = await bench.table('A');
  near('mean weight on the first token', 0.9, mean(A.map((row) => row[0])), 0.005);
  near('as printed', 0.9, await printed(bench, 'top_column'), 0.005);
  const column = await bench.eval(() => document.querySelector('[data-read="top_column"]').parentElement.textContent);
  assert.match(column, /sink.*\[CLS\]/);
});

test('the opening head: a larger scale makes its row choose one key', async () => {
  const bench = await open();
  const before = await printed(bench, 'keys_in_effect');
  assert.ok(before > 7, `keys in effect: ${before}`);
  await bench.set('scale', 4);
  assert.ok((await printed(bench, 'keys_in_effect')) < 1.1);
  assert.ok((await printed(bench, 'top_weight')) > 0.99);
});
