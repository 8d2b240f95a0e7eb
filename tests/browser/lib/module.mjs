// A page that has attention.js and nothing of the lab, and float64 numbers to hold its results against.

import assert from 'node:assert/strict';
import { driver } from './browser.mjs';
import { attention, dot, stream } from './oracle.mjs';
import { address } from './server.mjs';

/** Opens an empty page of a served site and imports `lib` = attention.js into it. */
export async function openModule(server = 'isolated') {
  const web = await driver();
  const site = await address(server);
  // Any file will do as a page of the same origin, with the same headers.
  await web.get(`${site}www/attention.js`);
  const page = new ModulePage(web);
  await page.run(async (at) => {
    window.lib = await import(at);
  }, `${site}attention.js`);
  return page;
}

class ModulePage {
  constructor(web) {
    this.web = web;
  }

  /** Runs a function in the page with arguments that can be written as JSON; gives what it returns. */
  async run(body, ...args) {
    // In the page's own world: a driver's world may have other arrays than the page's.
    const code = `(async (given) => {
      const f32 = (numbers) => Float32Array.from(numbers);
      return (${body})(...JSON.parse(given));
    })`;
    const answer = await this.web.executeAsyncScript(
      `const [code, given, done] = arguments;
       window.eval(code)(given).then((value) => done({ value }), (e) => done({ failed: String(e) + String(e?.stack ?? '') }));`,
      code,
      JSON.stringify(args),
    );
    assert.equal(answer.failed, undefined);
    return answer.value;
  }

  /** Calls a function of the module with lists for arrays; gives a list, or { dQ, dK, dV }. */
  call(name, options) {
    return this.run(
      async (which, given) => {
        for (const key of ['q', 'k', 'v', 'dOut']) if (given[key]) given[key] = f32(given[key]);
        const result = await lib[which](given);
        return result instanceof Float32Array ? [...result] : Object.fromEntries(Object.entries(result).map(([key, x]) => [key, [...x]]));
      },
      name,
      options,
    );
  }

  /** What a call throws: { name, message }; null where it does not. */
  refusal(name, options) {
    return this.run(
      async (which, given) => {
        for (const key of ['q', 'k', 'v', 'dOut']) if (Array.isArray(given[key])) given[key] = f32(given[key]);
        try {
          await lib[which](given);
          return null;
        } catch (error) {
          return { name: error.name, message: error.message };
        }
      },
      name,
      options,
    );
  }
}

/** Float32 numbers for a call, seeded: { q, k, v, dOut } as lists. */
export function numbers({ h, hKv = h, nQ, nK, n, d, dV = d }, seed = 7, sigma = 1) {
  const next = stream(seed);
  const list = (length) => Array.from({ length }, () => Math.fround(next() * sigma));
  const [queries, keys] = [nQ ?? n, nK ?? n];
  return { q: list(h * queries * d), k: list(hKv * keys * d), v: list(hKv * keys * dV), dOut: list(h * queries * dV) };
}

const rows = (list, width) => Array.from({ length: list.length / width }, (_, i) => list.slice(i * width, (i + 1) * width));

/** The result in float64, by the oracle: a list [h, nQ, dV]. `oracle(head)` gives its options for a head. */
export function expected({ h, hKv = h, nQ, nK, n, d, dV = d, q, k, v }, oracle = () => ({})) {
  const [queries, keys] = [nQ ?? n, nK ?? n];
  const out = [];
  for (let head = 0; head < h; head += 1) {
    const kv = Math.floor((head * hKv) / h);
    const part = (list, at, count, width) => rows(list.slice(at * count * width, (at + 1) * count * width), width);
    const { O } = attention({ ...oracle(head), q: part(q, head, queries, d), k: part(k, kv, keys, d), v: part(v, kv, keys, dV) });
    out.push(...O.flat());
  }
  return out;
}

/** The gradients of Σ dOut·out, by central differences of the float64 result. */
export function gradients(call, oracle) {
  const value = (changed) => dot(expected({ ...call, ...changed }, oracle), call.dOut);
  const step = 1e-5;
  const at = (name) =>
    call[name].map((x, i) => {
      const moved = (by) => value({ [name]: call[name].with(i, x + by) });
      return (moved(step) - moved(-step)) / (2 * step);
    });
  return { dQ: at('q'), dK: at('k'), dV: at('v') };
}

/** Fails where a number is further off than `room`. */
export function close(got, wanted, room, what) {
  assert.equal(got.length, wanted.length, `${what}: length`);
  const worst = got.reduce((worst, x, i) => (Math.abs(x - wanted[i]) <= Math.abs(got[worst] - wanted[worst]) ? worst : i), 0);
  const off = Math.abs(got[worst] - wanted[worst]);
  assert.ok(off <= room, `${what}: expected ${wanted[worst]} ± ${room} at ${worst}, got ${got[worst]}`);
}
