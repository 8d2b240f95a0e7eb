// What a reader must be able to see and to ask: words that explain themselves, nothing cut, nothing covered.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { Key, open } from './lib/bench.mjs';

let bench;

before(async () => {
  bench = await open();
  await bench.random({ n_q: 11, n_k: 11, d_k: 4, d_v: 4, heads: 1 });
});

beforeEach(() => bench.reset());

/** Elements whose text is wider than they are. */
const cut = (selector) =>
  bench.eval(
    (s) => [...document.querySelectorAll(s)].filter((e) => e.scrollWidth > e.clientWidth + 1).map((e) => e.textContent.trim()),
    selector,
  );

test('a word that is no everyday word explains itself: by a click, by Enter; Escape takes it back', async () => {
  const words = await bench.eval(() => [...document.querySelectorAll('.gloss')].map((e) => e.dataset.name));
  for (const name of ['entropy', 'effect', 'mean-norm', 'column', 'jacobian', 'gradient', 'signs']) {
    assert.ok(words.includes(`gloss-${name}`), `${name} is not explained`);
  }
  const open = () => bench.eval(() => document.querySelector('.gloss-note:popover-open')?.textContent ?? null);
  for (const name of words) {
    await bench.press(name);
    const words = await open();
    assert.ok(words && words.length > 40 && !words.startsWith('gloss-'), `${name}: ${words}`);
    const seen = await bench.eval(() => {
      const r = document.querySelector('.gloss-note:popover-open').getBoundingClientRect();
      return r.left >= 0 && r.top >= 0 && r.right <= innerWidth && r.bottom <= innerHeight && r.height > 20;
    });
    assert.ok(seen, `the note of ${name} leaves the window`);
    await bench.key(Key.ESCAPE);
    assert.equal(await open(), null);
  }
  await bench.eval(() => document.querySelector('[data-name="gloss-entropy"]').focus());
  await bench.key(Key.ENTER);
  assert.match(await open(), /spread/);
  await bench.key(Key.ESCAPE);
});

test('the title of the row is whole with two digits, and a click says that it pins', async () => {
  await bench.cell('A', 10, 10);
  await bench.settled();
  assert.deepEqual(await cut('.row-title h2, .row-title .hint'), []);
  assert.match(await bench.text('row'), /Row 10.*key 10/);
  assert.match(await bench.eval(() => document.querySelector('.row-title .hint').textContent), /pinned/);
  await bench.hover('A', 3, 3);
  assert.match(await bench.eval(() => document.querySelector('.row-title .hint').textContent), /following/);
});

test('no formula is cut: with a mask, a bias, extreme numbers', async () => {
  const whole = async (what) => assert.deepEqual(await cut('.formula .math'), [], what);
  await whole('at first');
  await bench.choose('mask', 'causal');
  await bench.cell('A', 4, 9);
  await whole('a hidden cell');
  await bench.choose('positions', 'alibi');
  await whole('a hidden cell and a bias');
  await bench.set('scale', '1e150');
  await whole('an extreme scale');
  await bench.write('Q', 4, 0, '-1.2345e200');
  await bench.cell('A', 4, 2);
  await whole('an extreme number');
});

test('a scale that the line cannot show is said', async () => {
  assert.equal(await bench.has('[data-read="scale_off"]'), false);
  for (const [scale, words] of [['-0.5', /order turns/], ['0', /same weight/], ['1e12', /Right of the line/], ['1e-9', /Left/]]) {
    await bench.set('scale', scale);
    assert.match(await bench.text('scale_off'), words);
    assert.deepEqual(await cut('input[data-name="scale"]'), [], scale);
  }
  await bench.set('scale', '0.5');
  assert.equal(await bench.has('[data-read="scale_off"]'), false);
});

test('a size of four digits can be read in its field, and the box of the focus leaves its label free', async () => {
  await bench.type('n_q', '1000');
  assert.deepEqual(await cut('input[data-name="n_q"]'), []);
  const free = await bench.eval(() => {
    const field = document.activeElement;
    const label = document.querySelector(`label[for="${field.id}"]`);
    const style = getComputedStyle(field);
    const reach = parseFloat(style.outlineWidth) + parseFloat(style.outlineOffset) + 2;
    return field.getBoundingClientRect().left - label.getBoundingClientRect().right - reach;
  });
  assert.ok(free >= 0, `${free} px`);
  await bench.key(Key.ESCAPE);
});

test('a whole number’s advice is a whole number', async () => {
  await bench.set('seed', 'seven');
  assert.match(await bench.problem('seed'), /Write 7/);
  await bench.key(Key.ESCAPE);
});

test('what is wrong with a cell of Q covers no cell of a matrix', async () => {
  await bench.cell('Q', 1, 1);
  await bench.key('5', 'x', Key.ENTER);
  assert.match(await bench.problem('cell'), /5x/);
  const covered = await bench.eval(() => {
    const box = document.querySelector('#cell-editor-problem').getBoundingClientRect();
    return [...document.querySelectorAll('.place')]
      .filter((place) => {
        const r = place.getBoundingClientRect();
        return box.left < r.right && r.left < box.right && box.top < r.bottom && r.top < box.bottom;
      })
      .map((place) => place.dataset.matrix);
  });
  assert.deepEqual(covered, []);
  await bench.key(Key.ESCAPE);
});

test('nothing went wrong', () => bench.sound());
