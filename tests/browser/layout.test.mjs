// Where things stand, from a telephone to a wide screen: nothing beyond the edges, nothing cut, nothing on top of
// another, nothing that jumps. Pictures of each go to tests/shots, for people.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { needs } from './lib/browser.mjs';
import { Key, open } from './lib/bench.mjs';

const SCRIPT = await readFile(new URL('lib/layout.js', import.meta.url), 'utf8');

const SIZES = [
  { name: '1920', width: 1920, height: 1080 },
  { name: '1440', width: 1440, height: 900 },
  { name: '1280', width: 1280, height: 800 },
  { name: '1100', width: 1100, height: 800 },
  { name: '900', width: 900, height: 1100 },
  { name: '768', width: 768, height: 1024, touch: true },
  { name: '390', width: 390, height: 844, scale: 2, touch: true },
  { name: '320', width: 320, height: 640, scale: 2, touch: true },
  // What 200 % of zoom makes of a window of 1440 × 900 and of 1280 × 800.
  { name: '1440-zoomed', width: 720, height: 450, scale: 2 },
  { name: '1280-zoomed', width: 640, height: 400, scale: 2 },
  { name: '1440-half-as-dense-again', width: 1440, height: 900, scale: 1.5, means: ['density'] },
];

async function faults(bench, which = ['clipped', 'beyond', 'overlapping', 'small', 'blurred']) {
  return bench.eval(
    (script, names) => {
      if (!window.__layout) (0, eval)(script);
      return names.flatMap((name) => window.__layout[name]());
    },
    SCRIPT,
    which,
  );
}

const boxes = (bench) =>
  bench.eval((script) => {
    if (!window.__layout) (0, eval)(script);
    return window.__layout.boxes();
  }, SCRIPT);

for (const size of SIZES) {
  test(`the opening view at ${size.name}`, needs(...(size.means ?? [])), async () => {
    const bench = await open(size);
    assert.equal(await bench.chosen('source'), 'example');
    await bench.screenshot(`layout/${size.name}`);
    assert.deepEqual(await faults(bench), []);
    for (const which of ['inputs', 'inspector']) {
      await bench.sheet(which);
      if (await bench.has('.sheet.open')) {
        await bench.screenshot(`layout/${size.name}-${which}`);
        assert.deepEqual(await faults(bench, ['clipped', 'beyond', 'overlapping', 'small']), [], `sheet ${which}`);
        await bench.press('close').catch(() => bench.click('.sheet.open [data-name="close"]'));
        await bench.until(async () => !(await bench.has('.sheet.open')), 'the closed sheet');
      }
    }
    await bench.sound();
  });
}

for (const size of [SIZES[1], SIZES[3], SIZES[4], SIZES[6]]) {
  test(`every control open, other numbers and sentences of errors at ${size.name}`, async () => {
    const bench = await open(size);
    await bench.sheet('inputs');
    await bench.tokens({ heads: 6, kv_heads: 2 });
    await bench.choose('mask', 'window');
    await bench.choose('positions', 'rope+alibi');
    await bench.unfold('extras');
    for (const name of ['soft_cap-on', 'sink-on', 'qk_norm-on']) await bench.toggle(name, true);
    await bench.set('d_k', '0');
    await bench.set('window.size', '0');
    await bench.set('scale', 'much');
    assert.ok((await bench.problem('d_k')) && (await bench.problem('window.size')) && (await bench.problem('scale')));
    await bench.screenshot(`layout/${size.name}-controls`);
    assert.deepEqual(await faults(bench), []);
    if (await bench.has('.sheet.open')) {
      await bench.eval(() => document.querySelector('.sheet.open [data-name="close"]').click());
      await bench.settled();
      await bench.screenshot(`layout/${size.name}-tokens`);
      assert.deepEqual(await faults(bench), [], 'below the sheet');
    }
  });
}

test('small numbers, long ones and many, at 1440', async () => {
  const bench = await open();
  for (const [name, sizes] of [
    ['tiny', { n_q: 1, n_k: 1, d_k: 1, d_v: 1, heads: 1 }],
    ['small', { n_q: 3, n_k: 5, d_k: 4, d_v: 4 }],
    ['tall', { n_q: 40, n_k: 3, d_k: 3, d_v: 3 }],
    ['wide', { n_q: 2, n_k: 40, d_k: 3, d_v: 3 }],
    ['many', { n_q: 64, n_k: 64, d_k: 64, d_v: 64 }],
    ['most', { n_q: 512, n_k: 512, d_k: 8, d_v: 8 }],
  ]) {
    await bench.random(sizes);
    await bench.screenshot(`layout/1440-${name}`);
    assert.deepEqual(await faults(bench), [], name);
  }
  await bench.sizes({ n_q: 4, n_k: 4, d_k: 4, d_v: 4 });
  await bench.set('sigma', '1000000');
  assert.deepEqual(await faults(bench), [], 'large numbers');
  await bench.set('sigma', '1e-9');
  assert.deepEqual(await faults(bench), [], 'small numbers');
});

