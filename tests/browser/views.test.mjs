// How things are shown, none of which changes a number: colours by square root, Q and K as used, the table and its
// copy, the Jacobian enlarged, the gradient of a typed d_out, the theme.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { near } from './lib/near.mjs';

let bench;

before(async () => {
  bench = await open();
  await bench.random({ n_q: 5, n_k: 6, d_k: 4, d_v: 3, heads: 1 });
});

beforeEach(async () => {
  await bench.reset();
  await bench.sizes({ n_q: 5, n_k: 6 });
});

/** A fingerprint of the pipeline's pixels, once the frame that is on its way has been painted. */
function pixels(selector = '[data-name="stage"] canvas') {
  return bench.eval(async (s) => {
    const frame = () => new Promise((done) => requestAnimationFrame(done));
    await frame();
    await frame();
    const canvas = document.querySelector(s);
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let hash = 0;
    for (const byte of data) hash = (hash * 31 + byte) | 0;
    return hash;
  }, selector);
}

test('weights by square root: another picture, the same numbers', async () => {
  const [numbers, picture] = [await bench.table('A'), await pixels()];
  await bench.toggle('root_weights', true);
  assert.notEqual(await pixels(), picture);
  assert.deepEqual(await bench.table('A'), numbers);
  assert.match(await bench.eval(() => document.querySelector('[data-name="stage"]').textContent + document.querySelector('.inputs').textContent), /square root/i);
  await bench.toggle('root_weights', false);
  assert.equal(await pixels(), picture);
});

test('Q and K as the scores use them', async () => {
  assert.ok(!(await bench.has('[data-name="as_used"]')), 'nothing to show without a rotation or a norm');
  await bench.choose('positions', 'rope');
  const picture = await pixels();
  const [given, used] = [await bench.table('Q'), await bench.table('Q_used')];
  await bench.toggle('as_used', true);
  assert.notEqual(await pixels(), picture);
  await bench.hover('Q', 3, 1);
  const words = await bench.text('cell');
  const shown = Number(words.match(/[−-]?\d[\d.]*(?:e[−-]?\d+)?(?=[^\d]*$)/)?.[0].replace('−', '-'));
  assert.ok(Math.abs(shown - used[3][1]) < 0.01 && Math.abs(used[3][1] - given[3][1]) > 0.01, `“${words}” for ${used[3][1]}, given ${given[3][1]}`);
  await bench.toggle('as_used', false);
  await bench.leave();
  assert.deepEqual(await bench.table('Q'), given);
});

test('the table: every digit of every matrix, by its key and its button', async () => {
  await bench.eval(() => document.activeElement.blur());
  await bench.key('t');
  assert.ok(await bench.has('dialog[open] [data-name="table-matrix"]'));
  for (const [matrix, rows, cols] of [['Q', 5, 4], ['K', 6, 4], ['V', 6, 3], ['S', 5, 6], ['M', 5, 6], ['A', 5, 6], ['O', 5, 3], ['J', 6, 6]]) {
    await bench.choose('table-matrix', matrix);
    const cells = await bench.eval(() => [...document.querySelectorAll('[data-table-cell]')].map((e) => [e.dataset.value, e.textContent]));
    assert.equal(cells.length, rows * cols, matrix);
    for (const [value, text] of cells) near(Number(text.replace('−', '-').replace('∞', 'Infinity')), Number(value), `${matrix} prints ${text}`, 1e-15);
  }
  await bench.key(Key.ESCAPE);
  assert.ok(!(await bench.has('dialog[open]')));
  await bench.press('tables');
  await bench.press('tables-close');
  assert.equal(await bench.eval(() => document.activeElement.dataset.name), 'tables', 'focus comes back');
});

test('the table in pages, for matrices that are larger', async () => {
  await bench.sizes({ n_q: 60, n_k: 120 });
  const A = await bench.table('A');
  assert.deepEqual([A.length, A[0].length], [60, 120]);
  A.forEach((row, i) => near(row.reduce((a, b) => a + b), 1, `row ${i}`));
  // Page by page there is what is copied whole.
  assert.deepEqual((await bench.cells('A')).map((row) => row.map((cell) => cell.value)), A);
  await bench.sizes({ n_q: 5, n_k: 6 });
});

