// The bench by keys alone: one walk with Tab from the first control to the last, each worked on the way, and back.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Key, open } from './lib/bench.mjs';
import { backInPage, focus, fromTheTop, putFocus, reachable, tab, walk } from './lib/keys.mjs';

const labels = (stops) => stops.map((s) => s.label);

/** Every stop is in the window and can be told from what has no focus. */
function seenWell(stops, what) {
  assert.deepEqual(labels(stops.filter((s) => !s.visible)), [], `${what}: has the focus out of sight`);
  assert.deepEqual(labels(stops.filter((s) => !s.ring)), [], `${what}: has the focus without a mark`);
}

/** The label of what has the focus. */
const at = async (bench) => bench.eval(() => (document.activeElement === document.body ? null : window.__label(document.activeElement)));

const attribute = (bench, selector, name) => bench.eval((s, n) => document.querySelector(s)?.getAttribute(n) ?? null, selector, name);

const named = (bench, name, of) => attribute(bench, `[data-name="${name}"]`, of);

/** Presses a key; the focus stays where it was. */
async function stays(bench, ...keys) {
  const label = await at(bench);
  await bench.key(...keys);
  assert.equal(await at(bench), label, `the focus stays at ${label}`);
}

/** Types over what stands in the field that has the focus, and enters it. */
async function enter(bench, text) {
  await bench.chord(Key.CONTROL, 'a');
  await stays(bench, ...text, Key.ENTER);
}

/** A dialog: opened by Enter, walked through on and back, closed by Escape; the focus is then where it was. */
async function dialog(bench, selector, controls) {
  const from = await at(bench);
  const closed = async () => {
    await bench.key(Key.ESCAPE);
    await bench.until(async () => !(await bench.has(selector)), `${selector} to be closed`);
    await bench.until(async () => (await at(bench)) === from, `the focus back at ${from}`);
  };
  const met = new Set();
  for (const back of [false, true]) {
    await bench.key(Key.ENTER);
    await bench.until(() => bench.eval((s) => document.querySelector(s)?.contains(document.activeElement) ?? false, selector), `the focus in ${selector}`);
    const first = await bench.eval(() => window.__id(document.activeElement));
    for (let step = 0; step < 12; step += 1) {
      const now = await focus(bench);
      // Behind the last control some browsers go on to their own, some begin anew.
      if (now === null || (step > 0 && now.id === first)) break;
      seenWell([now], selector);
      met.add(now.label);
      // The page below is out of reach while the dialog is there.
      assert.ok(await bench.eval((s) => document.querySelector(s).contains(document.activeElement), selector), `${now.label} is outside ${selector}`);
      await tab(bench, back);
    }
    await backInPage(bench);
    await closed();
  }
  for (const control of controls) assert.ok(met.has(control), `${control} is reached in ${selector}: ${[...met]}`);
}

/** An explanation: opened by Enter, taken back by Escape. */
async function explains(bench, name) {
  const open = () => bench.eval((n) => document.getElementById(n).matches(':popover-open'), name);
  assert.equal(await open(), false);
  await stays(bench, Key.ENTER);
  assert.equal(await open(), true, `${name} opens`);
  await stays(bench, Key.ESCAPE);
  assert.equal(await open(), false, `${name} closes`);
}

/** A menu, to the next entry and back. */
async function menu(bench, name, next) {
  const before = await bench.chosen(name);
  await stays(bench, Key.ARROW_DOWN);
  assert.equal(await bench.chosen(name), next);
  await stays(bench, Key.ARROW_UP);
  assert.equal(await bench.chosen(name), before);
}

/** The cursor goes to a cell from the first one; what is there is said. */
async function cursor(bench, matrix, down, right) {
  await bench.chord(Key.CONTROL, Key.HOME);
  await stays(bench, ...Array(down).fill(Key.ARROW_DOWN), ...Array(right).fill(Key.ARROW_RIGHT));
  const said = await bench.said();
  assert.ok(said.startsWith(`${matrix}, `), `${matrix}: “${said}”`);
  return said;
}

