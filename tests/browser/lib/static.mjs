// The served pages that tests and scripts run on. `cargo xtask test` starts servers and names them in BASE_URL,
// PLAIN_URL and SUBPATH_URL. Where a variable is missing, a small static server over `dist` (or $DIST) stands in.
// Each page that `open` of bench.mjs opens comes through a server of its own, in front of that one: a script of the
// test's runs first there, and addresses can be refused, in every browser alike.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DIST = process.env.DIST ?? process.env.TRUNK_BUILD_DIST ?? join(ROOT, 'dist');

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Document-Isolation-Policy': 'isolate-and-require-corp',
};

/** The kinds of server: the variable that names a running one, its headers, and the path the page lies under. */
const KINDS = {
  isolated: { variable: 'BASE_URL', headers: ISOLATION, under: '/' },
  plain: { variable: 'PLAIN_URL', headers: {}, under: '/' },
  subpath: { variable: 'SUBPATH_URL', headers: ISOLATION, under: '/course/week3/' },
};

const started = new Map();
const running = new Set();

/** Ends the servers of this file. */
export function close() {
  for (const site of running) site.close();
}

/** The address of a served page, ending in a slash. `kind`: isolated, plain or subpath. */
export async function address(kind = 'isolated') {
  const given = process.env[KINDS[kind].variable];
  if (given) return given.endsWith('/') ? given : `${given}/`;
  if (!started.has(kind)) started.set(kind, serve(kind));
  return (await started.get(kind)).address;
}

/**
 * The same page at an origin of its own, where nothing is remembered yet. `first` is a script that runs before all
 * others of a page, `site.blocked` has patterns of addresses that do not load, with * for anything. It stands before
 * the running server where there is one.
 */
export async function serve(kind = 'isolated', { first = '', blocked = [] } = {}) {
  const { variable, headers, under } = KINDS[kind];
  const upstream = process.env[variable];
  const site = { address: '', blocked };
  const server = createServer(async (request, response) => {
    if (site.blocked.some((pattern) => matches(pattern, request.url))) {
      request.socket.destroy();
      return;
    }
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    if (path === `${under}${FIRST}`) {
      response.writeHead(200, { ...headers, 'Content-Type': TYPES['.js'], 'Cache-Control': 'no-store' });
      response.end(first);
      return;
    }
    const answer = await (upstream ? passed(upstream, request) : read(path, under, headers)).catch(() => null);
    if (!answer) {
      response.writeHead(404, headers);
      response.end();
      return;
    }
    const page = first && String(answer.headers['content-type'] ?? answer.headers['Content-Type']).startsWith('text/html');
    response.writeHead(answer.status, answer.headers);
    response.end(page ? withFirst(answer.body, under) : answer.body);
  });
  await new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', resolve);
  });
  site.address = `http://127.0.0.1:${server.address().port}${under}`;
  site.close = () => {
    running.delete(site);
    server.close();
    server.closeAllConnections();
  };
  running.add(site);
  return site;
}

/** The script of a test, as an address: pages may forbid scripts that stand in them. */
const FIRST = 'first-script-of-a-test.js';

const withFirst = (body, under) => String(body).replace(/<head[^>]*>/, (head) => `${head}<script src="${under}${FIRST}"></script>`);

function matches(pattern, url) {
  const words = pattern.split('*').map((word) => word.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${words.join('.*')}$`).test(url);
}

async function read(path, under, headers) {
  if (!path.startsWith(under)) return null;
  const inside = normalize(`/${path.slice(under.length)}`);
  const file = inside.endsWith('/') ? `${inside}index.html` : inside;
  const body = await readFile(join(DIST, file));
  return { status: 200, headers: { ...headers, 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' }, body };
}

/** What the running server answers; lengths and connections are this one's own affair. */
async function passed(upstream, request) {
  const answer = await fetch(new URL(request.url, upstream), { method: request.method, redirect: 'manual' });
  const headers = Object.fromEntries(answer.headers);
  for (const name of ['content-length', 'content-encoding', 'transfer-encoding', 'connection', 'keep-alive']) delete headers[name];
  return { status: answer.status, headers, body: Buffer.from(await answer.arrayBuffer()) };
}
