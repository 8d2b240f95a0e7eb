// The picture itself: the pixels of the canvas are those of the numbers, and stay so while a pointer moves over it.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { open } from './lib/bench.mjs';

let bench;

before(async () => {
  bench = await open();
});

/** The colour in the middle of every cell of a matrix: rows of [r, g, b]. */
function colours(matrix, rows, cols) {
  return bench.eval(async (name, r, c) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    const canvas = document.querySelector('[data-name="stage"] canvas');
    const place = document.querySelector(`[data-matrix="${name}"]`).getBoundingClientRect();
    const origin = canvas.getBoundingClientRect();
    const ratio = canvas.width / origin.width;
    const context = canvas.getContext('2d');
    const at = (i, j) => {
      const x = place.left - origin.left + ((j + 0.4) * place.width) / c;
      const y = place.top - origin.top + ((i + 0.4) * place.height) / r;
      return [...context.getImageData(Math.floor(x * ratio), Math.floor(y * ratio), 1, 1).data].slice(0, 3);
    };
    return Array.from({ length: r }, (_, i) => Array.from({ length: c }, (_, j) => at(i, j)));
  }, matrix, rows, cols);
}

const luminance = ([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b;

/** On light paper a larger weight is a darker cell. */
async function weightsAreTheirColours() {
  const weights = (await bench.table('A')).flat();
  const light = (await colours('A', 16, 16)).flat().map(luminance);
  const order = weights.map((_, i) => i).sort((a, b) => weights[a] - weights[b]);
  for (let k = 1; k < order.length; k++) {
    const [less, more] = [order[k - 1], order[k]];
    assert.ok(
      light[more] <= light[less] + 1.5,
      `cell ${more} of weight ${weights[more]} is lighter (${light[more]}) than cell ${less} of weight ${weights[less]} (${light[less]})`,
    );
  }
  assert.ok(light[order[0]] - light[order.at(-1)] > 100, 'the largest weight stands out');
}

test('weights are drawn in the colours of their scale', weightsAreTheirColours);

test('they still are after pointing around, editing and pointing around again', async () => {
  for (const [i, j] of [[2, 3], [9, 9], [15, 0], [4, 12]]) await bench.hover('S', i, j);
  await bench.leave();
  await weightsAreTheirColours();
  await bench.set('scale', '0.3');
  for (const [i, j] of [[1, 1], [7, 14], [10, 2]]) await bench.hover('A', i, j);
  await bench.leave();
  await weightsAreTheirColours();
});
