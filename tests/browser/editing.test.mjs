// Numbers changed by hand: by click and keys, by drag, by paste; undone, done again, reset.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { near, sameMatrix } from './lib/near.mjs';
import { product, random, tokens, transpose } from './lib/oracle.mjs';

const SHAPE = { n_q: 4, n_k: 5, d_k: 3, d_v: 2, heads: 1 };

let bench;
let given;

before(async () => {
  bench = await open();
  await bench.random(SHAPE);
});

beforeEach(async () => {
  await bench.reset();
  const all = random(SHAPE);
  given = { q: all.q[0], k: all.k[0], v: all.v[0] };
  await agrees(bench, { given }, 'before the edit');
});

test('click a cell and type: Q, K (shown transposed) and V', async () => {
  await bench.write('Q', 1, 2, '0.25');
  given.q[1][2] = 0.25;
  await agrees(bench, { given }, 'Q');
  await bench.write('K', 2, 4, '-1.5');
  given.k[4][2] = -1.5;
  await agrees(bench, { given }, 'K');
  await bench.write('V', 3, 1, '1e-3');
  given.v[3][1] = 1e-3;
  await agrees(bench, { given }, 'V');
});

test('a double click edits the number that is there; a typed minus sign of a book is a minus', async () => {
  await bench.double('Q', 0, 1);
  assert.equal(Number((await bench.field('cell-editor')).replace('−', '-')), given.q[0][1]);
  await bench.key(Key.chord(Key.CONTROL, 'a'), '−2,5', Key.ENTER);
  given.q[0][1] = -2.5;
  await bench.leave();
  await agrees(bench, { given });
});

test('arrow keys move, Enter edits, Escape brings back, leaving keeps, Delete is 0', async () => {
  await bench.cell('Q', 0, 0);
  await bench.key(Key.ARROW_DOWN, Key.ARROW_RIGHT);
  assert.match(await bench.said(), /query 1.*component 1/);
  await bench.key(Key.ENTER);
  assert.ok(await bench.has('[data-name="cell-editor"]'));
  await bench.key(Key.chord(Key.CONTROL, 'a'), '9', Key.ESCAPE);
  assert.ok(!(await bench.has('[data-name="cell-editor"]')));
  await agrees(bench, { given }, 'Escape');
  await bench.key(Key.ENTER);
  await bench.key(Key.chord(Key.CONTROL, 'a'), '0.5', Key.ENTER);
  given.q[1][1] = 0.5;
  await agrees(bench, { given }, 'Enter');
  assert.equal(await bench.eval(() => document.activeElement.dataset.matrix), 'Q', 'focus comes back');
  await bench.key(Key.ARROW_LEFT, '7');
  await bench.key(Key.TAB);
  given.q[1][0] = 7;
  await agrees(bench, { given }, 'a digit begins, Tab keeps');
  await bench.key(Key.ARROW_DOWN, Key.DELETE);
  given.q[2][0] = 0;
  await agrees(bench, { given }, 'Delete');
  await bench.chord(Key.CONTROL, Key.END);
  await bench.key('3', Key.ENTER);
  given.q[3][2] = 3;
  await agrees(bench, { given }, 'Ctrl+End');
});

test('a key right after Enter, sooner than any answer, finds the number in its cell and the matrix with focus', async () => {
  await bench.cell('Q', 1, 0);
  await bench.key('8');
  const focus = await bench.eval(() => {
    const field = document.querySelector('[data-name="cell-editor"]');
    for (const key of ['Enter', 'ArrowRight']) {
      field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
    }
    return document.activeElement.dataset.matrix;
  });
  assert.equal(focus, 'Q');
  await bench.settled();
  await bench.key('6', Key.ENTER);
  [given.q[1][0], given.q[1][1]] = [8, 6];
  await agrees(bench, { given });
});

