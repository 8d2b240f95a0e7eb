// Which keys a query sees: every preset, every parameter, drawing by hand, and what stands in for −∞.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { near } from './lib/near.mjs';

let bench;

before(async () => {
  bench = await open();
  await bench.random({ n_q: 8, n_k: 8, d_k: 4, d_v: 4, heads: 1 });
});

beforeEach(async () => {
  await bench.reset();
  await bench.sizes({ n_q: 8, n_k: 8 });
});

const square = { align: 'square', prefix: 0 };

test('every preset of the picker', async () => {
  const presets = await bench.eval(() => [...document.querySelectorAll('[data-name="mask"] [data-value]')].map((e) => e.dataset.value));
  const wanted = {
    none: {},
    causal: { causal: square },
    prefix: { causal: { align: 'square', prefix: 3 } },
    window: { causal: square, window: { size: 4, keep_first: 0 } },
    padding: { padding: { key_length: 6 } },
  };
  assert.deepEqual(presets.filter((p) => p !== 'drawn').sort(), Object.keys(wanted).sort(), 'a new preset needs its line here');
  for (const preset of presets.filter((p) => p !== 'drawn')) {
    await bench.choose('mask', preset);
    assert.equal(await bench.chosen('mask'), preset);
    await agrees(bench, { mask: wanted[preset] }, preset);
  }
});

test('the picker by arrow keys', async () => {
  await bench.choose('mask', 'none');
  await bench.key(Key.ARROW_RIGHT);
  assert.equal(await bench.chosen('mask'), 'causal');
  await agrees(bench, { mask: { causal: square } });
});

test('prefix: its length', async () => {
  await bench.choose('mask', 'prefix');
  for (const prefix of [1, 5, 8]) {
    await bench.set('causal.prefix', prefix);
    await agrees(bench, { mask: { causal: { align: 'square', prefix } } }, `prefix ${prefix}`);
  }
});

test('window: its size and the kept first tokens', async () => {
  await bench.choose('mask', 'window');
  await bench.set('window.size', 2);
  await agrees(bench, { mask: { causal: square, window: { size: 2 } } }, 'size 2');
  await bench.set('window.keep_first', 2);
  await agrees(bench, { mask: { causal: square, window: { size: 2, keep_first: 2 } } }, 'with two kept');
  await bench.set('window.size', 1);
  await bench.set('window.keep_first', 0);
  await agrees(bench, { mask: { causal: square, window: { size: 1 } } }, 'only itself');
});

test('padding: its length, and none at all', async () => {
  await bench.choose('mask', 'padding');
  await bench.set('padding.key_length', 2);
  await agrees(bench, { mask: { padding: { key_length: 2 } } }, 'two keys');
  await bench.set('padding.key_length', 0);
  const { page } = await agrees(bench, { mask: { padding: { key_length: 0 } } }, 'no key');
  assert.ok(page.A.flat().every((a) => a === 0) && page.O.flat().every((o) => o === 0));
  assert.match(await bench.text('sees_nothing'), /sees no key/);
  assert.equal(await bench.read('row_sum'), 0);
});

test('alignments where queries and keys differ in number', async () => {
  for (const [n_q, n_k] of [[3, 7], [7, 3]]) {
    await bench.choose('mask', 'none');
    await bench.sizes({ n_q, n_k });
    await bench.choose('mask', 'causal');
    assert.equal(await bench.chosen('causal.align'), 'bottom_right', 'what means something here');
    for (const align of ['bottom_right', 'top_left']) {
      await bench.choose('causal.align', align);
      await agrees(bench, { mask: { causal: { align } } }, `${n_q} × ${n_k}, ${align}`);
    }
    await bench.choose('causal.align', 'square');
    assert.match(await bench.problem('causal.align'), /expected as many keys as queries.*got \d queries and \d keys/i);
    await agrees(bench, { mask: { causal: { align: 'top_left' } } }, 'the last good picture stays');
    await bench.choose('causal.align', 'top_left');
    assert.equal(await bench.problem('causal.align'), null);
  }
});

