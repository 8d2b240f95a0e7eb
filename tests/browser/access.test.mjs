// Keyboard and screen readers: no violations, every control reached and seen with the focus, cells said aloud.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { fromTheTop, reachable, walk } from './lib/keys.mjs';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core objects to, one line each. */
async function violations(bench) {
  await bench.web.executeScript(AXE);
  return bench.eval(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations.flatMap((v) => v.nodes.map((n) => `${v.id}: ${v.help}: ${n.target.join(' ')} ${n.any.map((a) => a.message).join('; ')}`));
  });
}

const VIEWS = {
  light: {},
  dark: { dark: true },
  tablet: { width: 900, height: 1100 },
  phone: { width: 390, height: 844, scale: 2, touch: true },
  'dark phone': { dark: true, width: 390, height: 844, scale: 2, touch: true },
  embedded: { width: 640, height: 480 },
};

for (const [name, options] of Object.entries(VIEWS)) {
  test(`axe finds nothing: ${name}`, async () => {
    const bench = await open({ ...options, still: true });
    const found = [];
    const look = async (state) => found.push(...(await violations(bench)).map((v) => `${state}: ${v}`));
    await look('the opening view');
    await bench.sheet('inputs');
    await bench.random({ n_q: 6, n_k: 6, d_k: 4, d_v: 4, heads: 2 });
    await bench.choose('mask', 'window');
    await bench.choose('positions', 'rope');
    await bench.unfold('extras');
    for (const extra of ['soft_cap-on', 'sink-on', 'qk_norm-on']) await bench.toggle(extra, true);
    await bench.set('d_k', '0');
    assert.ok(await bench.problem('d_k'));
    await look('every control and a sentence of an error');
    if (name === 'light' || name === 'dark') {
      await bench.press('tables');
      await look('the table');
      await bench.press('tables-close');
      await bench.press('jacobian-open');
      await look('the Jacobian enlarged');
      await bench.key(Key.ESCAPE);
      await bench.tokens();
      await bench.double('X', 1, 1);
      await look('tokens, and a cell that is being edited');
    }
    assert.deepEqual(found, []);
  });
}

for (const [name, options] of [['wide', {}], ['tablet', { width: 900, height: 1100 }]]) {
  test(`Tab reaches every control, in view and with a mark: ${name}`, async () => {
    const bench = await open(options);
    if (name === 'wide') {
      await bench.tokens({ heads: 2 });
      await bench.choose('mask', 'causal');
      await bench.choose('positions', 'rope');
      await bench.unfold('extras');
      await bench.toggle('soft_cap-on', true);
    }
    await fromTheTop(bench);
    const seen = await walk(bench);
    const missed = (await reachable(bench)).filter((e) => !seen.some((s) => s.id === e.id));
    assert.deepEqual(missed.map((e) => e.label), [], 'not reached');
    assert.deepEqual(seen.filter((s) => !s.visible).map((s) => s.label), [], 'has the focus out of sight');
    assert.deepEqual(seen.filter((s) => !s.ring).map((s) => s.label), [], 'has the focus without a mark');
    for (const matrix of ['Q', 'K', 'S', 'M', 'A', 'V', 'O']) assert.ok(seen.some((s) => s.label === matrix), `${matrix} is reached`);
  });
}

test('the first stop skips to the picture', async () => {
  const bench = await open();
  await bench.eval(() => document.activeElement?.blur());
  await bench.web.actions().sendKeys(Key.TAB).perform();
  assert.equal(await bench.eval(() => document.activeElement.className), 'skip');
  await bench.web.actions().sendKeys(Key.ENTER).perform();
  await bench.web.actions().sendKeys(Key.TAB).perform();
  assert.ok(await bench.eval(() => document.querySelector('#bench').contains(document.activeElement)));
});

test('cells are said aloud as the cursor moves; states are said in words', async () => {
  const bench = await open();
  await bench.random({ n_q: 4, n_k: 4, d_k: 3, d_v: 2, heads: 1 });
  await bench.choose('mask', 'causal');
  await bench.set('scale', '300');
  const [Q, A] = [await bench.table('Q'), await bench.cells('A')];
  const spoken = async (matrix, ...keys) => {
    await bench.eval((m) => document.querySelector(`[data-matrix="${m}"]`).focus(), matrix);
    await bench.chord(Key.CONTROL, Key.HOME);
    await bench.key(...keys);
    return bench.said();
  };
  const words = await spoken('Q', Key.ARROW_DOWN, Key.ARROW_RIGHT);
  assert.match(words, /Q.*query 1.*component 1/);
  assert.ok(Math.abs(Number(words.match(/[−-]?\d+(\.\d+)?$/)[0].replace('−', '-')) - Q[1][1]) < 0.01, words);
  assert.match(await spoken('K', Key.ARROW_DOWN, Key.ARROW_RIGHT, Key.ARROW_RIGHT), /K.*key 2.*component 1/);
  assert.match(await spoken('V', Key.ARROW_DOWN), /V.*value 1.*component 0/);
  assert.match(await spoken('S', Key.ARROW_RIGHT), /S.*query 0.*key 1/);
  assert.match(await spoken('M', Key.ARROW_RIGHT), /−∞, hidden by the mask/);
  assert.match(await spoken('O', Key.ARROW_RIGHT), /O.*output 0.*component 1/);
  assert.match(await spoken('A', Key.ARROW_RIGHT), /A.*hidden by the mask/);
  const small = A.flatMap((row, i) => row.map((cell, j) => ({ ...cell, i, j }))).find((cell) => /underflow/.test(cell.state));
  if (small) {
    const keys = [...Array(small.i).fill(Key.ARROW_DOWN), ...Array(small.j).fill(Key.ARROW_RIGHT)];
    assert.match(await spoken('A', ...keys), /underflow/);
  }
});

test('everything by keys alone: a mask, a number, an edit, undo', async () => {
  const bench = await open();
  await bench.random({ n_q: 4, n_k: 4, d_k: 3, d_v: 2, heads: 1 });
  const tabTo = async (what) => {
    for (let step = 0; step < 150; step += 1) {
      if (await bench.eval((w) => document.activeElement.matches(w), what)) return;
      await bench.web.actions().sendKeys(Key.TAB).perform();
    }
    assert.fail(`Tab does not reach ${what}`);
  };
  await tabTo('[data-name="mask"] [role="radio"]');
  await bench.key(Key.ARROW_RIGHT);
  await tabTo('[data-matrix="Q"]');
  await bench.chord(Key.CONTROL, Key.HOME);
  await bench.key('2', Key.ENTER);
  const { page } = await agrees(bench, { mask: { causal: { align: 'square' } } }, 'by keys');
  assert.equal(page.Q[0][0], 2);
  await bench.chord(Key.CONTROL, 'z');
  assert.notEqual((await bench.table('Q'))[0][0], 2);
});

test('pictures have words, the document a title and one main part', async () => {
  const bench = await open();
  const nameless = await bench.eval(() => [...document.querySelectorAll('canvas[role="img"]')].filter((c) => !c.getAttribute('aria-label')?.trim()).map((c) => c.parentElement.className));
  assert.deepEqual(nameless, []);
  assert.deepEqual(await bench.eval(() => [document.title, document.documentElement.lang, document.querySelectorAll('main').length]), ['Attention Lab', 'en', 1]);
  const live = await bench.eval(() => document.querySelector('[data-name="live"]').getAttribute('aria-live'));
  assert.equal(live, 'polite');
});
