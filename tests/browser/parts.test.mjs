// The parts of the page that come after the first picture: when they come, that nothing moves for them, and what is
// said when one does not come.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';

/** Notes what the engine had answered when a part was asked for, and what moved by itself from then on. */
const WATCH = `
  window.__parts = [];
  window.__moved = [];
  const plain = window.fetch;
  window.fetch = (...args) => {
    if (/\\/part-[^/]*\\.wasm/.test(String(args[0]?.url ?? args[0]))) window.__parts.push({ replies: window.__lab.replies, at: performance.now() });
    return plain(...args);
  };
  new PerformanceObserver((list) => {
    for (const { startTime, value, sources } of list.getEntries()) {
      const what = sources.map(({ node }) => node?.outerHTML?.slice(0, 60) ?? node?.textContent);
      window.__moved.push({ at: startTime, value, what });
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

for (const [width, height] of [[1440, 900], [1100, 900], [820, 1100], [390, 844]]) {
  test(`${width} × ${height}: the parts come after the first picture, and nothing moves for them`, async () => {
    // A font that comes moves letters too, but that is another matter.
    const bench = await open({ width, height, before: WATCH, block: ['*.woff2'] });
    await bench.until(() => bench.eval(() => window.__parts.length >= 2), 'the parts');
    await bench.settled();
    // The first answer of the engine says that it is ready, the second is the picture.
    const replies = await bench.eval(() => window.__parts.map((part) => part.replies));
    assert.ok(replies.every((n) => n >= 2), `asked for after ${replies} answers of the engine`);
    assert.equal(await bench.eval(() => document.querySelectorAll('.part-coming, .part-missing').length), 0);
    const moved = await bench.eval(() => window.__moved.filter((by) => by.at >= window.__parts[0].at));
    assert.ok(moved.reduce((all, by) => all + by.value, 0) < 0.01, JSON.stringify(moved, null, 1));
    await bench.sound(/\.woff2/);
  });
}

test('parts that do not come: a sentence in each place, the picture goes on, and a button asks again', async () => {
  const bench = await open({ block: ['*/part-*.wasm'], ready: '.part-missing' });
  const places = '.inputs .part-missing, .inspector .part-missing, .pipeline .part-missing, .bench > .part-missing';
  await bench.until(() => bench.eval((s) => document.querySelectorAll(s).length === 5, places), 'a sentence in each place');
  assert.match(await bench.eval((s) => document.querySelector(s).textContent, places), /did not load.*try again/i);
  assert.ok(await bench.has('[data-name="stage"] canvas'));
  const shown = await bench.eval(() => document.querySelector('[data-name="stage"]').getAttribute('class'));
  assert.doesNotMatch(shown, /stale/);

  // Again in vain, then with success.
  await bench.eval(() => document.querySelector('.inputs [data-name="part-again"]').click());
  await bench.until(() => bench.has('.inputs .part-missing'), 'the sentence once more');
  bench.block();
  await bench.eval(() => document.querySelectorAll('[data-name="part-again"]').forEach((button) => button.click()));
  await bench.find('.inputs [data-name="source"]');
  await bench.find('[data-read="entropy"]');
  await bench.find('.waterfall canvas');
  await bench.find('.formula');
  await bench.settled();
  assert.equal(await bench.eval(() => document.querySelectorAll('.part-missing').length), 0);
  await bench.set('scale', '0.75');
  await bench.settled();
  assert.equal(await bench.read('scaled'), (await bench.read('dot')) * 0.75);
});

test('an embedded page without controls loads no inputs', async () => {
  const bench = await open({ query: '#v=1&embed=1&show=stage,readouts&controls=none' });
  const parts = await bench.eval(() => performance.getEntriesByType('resource').map((e) => e.name).filter((n) => /\/part-/.test(n)));
  assert.ok(parts.some((name) => /part-beside-/.test(name)), parts.join());
  assert.ok(!parts.some((name) => /part-inputs-/.test(name)), parts.join());
  await bench.sound();
});

test('a page around the whole bench hears that it is ready', async () => {
  const bench = await open({ before: `document.addEventListener('lab-ready', () => { window.__ready = document.querySelectorAll('.part-coming').length; });
    window.__changes = 0;
    document.addEventListener('lab-change', () => { window.__changes += 1; });` });
  await bench.until(() => bench.eval(() => window.__ready !== undefined), 'lab-ready');
  assert.equal(await bench.eval(() => window.__ready), 0, 'parts still on their way');
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal(await bench.eval(() => window.__changes), 0, 'nothing has changed yet');
  await bench.set('scale', '0.5');
  await bench.until(() => bench.eval(() => window.__changes > 0), 'lab-change');
});
