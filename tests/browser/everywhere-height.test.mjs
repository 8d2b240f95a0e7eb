// The element <attention-lab> in every setting: as high as what it holds, and so again when what it holds changes. And a
// lab in a tab behind another one: at rest, then the same numbers.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { driver } from './lib/browser.mjs';
import { ENGINE, note, variant } from './lib/everywhere.mjs';
import { hostPage, inside, measured, painted, run, until } from './lib/frames.mjs';
import { policyOf, serve, shippedHeaders } from './lib/sites.mjs';

/** A height that no lab has by itself, so that keeping it would show. */
const RESERVED = 333;
const SMALL = 'source="random(7,1)" h="1" g="1" nq="6" nk="6" dk="4" dv="4" controls="scale,mask" height="333"';

let web;

before(async () => {
  web = await driver();
});

/** The element's frame: how high it stands, how high its content is, how wide it is. */
async function heights(number) {
  const outside = await run(-1, (n) => {
    const frame = document.querySelectorAll('attention-lab')[n].shadowRoot.querySelector('iframe');
    return frame && { height: frame.clientHeight, width: frame.clientWidth };
  }, number);
  if (!outside) return null;
  const content = await within(number, (w) => w.executeScript('return Math.ceil(document.documentElement.getBoundingClientRect().height)'));
  return { ...outside, content };
}

/** Does something inside the lab of that number: its frame stands in a shadow root. */
async function within(number, work) {
  await web.switchTo().defaultContent();
  const frame = await web.executeScript('return document.querySelectorAll("attention-lab")[arguments[0]].shadowRoot.querySelector("iframe")', number);
  await web.switchTo().frame(frame);
  try {
    return await work(web);
  } finally {
    await web.switchTo().defaultContent();
  }
}

const fits = (found) => found && found.height !== RESERVED && found.height >= 200 && found.height === found.content;

/** A course page with `count` elements in a column; the height of the last follows when the column gets narrow. */
async function follows(row, lab, { attributes = '', own = {}, style = '', count = 1, showIt } = {}) {
  const one = `<attention-lab ${SMALL} ${attributes}></attention-lab>`;
  const column = `<div id="column" style="width:900px;${style}">${Array(count).fill(one).join('<p style="height:900px">text</p>')}</div>`;
  const script = `<script src="${lab.url}embed.js"></script>`;
  const host = await serve({ pages: { '/course.html': hostPage([], `${script}${column}`) }, own });
  await web.get(`${host.foreign}course.html`);
  await showIt?.();
  const last = count - 1;
  await run(-1, (n) => document.querySelectorAll('attention-lab')[n].scrollIntoView({ behavior: 'instant' }), last);
  const at = async (width) => {
    let found;
    await until(async () => {
      found = await heights(last);
      return fits(found) && found.width === width;
    }, `${row}: a frame ${width} wide as high as its content`).catch((error) => {
      throw new Error(`${error.message}: ${JSON.stringify(found)}`);
    });
    return found;
  };
  const wide = await at(900);
  await run(-1, () => document.querySelector('#column').style.setProperty('width', '360px'));
  const narrow = await at(360);
  assert.notEqual(narrow.height, wide.height, `${row}: another width has another height`);
  // A control that says more takes more: an error sentence in place.
  await within(last, (w) => w.executeScript(`
    const field = document.querySelector('input[data-name="scale"]');
    field.focus({ preventScroll: true });
    field.value = 'nonsense, and more of it so that its sentence takes a line or two';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));`));
  await within(last, (w) => until(() => w.executeScript(`return document.querySelector('.problem') !== null`), 'the sentence'));
  await at(360);
  await note(row, { height: true });
}

test('the height follows: ordinary iframe on another site', async () => follows('ordinary', await serve({ headers: 'file' })));

test('the height follows: sandboxed', async () => follows('sandboxed', await serve({ headers: 'file' }), { attributes: 'sandbox' }));

test('the height follows: in an isolated page', async () =>
  follows('isolated', await serve({ headers: 'file' }), {
    own: { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' },
  }));

test('the height follows: under the strict policy', async () => {
  const headers = { ...(await shippedHeaders()) };
  const lab = await serve({ headers });
  headers['Content-Security-Policy'] = policyOf(new URL(lab.url).origin);
  await follows('csp', lab);
});

test('the height follows: hidden at first', async () =>
  follows('hidden', await serve({ headers: 'file' }), {
    style: 'display:none',
    showIt: async () => {
      await new Promise((resolve) => setTimeout(resolve, 600));
      assert.equal(await run(-1, () => document.querySelector('attention-lab').shadowRoot.querySelector('iframe')), null, 'a lab for nobody');
      await run(-1, () => document.querySelector('#column').style.removeProperty('display'));
    },
  }));

test('the height follows: ten on one page', async () => follows('ten', await serve({ headers: 'file' }), { count: 10 }));

test('the height follows: under a sub-path', async () => follows('subpath', await serve({ headers: 'file', under: '/course/week3/' })));

/** How many workers the browser runs; null where its driver cannot tell. */
async function workers() {
  if (ENGINE !== 'chromium') return null;
  const { targetInfos } = await web.sendAndGetDevToolsCommand('Target.getTargets', { filter: [{ type: 'worker' }] });
  return targetInfos.length;
}

test('in a tab behind another one: at rest, then the same numbers and an edit', async () => {
  const lab = await serve({ headers: 'file' });
  const host = await serve({ pages: { '/course.html': hostPage([{ src: lab.url }]) } });
  // A page that is kept for the way back keeps its engine, too.
  const kept = (await workers()) ?? 0;
  await web.get(`${host.foreign}course.html`);
  const before = await measured(0);
  await run(-1, () => {
    window.__seen = [];
    document.addEventListener('visibilitychange', () => window.__seen.push(document.visibilityState));
  });
  const first = await web.getWindowHandle();
  await web.switchTo().newWindow('tab');
  const second = await web.getWindowHandle();
  try {
    await web.get('about:blank');
    // Longer than a framed page waits before it ends its engine.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    const alive = await workers();
    if (alive !== null) assert.ok(alive <= kept, `${alive} engines behind the other tab, ${kept} before`);
  } finally {
    await web.switchTo().window(second);
    await web.close();
    await web.switchTo().window(first);
  }
  const seen = await run(-1, () => window.__seen);
  if (ENGINE !== 'webkit') assert.deepEqual(seen, ['hidden', 'visible'], 'the tab was behind');
  const after = await measured(0);
  assert.deepEqual(after.tables, before.tables);
  assert.deepEqual(after.reads, before.reads);
  await inside(0, (frame) => frame.executeScript(`
    const field = document.querySelector('input[data-name="scale"]');
    field.focus({ preventScroll: true });
    field.value = '0.01';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));`));
  await until(() => run(0, (was) => document.querySelector('[data-read="entropy"]').dataset.value !== was, before.reads.entropy), 'another entropy');
  await painted(0);
  await note('tab', { bits: true, variant: variant(after.engine), ...(seen.includes('hidden') ? {} : { more: 'its driver hides no tab' }) });
});
