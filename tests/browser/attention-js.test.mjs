// attention.js on the built site: its numbers against float64, the same bits from every variant, sentences for what is
// wrong, long calls with progress and cancel, and what it does without isolation.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { can, needs } from './lib/browser.mjs';
import { close, expected, gradients, numbers, openModule } from './lib/module.mjs';
import { slopes } from './lib/oracle.mjs';

/** The float32 path keeps within 2e-6 of the largest value while scores are of ordinary size; values here are below 5. */
const ROOM = 1e-5;
/** Gradients are sums of some dozen such products; differences of float64 add 1e-9. */
const GRADIENT_ROOM = 5e-5;
/** What each number of threads is to come to where the page is isolated. */
const WAYS = [
  { threads: 1, variant: 'simd', means: [] },
  { threads: 2, variant: 'simd-threads', means: ['threads'] },
];

const causal = { mask: { causal: { align: 'bottom_right' } } };
const CASES = [
  ['plain', { h: 2, n: 37, d: 8 }, () => ({})],
  ['one token', { h: 1, n: 1, d: 1 }, () => ({})],
  ['causal', { h: 2, n: 70, d: 12, causal: true }, () => causal],
  ['grouped heads, other widths', { h: 6, hKv: 2, n: 33, d: 5, dV: 9 }, () => ({})],
  ['few queries, causal', { h: 2, nQ: 3, nK: 40, d: 16, causal: true }, () => causal],
  ['more queries than keys', { h: 1, nQ: 40, nK: 3, d: 4 }, () => ({})],
  ['window, scale, soft cap', { h: 1, n: 50, d: 8, causal: true, window: 7, scale: 0.9, softcap: 3 }, () => ({ mask: { ...causal.mask, window: { size: 7 } }, scale: 0.9, soft_cap: 3 })],
  ['ALiBi', { h: 6, n: 20, d: 4, alibi: true }, (head) => ({ slope: slopes(6)[head] })],
  ['RoPE', { h: 2, n: 20, d: 8, rope: true }, () => ({ rope: { layout: 'interleaved' } })],
  ['RoPE on halves, queries last', { h: 1, nQ: 4, nK: 20, d: 12, rope: { layout: 'half', base: 500, dims: 8 } }, () => ({ rope: { layout: 'half', base: 500, dims: 8, q_offset: 16 } })],
];

for (const { threads, variant, means } of WAYS) {
  describe(`attention.js, ${variant}`, needs(...means), () => {
    test('loads', async () => {
      const page = await openModule();
      assert.deepEqual(await page.run((t) => lib.init({ threads: t }), threads), { threads, variant });
    });

    for (const [name, options, oracle] of CASES) {
      test(`${name}: as in float64`, async () => {
        const page = await ready(threads);
        const call = { ...options, ...numbers(options) };
        close(await page.call('attention', call), expected(call, oracle), ROOM, name);
      });
    }

    test('decode: one query sees the whole cache, several are its last tokens', async () => {
      const page = await ready(threads);
      const cache = { h: 4, hKv: 2, n: 90, d: 16 };
      const one = { ...cache, ...numbers({ ...cache, nQ: 1 }) };
      close(await page.call('decode', one), expected({ ...one, nQ: 1 }), ROOM, 'one query');
      const chunk = { ...cache, nQ: 5, ...numbers({ ...cache, nQ: 5 }) };
      close(await page.call('decode', chunk), expected(chunk, () => causal), ROOM, 'five queries');
    });

    for (const [name, options, oracle] of [
      ['grouped and causal', { h: 4, hKv: 2, n: 6, d: 4, causal: true }, () => causal],
      ['soft cap, other widths', { h: 1, nQ: 3, nK: 5, d: 4, dV: 2, softcap: 2 }, () => ({ soft_cap: 2 })],
      ['RoPE', { h: 1, n: 5, d: 4, rope: true }, () => ({ rope: { layout: 'interleaved' } })],
    ]) {
      test(`gradients, ${name}: as differences in float64`, async () => {
        const page = await ready(threads);
        const call = { ...options, ...numbers(options, 11) };
        const [got, wanted] = [await page.call('backward', call), gradients(call, oracle)];
        for (const at of ['dQ', 'dK', 'dV']) close(got[at], wanted[at], GRADIENT_ROOM, `${name}: ${at}`);
      });
    }

    test('gradients take up the forward pass only where the numbers are still the same', async () => {
      const page = await ready(threads);
      const options = { h: 2, n: 40, d: 16, causal: true };
      const call = { ...options, ...numbers(options, 3) };
      const told = await page.run(async (given) => {
        for (const key of ['q', 'k', 'v', 'dOut']) given[key] = f32(given[key]);
        const same = (a, b) => ['dQ', 'dK', 'dV'].every((at) => a[at].every((x, i) => Object.is(x, b[at][i])));
        const fresh = lib.backward(given);
        lib.attention(given);
        const reused = lib.backward(given);
        // The same array, another number in it: the last place that a comparison would reach.
        given.v[given.v.length - 1] += 1;
        const changed = lib.backward(given);
        await lib.init({ threads: given.threads });
        return { reused: same(fresh, reused), noticed: !same(fresh, changed), right: same(changed, lib.backward(given)) };
      }, { ...call, threads });
      assert.deepEqual(told, { reused: true, noticed: true, right: true });
    });

    test('a sink or a rope that says something else is another call, though it is the same object', async () => {
      const page = await ready(threads);
      const options = { h: 2, n: 12, d: 4 };
      const call = { ...options, ...numbers(options, 5) };
      const [before, after] = await page.run((given) => {
        for (const key of ['q', 'k', 'v']) given[key] = f32(given[key]);
        const [sink, rope] = [[0.5, -1], { base: 100 }];
        const run = () => [...lib.attention({ ...given, sink, rope })];
        const first = run();
        sink[1] = 2;
        rope.base = 10_000;
        return [first, run()];
      }, call);
      const wanted = (sink, base) => expected(call, (head) => ({ sink: sink[head], rope: { layout: 'interleaved', base } }));
      close(before, wanted([0.5, -1], 100), ROOM, 'before');
      close(after, wanted([0.5, 2], 10_000), ROOM, 'after');
    });

    test('calls of many shapes in any order share their room and stay right', async () => {
      const page = await ready(threads);
      const shapes = Array.from({ length: 11 }, (_, i) => ({ h: 1 + (i % 3), n: 3 + 13 * ((i * 7) % 11), d: 4 + 4 * (i % 4), causal: i % 2 === 0 }));
      const calls = shapes.map((shape, i) => ({ ...shape, ...numbers(shape, 20 + i) }));
      for (const i of [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0, 5, 10, 3, 3, 1]) {
        close(await page.call('attention', calls[i]), expected(calls[i], () => (calls[i].causal ? causal : {})), ROOM, `shape ${i}`);
      }
    });
  });
}

