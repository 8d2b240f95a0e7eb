// The address is the state: what it opens, how it follows, what the buttons back and forward do, and what a broken one
// says.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { near } from './lib/near.mjs';

const GOLDEN = JSON.parse(await readFile(new URL('../links/golden.json', import.meta.url), 'utf8'));

/** The fragment of the page's address, once it has followed the session. */
const fragment = (bench) => bench.eval(() => location.hash.slice(1));
const pairs = (text) => new Map(text.split('&').map((pair) => [pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1)]));
const follows = (bench, key, value) =>
  bench.until(async () => pairs(await fragment(bench)).get(key) === value, `${key}=${value} in the address`);

test('golden links open the pictures they were made from', async (t) => {
  for (const { name, link, numbers } of GOLDEN) {
    await t.test(name, async () => {
      const bench = await open({ query: `#${link}` });
      assert.equal(await bench.problem('link'), null);
      const read = await bench.reads(...Object.keys(numbers));
      for (const [key, value] of Object.entries(numbers)) near(read[key], value, `${name}: ${key}`, 1e-12);
      await bench.sound();
    });
  }
});

test('a link with sizes, a mask and a scale computes as the oracle does', async () => {
  const bench = await open({ query: '#v=1&src=random(9,0.5)&h=1&g=1&nq=5&nk=5&dk=4&dv=3&scale=2&mask=causal&pin=3,1' });
  assert.deepEqual(await bench.row(), [3, 1]);
  await agrees(bench, { scale: 2, mask: { causal: {} } });
});

test('typed numbers travel whole', async () => {
  const q = [[1, 2], [-0.5, 1e-7]];
  const bench = await open({ query: '#v=1&src=typed&h=1&g=1&nq=2&nk=2&dk=2&dv=2&Q=1,2,-0.5,1e-7&K=1,0,0,1&V=3,4,5,6' });
  await agrees(bench, { given: { q, k: [[1, 0], [0, 1]], v: [[3, 4], [5, 6]] } });
});

test('what is changed stands in the address, and the address opens it again', async () => {
  let bench = await open();
  await bench.random({ n_q: 4, n_k: 4, d_k: 4, d_v: 4, heads: 1 });
  await bench.write('K', 1, 2, '7.25');
  await bench.set('scale', '0.3');
  await follows(bench, 'scale', '0.3');
  const link = await fragment(bench);
  assert.match(link, /edit=K:9:7\.25/);
  const before = await bench.tables('Q', 'K', 'V', 'A', 'O');
  bench = await open({ query: `#${link}` });
  assert.deepEqual(await bench.tables('Q', 'K', 'V', 'A', 'O'), before);
});

test('back and forward step through choices, and typing makes no steps', async () => {
  const bench = await open();
  await bench.random({ n_q: 4, n_k: 4, d_k: 4, d_v: 4, heads: 1 });
  await bench.until(async () => (await fragment(bench)).includes('src=random'), 'the source in the address');
  const steps = () => bench.eval(() => history.length);
  const begin = await steps();
  for (const scale of ['0.1', '0.2', '0.4']) {
    await bench.set('scale', scale);
    await follows(bench, 'scale', scale);
  }
  assert.equal(await steps(), begin, 'typing made an entry');
  await bench.choose('mask', 'causal');
  await follows(bench, 'mask', 'causal');
  assert.equal(await steps(), begin + 1);
  await bench.eval(() => history.back());
  await bench.until(async () => (await bench.chosen('mask')) === 'none', 'the mask before');
  await bench.settled();
  await agrees(bench, { scale: 0.4 });
  await bench.eval(() => history.forward());
  await bench.until(async () => (await bench.chosen('mask')) === 'causal', 'the mask after');
});