/** A matrix of numbers: one typed over a cell, another refused and one taken back; undone and done again. */
const edited = (matrix) => [matrix, async (bench) => {
  // What is said of the cell, away from it and back.
  const value = async () => {
    await stays(bench, Key.ARROW_LEFT, Key.ARROW_RIGHT);
    return (await bench.said()).match(/[−-]?\d+(\.\d+)?$/)[0].replace('−', '-');
  };
  await cursor(bench, matrix, 1, 1);
  const before = await value();
  await bench.key(Key.ENTER);
  assert.equal(await at(bench), 'cell-editor');
  await bench.chord(Key.CONTROL, 'a');
  await bench.key(...'1.5.', Key.ENTER);
  assert.equal(await at(bench), 'cell-editor', 'what is no number stays there');
  assert.match(await bench.problem('cell'), /is not a number/);
  await bench.key(Key.BACK_SPACE, Key.ENTER);
  assert.equal(await at(bench), matrix, 'the focus is back at the matrix');
  assert.equal(await value(), '1.500');
  await bench.key('7');
  assert.equal(await at(bench), 'cell-editor');
  await bench.key(Key.ESCAPE);
  assert.equal(await at(bench), matrix);
  assert.equal(await value(), '1.500', 'Escape takes back what was typed');
  await bench.chord(Key.CONTROL, 'z');
  assert.equal(await value(), before, 'undone');
  await bench.chord(Key.CONTROL, 'y');
  assert.equal(await value(), '1.500', 'done again');
  await stays(bench, Key.DELETE);
  assert.equal(await value(), '0');
}];

/** An explanation opens and goes; those of the page's words are worked alike. */
const glosses = (...names) => names.map((name) => [`gloss-${name}`, (bench) => explains(bench, `gloss-${name}`)]);

/** A row of words: to the next one and back. */
const row = (name, first, next) => [name, async (bench) => {
  assert.equal(await bench.chosen(name), first);
  await stays(bench, Key.ARROW_RIGHT);
  assert.equal(await bench.chosen(name), next);
  await stays(bench, Key.ARROW_LEFT);
  assert.equal(await bench.chosen(name), first);
}];

/** A switch: on, by Space. */
const turned = (name) => [name, async (bench) => {
  assert.equal(await named(bench, name, 'aria-checked'), 'false');
  await stays(bench, Key.SPACE);
  assert.equal(await named(bench, name, 'aria-checked'), 'true');
}];

/** A field: a number typed over it and entered. */
const typed = (name, text) => [name, async (bench) => {
  await enter(bench, text);
  assert.equal(await bench.problem(name), null);
  assert.equal(await bench.field(name), text);
}];

/** A line with a handle: a step on, to its end, and a step back from there. */
const slid = (name) => [`${name}-slider`, async (bench) => {
  const places = [];
  for (const key of [null, Key.ARROW_RIGHT, Key.END, Key.ARROW_LEFT, Key.HOME, Key.PAGE_UP]) {
    if (key) await stays(bench, key);
    places.push(Number(await bench.field(`${name}-slider`)));
  }
  const [start, on, end, before, home, far] = places;
  assert.ok(start < on && on < end && before < end && home < far && home <= start, `the handle goes ${places}`);
}];

/** A matrix that is computed: a cell is reached and its row pinned; Escape lets go. */
const pinned = (matrix, down, right) => [matrix, async (bench) => {
  const title = () => bench.eval(() => document.querySelector('.row-title').textContent);
  await cursor(bench, matrix, down, right);
  await stays(bench, Key.ENTER);
  assert.equal((await bench.row())[0], down);
  assert.match(await title(), /pinned/);
  await stays(bench, Key.ESCAPE);
  assert.doesNotMatch(await title(), /pinned/);
}];

