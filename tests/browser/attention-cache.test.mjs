// The cache of attention.js: the bits of decode on the same tokens, numbers as in float64, and sentences for what is wrong.

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { needs } from './lib/browser.mjs';
import { close, expected, numbers, openModule } from './lib/module.mjs';

/** As for attention.js: values are below 5. */
const ROOM = 1e-5;
const causal = { mask: { causal: { align: 'bottom_right' } } };

/** A layer, and what the oracle is to do for a query at the end of so many tokens; `at` is the place of query 0. */
const LAYERS = [
  ['plain', { h: 2, d: 8 }, () => ({})],
  ['grouped, other widths', { h: 6, hKv: 2, d: 5, dV: 9 }, () => ({})],
  ['one head of keys', { h: 8, hKv: 1, d: 16 }, () => ({})],
  ['window, soft cap, scale', { h: 2, d: 12, window: 7, softcap: 3, scale: 0.9 }, () => ({ mask: { window: { size: 7 } }, soft_cap: 3, scale: 0.9 })],
  ['RoPE', { h: 2, hKv: 1, d: 8, rope: true }, (at) => ({ rope: { layout: 'interleaved', q_offset: at } })],
  ['RoPE on halves', { h: 2, d: 12, rope: { layout: 'half', base: 500, dims: 8 } }, (at) => ({ rope: { layout: 'half', base: 500, dims: 8, q_offset: at } })],
];

for (const [threads, variant, ...means] of [
  [1, 'simd'],
  [2, 'simd-threads', 'threads'],
]) {
  describe(`the cache, ${variant}`, needs(...means), () => {
    for (const [name, layer, oracle] of LAYERS) {
      test(`${name}: a prompt, then token by token`, async () => {
        const page = await ready(threads);
        const [prompt, tokens] = [20, 30];
        const call = { ...layer, nQ: tokens, nK: tokens, ...numbers({ ...layer, nQ: tokens, nK: tokens }) };
        const { whole, one, same, length } = await page.run(
          (given, first) => {
            for (const key of ['q', 'k', 'v']) given[key] = f32(given[key]);
            const { h, hKv = h, d, dV = d, nK } = given;
            const part = (cells, heads, width, from, to) => {
              const all = cells.length / heads;
              return f32(Array.from({ length: heads }, (_, i) => [...cells.subarray(i * all + from * width, i * all + to * width)]).flat());
            };
            const tokens = (from, to) => ({ k: part(given.k, hKv, d, from, to), v: part(given.v, hKv, dV, from, to) });
            const { q, k, v, nQ, nK: _, ...options } = given;
            const cache = lib.kvCache({ ...options, capacity: nK + 3 });
            cache.append(tokens(0, first));
            const whole = [...cache.decode({ q: part(q, h, d, 0, first), nQ: first })];
            let same = true;
            let one = [];
            for (let n = first + 1; n <= nK; n += 1) {
              cache.append(tokens(n - 1, n));
              const last = part(q, h, d, n - 1, n);
              one = [...cache.decode({ q: last })];
              const apart = lib.decode({ ...options, q: last, ...tokens(0, n), n });
              same &&= apart.length === one.length && apart.every((x, i) => Object.is(x, one[i]));
            }
            return { whole, one, same, length: cache.length };
          },
          call,
          prompt,
        );
        assert.equal(length, tokens);
        assert.ok(same, `${name}: the bits of decode`);
        const cut = (list, heads, width, from, to) =>
          Array.from({ length: heads }, (_, i) => list.slice((i * tokens + from) * width, (i * tokens + to) * width)).flat();
        const { h, hKv = h, d, dV = d } = layer;
        const at = (from, to) => ({
          ...layer,
          nQ: to - from,
          nK: to,
          q: cut(call.q, h, d, from, to),
          k: cut(call.k, hKv, d, 0, to),
          v: cut(call.v, hKv, dV, 0, to),
        });
        const several = { mask: { ...causal.mask, ...oracle(0).mask } };
        close(whole, expected(at(0, prompt), () => ({ ...oracle(0), ...several })), ROOM, `${name}: the prompt`);
        close(one, expected(at(tokens - 1, tokens), () => oracle(tokens - 1)), ROOM, `${name}: the last token`);
      });
    }

    test('a chunk of queries sees what came before each; what was taken away is gone', async () => {
      const page = await ready(threads);
      const layer = { h: 4, hKv: 2, d: 16 };
      const call = { ...layer, nQ: 5, nK: 1500, ...numbers({ ...layer, nQ: 5, nK: 1500 }) };
      const told = await page.run((given) => {
        for (const key of ['q', 'k', 'v']) given[key] = f32(given[key]);
        const { h, hKv, d, q, k, v, nQ, nK } = given;
        const cache = lib.kvCache({ h, hKv, d, capacity: 2 * nK });
        const equal = (a, b) => a.length === b.length && a.every((x, i) => Object.is(x, b[i]));
        cache.append({ k, v });
        const chunk = cache.decode({ q, nQ }).slice();
        const again = cache.decode({ q, nQ, out: new Float32Array(chunk.length) });
        cache.append({ k: k.map((x) => -x), v });
        const longer = cache.decode({ q, nQ }).slice();
        cache.truncate(nK);
        // Other calls in between move the module's buffers, and leave the cache alone.
        const large = new Float32Array(2 ** 21).fill(0.25);
        lib.attention({ q: large, k: large, v: large, h: 32, n: 1024, d: 64 });
        const back = cache.decode({ q, nQ });
        return { chunk: [...chunk], same: equal(chunk, again) && equal(chunk, back) && equal(chunk, lib.decode(given)), longer: !equal(chunk, longer), length: cache.length };
      }, call);
      assert.deepEqual({ same: told.same, longer: told.longer, length: told.length }, { same: true, longer: true, length: 1500 });
      close(told.chunk, expected(call, () => causal), ROOM, 'a chunk');
    });

    test('its memory is counted, given back and taken again', async () => {
      const page = await ready(threads);
      const told = await page.run(() => {
        const before = lib.plan({ h: 1, n: 4, d: 4 }).limit;
        const make = () => lib.kvCache({ h: 16, d: 64, capacity: 4096 });
        const cache = make();
        const during = lib.plan({ h: 1, n: 4, d: 4 }).limit;
        cache.free();
        const after = lib.plan({ h: 1, n: 4, d: 4 }).limit;
        const held = lib.memory();
        for (let i = 0; i < 20; i += 1) make().free();
        return { taken: before - during, back: after === before, grown: lib.memory() - held };
      });
      const bytes = 4096 * (16 * 2 * 64 * 4 + 8);
      assert.deepEqual(told, { taken: bytes, back: true, grown: 0 });
    });
  });
}

