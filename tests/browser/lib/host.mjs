// A page of somebody else's, on an origin of its own, with embeds of the lab in it.

import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';
import { after } from 'node:test';
import { driver } from './browser.mjs';
import { address } from './server.mjs';

const TYPES = {
  '.html': 'text/html; charset=utf-8', '.js': 'text/javascript', '.mjs': 'text/javascript', '.css': 'text/css', '.json': 'application/json',
  '.svg': 'image/svg+xml', '.png': 'image/png', '.woff2': 'font/woff2', '.woff': 'font/woff',
};
const running = [];

after(() => {
  for (const server of running.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

/** Serves from a port of its own what `answer(path)` gives: { body, type, headers } or nothing. */
function serve(answer) {
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, 'http://localhost').pathname);
    const found = await Promise.resolve(answer(path)).catch(() => null);
    response.writeHead(found ? 200 : 404, { 'Content-Type': found?.type ?? 'text/plain', 'Cache-Control': 'no-store', ...found?.headers });
    response.end(found?.body ?? '');
  });
  running.push(server);
  return new Promise((resolve, reject) => {
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${server.address().port}/`));
  });
}

/** Serves a folder that a recipe's tool has built. `change(text)` puts this machine's addresses into its pages. */
export function folder(path, change = (text) => text) {
  return serve(async (asked) => {
    const inside = normalize(asked.endsWith('/') ? `${asked}index.html` : asked);
    const type = TYPES[extname(inside)] ?? 'application/octet-stream';
    const body = await readFile(join(path, inside));
    return { type, body: type.startsWith('text/') ? change(body.toString()) : body };
  });
}

/** The lab once more, in a folder of a server that lets modules of other origins have its files, while it is there. */
export async function mirror(under = 'course/lab/', there = () => true) {
  const lab = await address('isolated');
  const at = await serve(async (path) => {
    if (!path.startsWith(`/${under}`) || !there()) return null;
    const found = await fetch(lab + path.slice(under.length + 1));
    const headers = { 'Access-Control-Allow-Origin': '*' };
    return found.ok ? { headers, type: found.headers.get('content-type'), body: Buffer.from(await found.arrayBuffer()) } : null;
  });
  return at + under;
}

let pages;
const written = new Map();

/**
 * Opens a page around `body` on an origin of its own. LAB in it stands for the lab's address, without a slash at the end.
 *
 * body       what stands in it              head      what goes into its head
 * headers    what its server sends          at        another address of the lab
 */
export async function host(body, { head = '<script src="LAB/embed.js"></script>', headers = {}, at } = {}) {
  const web = await driver();
  const lab = (at ?? (await address('isolated'))).replace(/\/$/, '');
  pages ??= serve((path) => written.get(path));
  const path = `/page-${written.size}.html`;
  const page = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A course page</title>
<meta name="viewport" content="width=device-width"><link rel="icon" href="data:,">${head}</head><body>${body}</body></html>`;
  written.set(path, { type: TYPES['.html'], headers, body: page.replaceAll('LAB', lab) });
  await web.get(new URL(path, await pages).href);
  return new Host(web, lab);
}

/** The page that is open, as a test uses it. */
export class Host {
  constructor(web, lab) {
    this.web = web;
    this.lab = lab;
  }

  /** Runs a function in the page with arguments that can be written as JSON; gives what it returns. */
  async run(body, ...args) {
    const answer = await this.web.executeAsyncScript(
      `const done = arguments[arguments.length - 1];
       const lab = document.querySelector('attention-lab');
       const until = async (check, what) => {
         for (let i = 0; i < 200; i += 1) {
           const found = await check();
           if (found) return found;
           await new Promise((resolve) => setTimeout(resolve, 50));
         }
         throw new Error('waited in vain for ' + what);
       };
       const once = (target, type) => new Promise((resolve) => target.addEventListener(type, (event) => resolve(event.detail), { once: true }));
       (async () => (${body})(...[...arguments].slice(0, -1)))()
         .then((value) => done({ value }), (e) => done({ failed: String(e && e.message || e) }));`,
      ...args,
    );
    if (answer.failed !== undefined) throw new Error(answer.failed);
    return answer.value;
  }

  /** Waits until every lab on the page that has started shows its picture: `get` answers then. */
  ready(selector = 'attention-lab') {
    return this.run(async (s) => {
      const labs = [...document.querySelectorAll(s)];
      return Promise.all(labs.map((one) => one.get()));
    }, selector);
  }

  /** Waits, in the window where the driver is, until a function of the page gives something truthy. */
  async waitIn(check) {
    const end = Date.now() + 20_000;
    while (Date.now() < end) {
      const found = await this.web.executeScript(`return (${check})()`);
      if (found) return found;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`waited in vain for ${check}`);
  }

  /** Waits until the first element is as high as what is in its frame; gives that height, which no longer changes. */
  async follows() {
    const end = Date.now() + 10_000;
    const heights = [];
    while (Date.now() < end) {
      const inner = await this.inside((web) => web.executeScript('return Math.ceil(document.documentElement.getBoundingClientRect().height)'));
      const outer = await this.web.executeScript("return document.querySelector('attention-lab').offsetHeight");
      heights.push(inner === outer ? inner : 0);
      if (inner === outer && heights.slice(-3).length === 3 && heights.slice(-3).every((height) => height === inner)) return inner;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`the height does not follow: ${heights.slice(-5)} (0 where element and content differ)`);
  }

  /** Does something inside the first frame, or the `nth`, of an element's shadow root or of the page. */
  async inside(work, nth = 0) {
    const frame = await this.web.executeScript(
      `const all = [...document.querySelectorAll('iframe, attention-lab')].map((e) => e.shadowRoot ? e.shadowRoot.querySelector('iframe') : e);
       return all.filter(Boolean)[arguments[0]] ?? null;`,
      nth,
    );
    if (!frame) throw new Error(`there is no frame ${nth} on the page`);
    await this.web.switchTo().frame(frame);
    try {
      return await work(this.web);
    } finally {
      await this.web.switchTo().defaultContent();
    }
  }
}
