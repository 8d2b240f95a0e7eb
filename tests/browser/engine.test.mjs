// The engine: with threads and without, killed, panicking, not there; and files that do not come.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { can, needs } from './lib/browser.mjs';
import { open } from './lib/bench.mjs';
import { random } from './lib/oracle.mjs';

const SHAPE = { n_q: 5, n_k: 6, d_k: 4, d_v: 3, heads: 1 };
const all = random(SHAPE);
const given = { q: all.q[0], k: all.k[0], v: all.v[0] };

/** Numbers, settings and an edit that must survive. */
async function worked(options) {
  const bench = await open(options);
  await bench.random(SHAPE);
  await bench.set('scale', '0.75');
  await bench.write('Q', 1, 1, '2');
  return bench;
}

const edited = () => {
  const now = structuredClone(given);
  now.q[1][1] = 2;
  return { given: now, scale: 0.75 };
};

test('isolated: one thread while a head is small, several from a large one on, and the numbers are right', needs('threads'), async () => {
  const bench = await worked();
  assert.ok(await bench.eval(() => crossOriginIsolated));
  assert.match(await bench.text('engine'), /float64, one thread/);
  await agrees(bench, edited());
  await bench.sizes({ n_q: 400, n_k: 400, d_k: 32 });
  await bench.until(async () => /float64, \d+ threads/.test(await bench.text('engine')), 'the engine with threads');
  await bench.settled();
  assert.equal(await bench.eval(() => document.querySelector('.engine-note').textContent), '');
  const large = await bench.tables('O');
  await bench.sizes({ n_q: 5, n_k: 6, d_k: 4 });
  assert.match(await bench.text('engine'), /float64, \d+ threads/);
  await agrees(bench, { given, scale: 0.75 });
  await bench.random({ ...SHAPE, n_q: 400, n_k: 400, d_k: 32 });
  await bench.settled();
  assert.deepEqual(await bench.tables('O'), large);
  await bench.sound();
});

test('a large head whose engine with threads does not come: one thread goes on, and it is said', needs('threads'), async () => {
  const bench = await open({
    // A worker's own requests are out of a test's reach: the one with threads is sent to a folder that is not there.
    before: `
      const worker = Object.getPrototypeOf(Worker.prototype);
      const post = worker.postMessage;
      worker.postMessage = function (message, ...rest) {
        const lost = message?.variant === 'simd-threads' ? { ...message, base: message.base + 'nowhere/' } : message;
        return post.call(this, lost, ...rest);
      };`,
  });
  await bench.random({ ...SHAPE, n_q: 400, n_k: 400, d_k: 32 });
  await bench.until(() => bench.eval(() => /one thread computes/.test(document.querySelector('.engine-note').textContent)), 'the note');
  await bench.settled();
  assert.match(await bench.text('engine'), /float64, one thread/);
  await bench.random(SHAPE);
  await agrees(bench, { given });
});

test('isolated, and the engine has no shared memory: one thread at any size', async () => {
  // Asked in the page's own world: a driver's world may have one of its own.
  const bench = await worked({ before: 'delete globalThis.SharedArrayBuffer; window.__shares = () => typeof SharedArrayBuffer;' });
  assert.deepEqual(await bench.eval(() => [crossOriginIsolated, window.__shares()]), [true, 'undefined']);
  await agrees(bench, edited());
  await bench.sizes({ n_q: 400, n_k: 400, d_k: 32 });
  await bench.settled();
  assert.match(await bench.text('engine'), /float64, one thread/);
  await bench.sizes({ n_q: 5, n_k: 6, d_k: 4 });
  await agrees(bench, { given, scale: 0.75 });
  await bench.sound();
});

test('this engine has threads, or none, as the suite believes; asked for where there are none, the page says so', async () => {
  const bench = await open({ query: '?engine=simd-threads' });
  assert.equal(await bench.eval(() => crossOriginIsolated && typeof SharedArrayBuffer === 'function'), can('threads'));
  const said = [await bench.text('engine'), await bench.eval(() => document.querySelector('.engine-note').textContent)];
  assert.match(said[0], can('threads') ? /\d+ threads/ : /one thread/);
  assert.equal(said[1].length > 10, !can('threads'), said[1]);
});

test('without isolation: one thread, the same numbers', async () => {
  const bench = await worked({ server: 'plain' });
  assert.ok(!(await bench.eval(() => crossOriginIsolated)));
  assert.match(await bench.text('engine'), /float64, one thread/);
  await agrees(bench, edited());
  await bench.sound();
});

test('threads asked for without isolation: falls back by itself and says so', async () => {
  const bench = await worked({ server: 'plain', query: '?engine=simd-threads' });
  assert.match(await bench.text('engine'), /one thread/);
  assert.ok((await bench.eval(() => document.querySelector('.engine-note').textContent)).length > 10);
  await agrees(bench, edited());
  await bench.press('hide-note');
  assert.equal(await bench.eval(() => document.querySelector('.engine-note').textContent), '');
});

test('one thread and several give the same bits', needs('threads'), async () => {
  const tables = [];
  for (const query of ['?engine=simd', '?engine=simd-threads']) {
    const bench = await worked({ query });
    assert.match(await bench.text('engine'), query.endsWith('threads') ? /threads/ : /one thread/);
    await bench.sizes({ n_q: 48, n_k: 48, d_k: 32 });
    tables.push(await bench.tables('S', 'A', 'O'));
  }
  assert.deepEqual(tables[0], tables[1]);
});

