// How fast attention.js is on the built site, against what this machine could do at best. Measures; tests nothing.
//
//   node tests/browser/bench.mjs [--threads 1,2] [--rounds 9] [--quick] [--only forward,backward,decode,lengths,cancel]     (after `cargo xtask build`)
//
// `cargo xtask bench` runs it. What is measured: calls of attention.js on a page's main thread, copies into and out of
// WebAssembly memory included. In each round a ceiling is taken and then a sample of the case; the fraction is that of
// their medians. The ceiling is a register-blocked tile of mul and add from near memory (lib/ceiling.mjs), in as many
// workers as the case has threads.
//
// GFLOP/s: 4·h·n²·d forward, 10·h·n²·d backward (the products alone), half of it when causal. Backward is a call that
// takes up the forward pass before it. GB/s of decoding: keys and values, 4·hKv·n·2d bytes, read once for all queries of a
// call. `decode` copies and checks them at each call as well; the cache (`kvCache`) has them there. Scratch: bytes beside
// inputs and results. Cancel: a call of 65,536 tokens, causal, is aborted at some moment; how long until its promise is
// rejected, until the page is free for anything else, and until another long call, in a new worker, is done; the slowest of
// some.

import { bytes, FLOPS } from './lib/ceiling.mjs';
import { Bench } from './lib/script.mjs';
import { address, close } from './lib/static.mjs';

const args = process.argv.slice(2);
const option = (name, other) => (args.includes(name) ? args[args.indexOf(name) + 1] : other);
const QUICK = args.includes('--quick');
const THREADS = option('--threads', '1,2').split(',').map(Number);
const ONLY = option('--only', 'forward,backward,decode,lengths,cancel').split(',');
const ROUNDS = Number(option('--rounds', QUICK ? 3 : 9));

const SHAPES = [
  [1, 16, 8],
  [1, 128, 64],
  [8, 512, 64],
  [8, 1024, 64],
  [1, 4096, 64],
];
/** [heads, heads of keys, tokens, width], and queries. */
const CACHES = [
  [[8, 8, 1024, 64], 1],
  [[8, 8, 8192, 64], 1],
  [[8, 2, 8192, 64], 1],
  [[32, 8, 4096, 128], 1],
  [[1, 1, 65_536, 64], 1],
  [[8, 2, 8192, 64], 8],
];
const LENGTHS = QUICK ? [256, 1024, 4096] : [128, 256, 512, 1024, 2048, 4096, 8192, 16_384];

