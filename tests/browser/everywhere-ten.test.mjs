// Ten labs on one page: one download for all, engines only for those that are seen, the same numbers in each.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { driver, needs } from './lib/browser.mjs';
import { ENGINE, note, variant } from './lib/everywhere.mjs';
import { hostPage, measured, painted, run, until } from './lib/frames.mjs';
import { serve } from './lib/sites.mjs';

const TEN = 10;

let web;
/** How often what is large was sent to ten labs. */
let downloads;

before(async () => {
  web = await driver();
});

/** How many workers the browser runs; null where its driver cannot tell. */
async function workers() {
  if (ENGINE !== 'chromium') return null;
  const { targetInfos } = await web.sendAndGetDevToolsCommand('Target.getTargets', { filter: [{ type: 'worker' }] });
  return targetInfos.length;
}

/** Leaves a page for good: one that is kept for the way back keeps its engine, too. */
const leave = () => web.executeScript(`location.replace('about:blank')`);

const show = (number) => run(-1, (n) => document.querySelectorAll('iframe')[n].scrollIntoView({ block: 'start', behavior: 'instant' }), number);

for (const sandbox of [undefined, 'allow-scripts']) {
  test(`ten ${sandbox ? 'sandboxed ' : ''}labs on one page`, async () => {
    await leave();
    const alone = await serve();
    await web.get(alone.url);
    const reference = await measured();

    const lab = await serve({ headers: 'file' });
    const frames = Array.from({ length: TEN }, () => ({ src: lab.url, sandbox, style: 'width:100%;height:1200px;margin-bottom:400px' }));
    const host = await serve({ pages: { '/course.html': hostPage(frames) } });
    await leave();
    await until(async () => !(await workers()), 'the engine of the page before, ended');
    await web.get(`${host.foreign}course.html`);
    await painted(0);
    const count = (ending) => lab.requests.filter((path) => path.endsWith(ending)).length;
    assert.ok(count('_bg.wasm') >= 2, 'a page and an engine');
    const alive = await workers();
    if (alive !== null) assert.ok(alive <= 2, `${alive} workers for the labs in sight`);

    for (let number = 0; number < TEN; number += 1) {
      await show(number);
      const found = await measured(number);
      assert.deepEqual(found.tables, reference.tables, `lab ${number}`);
      assert.deepEqual(found.reads, reference.reads, `lab ${number}`);
    }
    // Browsers may begin several downloads of a file before the first is there; ten would be none shared. A sandboxed
    // frame belongs to no origin: browsers give it a cache of its own.
    const [pages, engines] = [count('page-' + lab.requests.find((p) => /page-.*_bg\.wasm$/.test(p)).split('page-')[1]), count('/engines/simd/engine_bg.wasm')];
    if (!sandbox) downloads = { pages, engines };
    console.log(`${TEN} ${sandbox ? 'sandboxed ' : ''}labs: the page's code was sent ${pages} times, the engine ${engines} times, ${lab.sent} bytes in all`);

    if (alive !== null) {
      await until(async () => (await workers()) <= 2, 'the engines of labs out of sight, ended');
    }

    await web.switchTo().defaultContent();
    // Back at the first: its picture stands, nothing is said, and an edit computes.
    await show(0);
    assert.deepEqual((await measured(0)).tables, reference.tables);
    const said = await run(0, () => document.querySelector('.engine-note')?.textContent ?? '');
    assert.equal(said, '');
    const before = reference.reads.entropy;
    await run(0, () => {
      const field = document.querySelector('input[data-name="scale"]');
      field.focus();
      field.value = '0.01';
      field.dispatchEvent(new Event('input', { bubbles: true }));
      field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
    });
    await until(() => run(0, (was) => document.querySelector('[data-read="entropy"]').dataset.value !== was, before), 'another entropy');
    const changed = await measured(0);
    await show(TEN - 1);
    await new Promise((resolve) => setTimeout(resolve, 3_500));
    await show(0);
    assert.deepEqual((await measured(0)).tables, changed.tables, 'the reader’s change is kept over a rest');
    const sent = `${pages} × page and ${engines} × engine sent`;
    await note('ten', { bits: true, variant: variant(changed.engine), ...(sandbox ? {} : { more: sent }) });
  });
}

test('ten labs on one page share one download', needs('cache'), () => {
  assert.ok(downloads.engines <= 2, `the engine was sent ${downloads.engines} times`);
  assert.ok(downloads.pages <= TEN / 2, `the page's code was sent ${downloads.pages} times`);
});