test('under a path of a site', async () => {
  const bench = await worked({ server: 'subpath' });
  await agrees(bench, edited());
  await bench.sound();
});

test('a panic in the engine: a message, a new worker, nothing lost', async () => {
  const bench = await worked();
  await bench.eval(() => window.__lab.workers.at(-1).postMessage({ head: new Uint8Array([5]), arrays: [] }));
  await bench.until(() => bench.eval(() => window.__lab.workers.length === 2), 'a new worker');
  await bench.until(() => bench.eval(() => /start again/.test(document.querySelector('.engine-note').textContent)), 'the note');
  await bench.settled();
  await agrees(bench, edited(), 'after the panic');
  await bench.write('V', 0, 0, '3');
  const now = edited();
  now.given.v[0][0] = 3;
  await agrees(bench, now, 'and it goes on');
  await bench.press('undo');
  await agrees(bench, edited(), 'undo too');
  assert.deepEqual(await bench.nonsense(), []);
});

test('an error of the worker’s script: the same', async () => {
  const bench = await worked();
  await bench.eval(() => window.__lab.workers.at(-1).dispatchEvent(new ErrorEvent('error', { message: 'boom' })));
  await bench.until(() => bench.eval(() => window.__lab.workers.length === 2), 'a new worker');
  await bench.settled();
  await bench.set('scale', '0.5');
  await agrees(bench, { ...edited(), scale: 0.5 });
  await bench.sound();
});

test('a worker that dies silently is missed and replaced', async () => {
  const bench = await worked();
  await bench.eval(() => window.__lab.workers.at(-1).terminate());
  // Asked of the dead one: the answer never comes, the last picture stays and is marked.
  await bench.eval(() => {
    const field = document.querySelector('input[data-name="scale"]');
    field.focus();
    field.value = '0.5';
    field.dispatchEvent(new Event('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  });
  await bench.until(() => bench.has('.stage.stale'), 'the mark of a stale picture', 3_000);
  await bench.until(() => bench.eval(() => window.__lab.workers.length === 2), 'a new worker', 25_000);
  // It owes nothing until it is ready and is given the view: the mark says when that is answered.
  await bench.until(async () => !(await bench.has('.stage.stale')), 'the picture of the new worker');
  await bench.settled();
  await agrees(bench, { ...edited(), scale: 0.5 });
  assert.ok(!(await bench.has('.stage.stale')));
  await bench.sound();
});

test('an engine that cannot start: a sentence with a button, the page stands, typing goes on', async () => {
  const bench = await open({ query: '?engine=none', ready: '[data-problem="engine"]' });
  assert.match(await bench.problem('engine'), /engine.*\./i);
  assert.ok(await bench.has('[data-name="retry-engine"]'));
  await bench.choose('source', 'typed');
  await bench.choose('mask', 'causal');
  assert.equal(await bench.chosen('mask'), 'causal');
  await bench.sound(/engine-missing/);
});

test('an engine whose files do not load: a sentence; trying again works', async () => {
  const bench = await open({
    // A worker's own requests are out of a test's reach: it is sent to a folder that is not there.
    before: `
      window.__broken = true;
      const worker = Object.getPrototypeOf(Worker.prototype);
      const post = worker.postMessage;
      worker.postMessage = function (message, ...rest) {
        const lost = window.__broken && message?.base ? { ...message, base: message.base + 'nowhere/' } : message;
        return post.call(this, lost, ...rest);
      };`,
    ready: '[data-problem="engine"]',
  });
  assert.ok((await bench.problem('engine')).length > 30);
  await bench.choose('source', 'tokens');
  await bench.eval(() => (window.__broken = false));
  await bench.press('retry-engine');
  await bench.find('[data-read="entropy"]');
  await bench.settled();
  await agrees(bench, {});
  assert.deepEqual(await bench.nonsense(), []);
});

test('the opening example does not load: the page opens on other numbers and says why', async () => {
  const bench = await open({ block: ['*coreference*'] });
  assert.match(await bench.problem('opening'), /coreference.*did not load.*then try again/);
  await agrees(bench, {}, 'on other numbers');
  bench.block();
  await bench.press('retry-opening');
  await bench.settled();
  assert.equal(await bench.problem('opening'), null);
  assert.equal(await bench.chosen('sentence'), 'coreference');
  await agrees(bench, {}, 'on the example');
  await bench.sound(/net::ERR/);
});

test('an example that does not load: a sentence at its menu, the last picture stays, trying again works', async () => {
  const bench = await open();
  const before = await bench.table('A');
  bench.block('*layer-5*', '*copying*');
  await bench.click('.map[data-head="5.3"]');
  assert.match(await bench.problem('example'), /coreference-layer-5.*did not load.*try again/);
  assert.deepEqual(await bench.table('A'), before, 'the last picture');
  bench.block();
  await bench.press('retry-example');
  assert.equal(await bench.problem('example'), null);
  assert.match(await bench.text('head'), /Layer 5, head 3/);
  await agrees(bench, {});
  await bench.sound(/net::ERR/);
});

test('without local storage, and with a worker that throws, the page still stands', async () => {
  const bench = await open({
    before: `Object.defineProperty(window, 'localStorage', { get() { throw new DOMException('denied', 'SecurityError'); } });`,
  });
  await bench.press('theme');
  await agrees(bench, {});
  await bench.sound();
});