/** Runs in the page: window.measure(kind, [h, n, d], causal, rounds) and window.measureCache([h, hKv, n, d], nQ, rounds). */
async function prepare({ site, threads, module, flops }) {
  const lib = await import(`${site}attention.js`);
  await lib.init({ threads });

  // ---- the ceiling -------------------------------------------------------------------------------------------------
  const script = `
    let tiles;
    onmessage = async ({ data }) => {
      if (data.module) {
        tiles = Object.values((await WebAssembly.instantiate(data.module)).instance.exports);
        for (let i = 0; i < 3; i += 1) tiles.forEach((tile) => tile(20000));
        postMessage(0);
        return;
      }
      const turns = Math.round(data.work / data.flops);
      const start = performance.now();
      tiles[data.tile](turns);
      postMessage(turns * data.flops / (performance.now() - start) / 1e6);
    };`;
  const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
  const workers = Array.from({ length: threads }, () => new Worker(url));
  const all = (message) =>
    Promise.all(workers.map((worker) => new Promise((resolve) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.postMessage(message);
    })));
  await all({ module: Uint8Array.from(module) });
  const rate = async (tile) => (await all({ tile, flops: flops[tile], work: 1e9 })).reduce((a, b) => a + b);
  const rates = [];
  for (let tile = 0; tile < flops.length; tile += 1) rates.push(await rate(tile));
  const best = rates.indexOf(Math.max(...rates));

  // ---- the cases ---------------------------------------------------------------------------------------------------
  const random = (length) => Float32Array.from({ length }, () => Math.random() + Math.random() + Math.random() + Math.random() - 2);
  const middle = (list) => list.sort((a, b) => a - b)[list.length >> 1];
  /** A function that gives the milliseconds of a call: run long enough for the compiler to be done. */
  const warm = (once) => {
    const time = (calls) => {
      const start = performance.now();
      for (let i = 0; i < calls; i += 1) once();
      return (performance.now() - start) / calls;
    };
    const end = performance.now() + 200;
    let one = time(1);
    while (performance.now() < end) one = time(Math.ceil(1 / one));
    const calls = Math.max(1, Math.ceil(20 / one));
    return () => time(calls);
  };
  window.measure = async (kind, [h, n, d], causal, rounds) => {
    const call = { q: random(h * n * d), k: random(h * n * d), v: random(h * n * d), h, n, d, causal };
    if (kind === 'backward') {
      call.dOut = random(h * n * d);
      lib.attention(call);
    }
    const sample = warm(() => lib[kind](call));
    const [times, ceilings] = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      ceilings.push(await rate(best));
      await new Promise((resolve) => setTimeout(resolve, 20));
      times.push(sample());
    }
    const { scratch } = lib.plan({ h, n, d, causal, backward: kind === 'backward' });
    return { ms: middle(times), ceiling: middle(ceilings), scratch, memory: lib.memory() };
  };

  window.measureCancel = async (moment, times) => {
    const [n, d] = [65_536, 64];
    const x = random(n * d);
    const small = x.slice(0, 16 * 8);
    const slowest = { settled: 0, free: 0, next: 0 };
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    for (let round = 0; round < times; round += 1) {
      const controller = new AbortController();
      let running;
      const going = new Promise((resolve) => {
        running = lib.attention({ q: x, k: x, v: x, h: 1, n, d, causal: true, signal: controller.signal, onProgress: resolve });
      });
      running.catch(() => {});
      if (moment !== 'inputs') await going;
      await wait(moment === 'middle' ? 300 : 3);
      const start = performance.now();
      controller.abort();
      await running.then(() => Promise.reject(new Error('it was done before')), () => {});
      slowest.settled = Math.max(slowest.settled, performance.now() - start);
      await wait(0);
      slowest.free = Math.max(slowest.free, performance.now() - start);
      await lib.attention({ q: small, k: small, v: small, h: 1, n: 16, d: 8, signal: new AbortController().signal });
      slowest.next = Math.max(slowest.next, performance.now() - start);
    }
    return slowest;
  };

  // Both ways of decoding in turn, in the same rounds.
  window.measureCache = async ([h, hKv, n, d], nQ, rounds) => {
    const tokens = { k: random(hKv * n * d), v: random(hKv * n * d) };
    const q = random(h * nQ * d);
    const cache = lib.kvCache({ h, hKv, d, capacity: Math.min(65_536, n + 64) });
    cache.append(tokens);
    const samples = [warm(() => lib.decode({ q, ...tokens, h, hKv, n, d, nQ })), warm(() => cache.decode({ q, nQ }))];
    const times = [[], []];
    for (let round = 0; round < rounds; round += 1) {
      samples.forEach((sample, way) => times[way].push(sample()));
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const { scratch } = lib.plan({ h, hKv, nK: n, d, nQ });
    cache.free();
    return { ms: times.map(middle), scratch };
  };
}

const bench = await Bench.start();
const ask = async (body, ...given) => {
  const answer = await bench.driver.executeAsyncScript(
    `const done = arguments[arguments.length - 1];
     Promise.resolve((${body})(...[...arguments].slice(0, -1))).then((value) => done({ value }), (e) => done({ failed: String(e?.stack ?? e) }));`,
    ...given,
  );
  if (answer.failed) throw new Error(answer.failed);
  return answer.value;
};
const measure = (...given) => ask((...a) => window.measure(...a), ...given, ROUNDS);
const measureCache = (...given) => ask((...a) => window.measureCache(...a), ...given, ROUNDS);