test('the numbers beside the picture say so while they are a frame behind', async () => {
  await bench.cell('Q', 1, 0);
  const states = await bench.eval(async () => {
    const states = [];
    const section = document.querySelector('.row-inspector');
    const entropy = () => document.querySelector('[data-read="entropy"]').dataset.value;
    let before = entropy();
    new MutationObserver(() => {
      if (section.ariaBusy === 'true') states.push(entropy() === before ? 'busy, old' : 'busy, new');
      else states.push(entropy() === before ? 'old' : 'new');
    }).observe(section, { attributes: true, attributeFilter: ['aria-busy'] });
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: '9', bubbles: true, cancelable: true }));
    await new Promise((resolve) => requestAnimationFrame(resolve));
    document.querySelector('[data-name="cell-editor"]').dispatchEvent(
      new KeyboardEvent('keydown', { key: 'Enter', bubbles: true, cancelable: true }),
    );
    await window.__lab.settled();
    return states;
  });
  assert.deepEqual(states, ['busy, old', 'new']);
});

test('a click elsewhere keeps what was typed', async () => {
  await bench.cell('V', 0, 0);
  await bench.key('4');
  await bench.cell('Q', 3, 0);
  given.v[0][0] = 4;
  await bench.leave();
  await agrees(bench, { given });
});

test('a drag up and down changes a number live, in one step of undo', async () => {
  const at = await bench.spot('Q', 2, 1);
  await bench.drag(at, { x: at.x, y: at.y - 10 }, { x: at.x, y: at.y - 30 });
  await bench.leave();
  const up = (await bench.table('Q'))[2][1];
  assert.ok(up > given.q[2][1], `${up} after ${given.q[2][1]}`);
  const edited = structuredClone(given);
  edited.q[2][1] = up;
  await agrees(bench, { given: edited }, 'dragged up');
  await bench.press('undo');
  await agrees(bench, { given }, 'undone');
  await bench.drag(at, { x: at.x, y: at.y + 10 }, { x: at.x, y: at.y + 25 });
  await bench.leave();
  assert.ok((await bench.table('Q'))[2][1] < given.q[2][1]);
});

test('paste: a block where the cursor is, one number, other separators', async () => {
  await bench.paste('Q', '1\t2\n3\t4', [1, 1]);
  [given.q[1][1], given.q[1][2], given.q[2][1], given.q[2][2]] = [1, 2, 3, 4];
  await agrees(bench, { given }, 'a block of a spreadsheet');
  await bench.paste('V', '-7', [4, 0]);
  given.v[4][0] = -7;
  await agrees(bench, { given }, 'one number');
  await bench.paste('V', '[[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]]');
  given.v = [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10]];
  await agrees(bench, { given }, 'a printed array');
  await bench.press('undo');
  given.v = random(SHAPE).v[0];
  given.v[4][0] = -7;
  await agrees(bench, { given }, 'a paste is one step');
});

test('paste into K: as shown, and as K itself', async () => {
  const k = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [-1, -2, -3], [0, 0.5, 1]];
  const tsv = (m) => m.map((row) => row.join('\t')).join('\r\n');
  await bench.paste('K', tsv(transpose(k)));
  given.k = k;
  await agrees(bench, { given }, 'as shown');
  await bench.press('undo');
  await bench.paste('K', tsv(k));
  await agrees(bench, { given }, 'as K itself');
});

test('tokens: X and W are edited and everything follows; Q is computed and says so', async () => {
  await bench.choose('source', 'tokens');
  const all = tokens({});
  const x = all.x;
  const w_k = all.w_k[0];
  const now = () => ({ given: { q: product(x, all.w_q[0]), k: product(x, w_k), v: product(x, all.w_v[0]) } });
  await agrees(bench, now(), 'as drawn');
  await bench.write('X', 1, 3, '2');
  x[1][3] = 2;
  await agrees(bench, now(), 'a token');
  await bench.paste('Wk', '0\t1\n1\t0', [2, 1]);
  [w_k[2][1], w_k[2][2], w_k[3][1], w_k[3][2]] = [0, 1, 1, 0];
  await agrees(bench, now(), 'a projection');
  await bench.paste('Q', '1');
  assert.match(await bench.problem('Q'), /Q is computed.*expected.*got.*Change X or W/);
  await agrees(bench, now(), 'nothing changed');
  await bench.click('[data-problem="Q"] [data-name="take-as-typed-here"]');
  assert.equal(await bench.problem('Q'), null);
  const typed = now();
  await bench.paste('Q', '1');
  typed.given.q[0][0] = 1;
  await agrees(bench, typed, 'taken as typed');
  await bench.random(SHAPE);
});