/** What is done at each stop, in their order. Each leaves the focus where it was. */
const WORK = [
  ['skip', async (bench) => {
    await bench.key(Key.ENTER);
    assert.equal(await bench.eval(() => document.activeElement.id), 'bench');
    // And back over the controls that were skipped.
    for (let step = 0; step < 40 && (await at(bench)) !== 'skip'; step += 1) await tab(bench, true);
    assert.equal(await at(bench), 'skip');
  }],
  ['share', (bench) => dialog(bench, '[data-name="share-dialog"]', ['share-close', 'share-link', 'share-copy'])],
  ['theme', async (bench) => {
    const met = [await named(bench, 'theme', 'data-value')];
    for (const key of [Key.ENTER, Key.SPACE, Key.ENTER]) {
      await stays(bench, key);
      met.push(await named(bench, 'theme', 'data-value'));
    }
    assert.deepEqual(met, ['auto', 'light', 'dark', 'auto']);
  }],
  ['source', (bench) => menu(bench, 'source', 'typed')],
  ['sentence', async (bench) => {
    const tokens = () => bench.eval(() => document.querySelector('[data-matrix="S"]').getAttribute('aria-label'));
    const before = await tokens();
    await menu(bench, 'sentence', 'copying');
    assert.equal(await tokens(), before);
  }],
  ['head', async (bench) => {
    const now = () => bench.eval(() => document.activeElement.getAttribute('aria-label'));
    assert.equal(await now(), 'Layer 3, head 1');
    const before = await bench.read('entropy');
    await stays(bench, Key.ARROW_RIGHT);
    assert.equal(await now(), 'Layer 3, head 2');
    assert.notEqual(await bench.read('entropy'), before);
    await stays(bench, Key.ARROW_LEFT);
    assert.equal(await bench.read('entropy'), before);
  }],
  ['suggested-heads', async (bench) => {
    await stays(bench, Key.ENTER);
    assert.equal(await named(bench, 'suggested-heads', 'aria-expanded'), 'true');
  }],
  ['suggested', async (bench) => {
    await stays(bench, Key.ENTER);
    assert.equal(await bench.eval(() => document.activeElement.getAttribute('aria-current')), 'true');
    const [layer, head] = await bench.eval(() => document.activeElement.dataset.head.split('.'));
    assert.equal(await attribute(bench, '[data-name="head"] [aria-checked="true"]', 'aria-label'), `Layer ${layer}, head ${head}`);
  }],
  typed('scale', '0.25'),
  row('scale-choice', 'custom', 'inverse_sqrt'),
  slid('scale'),
  row('mask', 'none', 'causal'),
  ['positions', async (bench) => {
    // What a real head cannot have is refused, with the reason; the next one is reached all the same.
    await stays(bench, Key.ARROW_DOWN);
    assert.equal(await bench.chosen('positions'), 'none');
    assert.match(await bench.problem('positions'), /expected/);
    await stays(bench, Key.ARROW_DOWN);
    assert.equal(await bench.chosen('positions'), 'rope');
    assert.equal(await bench.problem('positions'), null);
    await stays(bench, Key.HOME);
    assert.equal(await bench.chosen('positions'), 'none');
  }],
  ['take-as-typed', async (bench) => {
    await bench.key(Key.ENTER);
    assert.equal(await bench.chosen('source'), 'typed');
    await bench.until(async () => (await at(bench)) === 'n_q', 'the focus on the first of the fields, which were not there before');
    await typed('n_q', '4')[1](bench);
  }],
  typed('n_k', '5'),
  typed('d_k', '3'),
  typed('d_v', '2'),
  typed('heads', '1'),
  typed('kv_heads', '1'),
  ['extras', async (bench) => {
    await stays(bench, Key.ENTER);
    assert.equal(await named(bench, 'extras', 'aria-expanded'), 'true');
  }],
  turned('soft_cap-on'),
  slid('soft_cap'),
  typed('soft_cap', '12'),
  turned('sink-on'),
  slid('sink'),
  typed('sink', '1'),
  turned('qk_norm-on'),
  typed('qk_norm', '0.001'),
  turned('root_weights'),
  turned('as_used'),
  ['undo', async (bench) => {
    await stays(bench, Key.ENTER);
    assert.notEqual(await bench.field('qk_norm'), '0.001');
  }],
  ['redo', async (bench) => {
    await stays(bench, Key.ENTER);
    assert.equal(await bench.field('qk_norm'), '0.001');
  }],
  ['reset', async (bench) => {
    await stays(bench, Key.ENTER);
    for (const name of ['soft_cap-on', 'sink-on', 'qk_norm-on']) assert.equal(await named(bench, name, 'aria-checked'), 'false');
    assert.equal(await bench.chosen('scale-choice'), 'inverse_sqrt');
  }],
  edited('Q'),
  edited('K'),
  pinned('S', 1, 2),
  ['M', async (bench) => {
    await cursor(bench, 'M', 2, 1);
    await stays(bench, Key.SPACE);
    assert.match(await bench.said(), /^Hidden by hand/);
    assert.equal((await bench.table('A'))[2][1], 0);
    await bench.eval(() => document.querySelector('[data-matrix="M"]').focus());
    await stays(bench, Key.SPACE);
    assert.match(await bench.said(), /^No longer hidden/);
  }],
  pinned('A', 2, 3),
  edited('V'),
  pinned('O', 3, 1),
  ...glosses('signs'),
  ['tables', (bench) => dialog(bench, 'dialog.tables', ['tables-close', 'table-matrix', 'table-copy'])],
  ...glosses('entropy', 'effect', 'top', 'sum', 'mean-top', 'mean-norm', 'column', 'jacobian'),
  ['jacobian-open', (bench) => dialog(bench, 'dialog.jacobian-dialog', ['jacobian-dialog-close'])],
  ...glosses('gradient'),
  ['d_out-open', async (bench) => {
    await stays(bench, Key.ENTER);
    assert.equal(await named(bench, 'd_out-open', 'aria-expanded'), 'true');
  }],
  ['d_out', async (bench) => {
    await enter(bench, '1; -1');
    assert.equal(await bench.problem('d_out'), null);
  }],
  ['d_out-back', async (bench) => {
    await stays(bench, Key.ENTER);
    assert.notEqual(await bench.field('d_out'), '1; -1');
  }],
  ['math', async (bench) => stays(bench, Key.ARROW_RIGHT)],
];