test('what is wrong with a cache is said in a sentence, and it stays as it was', async () => {
  const page = await ready(1);
  const told = await page.run(async () => {
    const layer = { h: 2, hKv: 1, d: 2, capacity: 3 };
    const said = (work) => {
      try {
        work();
        return null;
      } catch (error) {
        return `${error.name}: ${error.message}`;
      }
    };
    const make = (change) => said(() => lib.kvCache({ ...layer, ...change }));
    const made = [{ h: 0 }, { hKv: 3 }, { capacity: undefined }, { capacity: 70_000 }, { capacity: 2 ** 40 }, { n: 4 }, { rope: { qOffset: 1 } }, { h: 64, hKv: 64, d: 1024, capacity: 4096 }].map(make);
    made.push(said(() => lib.kvCache()));
    const cache = lib.kvCache(layer);
    const [one, two] = [f32([1, 2]), f32([1, 2, 3, 4])];
    const used = [
      () => cache.decode({ q: two }),
      () => cache.append({ k: [1, 2], v: one }),
      () => cache.append({ k: one, v: two }),
      () => cache.append({ k: f32([1, 2, 3]), v: one }),
      () => cache.append({ k: f32([1, NaN]), v: one }),
      () => cache.append({ k: f32([1, 2]), v: f32([1, Infinity]) }),
      () => cache.append({ k: new Float32Array(8), v: new Float32Array(8) }),
      () => cache.truncate(1),
      () => cache.decode({ q: two, nQ: 0 }),
      () => cache.decode({ q: two, signal: new AbortController().signal }),
    ].map(said);
    const before = cache.length;
    cache.append({ k: two, v: two });
    used.push(said(() => cache.decode({ q: one })), said(() => cache.decode({ q: f32([1, 2, 3, NaN]) })), said(() => cache.decode({ q: two, out: one })));
    // Equal weights: a mean of the values.
    const mean = [...cache.decode({ q: new Float32Array(4) })];
    cache.free();
    cache.free();
    const freed = said(() => cache.append({ k: one, v: one }));
    const other = lib.kvCache(layer);
    await lib.init({ threads: 1 });
    const gone = said(() => other.decode({ q: two }));
    other.free();
    return { made, used, before, mean, freed, gone };
  });
  const sentences = [
    /^RangeError: h: expected a whole number from 1 on, got 0\./,
    /^RangeError: K\/V heads: expected a divisor of 2, got 3\./,
    /^TypeError: capacity: expected a whole number from 1 on, got undefined\./,
    /^RangeError: Capacity: expected 1 to 65536 tokens, got 70000\./,
    /^RangeError: memory: expected at most \d+ MiB, got a cache that needs \d+ MiB\./,
    /^TypeError: n: expected nothing, got 4\. A cache counts/,
    /^TypeError: rope\.qOffset: expected nothing, got 1\./,
    /^RangeError: Capacity: expected at most 1024 tokens of this width, got 4096\./,
    /^TypeError: h: expected a whole number/,
    /^RangeError: nQ: expected at most the 0 tokens of the cache, got 1\. Append/,
    /^TypeError: k: expected a Float32Array, got Array\./,
    /^RangeError: v: expected hKv·tokens·dV = 1·1·2 = 2 numbers, got 4\./,
    /^RangeError: k: expected hKv·tokens·d = 1·1·2 = 2 numbers, got 3\./,
    /^RangeError: k\[0, 0, 1\]: expected a finite number/,
    /^RangeError: v\[0, 0, 1\]: expected a finite number, got \+∞/,
    /^RangeError: append: expected at most 3 more tokens, got 4\./,
    /^RangeError: length: expected at most 0, got 1\./,
    /^RangeError: nQ: expected a whole number from 1 on, got 0\./,
    /^TypeError: signal: expected nothing, got one\./,
    /^RangeError: q: expected h·nQ·d = 2·1·2 = 4 numbers, got 2\./,
    /^RangeError: q\[1, 0, 1\]: expected a finite number/,
    /^RangeError: out: expected h·nQ·dV = 2·1·2 = 4 numbers, got 2\./,
  ];
  const got = [...told.made, ...told.used];
  assert.equal(got.length, sentences.length);
  got.forEach((sentence, i) => assert.match(String(sentence), sentences[i]));
  assert.equal(told.before, 0);
  assert.deepEqual(told.mean, [2, 3, 2, 3]);
  assert.match(told.freed, /^Error: the cache is gone: it was freed\./);
  assert.match(told.gone, /^Error: the cache is gone: init or release came after it\./);
});

/** A fresh page with the module started. */
async function ready(threads) {
  const page = await openModule();
  await page.run((t) => lib.init({ threads: t }), threads);
  return page;
}
