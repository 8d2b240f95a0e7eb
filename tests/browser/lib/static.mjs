// The served pages that tests and scripts run on. `cargo xtask test` starts servers and names them in BASE_URL,
// PLAIN_URL and SUBPATH_URL. Where a variable is missing, a small static server over `dist` (or $DIST) stands in.

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
const running = [];

/** Ends the servers that stood in. */
export function close() {
  for (const server of running.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
}

/** The address of a served page, ending in a slash. `kind`: isolated, plain or subpath. */
export async function address(kind = 'isolated') {
  const { variable, headers, under } = KINDS[kind];
  const given = process.env[variable];
  if (given) return given.endsWith('/') ? given : `${given}/`;
  if (!started.has(kind)) started.set(kind, start(headers, under));
  return started.get(kind);
}

function start(headers, under) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const inside = path.startsWith(under) ? normalize(`/${path.slice(under.length)}`) : null;
    const file = inside === '/' ? '/index.html' : inside;
    try {
      const body = await readFile(join(DIST, file));
      response.writeHead(200, { ...headers, 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' });
      response.end(body);
    } catch {
      response.writeHead(404, headers);
      response.end();
    }
  });
  running.push(server);
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}${under}`));
  });
}
