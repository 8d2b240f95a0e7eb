// Soft cap, sink logit, QK-norm: each alone, slid and typed, and all with everything else.

import assert from 'node:assert/strict';
import { before, beforeEach, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { random, slopes } from './lib/oracle.mjs';

let bench;

before(async () => {
  bench = await open();
  await bench.random({ n_q: 6, n_k: 6, d_k: 8, d_v: 6, heads: 1, sigma: 3 });
});

beforeEach(async () => {
  await bench.reset();
  await bench.unfold('extras');
});

test('soft cap', async () => {
  await bench.toggle('soft_cap-on', true);
  await agrees(bench, { soft_cap: 30 }, 'as it begins');
  await bench.set('soft_cap', 5);
  await agrees(bench, { soft_cap: 5 }, 'typed');
  await (await bench.reach('[data-name="soft_cap-slider"]')).sendKeys(Key.HOME);
  await bench.settled();
  await agrees(bench, { soft_cap: 1 }, 'slid to its least');
  await bench.toggle('soft_cap-on', false);
  await agrees(bench, {}, 'off');
});

test('sink logit: of one head, and of the shown one of several', async () => {
  await bench.toggle('sink-on', true);
  await agrees(bench, { sink: 0 }, 'as it begins');
  await bench.set('sink', 2.5);
  await agrees(bench, { sink: 2.5 }, 'typed');
  await (await bench.reach('[data-name="sink-slider"]')).sendKeys(Key.END);
  await bench.settled();
  const { page } = await agrees(bench, { sink: 8 }, 'slid to its most');
  assert.ok((await bench.read('row_sum')) < 1 && page.A.flat().every((a) => a >= 0));
  await bench.sizes({ heads: 2, kv_heads: 2 });
  await bench.choose('shown-head', '1');
  await bench.set('sink', -1);
  await agrees(bench, { sink: -1 }, 'head 1');
  await bench.choose('shown-head', '0');
  await agrees(bench, { sink: 8 }, 'head 0 keeps its own');
  await bench.sizes({ heads: 1, kv_heads: 1 });
});

test('a row that sees nothing but the sink gives it all its weight', async () => {
  await bench.choose('mask', 'padding');
  await bench.set('padding.key_length', 0);
  await bench.toggle('sink-on', true);
  await agrees(bench, { sink: 0, mask: { padding: { key_length: 0 } } });
});

test('QK-norm, also with a large ε', async () => {
  await bench.toggle('qk_norm-on', true);
  await agrees(bench, { qk_norm: 1e-6 }, 'as it begins');
  await bench.set('qk_norm', '0.5');
  await agrees(bench, { qk_norm: 0.5 }, 'typed');
});

test('everything at once, on several heads', async () => {
  await bench.sizes({ heads: 4, kv_heads: 2 });
  await bench.choose('mask', 'window');
  await bench.set('window.keep_first', 1);
  await bench.choose('positions', 'rope+alibi');
  await bench.choose('rope.layout', 'half');
  await bench.toggle('soft_cap-on', true);
  await bench.set('soft_cap', 10);
  await bench.toggle('sink-on', true);
  await bench.toggle('qk_norm-on', true);
  await bench.set('scale', 1.5);
  const given = random({ n_q: 6, n_k: 6, d_k: 8, d_v: 6, heads: 4, kv_heads: 2, sigma: 3 });
  for (const head of [0, 1, 3]) {
    await bench.choose('shown-head', String(head));
    await bench.set('sink', head / 2);
    const kv = Math.floor(head / 2);
    await agrees(
      bench,
      {
        given: { q: given.q[head], k: given.k[kv], v: given.v[kv] },
        scale: 1.5,
        soft_cap: 10,
        qk_norm: 1e-6,
        sink: head / 2,
        slope: slopes(4)[head],
        rope: { layout: 'half', dims: 8, base: 10000 },
        mask: { causal: { align: 'square' }, window: { size: 4, keep_first: 1 } },
      },
      `head ${head}`,
    );
  }
  await bench.sizes({ heads: 1, kv_heads: 1 });
});

test('nothing went wrong', () => bench.sound());
