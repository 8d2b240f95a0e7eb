// Lines that break half way: a sentence with what was expected, what came and what to do, and a retry that works.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { driver } from './lib/browser.mjs';
import { hostPage, measured, painted, run, until } from './lib/frames.mjs';
import { serve, shippedHeaders } from './lib/sites.mjs';

const WASM = /page-[0-9a-f]+_bg\.wasm$/;
const SCRIPT = /page-[0-9a-f]+\.js$/;
const ENGINE = /engines\/simd\/engine_bg\.wasm$/;
const ENGINE_SCRIPT = /engines\/simd\/engine\.js$/;

let web;
let whole;

before(async () => {
  web = await driver();
  const site = await serve();
  await web.get(site.url);
  whole = await measured();
});

/** Where the page is: alone, or in a sandboxed frame of another site. */
const PLACES = {
  alone: async (site, hash) => {
    await web.get(`${site.url}${hash}`);
    return -1;
  },
  sandboxed: async (site, hash) => {
    const host = await serve({ pages: { '/course.html': hostPage([{ src: `${site.url}${hash}`, sandbox: 'allow-scripts' }]) } });
    await web.get(`${host.foreign}course.html`);
    return 0;
  },
};

const press = (number, name) => run(number, (n) => document.querySelector(`[data-name="${n}"]`).click(), name);

/** The picture that the page opens with, as a link. */
const OPENING = '#v=1&lab=bench&src=example(coreference,3)&head=1&pin=11,13';

for (const [place, open] of Object.entries(PLACES)) {
  for (const [what, pattern] of [
    ['wasm', WASM],
    ['script', SCRIPT],
  ]) {
    test(`${place}: the page's ${what} breaks off half way`, async () => {
      const site = await serve({ headers: await shippedHeaders() });
      // A browser may ask a second time by itself.
      const drop = site.drop(pattern, { times: 99 });
      const number = await open(site, OPENING);
      const words = await until(() => run(number, () => document.querySelector('#starting[role="alert"]')?.textContent), 'the sentence');
      assert.match(words, /did not start: expected .*, got “.+”\. Check the connection and try again; nothing is lost/);
      assert.ok(drop.met >= 1);
      await press(number, 'retry-start');
      await until(() => run(number, () => document.querySelector('#starting[role="alert"]')?.textContent), 'the sentence again');
      drop.times = 0;
      await press(number, 'retry-start');
      const found = await measured(number);
      assert.deepEqual(found.tables, whole.tables);
      assert.equal(await run(number, () => location.hash), OPENING, 'the address is as it was');
      assert.equal(await run(number, () => document.querySelectorAll('.app').length), 1);
    });
  }

  for (const [what, pattern] of [
    ['wasm', ENGINE],
    ['script', ENGINE_SCRIPT],
  ]) {
    test(`${place}: the engine's ${what} breaks off half way; the session stays`, async () => {
      const site = await serve({ headers: await shippedHeaders() });
      const drop = site.drop(pattern, { times: 99 });
      const number = await open(site, '');
      const problem = () => run(number, () => document.querySelector('[data-problem="engine"]')?.textContent);
      const words = await until(problem, 'the sentence');
      assert.match(words, /did not start: expected .*, got “.+”\. Check the connection and try again; your numbers are kept/);
      // A setting made meanwhile is kept; the controls come when there was no picture for a while.
      await until(() => run(number, () => document.querySelector('[data-name="mask"]') !== null), 'the controls');
      await run(number, () => document.querySelector('[data-name="mask"] [data-value="causal"]')?.click());
      await run(number, () => {
        const menu = document.querySelector('select[data-name="mask"]');
        if (!menu) return;
        menu.value = 'causal';
        menu.dispatchEvent(new Event('change', { bubbles: true }));
      });
      drop.times = 0;
      await press(number, 'retry-engine');
      const found = await measured(number);
      assert.equal(found.tables.A[0][1], '0', 'the mask that was chosen');
      assert.equal((await problem()) ?? '', '');
      await run(number, () => document.querySelector('[data-name="undo"]').click());
      await until(async () => (await measured(number)).tables.O.join() === whole.tables.O.join(), 'what was there before');
    });
  }
}

test('a line that goes silent: it is said that it is slow, and another attempt works', async () => {
  const site = await serve({ headers: await shippedHeaders() });
  const drop = site.drop(WASM, { times: 99, silent: true });
  // The page's code is never whole, so that a page load that waits for everything would not end.
  await web.get(site.url);
  const words = await until(() => run(-1, () => document.querySelector('#starting[role="alert"]')?.textContent), 'the sentence', 40_000);
  assert.match(words, /slow: expected its files within 20 seconds.*begin again, which loses nothing/);
  assert.ok(drop.met >= 1);
  drop.times = 0;
  await press(-1, 'retry-start');
  const found = await measured();
  assert.deepEqual(found.tables, whole.tables);
  assert.equal(await run(-1, () => document.querySelectorAll('.app').length), 1);
});

test('an engine that goes silent while it loads does not stop the page, and is asked again by hand', async () => {
  const site = await serve({ headers: await shippedHeaders() });
  const drop = site.drop(ENGINE, { times: 99, silent: true });
  await web.get(site.url);
  await until(() => drop.met > 0, 'the engine, asked for');
  const open = await run(-1, () => document.querySelector('.app') !== null);
  assert.ok(open, 'the page stands');
  const words = await until(() => run(-1, () => document.querySelector('[data-problem="engine"]')?.textContent), 'the sentence', 75_000);
  assert.match(words, /no answer within 60 seconds/);
  drop.times = 0;
  await press(-1, 'retry-engine');
  assert.deepEqual((await measured()).tables, whole.tables);
});

test('storage that throws, in a sandboxed frame and alone: the page stands', async () => {
  const site = await serve({ headers: await shippedHeaders() });
  const number = await PLACES.sandboxed(site, '');
  await painted(number);
  const storage = await run(number, () => {
    try {
      return String(localStorage);
    } catch (error) {
      return error.name;
    }
  });
  assert.equal(storage, 'SecurityError');
  for (let i = 0; i < 3; i += 1) await press(number, 'theme');
  assert.deepEqual((await measured(number)).tables, whole.tables);
});