for (const size of [SIZES[1], SIZES[4], SIZES[6]]) {
  test(`nothing jumps when numbers change, at ${size.name}`, async () => {
    const bench = await open(size);
    assert.equal(await bench.chosen('source'), 'example');
    const before = await boxes(bench);
    // The invitation gives way to what came of it: its line keeps its height.
    const phone = size.width < 700;
    const slider = await bench.reach('.pipeline [data-name="scale-slider"], .inputs:not(.sheet) [data-name="scale-slider"], [data-name="scale-slider"]').catch(() => null);
    if (phone || slider) {
      await bench.eval(() => {
        const all = [...document.querySelectorAll('[data-name="scale-slider"]')];
        const input = all.find((e) => e.checkVisibility() && !e.closest('[inert]')) ?? all[0];
        input.value = Number(input.max) * 0.8;
        input.dispatchEvent(new Event('input', { bubbles: true }));
        input.dispatchEvent(new Event('change', { bubbles: true }));
      });
    }
    await bench.settled();
    await bench.eval(() => scrollTo(0, 0));
    assert.deepEqual(await boxes(bench), before, 'another scale');
    if (!size.touch) {
      for (const [row, col] of [[0, 0], [5, 9], [15, 15]]) {
        await bench.hover('S', row, col);
        await bench.eval(() => scrollTo(0, 0));
        assert.deepEqual(await boxes(bench), before, `hover at ${row}, ${col}`);
      }
    }
  });
}

for (const [name, options, means] of [
  ['dark', { dark: true }, []],
  ['forced', { forced: true }, ['forced']],
  ['forced-dark', { forced: true, dark: true }, ['forced']],
  ['dark-390', { dark: true, width: 390, height: 844, scale: 2, touch: true }, []],
]) {
  test(`the colours that the reader's system asks for: ${name}`, needs(...means), async () => {
    const bench = await open(options);
    const asked = await bench.eval(() => ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((query) => matchMedia(query).matches));
    assert.deepEqual(asked, [options.dark ?? false, options.forced ?? false]);
    await bench.screenshot(`layout/${name}`);
    assert.deepEqual(await faults(bench), []);
    await bench.sound();
  });
}

test('reduced motion: nothing moves where the reader asked for that', async () => {
  const bench = await open({ still: true });
  assert.ok(await bench.eval(() => matchMedia('(prefers-reduced-motion: reduce)').matches));
  await bench.set('scale', '1');
  const moving = await bench.eval(() =>
    document.getAnimations().map((a) => `${a.effect?.target?.className} ${a.animationName ?? a.transitionProperty}`),
  );
  assert.deepEqual(moving, []);
});

test('another density of pixels while the page is open: sharp again', needs('density'), async () => {
  const bench = await open({
    before: `
      const match = window.matchMedia;
      window.__densities = [];
      window.matchMedia = (query) => {
        const list = match.call(window, query);
        if (query.includes('resolution')) window.__densities.push(list);
        return list;
      };`,
  });
  for (const scale of [2.5, 1.25]) {
    await bench.wear({ scale });
    // Chromium's emulation changes the density and what the queries say, and forgets to tell those who listen.
    if (bench.running.cdp) await bench.eval(() => [...window.__densities].forEach((list) => list.dispatchEvent(new Event('change'))));
    await bench.settled();
    await bench.until(async () => (await bench.eval(() => devicePixelRatio)) === scale, `density ${scale}`);
    await bench.until(async () => (await faults(bench, ['blurred'])).length === 0, `the sharp picture at ${scale}`);
  }
  await bench.sound();
});

test('another width of the window while the page is open: another layout, and back', async () => {
  const bench = await open();
  await bench.wear({ width: 800 });
  await bench.until(async () => (await faults(bench, ['blurred', 'beyond'])).length === 0, 'the narrow layout');
  assert.equal(await bench.eval(() => document.querySelector('.bench').dataset.layout), 'tablet');
  await bench.wear({ width: 1440 });
  await bench.until(async () => (await bench.eval(() => document.querySelector('.bench').dataset.layout)) === 'wide', 'the wide layout');
  assert.deepEqual(await faults(bench), []);
  await bench.sound();
});

test('on a telephone: targets of 44, a stage by tab, sheets by button and Escape', async () => {
  const bench = await open({ width: 390, height: 844, scale: 2, touch: true });
  const low = await bench.eval(() => [...document.querySelectorAll('footer.sheets button, .stage-tab')].map((e) => [e.textContent.trim(), e.getBoundingClientRect().height]).filter(([, h]) => h < 43.5));
  assert.deepEqual(low, []);
  for (const stage of ['Q', 'K', 'S', 'M', 'A', 'V', 'O']) {
    await bench.press(`stage-${stage}`);
    assert.equal(await (await bench.find(`[data-name="stage-${stage}"]`)).getAttribute('aria-current'), 'true');
    assert.deepEqual(await faults(bench), [], `stage ${stage}`);
  }
  await bench.sheet('inspector');
  await bench.until(() => bench.eval(() => document.querySelector('.bench > .inspector').contains(document.activeElement)), 'focus in the sheet');
  await bench.key(Key.ESCAPE);
  await bench.until(async () => !(await bench.has('.sheet.open')), 'the closed sheet');
  assert.equal(await bench.eval(() => document.activeElement.dataset.name), 'open-inspector', 'focus comes back');
  await bench.sound();
});

test('on a telephone: a stage by swipe, a cell by a finger', needs('touch'), async () => {
  const bench = await open({ width: 390, height: 844, scale: 2, touch: true });
  await bench.press('stage-O');
  const swipe = async (from, to) => {
    const y = await bench.eval(() => {
      const r = document.querySelector('.board').getBoundingClientRect();
      return r.top + r.height / 2;
    });
    await bench.finger(...[0, 1, 2, 3, 4].map((i) => ({ x: from + ((to - from) * i) / 4, y })));
  };
  await swipe(100, 320);
  assert.equal(await bench.eval(() => document.querySelector('.stage-tab[aria-current="true"]').textContent.trim()), 'V', 'swiped back');
  await bench.press('stage-A');
  const at = await bench.spot('A', 5, 3);
  await bench.finger(at);
  assert.deepEqual(await bench.row(), [5, 3], 'a finger picks a cell');
  await bench.sound();
});