const number = (x, digits = 1) => x.toFixed(digits).padStart(9);
const duration = (ms) => (ms < 1 ? `${(1000 * ms).toPrecision(3)} µs` : `${ms.toPrecision(3)} ms`).padStart(11);
const size = (bytes) => (bytes < 2 ** 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`).padStart(11);
const name = ([h, n, d]) => `(${h},${n},${d})`.padEnd(14);

try {
  for (const threads of THREADS) {
    const site = await address('isolated');
    await bench.driver.get(`${site}www/attention.js`);
    await ask(prepare, { site, threads, module: [...bytes()], flops: FLOPS });
    console.log(`\n${threads} ${threads === 1 ? 'thread' : 'threads'}`);
    if (ONLY.includes('forward') || ONLY.includes('backward')) console.log(`${'shape'.padEnd(14)}${''.padEnd(18)}${'a call'.padStart(11)}${'GFLOP/s'.padStart(9)}${'ceiling'.padStart(9)}${'of it'.padStart(9)}${'scratch'.padStart(11)}`);
    for (const [kind, factor] of [['attention', 4], ['backward', 10]]) {
      if (!ONLY.includes(kind === 'attention' ? 'forward' : kind)) continue;
      for (const causal of [false, true]) {
        for (const shape of SHAPES) {
          const [h, n, d] = shape;
          const { ms, ceiling, scratch } = await measure(kind, shape, causal);
          const speed = (factor * h * n * n * d * (causal ? 0.5 : 1)) / ms / 1e6;
          const what = `${kind === 'attention' ? 'forward' : kind}, ${causal ? 'causal' : 'full'}`;
          console.log(`${name(shape)}${what.padEnd(18)}${duration(ms)}${number(speed)}${number(ceiling)}${number((100 * speed) / ceiling, 0)} %${size(scratch)}`);
        }
      }
    }
    if (ONLY.includes('decode')) {
      const columns = ['decode', 'GB/s', 'kvCache', 'GB/s', 'scratch'].map((word) => word.padStart(word === 'GB/s' ? 9 : 11));
      console.log(`\n${'cache'.padEnd(18)}${'queries'.padEnd(14)}${columns.join('')}`);
    }
    for (const [shape, nQ] of ONLY.includes('decode') ? CACHES : []) {
      const [, hKv, n, d] = shape;
      const { ms, scratch } = await measureCache(shape, nQ);
      const both = ms.map((one) => `${duration(one)}${number((8 * hKv * n * d) / one / 1e6)}`).join('');
      console.log(`${`(${shape})`.padEnd(18)}${String(nQ).padEnd(14)}${both}${size(scratch)}`);
    }
    if (ONLY.includes('cancel')) {
      console.log(`\n${'cancel'.padEnd(32)}${'rejected'.padStart(11)}${'page free'.padStart(11)}${'next done'.padStart(11)}`);
      for (const [moment, words] of [['inputs', 'while inputs are handed over'], ['first', 'at the first word of progress'], ['middle', 'after 0.3 s of computing']]) {
        const { settled, free, next } = await ask((...a) => window.measureCancel(...a), moment, QUICK ? 2 : 8);
        console.log(`${words.padEnd(32)}${[settled, free, next].map(duration).join('')}`);
      }
    }
    if (!ONLY.includes('lengths')) continue;
    console.log(`\n${'n'.padEnd(14)}${''.padEnd(18)}${'a call'.padStart(11)}${'GFLOP/s'.padStart(9)}${'memory'.padStart(11)}   (1,n,64), causal`);
    for (const n of LENGTHS) {
      const { ms, scratch, memory } = await measure('attention', [1, n, 64], true);
      console.log(`${String(n).padEnd(14)}${'forward'.padEnd(18)}${duration(ms)}${number((2 * n * n * 64) / ms / 1e6)}${size(memory)}${''.padEnd(11)}${size(scratch)}`);
    }
  }
} finally {
  await bench.stop();
  close();
}