test('Tab goes through every control in its order and back, each in view and with a mark', async () => {
  const bench = await open();
  await fromTheTop(bench);
  const there = await walk(bench);
  const order = labels(await reachable(bench));
  const controls = (stops) => labels(stops.filter((s) => !s.scrolls));
  assert.deepEqual(controls(there), order);
  seenWell(there, 'on');
  // The last stop again, and from there.
  await putFocus(bench, `[data-walk="${there.at(-1).id}"]`);
  const back = await walk(bench, { back: true, from: there.at(-1) });
  assert.deepEqual(controls(back), order.slice(0, -1).reverse());
  seenWell(back, 'back');
});

test('each control is worked by keys where Tab stops', async () => {
  const bench = await open();
  await fromTheTop(bench);
  const met = [];
  for (let last = null; ; ) {
    await tab(bench);
    const now = await focus(bench);
    // Behind the last one the page is left, or it begins anew.
    if (now === null || now.id === last || (now.label === 'skip' && met.length)) break;
    assert.ok(met.length < 2 * WORK.length, `no way out after ${met.slice(-8)}`);
    last = now.id;
    seenWell([now], 'where it is worked');
    if (now.scrolls) continue;
    if (now.label !== met.at(-1)) met.push(now.label);
    const [, work] = WORK.find(([label]) => label === now.label) ?? [];
    assert.ok(work, `${now.label} has the focus after ${met.at(-2)}, and nobody knows what it does`);
    await work(bench).catch((error) => assert.fail(`${now.label}: ${error.stack}`));
  }
  const order = WORK.map(([label]) => label);
  // Sizes that were set free stand before the scale: what lies between is met again.
  const [scale, unlock, extras] = ['scale', 'take-as-typed', 'extras'].map((label) => order.indexOf(label));
  assert.deepEqual(met, [...order.slice(0, extras), ...order.slice(scale, unlock), ...order.slice(extras)]);
  await bench.sound();
});

test('in a low window the row under the cursor stays above the slider', async () => {
  const bench = await open({ width: 720, height: 450 });
  await bench.eval(() => document.querySelector('[data-matrix="A"]').focus({ preventScroll: true }));
  for (let i = 0; i < 16; i += 1) await bench.key(Key.ARROW_DOWN);
  await bench.settled();
  const seen = await bench.eval(() => {
    const matrix = document.querySelector('[data-matrix="A"]').getBoundingClientRect();
    return { bottom: matrix.bottom, bar: document.querySelector('.pipeline > .scale.compact').getBoundingClientRect().top };
  });
  assert.ok(seen.bottom <= seen.bar, `the last row ends at ${seen.bottom}, the slider begins at ${seen.bar}`);
});