test('one thread, two and four give the same bits', needs('threads'), async () => {
  const page = await openModule();
  const told = await page.run(async () => {
    const shape = { h: 3, n: 333, d: 40 };
    const random = (seed) => {
      let x = seed;
      return Float32Array.from({ length: 3 * 333 * 40 }, () => (x = (x * 16807) % 2147483647) / 2 ** 29 - 2);
    };
    const [q, k, v, dOut] = [1, 2, 3, 4].map(random);
    const results = [];
    for (const threads of [1, 2, 4]) {
      const { threads: has } = await lib.init({ threads });
      for (const causal of [false, true]) {
        // Again and again: threads meet differently each time.
        for (let round = 0; round < 5; round += 1) {
          const call = { ...shape, causal, q, k, v, dOut };
          const o = lib.attention(call).slice();
          const { dQ, dK, dV } = lib.backward(call);
          results.push({ has, causal, bits: [o, dQ, dK, dV].map((x) => new Uint32Array(x.buffer)) });
        }
      }
    }
    const first = (causal) => results.find((r) => r.causal === causal).bits;
    const differ = results.filter(({ causal, bits }) => bits.some((x, i) => x.some((b, j) => b !== first(causal)[i][j])));
    return { has: [...new Set(results.map((r) => r.has))], differ: differ.length, zero: first(true)[0].every((b) => b === 0) };
  });
  assert.deepEqual(told, { has: [1, 2, 4], differ: 0, zero: false });
});

test('a result stays as it is, or is empty, whatever comes after it', async () => {
  const page = await ready(1);
  const told = await page.run(() => {
    const call = (n, d, fill) => ({ h: 1, n, d, q: new Float32Array(n * d), k: new Float32Array(n * d), v: new Float32Array(n * d).fill(fill) });
    const [small, large] = [4, 128];
    const results = { small: [], large: [], out: [] };
    for (let fill = 1; fill <= 3; fill += 1) {
      results.small.push(lib.attention(call(small, 4, fill)));
      results.large.push(lib.attention(call(large, 64, fill)));
      results.out.push(lib.attention({ ...call(large, 32, fill), out: new Float32Array(large * 32) }));
    }
    const whole = (list) => list.map((array) => (array.length === 0 ? 'empty' : array.every((x) => x === array[0]) ? array[0] : 'mixed'));
    return { small: whole(results.small), large: whole(results.large), out: whole(results.out) };
  });
  assert.deepEqual(told, { small: [1, 2, 3], large: ['empty', 'empty', 3], out: [1, 2, 3] });
});

