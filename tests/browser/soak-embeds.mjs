// What embeds leave behind: one <attention-lab> after the other is put into a page of another origin, shows its picture,
// and is taken out again.
//
//   node tests/browser/soak-embeds.mjs [--embeds 1000] [--plain]
//
// Prints, after each tenth: workers and frames that are there once the last embed is gone, the host's JavaScript heap after a
// collection, elements in its document, and what the browser measures for the page, its frames and their workers
// together. Fails where a worker or a frame is left, or where heap or memory at the end lie a tenth and 2 MB above those
// after the second tenth. The browser itself keeps about 1.5 KB of every frame that was ever there: --plain opens and closes
// bare iframes of the lab instead, without embed.js, and shows that.

import { createServer } from 'node:http';
import { Bench } from './lib/script.mjs';
import { address, close } from './lib/static.mjs';

const at = process.argv.indexOf('--embeds');
const EMBEDS = at < 0 ? 1000 : Number(process.argv[at + 1]);
const PLAIN = process.argv.includes('--plain');
const ROUNDS = 10;
const WARM = 1;
const MB = 2 ** 20;

/** Isolated, as `measureUserAgentSpecificMemory` wants it. */
const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8', 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp',
};

/** Opens and closes `count` embeds, each with another session; gives milliseconds to the first picture. */
const OPEN = `const [count, from, plain, done] = arguments;
(async () => {
  const times = [];
  for (let i = from; i < from + count; i += 1) {
    const lab = document.createElement(plain ? 'iframe' : 'attention-lab');
    if (plain) lab.src = plain;
    const set = { source: 'random(' + (1 + (i % 50)) + ',1)', nq: 6 + (i % 5), nk: 6 + (i % 5), dk: 4, dv: 4, show: 'stage,weights', controls: 'scale', mask: 'causal', loading: 'eager' };
    if (!(i % 2)) delete set.mask;
    for (const [name, value] of Object.entries(plain ? {} : set)) lab.setAttribute(name, value);
    let late;
    const begun = performance.now();
    const ready = new Promise((resolve, reject) => {
      lab.addEventListener(plain ? 'load' : 'ready', resolve, { once: true });
      lab.addEventListener('error', ({ detail }) => reject(new Error(detail.message)), { once: true });
      late = setTimeout(() => reject(new Error('no picture of embed ' + i)), 30000);
    });
    document.body.append(lab);
    await ready;
    clearTimeout(late);
    times.push(performance.now() - begun);
    if (i % 10 === 0 && !plain) {
      await lab.set({ scale: 1 + (i % 3) });
      await lab.png();
    }
    lab.remove();
  }
  return times;
})().then(done, (error) => done({ failed: String(error) }));`;

async function measure(bench) {
  const found = await bench.driver.executeAsyncScript(`const done = arguments[0];
    (async () => {
      // The browser's own list of what was loaded.
      performance.clearResourceTimings();
      for (let i = 0; i < 4; i += 1) {
        window.gc?.();
        await new Promise((resolve) => setTimeout(resolve, 150));
      }
      const all = await performance.measureUserAgentSpecificMemory();
      return { heap: performance.memory.usedJSHeapSize, all: all.bytes, elements: document.querySelectorAll('*').length };
    })().then(done, (error) => done({ failed: String(error) }));`);
  if (found.failed) throw new Error(found.failed);
  const { targetInfos } = await bench.cdp('Target.getTargets', {});
  const { frameTree } = await bench.cdp('Page.getFrameTree', {});
  return { ...found, workers: targetInfos.filter(({ type }) => type === 'worker').length, frames: frameTree.childFrames?.length ?? 0 };
}

const lab = await address('isolated');
const server = createServer((request, response) => {
  response.writeHead(request.url === '/' ? 200 : 404, HEADERS);
  response.end(`<!doctype html><title>A course page</title><link rel="icon" href="data:,"><script src="${lab}embed.js"></script><body>`);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const bench = await Bench.start();
try {
  await bench.driver.get(`http://127.0.0.1:${server.address().port}/`);
  console.log(`${'embeds'.padEnd(10)} workers  frames  heap MB   all MB elements  ms to the picture (median, worst)`);
  const rounds = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const count = Math.round(EMBEDS / ROUNDS);
    const times = [];
    // In pieces: a script may not run for ever.
    for (let i = 0; i < count; i += 20) {
      const some = await bench.driver.executeAsyncScript(OPEN, Math.min(20, count - i), round * count + i, PLAIN ? `${lab}#v=1&embed=1` : '');
      if (some.failed) throw new Error(some.failed);
      times.push(...some);
    }
    const m = await measure(bench);
    rounds.push(m);
    times.sort((a, b) => a - b);
    const mb = (bytes) => (bytes / MB).toFixed(1).padStart(9);
    console.log(`${String((round + 1) * count).padEnd(10)}${String(m.workers).padStart(8)}${String(m.frames).padStart(8)}${mb(m.heap)}${mb(m.all)}${String(m.elements).padStart(9)}  ${times[times.length >> 1].toFixed(0)}, ${times.at(-1).toFixed(0)}`);
  }
  const [first, last] = [rounds[WARM], rounds.at(-1)];
  const grown = ['heap', 'all'].filter((key) => last[key] > first[key] * 1.1 + 2 * MB);
  if (last.workers || last.frames) grown.push(`${last.workers} workers and ${last.frames} frames are left`);
  console.log(grown.length ? `GROWS: ${grown.join(', ')}` : 'flat');
  process.exitCode = grown.length ? 1 : 0;
} finally {
  await bench.stop();
  close();
  server.close();
  server.closeAllConnections();
}
