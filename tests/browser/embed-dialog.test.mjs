// Embedded views: what is shown and what is not, controls that are hidden, free or fixed, the way to the whole page; and
// the dialog that makes them.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { open } from './lib/bench.mjs';

const SMALL = 'v=1&src=random(7,1)&h=1&g=1&nq=5&nk=5&dk=4&dv=4';
const view = (settings, more = {}) => open({ query: `#embed=1&${settings}&${SMALL}`, width: 720, ready: '.bench', ...more });
const seen = (bench, selector) => bench.has(selector);

/** A selector for each part. */
const PARTS = {
  stage: '[data-name="stage"]',
  waterfall: '.waterfall',
  weights: '.row-inspector .bars',
  readouts: '[data-read="entropy"]',
  jacobian: 'section.jacobian',
  gradient: 'section.gradient',
  output: 'section.output',
  formula: '.formulas',
};

for (const part of Object.keys(PARTS)) {
  test(`shows ${part} by itself`, async () => {
    const bench = await view(`show=${part}`);
    await bench.find(PARTS[part]);
    await bench.settled();
    for (const [name, selector] of Object.entries(PARTS)) {
      assert.equal(await seen(bench, selector), name === part, `${name} in a view of ${part}`);
    }
    assert.equal(await seen(bench, 'header.top'), false, 'the head of the page');
    assert.equal(await seen(bench, '[data-control]'), false, 'controls that nobody asked for');
    const wide = await bench.eval(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    assert.equal(wide, 0, 'wider than its frame');
    await bench.sound();
  });
}

test('the parts that links name are those of the page', async () => {
  const bench = await view('controls=all');
  await bench.find(PARTS.readouts);
  await bench.find('[data-control="history"]');
  const found = await bench.eval(async () => {
    const { PARTS, CONTROLS } = await import(new URL('parts.js', document.querySelector('script[data-wasm]').src).href);
    const there = [...document.querySelectorAll('[data-control]')].map((e) => e.dataset.control);
    return { parts: PARTS, missing: CONTROLS.map((c) => c.name).filter((n) => !there.includes(n)), there, known: CONTROLS.map((c) => c.name) };
  });
  assert.deepEqual(found.parts.toSorted(), Object.keys(PARTS).toSorted());
  assert.deepEqual(found.there.filter((name) => !found.known.includes(name)), [], 'a control without a name in links');
  // Those of a closed group are made when it opens.
  assert.deepEqual(found.missing.filter((n) => !['soft_cap', 'sink', 'qk_norm'].includes(n)), []);
});

test('a control that is named is there and works, and its read-outs follow', async () => {
  const bench = await view('show=stage,readouts&controls=scale', { ready: 'numbers' });
  await bench.find('[data-control="scale"]');
  assert.equal(await seen(bench, '[data-control="scale"]'), true);
  assert.equal(await seen(bench, '[data-control="mask"]'), false);
  await bench.set('scale', '2');
  const before = await bench.read('entropy');
  await bench.set('scale', '0');
  assert.ok((await bench.read('entropy')) > before);
});

test('a fixed control tells its value and takes no hand', async () => {
  const bench = await view('show=readouts&fixed=scale', { ready: 'numbers' });
  await bench.find('[data-control="scale"]');
  assert.equal(await seen(bench, '[data-name="scale"]'), true);
  // Read aloud as well: nothing around it is inert. What there would be to choose from is not shown.
  assert.equal(await bench.eval(() => document.querySelector('[data-name="scale"]').closest('[inert]')), null);
  assert.equal(await bench.eval(() => [...document.querySelectorAll('[data-control="scale"] :is(button:not(.gloss), input)')].every((hand) => hand.disabled)), true);
  assert.equal(await seen(bench, '[data-control="scale"] [aria-checked="false"]'), false);
  const entropy = await bench.read('entropy');
  await bench.eval(() => document.querySelector('[data-name="scale"]').focus());
  assert.notEqual(await bench.eval(() => document.activeElement.dataset.name), 'scale');
  assert.equal(await bench.read('entropy'), entropy);
});

test('what is fixed behind a heading can be opened, and takes no hand there', async () => {
  const bench = await open({ query: '#embed=1&show=readouts&fixed=extras&v=1&src=random(7,1)&nq=4&nk=4&dk=4&dv=4&cap=5' });
  await bench.press('extras');
  await bench.until(() => bench.eval(() => document.querySelector('[data-name="soft_cap"]:disabled')?.value === '5'), 'the cap, to be read');
  assert.equal(await seen(bench, '[data-name="soft_cap"]'), true);
  assert.equal(await bench.eval(() => document.querySelector('[data-name="soft_cap-on"]').disabled), true);
});

test('locked numbers are looked at and not changed; free ones are changed', async () => {
  let bench = await view('show=stage,readouts&lock=1', { ready: 'numbers' });
  await bench.double('Q', 0, 0);
  assert.equal(await seen(bench, '.cell-editor'), false);
  await bench.cell('A', 2, 1);
  assert.deepEqual(await bench.row(), [2, 1]);
  bench = await view('show=stage,weights,readouts,jacobian,gradient,output,formula', { ready: 'numbers' });
  await bench.write('Q', 0, 0, '3.5');
  assert.equal((await bench.table('Q'))[0][0], 3.5);
});

test('the line below leads to the whole page with what the reader has made of the view', async () => {
  const bench = await view('show=stage,readouts&controls=scale&title=Figure%201', { ready: 'numbers' });
  await bench.set('scale', '0.25');
  const foot = await bench.find('.embed-foot');
  assert.match(await foot.getText(), /^Figure 1\s*open in Attention Lab$/);
  const link = await bench.find('[data-name="open-full"]');
  await bench.eval(() => document.querySelector('[data-name="open-full"]').dispatchEvent(new Event('pointerover')));
  const href = await link.getAttribute('href');
  assert.match(href, /#v=1&.*scale=0\.25/);
  assert.doesNotMatch(href, /embed=|show=/);
  const whole = await open({ query: `#${href.split('#')[1]}` });
  await agrees(whole, { scale: 0.25 });
});

test('themes, and settings that are not known', async () => {
  let bench = await view('theme=dark&show=readouts', { ready: 'numbers' });
  const paper = () => bench.eval(() => getComputedStyle(document.body).backgroundColor);
  assert.equal(await paper(), 'rgb(21, 23, 26)');
  bench = await view('theme=pink&show=readouts,nothing&controls=volume', { ready: 'numbers' });
  assert.equal(await paper(), 'rgb(255, 255, 255)');
  const words = await (await bench.find('[data-problem="embed"]')).getText();
  for (const got of ['“pink”', '“nothing”', '“volume”']) assert.ok(words.includes(got), words);
});

test('the dialog makes a frame like its preview', async () => {
  const bench = await open({ query: `#${SMALL}&scale=2&pin=3,1` });
  await bench.click('[data-name="share"]');
  await (await bench.find('[data-name="share-embed"]')).click();
  const code = async () => (await bench.find('[data-name="embed-code"]')).getAttribute('value');
  await bench.until(async () => /height="\d+"/.test(await code()), 'a line of HTML');
  await (await bench.find('[data-name="embed-show-jacobian"]')).click();
  await bench.eval(() => {
    const select = document.querySelector('[data-name="embed-control-mask"]');
    select.value = 'fixed';
    select.dispatchEvent(new Event('change'));
  });
  const line = await bench.until(async () => {
    const now = await code();
    return now.includes('jacobian') && now.includes('fixed=mask') && now;
  }, 'the choices in the line');
  assert.match(line, /^<iframe src="[^"]*#embed=1&amp;show=stage,weights,readouts,jacobian&amp;controls=scale&amp;fixed=mask&amp;v=1[^"]*scale=2[^"]*" title="[^"]+" width="100%" height="\d+" style="border: 0;" loading="lazy"><\/iframe>$/);
  // The preview is that frame, as high as what it holds.
  const frame = await bench.find('[data-name="embed-preview"]');
  await bench.until(async () => (await frame.getAttribute('src')).includes('fixed=mask'), 'the preview');
  await bench.web.switchTo().frame(await bench.find('[data-name="embed-preview"]'));
  await bench.find('[data-read="jacobian_norm"]');
  await bench.web.switchTo().defaultContent();
  // Parts of it may still be on their way: both are looked at until they agree.
  const inside = async () => {
    await bench.web.switchTo().frame(await bench.find('[data-name="embed-preview"]'));
    const high = await bench.eval(() => document.documentElement.scrollHeight);
    await bench.web.switchTo().defaultContent();
    return high;
  };
  await bench.until(async () => {
    const high = await inside();
    return bench.eval((h) => Math.abs(document.querySelector('[data-name="embed-preview"]').clientHeight - h) < 40, high);
  }, 'the preview to be as high as what it holds');
  await (await bench.find('[data-name="embed-height"]')).sendKeys('12');
  assert.match(await (await bench.find('[data-problem="embed"]')).getText(), /expected 120 to 4000, got “12”/);
});