test('drawing by hand: a click hides a cell, another shows it', async () => {
  const drawn = Array.from({ length: 8 }, () => Array(8).fill(true));
  await bench.cell('M', 2, 5);
  drawn[2][5] = false;
  assert.equal(await bench.read('hidden_by_hand'), 1);
  await bench.leave();
  await agrees(bench, { mask: { drawn } }, 'one cell');
  await bench.cell('M', 4, 1);
  drawn[4][1] = false;
  await bench.leave();
  await agrees(bench, { mask: { drawn } }, 'two cells');
  await bench.cell('M', 2, 5);
  drawn[2][5] = true;
  await bench.leave();
  await agrees(bench, { mask: { drawn } }, 'one shown again');
  await bench.press('clear-drawn');
  await agrees(bench, {}, 'cleared');
});

test('drawing by hand: a drag hides a rectangle, and undo brings it back in one step', async () => {
  const from = await bench.spot('M', 1, 2);
  const to = await bench.spot('M', 3, 5);
  await bench.drag(from, { x: from.x, y: to.y }, to);
  await bench.leave();
  const drawn = Array.from({ length: 8 }, (_, i) => Array.from({ length: 8 }, (_, j) => !(i >= 1 && i <= 3 && j >= 2 && j <= 5)));
  assert.equal(await bench.read('hidden_by_hand'), 12);
  await agrees(bench, { mask: { drawn } }, 'a rectangle');
  await bench.press('undo');
  await agrees(bench, {}, 'undone');
});

test('drawing by hand: keys, on top of a preset; and everything in a row', async () => {
  await bench.choose('mask', 'causal');
  await bench.eval(() => document.querySelector('[data-matrix="M"]').focus());
  await bench.chord(Key.CONTROL, Key.HOME);
  await bench.key(Key.ARROW_DOWN, Key.ARROW_DOWN, Key.SPACE);
  assert.match(await bench.said(), /hidden by hand/i);
  await bench.key(Key.ARROW_RIGHT, Key.ENTER, Key.ARROW_RIGHT, Key.SPACE);
  const drawn = Array.from({ length: 8 }, (_, i) => Array.from({ length: 8 }, (_, j) => !(i === 2 && j < 3)));
  await agrees(bench, { mask: { causal: square, drawn } }, 'row 2 sees nothing');
  await bench.hover('A', 2, 0);
  assert.match(await bench.text('sees_nothing'), /sees no key/);
  await bench.leave();
  const cells = await bench.cells('A');
  assert.match(cells[2][0].state, /sees no key/);
  assert.match(cells[3][5].state, /hidden/);
});

test('by hand takes over what a preset hides', async () => {
  await bench.choose('mask', 'causal');
  await bench.choose('mask', 'drawn');
  assert.equal(await bench.chosen('mask'), 'drawn');
  assert.equal(await bench.read('hidden_by_hand'), 28);
  await agrees(bench, { mask: { causal: square } });
});

test('what hidden keys get: −∞, −1e9, −1e4, or a number that is too small', async () => {
  await bench.choose('mask', 'causal');
  for (const [id, hidden] of [['inf', -Infinity], ['1e9', -1e9], ['1e4', -1e4]]) {
    await bench.choose('hidden-choice', id);
    await agrees(bench, { mask: { causal: square }, hidden }, id);
  }
  await bench.choose('hidden-choice', 'custom');
  await bench.set('hidden', '-2');
  const { page } = await agrees(bench, { mask: { causal: square }, hidden: -2 }, '−2 leaks');
  assert.ok(page.A[0][7] > 0.001, 'a hidden key has weight');
});

test('a finite stand-in makes a row that sees nothing look at everything', async () => {
  await bench.choose('mask', 'padding');
  await bench.set('padding.key_length', 0);
  await bench.choose('hidden-choice', '1e9');
  const { page } = await agrees(bench, { mask: { padding: { key_length: 0 } }, hidden: -1e9 });
  near(page.A[0].reduce((a, b) => a + b), 1, 'row sum');
});

test('nothing went wrong', () => bench.sound());
