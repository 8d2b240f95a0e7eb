// Sizes, heads, key/value heads and the shown head.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { agrees } from './lib/agree.mjs';
import { Key, open } from './lib/bench.mjs';
import { random } from './lib/oracle.mjs';

let bench;
let now = { n_q: 5, n_k: 5, d_k: 4, d_v: 4, heads: 1, kv_heads: 1 };

before(async () => {
  bench = await open();
  await bench.random(now);
});

async function change(sizes, what) {
  now = { ...now, ...sizes };
  await bench.sizes(sizes);
  const given = random(now);
  const shown = Number((await bench.chosen('shown-head')) ?? 0);
  const kv = Math.floor(shown / (now.heads / now.kv_heads));
  return agrees(bench, { given: { q: given.q[shown], k: given.k[kv], v: given.v[kv] } }, what ?? JSON.stringify(sizes));
}

test('each size changes alone', async () => {
  await change({ n_q: 3 });
  await change({ n_k: 7 });
  await change({ d_k: 6 });
  await change({ d_v: 2 });
  await change({ d_v: 9 });
  await change({ d_k: 1 });
  await change({ n_q: 1, n_k: 1 }, 'one query, one key');
  await change({ n_q: 5, n_k: 4, d_k: 4, d_v: 3 });
});

test('a size by arrow keys, and undo of a resize', async () => {
  const field = await bench.reach('input[data-name="n_k"]');
  await field.click();
  await bench.key(Key.ARROW_UP);
  assert.equal(await bench.field('n_k'), '5');
  await change({ n_k: 5 }, 'one more by key');
  await bench.key(Key.ARROW_DOWN);
  assert.equal(await bench.field('n_k'), '4');
  await bench.press('undo');
  assert.equal(await bench.field('n_k'), '5');
  await change({ n_k: 5 }, 'undone');
});

test('several heads: each one shown', async () => {
  await change({ heads: 4, kv_heads: 4 });
  for (const head of ['3', '1', '0']) {
    await bench.choose('shown-head', head);
    await change({}, `head ${head} of 4`);
  }
});

test('key/value heads are shared: grouped queries, one for all', async () => {
  for (const [heads, kv_heads] of [[6, 2], [4, 1]]) {
    await change({ heads, kv_heads }, `${heads} heads on ${kv_heads}`);
    for (let head = 0; head < heads; head += 1) {
      await bench.choose('shown-head', String(head));
      await change({}, `head ${head} of ${heads} on ${kv_heads}`);
      const kv = Math.floor(head / (heads / kv_heads));
      assert.match(await bench.text('kv_head'), new RegExp(`= ${kv}\\b`));
    }
  }
});

test('the shown head by keys', async () => {
  await bench.choose('shown-head', '0');
  await bench.key(Key.ARROW_RIGHT);
  assert.equal(await bench.chosen('shown-head'), '1');
  await change({}, 'head 1');
});

test('from small to what the bench takes at most, without an error', async () => {
  await bench.sizes({ heads: 1, kv_heads: 1, d_k: 8, d_v: 8 });
  for (const n of [48, 64, 128, 512]) {
    await bench.sizes({ n_q: n, n_k: n });
    assert.deepEqual(await bench.size('S'), [n, n]);
    const sum = await bench.read('row_sum');
    assert.ok(Math.abs(sum - 1) < 1e-12, `row sum ${sum} at ${n}`);
    assert.deepEqual(await bench.nonsense(), []);
  }
  await bench.sizes({ n_q: 5, n_k: 5 });
});

test('nothing went wrong', () => bench.sound());