test('a result that was given away is not taken back', async () => {
  const page = await ready(1);
  const told = await page.run(() => {
    const call = (fill) => ({ h: 1, n: 128, d: 64, q: new Float32Array(8192), k: new Float32Array(8192), v: new Float32Array(8192).fill(fill) });
    const { buffer } = lib.attention(call(1));
    const theirs = new Float32Array(structuredClone(buffer, { transfer: [buffer] }));
    const mine = lib.attention(call(2));
    return [theirs.every((x) => x === 1), mine.every((x) => x === 2)];
  });
  assert.deepEqual(told, [true, true]);
});

test('what is wrong is said in a sentence, and nothing breaks', async () => {
  const page = await ready(2);
  const good = { h: 1, n: 2, d: 2, q: [1, 2, 3, 4], k: [1, 2, 3, 4], v: [1, 2, 3, 4], dOut: [1, 2, 3, 4] };
  const refusals = [
    ['attention', { h: 0 }, 'RangeError', /^h: expected a whole number from 1 on, got 0\. Count/],
    ['attention', { n: 2.5 }, 'RangeError', /^n: expected a whole number from 1 on, got 2\.5\./],
    ['attention', { n: undefined }, 'TypeError', /^n: expected a whole number/],
    ['attention', { d: '2' }, 'TypeError', /^d: expected a whole number from 1 on, got “2”\./],
    ['attention', { q: [1, 2, 3] }, 'RangeError', /^q: expected h·nQ·d = 1·2·2 = 4 numbers, got 3\. Give row-major/],
    ['attention', { k: 'keys' }, 'TypeError', /^k: expected a Float32Array, got “keys”\./],
    ['attention', { h: 3, hKv: 2, q: Array(12).fill(0), k: Array(8).fill(0), v: Array(8).fill(0) }, 'RangeError', /^K\/V heads: expected a divisor of 3, got 2\. Choose 1 or 3\.$/],
    ['attention', { n: 70_000, q: [], k: [], v: [] }, 'RangeError', /^Queries: expected 1 to 65536, got 70000\./],
    ['attention', { softcap: 0 }, 'RangeError', /^softcap: expected a number above 0, got 0\./],
    ['attention', { rope: { layout: 'odd' } }, 'TypeError', /^rope\.layout: expected “interleaved” or “half”, got “odd”\./],
    ['attention', { rope: { dims: 3 } }, 'RangeError', /^Turned components: expected at most d_k = 2, got 3\./],
    ['attention', { v: [1, 2, 3, 1e39] }, 'RangeError', /^v\[0, 1, 1\]: expected a finite number, got \+∞\./],
    ['backward', { dOut: undefined }, 'TypeError', /^dOut: expected a Float32Array, got undefined\./],
    ['backward', { dOut: [1] }, 'RangeError', /^dOut: expected h·nQ·dV = 1·2·2 = 4 numbers, got 1\./],
    ['backward', { dOut: [1, 2, 3, 1e39] }, 'RangeError', /expected a finite number, got \+∞\./],
    ['decode', { n: 2, q: [1, 2, 3, 4] }, 'RangeError', /^q: expected h·nQ·d = 1·1·2 = 2 numbers, got 4\./],
  ];
  for (const [name, change, kind, sentence] of refusals) {
    const refused = await page.refusal(name, { ...good, ...change });
    assert.equal(refused?.name, kind, `${name} ${JSON.stringify(change)}: ${refused?.message}`);
    assert.match(refused.message, sentence);
  }
  close(await page.call('attention', good), expected(good), ROOM, 'after all of that');
  const threads = await page.run(() => lib.init({ threads: 0 }).catch((e) => e.message));
  assert.match(threads, /^threads: expected a whole number from 1 to 32, got 0\./);
  const early = await page.run(() => {
    lib.release();
    try {
      lib.attention({});
      return null;
    } catch (error) {
      return error.message;
    }
  });
  assert.match(early, /await init\(\) first/);
});

