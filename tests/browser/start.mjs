// How long the page and an embed take from nothing to their first paint and to a picture that answers, as they are and on a
// slow machine behind a slow line (CPU 4 × slower, 10 Mbit/s, 40 ms), and what they load for it:
//
//     DIST=dist node tests/browser/start.mjs [--rounds 5]
//
// Files travel as brotli, as from a site made by `cargo xtask dist`; nothing is kept between rounds. Chromium.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { Bench } from './lib/script.mjs';

const DIST = process.env.DIST ?? fileURLToPath(new URL('../../dist', import.meta.url));
const at = process.argv.indexOf('--rounds');
const ROUNDS = at > 0 ? Number(process.argv[at + 1]) : 5;
const TYPES = { '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.json': 'application/json', '.ftl': 'text/plain; charset=utf-8', '.woff2': 'font/woff2' };

const packed = new Map();
const server = createServer(async (request, response) => {
  const path = normalize(decodeURIComponent(new URL(request.url, 'http://lab').pathname));
  const file = path === '/' ? '/index.html' : path;
  try {
    if (!packed.has(file)) {
      const body = await readFile(join(DIST, file));
      packed.set(file, brotliCompressSync(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: body.length } }));
    }
    response.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Encoding': 'br', 'Cache-Control': 'no-store' });
    response.end(packed.get(file));
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const base = `http://127.0.0.1:${server.address().port}/`;

const PAGES = [
  ['bench', ''],
  ['embed', '#embed=1&show=stage,readouts&controls=scale&v=1&src=example(coreference,4)&head=5&pin=9,0'],
];
const LINES = [
  ['as it is', { cpu: 1, down: -1, delay: 0 }],
  ['CPU 4 × slower, 10 Mbit/s', { cpu: 4, down: (10e6 / 8), delay: 40 }],
];

const bench = await Bench.start();
const web = bench.driver;
const cdp = (method, params) => bench.cdp(method, params);
await cdp('Network.setCacheDisabled', { cacheDisabled: true });
await cdp('Page.addScriptToEvaluateOnNewDocument', {
  source: `document.addEventListener('lab-ready', () => {
    globalThis.labReady = performance.now();
    globalThis.labBytes = performance.getEntries().reduce((sum, e) => sum + (e.encodedBodySize ?? 0), 0);
  });`,
});
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];

console.log('page   line                        first paint   first picture   KB before it');
try {
  // The first round packs the files.
  for (const [, link] of PAGES) {
    await web.get('about:blank');
    await web.get(base + link);
    await ready();
  }
  for (const [line, { cpu, down, delay }] of LINES) {
    await cdp('Emulation.setCPUThrottlingRate', { rate: cpu });
    await cdp('Network.emulateNetworkConditions', { offline: false, latency: delay, downloadThroughput: down, uploadThroughput: down });
    for (const [name, link] of PAGES) {
      const paints = [];
      const pictures = [];
      let bytes = 0;
      for (let round = 0; round < ROUNDS; round += 1) {
        await web.get('about:blank');
        await web.get(base + link);
        const seen = await ready();
        paints.push(seen.paint);
        pictures.push(seen.ready);
        bytes = seen.bytes;
      }
      console.log(
        `${name.padEnd(7)}${line.padEnd(28)}${median(paints).toFixed(0).padStart(8)} ms${median(pictures).toFixed(0).padStart(13)} ms${(bytes / 1000).toFixed(0).padStart(13)}`,
      );
    }
  }
} finally {
  await bench.stop();
  server.close();
  server.closeAllConnections();
}

async function ready() {
  for (let tries = 0; tries < 600; tries += 1) {
    const seen = await web.executeScript(`return globalThis.labReady === undefined ? null : {
      ready: labReady, bytes: labBytes, paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? labReady };`);
    if (seen) return seen;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('no first picture within 30 seconds');
}
