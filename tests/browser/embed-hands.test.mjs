// What a reader can do in an embedded view: what its author left free, and nothing else.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';

const VIEW = 'v=1&src=random(7,1)&h=1&g=1&nq=5&nk=5&dk=4&dv=4&scale=2&mask=causal';
const focus = (bench, matrix) => bench.eval((m) => document.querySelector(`[data-matrix="${m}"]`).focus(), matrix);
const says = (bench, matrix) => bench.eval((m) => document.querySelector(`[data-matrix="${m}"]`).getAttribute('aria-label'), matrix);

test('reset leads back to what the author embedded', async () => {
  const bench = await open({ query: `#embed=1&controls=scale,history&fixed=mask&${VIEW}` });
  await bench.set('scale', '0.25');
  await agrees(bench, { scale: 0.25, mask: { causal: {} } });
  await bench.click('[data-name="reset"]');
  await agrees(bench, { scale: 2, mask: { causal: {} } });
  await bench.click('[data-name="undo"]');
  await agrees(bench, { scale: 0.25, mask: { causal: {} } });
});

test('where its control is not free, the mask takes no hand', async () => {
  for (const controls of ['controls=scale&fixed=mask', 'controls=scale']) {
    const bench = await open({ query: `#embed=1&${controls}&${VIEW}` });
    assert.doesNotMatch(await says(bench, 'M'), /hides/);
    await focus(bench, 'M');
    await bench.key(' ', Key.ARROW_DOWN, ' ');
    await agrees(bench, { scale: 2, mask: { causal: {} } }, controls);
  }
  const free = await open({ query: `#embed=1&controls=mask&${VIEW}` });
  assert.match(await says(free, 'M'), /hides/);
});

test('locked numbers offer no edit', async () => {
  const bench = await open({ query: `#embed=1&controls=scale&lock=1&${VIEW}` });
  await focus(bench, 'Q');
  await bench.settled();
  const offered = await bench.eval(() => getComputedStyle(document.querySelector('[data-name="edit-cell"]')).display);
  assert.equal(offered, 'none');
  assert.doesNotMatch(await says(bench, 'Q'), /edits/);
  await bench.key('7', Key.ENTER);
  await agrees(bench, { scale: 2, mask: { causal: {} } });
});
