// The scale: chosen, typed, slid by keys and by hand; and what it does to the softmax.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { near } from './lib/near.mjs';

let bench;

before(async () => {
  bench = await open();
  await bench.random({ n_q: 6, n_k: 6, d_k: 4, d_v: 4, heads: 1 });
});

beforeEach(() => bench.reset());

/** The scale in force, from two exact numbers of the page. */
async function scale() {
  return (await bench.read('scaled')) / (await bench.read('dot'));
}

test('begins as 1/√d_k', async () => {
  assert.equal(await bench.chosen('scale-choice'), 'inverse_sqrt');
  await agrees(bench, { scale: 0.5 });
});

test('none is 1', async () => {
  await bench.choose('scale-choice', 'none');
  near(await scale(), 1, 'scale');
  await agrees(bench, { scale: 1 });
});

test('a typed number', async () => {
  for (const [text, value] of [['0.3', 0.3], ['2', 2], ['−0.5', -0.5], ['1e-3', 1e-3], ['0', 0]]) {
    await bench.set('scale', text);
    assert.equal(await bench.problem('scale'), null);
    await agrees(bench, { scale: value }, `scale ${text}`);
  }
  assert.equal(await bench.chosen('scale-choice'), 'custom');
});

test('custom asks for a number', async () => {
  await bench.choose('scale-choice', 'custom');
  assert.equal(await bench.eval(() => document.activeElement?.dataset.name), 'scale');
});

test('the slider by keys', async () => {
  const slider = await bench.reach('[data-name="scale-slider"]');
  let last = await scale();
  for (const key of [Key.ARROW_RIGHT, Key.PAGE_UP, Key.ARROW_UP]) {
    await slider.sendKeys(key);
    await bench.settled();
    const now = await scale();
    assert.ok(now > last, `${now} after ${last}`);
    last = now;
  }
  await agrees(bench, { scale: last }, 'after keys');
  await slider.sendKeys(Key.HOME);
  await bench.settled();
  near(await scale(), 0.01, 'least');
  await slider.sendKeys(Key.END);
  await bench.settled();
  near(await scale(), 4, 'most');
  await agrees(bench, { scale: 4 }, 'at the end');
});

test('the slider by hand, in one step of undo; a double click resets it', async () => {
  const start = await scale();
  await bench.reach('[data-name="scale-slider"]');
  const place = await bench.eval(() => {
    const input = document.querySelector('[data-name="scale-slider"]');
    const r = input.getBoundingClientRect();
    return { left: r.left, width: r.width, y: Math.round(r.top + r.height / 2), t: input.value / input.max };
  });
  const x = (t) => Math.round(place.left + 7 + t * (place.width - 14));
  await bench.drag(...[place.t, place.t + 0.05, place.t + 0.1, 0.9].map((t) => ({ x: x(t), y: place.y })));
  const dragged = await scale();
  assert.ok(dragged > start, `${dragged} after ${start}`);
  await agrees(bench, { scale: dragged }, 'dragged');
  await bench.press('undo');
  near(await scale(), start, 'undone in one step');
  await bench.press('redo');
  near(await scale(), dragged, 'done again');
  const slider = await bench.reach('[data-name="scale-slider"]');
  await bench.web.actions().doubleClick(slider).perform();
  await bench.settled();
  near(await scale(), start, 'reset by a double click');
});

test('at d_k = 64 a scale of 1 instead of 1/√d_k saturates the softmax', async () => {
  await bench.sizes({ n_q: 16, n_k: 16, d_k: 64 });
  const top = await bench.read('mean_top_weight');
  const norm = await bench.read('mean_jacobian_norm');
  await agrees(bench, { scale: 1 / 8 }, '1/√64');
  await bench.choose('scale-choice', 'none');
  const after = await agrees(bench, { scale: 1 }, 'none');
  assert.ok((await bench.read('mean_top_weight')) > top + 0.3);
  assert.ok((await bench.read('mean_jacobian_norm')) < norm / 2);
  // Both numbers stand on the screen.
  const shown = await bench.eval(() => ['mean_top_weight', 'mean_jacobian_norm'].map((n) => document.querySelector(`dd[data-read="${n}"]`).textContent));
  assert.equal(Number(shown[0]).toFixed(3), (await bench.read('mean_top_weight')).toFixed(3));
  assert.equal(Number(shown[1]).toFixed(3), (await bench.read('mean_jacobian_norm')).toFixed(3));
  assert.ok(after.rows.every((r) => r.row_sum > 0.999));
});

test('nothing went wrong', () => bench.sound());