test('several heads: only the shown one is edited', async () => {
  await bench.sizes({ heads: 2, kv_heads: 1 });
  const all = random({ ...SHAPE, heads: 2, kv_heads: 1 });
  await bench.choose('shown-head', '1');
  await bench.write('Q', 0, 0, '5');
  await bench.write('K', 0, 0, '6');
  all.q[1][0][0] = 5;
  all.k[0][0][0] = 6;
  for (const head of [1, 0]) {
    await bench.choose('shown-head', String(head));
    await agrees(bench, { given: { q: all.q[head], k: all.k[0], v: all.v[0] } }, `head ${head}`);
  }
  await bench.sizes({ heads: 1 });
});

test('undo and redo by buttons and by keys; what was there stays there', async () => {
  const steps = [structuredClone(given)];
  for (const [row, text] of [[0, '1'], [1, '2'], [2, '3']]) {
    await bench.write('Q', row, 0, text);
    given.q[row][0] = Number(text);
    steps.push(structuredClone(given));
  }
  await bench.press('undo');
  await agrees(bench, { given: steps[2] }, 'undo');
  await bench.eval(() => document.activeElement.blur());
  await bench.chord(Key.CONTROL, 'z');
  await agrees(bench, { given: steps[1] }, 'Ctrl+Z');
  await bench.chord(Key.CONTROL, Key.SHIFT, 'z');
  await agrees(bench, { given: steps[2] }, 'Ctrl+Shift+Z');
  await bench.chord(Key.CONTROL, 'y');
  await agrees(bench, { given: steps[3] }, 'Ctrl+Y');
  await bench.press('undo');
  await bench.press('redo');
  await agrees(bench, { given: steps[3] }, 'redo');
  assert.equal(await (await bench.find('[data-name="redo"]')).getAttribute('aria-disabled'), 'true');
  // Looking is no step.
  await bench.cell('S', 2, 2);
  await bench.press('undo');
  await agrees(bench, { given: steps[2] }, 'a pin is stepped over');
});

test('reset takes edits and settings back, and undo brings them again', async () => {
  await bench.write('Q', 0, 0, '9');
  given.q[0][0] = 9;
  await bench.set('scale', '0.7');
  await bench.choose('mask', 'padding');
  const mask = { padding: { key_length: 4 } };
  await agrees(bench, { given, scale: 0.7, mask }, 'edited');
  await bench.reset();
  const all = random(SHAPE);
  await agrees(bench, { given: { q: all.q[0], k: all.k[0], v: all.v[0] } }, 'reset');
  await bench.press('undo');
  await agrees(bench, { given, scale: 0.7, mask }, 'brought back');
});

test('hover previews a row, a click pins it, Escape lets go', async () => {
  await bench.cell('S', 3, 2);
  await bench.leave();
  assert.deepEqual(await bench.row(), [3, 2]);
  await agrees(bench, { given }, 'pinned');
  await bench.hover('S', 1, 4);
  assert.deepEqual(await bench.row(), [1, 4], 'hovered');
  await bench.hover('O', 2, 0);
  assert.equal((await bench.row())[0], 2, 'a row of O');
  await bench.hover('K', 0, 3);
  assert.deepEqual(await bench.row(), [3, 3], 'a key, with the pinned row');
  await bench.leave();
  assert.deepEqual(await bench.row(), [3, 2], 'back at the pin');
  await bench.eval(() => document.activeElement.blur());
  await bench.key(Key.ESCAPE);
  assert.deepEqual(await bench.row(), [0, 0], 'let go');
  // Double clicks on computed cells open no editor.
  await bench.double('A', 1, 1);
  assert.ok(!(await bench.has('[data-name="cell-editor"]')));
  near((await bench.row())[0], 1, 'pinned by key');
});

test('the terms of the dot product are those of the row and the key', async () => {
  await bench.cell('S', 2, 3);
  await bench.leave();
  const product = given.q[2].reduce((sum, x, c) => sum + x * given.k[3][c], 0);
  near(await bench.read('dot'), product, 'dot product');
  near(await bench.read('scaled'), product / Math.sqrt(3), 'scaled');
  sameMatrix([[await bench.read('formula-score')]], [[product / Math.sqrt(3)]], 'formula');
});

test('nothing went wrong', () => bench.sound());