test('back and forward keep typed numbers that no link can carry', async () => {
  const bench = await open({ query: '#v=1&src=typed&h=1&g=1&nq=16&nk=16&dk=64&dv=64' });
  const rows = Array.from({ length: 16 }, (_, i) => Array.from({ length: 64 }, (_, j) => Math.sin(i * 64 + j).toFixed(9)));
  const text = rows.map((row) => row.join('\t')).join('\n');
  await bench.paste('Q', text);
  await bench.paste('K', text);
  await bench.until(async () => /[#&]Q=(&|$)/.test(await bench.eval(() => location.hash)), 'a link without the numbers');
  const before = await bench.tables('Q', 'K', 'A');
  assert.equal(before.Q[3][5], Number(rows[3][5]));
  const asks = () => bench.eval(() => {
    const leaving = new Event('beforeunload', { cancelable: true });
    window.dispatchEvent(leaving);
    return leaving.defaultPrevented;
  });
  assert.ok(await asks(), 'a page that would lose them asks before it goes');
  await bench.choose('mask', 'causal');
  await follows(bench, 'mask', 'causal');
  await bench.eval(() => history.back());
  await bench.until(async () => (await bench.chosen('mask')) === 'none', 'the mask before');
  await bench.settled();
  assert.deepEqual(await bench.tables('Q', 'K', 'A'), before);
  await bench.choose('source', 'random');
  await follows(bench, 'src', 'random(7,1)');
  assert.ok(!(await asks()), 'one whose link holds all does not');
  assert.equal(await bench.problem('link'), null);
});

test('a link with a fault stays in the address, to be corrected there, until something is changed', async () => {
  const link = 'v=1&src=random(7,1)&nq=4&nk=4&dk=4&dv=4&mask=cau&newthing=5';
  const bench = await open({ query: `#${link}` });
  assert.match(await bench.problem('link'), /cau/);
  await new Promise((resolve) => setTimeout(resolve, 700));
  assert.equal(await fragment(bench), link);
  await bench.set('scale', '0.3');
  await follows(bench, 'scale', '0.3');
  assert.doesNotMatch(await fragment(bench), /newthing/);
});

test('an address typed over opens in place', async () => {
  const bench = await open();
  await bench.eval(() => { location.hash = 'v=1&src=random(3,1)&nq=4&nk=4&dk=2&dv=2&scale=1'; });
  await bench.until(async () => (await bench.table('Q')).length === 4, 'four queries');
  await bench.settled();
  await agrees(bench, { scale: 1 });
  await bench.press('undo');
  assert.equal((await bench.table('Q')).length, 16, 'undo leads back to the sentence');
});

for (const [link, expected, kept] of [
  ['v=9&src=random(7,1)&nq=3&nk=3&dk=2&dv=2', /version 9.*reads version 1/, 3],
  ['v=1&src=random(7,1)&nq=3&nk=3&dk=2&dv=2&mask=caus', /mask: expected one of/, 3],
  ['v=1&src=random(7,1)&nq=3&nk=3&dk=2&dv=2&scale=1e', /scale: expected a number, got “1e”/, 3],
  ['v=1&src=random(7,1)&nq=3&nk=70000&dk=2&dv=2', /nk: expected 1–512, got “70000”/, 3],
  ['v=1&src=exam', /src: expected example/, 16],
]) {
  test(`a broken link says what is wrong and opens the rest: ${link}`, async () => {
    const bench = await open({ query: `#${link}` });
    assert.match(await bench.problem('link'), expected);
    assert.equal((await bench.table('Q')).length, kept);
    await bench.sound();
    await bench.press('hide-link-notes');
    assert.equal(await bench.problem('link'), null);
  });
}

test('an example that is not there says so, and the page works', async () => {
  const bench = await open({ query: '#v=1&src=example(nobody,3)', ready: '[data-problem="link"]' });
  assert.match(await bench.problem('link'), /no example “nobody”: expected one of/);
});

test('the skip link leads to the picture and leaves the address alone', async () => {
  const bench = await open({ query: '#v=1&src=random(7,1)&nq=3&nk=3&dk=2&dv=2' });
  await bench.eval(() => document.querySelector('.skip').click());
  assert.equal(await bench.eval(() => document.activeElement.id), 'bench');
  assert.match(await fragment(bench), /src=random/);
});

test('the dialog gives the link of what is on the screen', async () => {
  const bench = await open({ query: '#v=1&src=random(7,1)&nq=3&nk=3&dk=2&dv=2&scale=2&pin=1,1' });
  await bench.click('[data-name="share"]');
  const link = await (await bench.find('[data-name="share-link"]')).getAttribute('value');
  assert.match(link, /#v=1&lab=bench&src=random\(7,1\)&.*scale=2.*pin=1,1/);
  await bench.click('[data-name="share-copy"]');
  await bench.until(() => bench.eval(() => document.querySelector('.said').textContent.length > 0), 'words about the copy');
  await bench.key(Key.ESCAPE);
  await bench.until(async () => !(await bench.has('[data-name="share-dialog"]')), 'the dialog to be gone');
  assert.equal(await bench.eval(() => document.activeElement.dataset.name), 'share', 'focus is back');
});

test('numbers that do not fit are named in the dialog', async () => {
  const bench = await open();
  await bench.random({ n_q: 64, n_k: 64, d_k: 32, d_v: 32, heads: 1 });
  await bench.choose('source', 'typed');
  await bench.click('[data-name="share"]');
  const words = await (await bench.find('[data-problem="share"]')).getText();
  assert.match(words, /letters, more than the 6000/);
});
