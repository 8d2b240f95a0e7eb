// Does the page stay as it is? Edits and changes of source by the thousand, and what they leave behind.
//
//   node tests/browser/soak.mjs [--edits 500] [--sources 30]
//
// Prints, before and after rounds of work: workers (the engine and its threads), the page's JavaScript heap after a
// collection, the page's wasm memory, elements in the document, and what the browser measures for page and workers
// together. Fails where a second worker was started, or where heap or memory of the last round lie a tenth and 2 MB
// above those of the round in which undo had filled its memory of 200 steps (until then the page has to grow).

import { Bench } from './lib/script.mjs';
import { address, close } from './lib/static.mjs';

const args = process.argv.slice(2);
const count = (name, otherwise) => {
  const at = args.indexOf(name);
  return at < 0 ? otherwise : Number(args[at + 1]);
};
const EDITS = count('--edits', 500);
const SOURCES = count('--sources', 30);
const ROUNDS = 5;
/** In round 3 of 5, after 300 of 500 edits, undo is full. */
const FULL = 2;

/** Keeps the page's wasm memories, so that their size can be read. */
const MEMORIES = `(() => {
  window.__memories = [];
  for (const name of ['instantiate', 'instantiateStreaming']) {
    const native = WebAssembly[name];
    WebAssembly[name] = async (...args) => {
      const made = await native.apply(WebAssembly, args);
      const memory = (made.instance ?? made).exports?.memory;
      if (memory) window.__memories.push(memory);
      return made;
    };
  }
})();`;

const MB = 2 ** 20;

async function measure(bench) {
  await bench.settle(300);
  const { targetInfos } = await bench.cdp('Target.getTargets', {});
  const found = await bench.driver.executeAsyncScript(`
    const done = arguments[0];
    (async () => {
      for (let i = 0; i < 3; i += 1) {
        window.gc?.();
        await new Promise((resolve) => setTimeout(resolve, 60));
      }
      const all = window.crossOriginIsolated ? await performance.measureUserAgentSpecificMemory() : null;
      return {
        heap: performance.memory.usedJSHeapSize,
        wasm: window.__memories.reduce((sum, m) => sum + m.buffer.byteLength, 0),
        all: all?.bytes ?? null,
        started: window.__lab.workers.length,
        elements: document.querySelectorAll('*').length,
      };
    })().then(done, (error) => done({ failed: String(error) }));
  `);
  if (found.failed) throw new Error(found.failed);
  return { ...found, workers: targetInfos.filter((t) => t.type === 'worker').length };
}

const print = (when, m) => {
  const mb = (bytes) => (bytes === null ? '–' : (bytes / MB).toFixed(1)).padStart(8);
  const cells = [String(m.started).padStart(8), mb(m.heap), mb(m.wasm), mb(m.all), String(m.elements).padStart(9)];
  console.log(`${when.padEnd(38)}${cells.join('')}`);
};

/** So many edits in one call: each call leaves some bytes in the page, which are the driver's and not the page's. */
const BATCH = 100;

/**
 * Edits in Q, K, V in turn, another scale now and then, and a look at another row. Each is answered, and a frame drawn,
 * before the next.
 */
async function edits(bench, from, to) {
  for (let at = from; at < to; at += BATCH) {
    await bench.driver.executeAsyncScript(
      `const [from, to, done] = arguments;
       const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
       (async () => {
         for (let i = from; i < to; i += 1) {
           const place = document.querySelector('[data-matrix="' + 'QKV'[i % 3] + '"]');
           place.focus({ preventScroll: true });
           const clipboardData = new DataTransfer();
           clipboardData.setData('text/plain', String(((i * 13) % 40) / 10 - 2));
           place.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
           const key = ['ArrowRight', 'ArrowDown', 'ArrowLeft', 'ArrowUp'][i % 4];
           place.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
           if (i % 10 === 9) window.__hands.set('scale', String(0.1 + (i % 7) / 10));
           // The page asks the engine in a frame's time, and not for a number that stands there already.
           const { replies } = window.__lab;
           let frames = 0;
           do await frame(); while (window.__lab.owed > 0 || (window.__lab.replies === replies && ++frames < 3));
         }
         await window.__lab.settled();
       })().then(done, (error) => done(String(error)));`,
      at,
      Math.min(at + BATCH, to),
    );
  }
}

const SOURCE = [
  async (bench) => bench.choose('source', 'random'),
  async (bench) => bench.choose('source', 'tokens'),
  async (bench) => {
    await bench.choose('source', 'example');
    await bench.settle(200);
  },
  async (bench) => {
    await bench.choose('sentence', 'copying');
    await bench.settle(200);
  },
  async (bench) => bench.choose('source', 'typed'),
  async (bench) => {
    await bench.choose('source', 'random');
    await bench.set('heads', 1);
    for (const name of ['n_q', 'n_k', 'd_k', 'd_v']) await bench.set(name, 64);
  },
];

const bench = await Bench.start();
try {
  await bench.cdp('Page.addScriptToEvaluateOnNewDocument', { source: MEMORIES });
  await bench.open(await address('isolated'), { width: 1100, height: 760 });
  console.log(`${''.padEnd(38)}  started heap MB wasm MB   all MB elements`);
  print('opened', await measure(bench));
  const rounds = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (let i = 0; i < SOURCES / ROUNDS; i += 1) await SOURCE[i % SOURCE.length](bench);
    // Numbers that can be typed over, and so few that the edits are what takes the time.
    await bench.choose('source', 'random');
    for (const [name, size] of [['n_q', 6], ['n_k', 6], ['d_k', 4], ['d_v', 4]]) await bench.set(name, size);
    const before = await bench.js('return window.__lab.replies');
    await edits(bench, 0, EDITS / ROUNDS);
    const answered = (await bench.js('return window.__lab.replies')) - before;
    if (answered < (0.9 * EDITS) / ROUNDS) throw new Error(`of ${EDITS / ROUNDS} edits only ${answered} were answered`);
    // The same state at each end, so that the figures can be compared.
    await bench.choose('source', 'tokens');
    rounds.push(await measure(bench));
    print(`${(round * SOURCES) / ROUNDS} sources, ${(round * EDITS) / ROUNDS} edits`, rounds.at(-1));
  }
  const [first, last] = [rounds[FULL], rounds.at(-1)];
  const grown = ['heap', 'wasm', 'all'].filter((key) => first[key] !== null && last[key] > first[key] * 1.1 + 2 * MB);
  if (last.started !== 1) grown.push(`workers: ${last.started} were started`);
  const said = (await bench.said()).filter((line) => line.startsWith('SEVERE'));
  console.log(grown.length ? `GROWS: ${grown.join(', ')}` : 'flat');
  if (said.length) console.log(said.join('\n'));
  process.exitCode = grown.length || said.length ? 1 : 0;
} finally {
  await bench.stop();
  close();
}