test('the table as CSV on the clipboard', async () => {
  await bench.press('tables');
  await bench.choose('table-matrix', 'A');
  await bench.press('table-copy');
  await bench.until(async () => /^Copied/.test(await bench.eval(() => document.querySelector('dialog[open] [role="status"]')?.textContent ?? '')), 'the word that it is copied');
  const text = await bench.clipboard();
  await bench.press('tables-close');
  const rows = text.trim().split('\n').slice(1).map((line) => line.split(',').slice(1).map(Number));
  assert.deepEqual(rows, await bench.table('A'));
});

test('copying a matrix gives what a paste takes', async () => {
  const before = await bench.table('Q');
  await bench.cell('Q', 0, 0);
  await bench.chord(Key.CONTROL, 'c');
  await bench.until(async () => /copied/.test(await bench.said()), 'the word that it is copied');
  const text = await bench.clipboard();
  assert.deepEqual(text.split('\n').map((line) => line.split('\t').map(Number)), before);
  // And the clipboard itself is pasted: V into Q, where it is too tall at first.
  await bench.cell('V', 0, 0);
  await bench.chord(Key.CONTROL, 'c');
  const values = await bench.table('V');
  await bench.cell('Q', 0, 0);
  await bench.chord(Key.CONTROL, 'v');
  assert.match(await bench.problem('Q'), /expected at most 5 × 4.*got 6 × 3/i);
  await bench.sizes({ n_q: 6 });
  await bench.cell('Q', 0, 0);
  await bench.chord(Key.CONTROL, 'v');
  assert.equal(await bench.problem('Q'), null);
  assert.deepEqual((await bench.table('Q')).map((row) => row.slice(0, 3)), values);
});

test('the Jacobian enlarged: every entry by arrow keys', async () => {
  await bench.cell('S', 1, 2);
  await bench.leave();
  const J = await bench.table('J');
  await bench.press('jacobian-open');
  const cells = await bench.find('[data-name="jacobian-cells"]');
  await cells.click();
  await bench.key(Key.HOME);
  for (let step = 0; step < 3; step += 1) {
    const [row, col] = (await (await bench.find('[data-read="jacobian_entry"]')).getAttribute('data-cell')).split(',').map(Number);
    near(await bench.read('jacobian_entry'), J[row][col], `entry ${row}, ${col}`);
    await bench.key(step % 2 ? Key.ARROW_DOWN : Key.ARROW_RIGHT);
  }
  await bench.key(Key.ESCAPE);
  assert.ok(!(await bench.has('dialog[open]')));
});

test('the gradient of a typed d_out, and back', async () => {
  await bench.cell('S', 1, 2);
  await bench.leave();
  await agrees(bench, {}, 'of ½|o − v|²');
  await bench.press('d_out-open');
  await bench.set('d_out', '1; -2; 0.5');
  await agrees(bench, { d_out: [1, -2, 0.5] }, 'typed');
  await bench.set('d_out', '0, 0, 0');
  await agrees(bench, { d_out: [0, 0, 0] }, 'zeros');
  await bench.set('d_out', '1 2');
  assert.match(await bench.problem('d_out'), /Expected 3 numbers.*got 2/);
  await agrees(bench, { d_out: [0, 0, 0] }, 'the last good one stays');
  await bench.set('d_out', 'one two three');
  assert.match(await bench.problem('d_out'), /not a list of numbers/);
  await bench.press('d_out-back');
  assert.equal(await bench.problem('d_out'), null);
  await agrees(bench, {}, 'back');
});

test('the theme button goes round: as the system, light, dark; and the choice is kept', async () => {
  const ground = () => bench.eval(() => getComputedStyle(document.body).backgroundColor);
  const [light, seen] = [await ground(), new Set()];
  for (let i = 0; i < 3; i += 1) {
    await bench.press('theme');
    seen.add(await bench.eval(() => document.querySelector('[data-name="theme"]').dataset.value));
    if ((await bench.eval(() => document.querySelector('[data-name="theme"]').dataset.value)) === 'dark') {
      assert.notEqual(await ground(), light);
      const picture = await pixels();
      await bench.web.navigate().refresh();
      await bench.find('[data-read="entropy"]');
      assert.notEqual(await ground(), light, 'after a reload');
      assert.ok(picture !== 0);
    }
  }
  assert.equal(seen.size, 3, [...seen].join());
  assert.equal(await ground(), light);
  await bench.random({ n_q: 5, n_k: 6, d_k: 4, d_v: 3, heads: 1 });
});

test('nothing went wrong', () => bench.sound());
