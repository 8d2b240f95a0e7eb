// The float32 path beside the picture: it comes after the picture from a file of its own, holds against what the reader
// changed last, and where it does not come the page says so and goes on.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';

/** The check of the picture that is on the screen: that of the one before is no number. */
const CHECK = '[data-read="fast_error"]:not([data-value=""])';
const words = (bench) => bench.eval((s) => document.querySelector(s)?.textContent ?? null, CHECK);
const error = async (bench) => Number(await bench.until(() => bench.eval((s) => document.querySelector(s)?.dataset.value, CHECK), 'a check of this picture'));
/** Notes what was on the screen when the engine was asked for the check. */
const WATCH = `
  window.__checks = [];
  const plain = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message, ...rest) {
    if (message?.check) {
      const painted = document.querySelector('[data-name="stage"] canvas') !== null;
      window.__checks.push({ painted, coming: document.querySelectorAll('.part-coming').length, entropy: document.querySelector('[data-read="entropy"]') !== null });
    }
    return plain.call(this, message, ...rest);
  };`;

test('it comes after the picture, agrees, and follows each change', async () => {
  const bench = await open({ query: '?engine=simd', before: WATCH });
  await bench.find(CHECK);
  const [asked] = await bench.eval(() => window.__checks);
  assert.deepEqual(asked, { painted: true, coming: 0, entropy: true }, 'what was there when it was asked for');
  assert.match(await words(bench), /^Float32 check: O within [0-9.e−]+\.$/);
  const first = await error(bench);
  assert.ok(first > 0 && first < 1e-5, `${first}`);
  // A scale that sharpens the rows changes what the rounding comes to.
  await bench.set('scale', '0.9');
  await bench.until(async () => (await error(bench)) !== first, 'the check of the new picture');
  const sharp = await error(bench);
  assert.ok(sharp > 0 && sharp < 1e-4, `${sharp}`);
  // Back: the same numbers, the same bits.
  await bench.click('[data-name="undo"]');
  await bench.until(async () => (await error(bench)) === first, 'the first check again');
  await bench.sound();
});

test('scores beyond float32 are counted, not compared', async () => {
  const bench = await open({ query: '?engine=simd' });
  await bench.choose('source', 'typed');
  await bench.paste('Q', '1e30');
  await bench.paste('K', '1e30');
  await bench.until(async () => /beyond float32/.test((await words(bench)) ?? ''), 'the count');
  assert.match(await words(bench), /^[1-9][0-9]* scores are beyond float32/);
  await bench.sound();
});

test('where its file does not come, the page says so, and the picture goes on', async () => {
  const bench = await open({ query: '?engine=simd', block: ['*/engines/proof/*'] });
  await bench.find('[data-name="unchecked"]');
  assert.match(await bench.eval(() => document.querySelector('[data-name="unchecked"]').textContent), /did not load/);
  await bench.set('scale', '0.5');
  await bench.settled();
  assert.equal(await bench.read('scaled'), (await bench.read('dot')) * 0.5);
  assert.ok(!(await bench.has('[data-name="engine-failed"]')));
  // It is asked for again with the next change.
  bench.block();
  await bench.set('scale', '0.6');
  await bench.find(CHECK);
});
