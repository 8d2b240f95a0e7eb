// How places enter: sinusoids, both layouts of RoPE with all that can be set of them, ALiBi.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { open } from './lib/bench.mjs';
import { product, random, sinusoidal, slopes, tokens } from './lib/oracle.mjs';

let bench;

before(async () => {
  bench = await open();
  await bench.random({ n_q: 6, n_k: 6, d_k: 8, d_v: 4, heads: 1 });
});

beforeEach(() => bench.reset());

const rope = { layout: 'interleaved', dims: 8, base: 10000 };

test('RoPE in both layouts', async () => {
  await bench.choose('positions', 'rope');
  for (const layout of ['interleaved', 'half']) {
    await bench.choose('rope.layout', layout);
    await agrees(bench, { rope: { ...rope, layout } }, layout);
  }
});

test('RoPE: turned components, base, places of the first query and key', async () => {
  await bench.choose('positions', 'rope');
  for (const layout of ['interleaved', 'half']) {
    await bench.choose('rope.layout', layout);
    await bench.set('rope.dims', 4);
    await agrees(bench, { rope: { ...rope, layout, dims: 4 } }, `${layout}, 4 of 8 turn`);
    await bench.set('rope.base', 100);
    await agrees(bench, { rope: { ...rope, layout, dims: 4, base: 100 } }, `${layout}, base 100`);
    await bench.set('rope.q_offset', 5);
    await bench.set('rope.k_offset', 2);
    await agrees(bench, { rope: { ...rope, layout, dims: 4, base: 100, q_offset: 5, k_offset: 2 } }, `${layout}, offsets`);
    await bench.set('rope.dims', 8);
    await bench.set('rope.base', 10000);
    await bench.set('rope.q_offset', 0);
    await bench.set('rope.k_offset', 0);
  }
});

test('RoPE: linear and NTK scaling', async () => {
  await bench.choose('positions', 'rope');
  for (const scaling of ['linear', 'ntk']) {
    await bench.choose('rope.scaling', scaling);
    for (const factor of [4, 2.5]) {
      await bench.set('rope.factor', factor);
      await agrees(bench, { rope: { ...rope, scaling, factor } }, `${scaling} ${factor}`);
    }
  }
  await bench.choose('rope.scaling', 'none');
  await agrees(bench, { rope }, 'none again');
});

test('RoPE: only the distance counts', async () => {
  await bench.choose('positions', 'rope');
  const before = await bench.table('S');
  await bench.set('rope.q_offset', 40);
  await bench.set('rope.k_offset', 40);
  const after = await bench.table('S');
  before.flat().forEach((s, i) => assert.ok(Math.abs(s - after.flat()[i]) < 1e-9, `score ${i}: ${s}, ${after.flat()[i]}`));
});

test('ALiBi with one head, with six, and with RoPE', async () => {
  await bench.choose('positions', 'alibi');
  await agrees(bench, { slope: slopes(1)[0] }, 'one head');
  await bench.sizes({ heads: 6, kv_heads: 6 });
  const given = random({ n_q: 6, n_k: 6, d_k: 8, d_v: 4, heads: 6 });
  for (const head of [0, 3, 4, 5]) {
    await bench.choose('shown-head', String(head));
    const of = { q: given.q[head], k: given.k[head], v: given.v[head] };
    await agrees(bench, { slope: slopes(6)[head], given: of }, `head ${head} of 6`);
  }
  await bench.choose('positions', 'rope+alibi');
  await agrees(bench, { rope, slope: slopes(6)[5] }, 'with RoPE');
  await bench.sizes({ heads: 1, kv_heads: 1 });
});

test('sinusoids need tokens, and say so', async () => {
  await bench.choose('positions', 'sinusoidal');
  assert.match(await bench.problem('positions'), /expected tokens X, got Q, K and V.*Choose/);
  await agrees(bench, {}, 'the last good picture stays');
});

test('sinusoids are added to the tokens', async () => {
  await bench.tokens();
  const { x, w_q, w_k, w_v } = tokens({});
  const projected = (x) => ({ q: product(x, w_q[0]), k: product(x, w_k[0]), v: product(x, w_v[0]) });
  await bench.choose('positions', 'none');
  await agrees(bench, { given: projected(x) }, 'without');
  await bench.choose('positions', 'sinusoidal');
  await agrees(bench, { given: projected(sinusoidal(x)) }, 'with');
  await bench.set('sinusoidal.base', 50);
  await agrees(bench, { given: projected(sinusoidal(x, 50)) }, 'base 50');
  await bench.choose('positions', 'none');
  await bench.random({ n_q: 6, n_k: 6, d_k: 8, d_v: 4, heads: 1 });
});

test('nothing went wrong', () => bench.sound());
