// Servers for the shipped folder, as it may be met with: hosts that read `_headers` and hosts that send nothing, another
// path, another origin around it, lines that break half way, and no line at all. Nothing here knows of a browser.

import { createServer } from 'node:http';
import { createHash } from 'node:crypto';
import { cp, mkdtemp, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { after } from 'node:test';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** What `cargo xtask dist` made. */
export const SHIP = process.env.SHIP ?? join(ROOT, 'target/site/attention-lab');

if (!existsSync(join(SHIP, 'sw.js'))) throw new Error(`there is no ${SHIP}/sw.js: run \`cargo xtask dist\` first`);

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
  '.woff2': 'font/woff2',
};

const running = new Set();
const folders = [];

after(async () => {
  for (const site of running) await site.stop();
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

/** The rules of a `_headers` file as [pattern, [[name, value], …]]. */
function rules(text) {
  const found = [];
  for (const line of text.split('\n').filter((l) => l.trim())) {
    if (!/^\s/.test(line)) found.push([line.trim(), []]);
    else found.at(-1)[1].push(/^\s+([^:]+):\s*(.*)$/.exec(line).slice(1, 3));
  }
  return found;
}

/** The headers that a host gives to a path: those of all rules that fit, as Netlify and Cloudflare Pages do. */
function headersOf(all, path) {
  const headers = {};
  for (const [pattern, entries] of all) {
    const fits = pattern.endsWith('*') ? path.startsWith(pattern.slice(0, -1)) : path === pattern;
    for (const [name, value] of fits ? entries : []) headers[name] = name in headers ? `${headers[name]}, ${value}` : value;
  }
  return headers;
}

/**
 * Serves a folder.
 *
 * headers   "file": those of its `_headers`, and compressed neighbours; or an object of some for every file
 * under     the path it lies under
 * pages     pages of our own, { "/host.html": "<iframe …>" }, with `own` as their headers
 */
export async function serve({ folder = SHIP, headers = {}, under = '/', pages = {}, own = {} } = {}) {
  const site = { folder, requests: [], sent: 0, drops: [], pages };
  const answer = async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    site.requests.push(path);
    if (path in site.pages) {
      response.writeHead(200, { 'Content-Type': TYPES['.html'], ...own });
      return response.end(site.pages[path]);
    }
    const inside = path.startsWith(under) ? normalize(`/${path.slice(under.length)}`) : null;
    const file = inside === '/' ? '/index.html' : inside;
    try {
      const all = headers === 'file' ? headersOf(rules(await readFile(join(site.folder, '_headers'), 'utf8')), inside) : headers;
      let body = await readFile(join(site.folder, file));
      let packed = {};
      if (headers === 'file' && /\bbr\b/.test(request.headers['accept-encoding'] ?? '') && existsSync(join(site.folder, `${file}.br`))) {
        body = await readFile(join(site.folder, `${file}.br`));
        packed = { 'Content-Encoding': 'br' };
      }
      response.writeHead(200, { ...all, ...packed, 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream', 'Content-Length': body.length });
      const drop = site.drops.find((d) => d.times > 0 && d.pattern.test(path));
      if (!drop) {
        site.sent += body.length;
        return response.end(body);
      }
      drop.times -= 1;
      drop.met += 1;
      const half = body.subarray(0, Math.floor(body.length / 2));
      // A line that breaks, or one that goes silent.
      response.write(half, () => drop.silent || setTimeout(() => response.destroy(), 50));
    } catch {
      response.writeHead(404, {});
      response.end();
    }
  };
  let server;
  let port = 0;
  Object.assign(site, {
    /** Listens, on the same port as before. */
    start() {
      server = createServer(answer);
      return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => {
          port = server.address().port;
          running.add(site);
          resolve();
        });
      });
    },
    /** No line: every connection is ended and none is taken. */
    stop() {
      running.delete(site);
      const ended = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      return ended;
    },
    /** The next `times` files of a pattern arrive half; gives { met }, how many did. */
    drop(pattern, { times = 1, silent = false } = {}) {
      const drop = { pattern, times, silent, met: 0 };
      site.drops.push(drop);
      return drop;
    },
  });
  await site.start();
  site.url = `http://127.0.0.1:${port}${under}`;
  /** The same server under another name: another site to a browser. */
  site.foreign = `http://localhost:${port}${under}`;
  return site;
}

/** What `_headers` says for every file, but for the caching. */
export async function shippedHeaders() {
  return headersOf(rules(await readFile(join(SHIP, '_headers'), 'utf8')), '/any');
}

/** The policy that the lab has to live with, to the letter. */
export const POLICY =
  "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; style-src 'self'; " +
  "img-src 'self' data: blob:; connect-src 'self'; font-src 'self'";

/** The policy that `cargo xtask dist --origin` writes. */
export const policyOf = (origin) => POLICY.replaceAll("'self'", `'self' ${origin}`).replace('blob:; style-src', 'blob: data:; style-src');

const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** A copy of the site as its next version would be: `change(text)` is made to its boot.js. */
export async function nextVersion(change) {
  const folder = await mkdtemp(join(tmpdir(), 'attention-lab-next-'));
  folders.push(folder);
  await cp(SHIP, folder, { recursive: true });
  const before = (await readdir(folder)).find((name) => name.startsWith('v-'));
  const boot = join(folder, before, 'www/boot.js');
  const text = change(await readFile(boot, 'utf8'));
  await writeFile(boot, text);
  for (const ending of ['br', 'gz']) await rm(`${boot}.${ending}`, { force: true });
  const now = `v-${sha256(text).slice(0, 12)}`;
  await rename(join(folder, before), join(folder, now));
  for (const name of ['index.html', 'sw.js', 'attention.js', '_headers']) {
    const file = join(folder, name);
    let words = (await readFile(file, 'utf8')).replaceAll(before, now);
    if (name === 'sw.js') {
      const index = sha256(await readFile(join(folder, 'index.html')));
      words = words.replace(/index:"[0-9a-f]{64}"/, `index:"${index}"`).replace(/("www\/boot\.js":)"[0-9a-f]{64}"/, `$1"${sha256(text)}"`);
    }
    await writeFile(file, words);
    for (const ending of ['br', 'gz']) await rm(`${file}.${ending}`, { force: true });
  }
  return { folder, before, now };
}