for (const { threads, variant, means } of WAYS) {
  test(`a call that does not fit is refused with the number, ${variant}`, needs(...means), async () => {
    const page = await ready(threads);
    const told = await page.run(() => {
      // 256 MiB each of inputs and result: within what a call may ask for, beyond what threads have memory for.
      const [h, n, d] = [16, 65_536, 64];
      const x = new Float32Array(h * n * d);
      const plan = lib.plan({ h, n, d });
      let message = null;
      if (plan.total > plan.limit) {
        try {
          lib.attention({ h, n, d, q: x, k: x, v: x });
        } catch (error) {
          message = error.message;
        }
      }
      return { plan, gradients: lib.plan({ h, n, d, backward: true }), message, held: lib.memory() };
    });
    const MIB = 2 ** 20;
    assert.ok(told.plan.total > 4 * 256 * MIB, 'inputs and result are in the total');
    assert.ok(told.plan.scratch > 0 && told.plan.scratch < told.plan.total - 4 * 256 * MIB);
    assert.ok(told.gradients.total > told.plan.total + 4 * 256 * MIB, 'gradients take room');
    assert.ok(told.held < 16 * MIB, `nothing was allocated: ${told.held}`);
    if (variant === 'simd-threads') {
      assert.ok(told.plan.limit < 512 * MIB && told.plan.limit > 500 * MIB);
      assert.match(told.message, /^memory: expected at most 5\d\d MiB, got a call that needs [12]\d{3} MiB\. Take .* init\(\{ threads: 1 \}\)/);
    } else {
      assert.ok(told.plan.limit > 4000 * MIB && told.plan.limit < 4096 * MIB);
      assert.equal(told.message, null);
    }
  });

  test(`long calls: progress, cancel, the same bits, ${variant}`, async () => {
    const page = await ready(threads);
    const told = await page.run(async () => {
      const shape = { h: 2, n: 1500, d: 32, causal: true };
      const x = Float32Array.from({ length: 2 * 1500 * 32 }, (_, i) => Math.sin(i * i));
      const call = { ...shape, q: x, k: x.map((y) => -y), v: x, dOut: x };
      const same = (a, b) => a.length === b.length && a.every((y, i) => Object.is(y, b[i]));
      const seen = { forward: [], backward: [] };
      const o = await lib.attention({ ...call, onProgress: (part) => seen.forward.push(part) });
      const g = await lib.backward({ ...call, onProgress: (part) => seen.backward.push(part) });
      const here = lib.backward(call);
      const rising = (list) => list.every((part, i) => part > 0 && part <= 1 && (i === 0 || part >= list[i - 1]));
      const held = lib.memory();

      // Cancelled at its first word: it is over at once, says nothing more, and its memory is gone.
      const controller = new AbortController();
      let after = 0;
      const cancelled = await lib
        .attention({
          ...call,
          signal: controller.signal,
          onProgress: () => {
            if (controller.signal.aborted) after += 1;
            controller.abort();
          },
        })
        .then(() => 'finished', (error) => error.name);
      const left = lib.memory();
      await new Promise((resolve) => setTimeout(resolve, 50));

      // One that waits, one that never began, and then all goes on in a fresh worker.
      const waiting = new AbortController();
      const first = lib.attention({ ...call, signal: new AbortController().signal });
      const second = lib.attention({ ...call, signal: waiting.signal }).catch((error) => error.name);
      waiting.abort();
      const never = await lib.attention({ ...call, signal: AbortSignal.abort() }).catch((error) => error.name);
      return {
        forward: same(o, lib.attention(call)),
        backward: ['dQ', 'dK', 'dV'].every((at) => same(g[at], here[at])),
        words: [seen.forward.length > 2, seen.backward.length > 2, seen.forward.at(-1), seen.backward.at(-1)],
        rising: rising(seen.forward) && rising(seen.backward),
        cancelled,
        after,
        freed: left < held,
        second: await second,
        never,
        again: same(await first, o),
      };
    });
    assert.deepEqual(told, {
      forward: true,
      backward: true,
      words: [true, true, 1, 1],
      rising: true,
      cancelled: 'AbortError',
      after: 0,
      freed: true,
      second: 'AbortError',
      never: 'AbortError',
      again: true,
    });
  });
}

test('without isolation one thread does it, and says so', async () => {
  const page = await openModule('plain');
  assert.equal(await page.run(() => crossOriginIsolated), false);
  assert.deepEqual(await page.run(() => lib.init({ threads: 4 })), { threads: 1, variant: 'simd' });
  const call = { h: 2, n: 9, d: 4, ...numbers({ h: 2, n: 9, d: 4 }) };
  close(await page.call('attention', call), expected(call), ROOM, 'plain');
});

test('under any path, with threads where the engine has them', async () => {
  const page = await openModule('subpath');
  const has = can('threads') ? { threads: 2, variant: 'simd-threads' } : { threads: 1, variant: 'simd' };
  assert.deepEqual(await page.run(() => lib.init({ threads: 2 })), has);
});

/** A fresh page with the module started. */
async function ready(threads) {
  const page = await openModule();
  await page.run((t) => lib.init({ threads: t }), threads);
  return page;
}
