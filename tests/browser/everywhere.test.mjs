// The shipped folder in every setting: it opens, and computes the same numbers to the bit as a page of its own does.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { driver } from './lib/browser.mjs';
import { ENGINE, note, variant } from './lib/everywhere.mjs';
import { fingerprint, hostPage, inside, measured, painted, run, until } from './lib/frames.mjs';
import { POLICY, policyOf, serve, shippedHeaders } from './lib/sites.mjs';

const ISOLATION = {
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Embedder-Policy': 'require-corp',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  'Document-Isolation-Policy': 'isolate-and-require-corp',
};

let web;
let lab;
let reference;

before(async () => {
  web = await driver();
  lab = await serve({ headers: 'file' });
  const plain = await serve();
  await web.get(plain.url);
  reference = await measured();
  assert.equal(reference.isolated, false);
  // The very bits that native code computes; every other setting is held to this page.
  const native = JSON.parse(await readFile(new URL('../golden/opening.json', import.meta.url), 'utf8'));
  for (const id of ['S', 'A', 'O']) assert.equal(fingerprint(reference.tables[id]), native[id], `${id}: the same bits as native`);
  await row('plain', plain, -1, reference);
});

/** Same numbers, nothing asked of another host; noted in the table. */
async function row(name, site, number, found) {
  found ??= await measured(number);
  assert.deepEqual(found.tables, reference.tables, `${name}: the same bits`);
  assert.deepEqual(found.reads, reference.reads, `${name}: the same read-outs`);
  const foreign = found.addresses.filter((a) => !a.startsWith(site.url) && !/^(blob|data):/.test(a));
  assert.deepEqual(foreign, [], `${name}: everything from its own site`);
  await note(name, { bits: true });
  return found;
}

/** Which engine runs where one with threads is asked for; what is said if there is none. */
async function threads(name, number) {
  await painted(number);
  const said = await run(number, () => ({
    engine: document.querySelector('[data-read="engine"]').textContent,
    shared: window.crossOriginIsolated === true && typeof SharedArrayBuffer === 'function' && window.origin !== 'null',
  }));
  const got = variant(said.engine);
  assert.equal(got, said.shared ? 'threads' : 'one thread', `${name}: ${said.engine}`);
  await note(name, { variant: got });
  return got;
}

/** A course page at another site, with the lab in it. */
async function course(frames, own = {}) {
  const host = await serve({ pages: { '/course.html': hostPage(frames) }, own });
  await web.get(`${host.foreign}course.html`);
  return host;
}

const THREADS = '?engine=simd-threads';

test('what others write down lies at the top', async () => {
  for (const [name, words] of [['embed.js', /attention-lab/], ['embed.d.ts', /interface AttentionLabElement/], ['attention.js', /export/]]) {
    const answer = await fetch(lab.url + name);
    assert.equal(answer.status, 200, name);
    assert.match(await answer.text(), words, name);
  }
});

test('a page of its own', async () => {
  await web.get(lab.url);
  const found = await row('alone', lab, -1);
  assert.equal(found.isolated, true);
  await web.get(lab.url + THREADS);
  await threads('alone', -1);
});

test('an ordinary iframe on another site', async () => {
  await course([{ src: lab.url }]);
  await row('ordinary', lab, 0);
  await course([{ src: lab.url + THREADS }]);
  await threads('ordinary', 0);
});

test('an ordinary iframe of a host without headers', async () => {
  const plain = await serve();
  await course([{ src: plain.url }]);
  const found = await row('ordinary', plain, 0);
  assert.equal(variant(found.engine), 'one thread');
});

test('a sandboxed iframe: no origin, no storage', async () => {
  await course([{ src: lab.url, sandbox: 'allow-scripts' }]);
  const found = await row('sandboxed', lab, 0);
  assert.equal(found.origin, 'null');
  await inside(0, (frame) => frame.executeScript(`document.querySelector('[data-name="theme"]').click()`));
  await painted(0);
  await course([{ src: lab.url + THREADS, sandbox: 'allow-scripts' }]);
  await threads('sandboxed', 0);
});

test('a sandboxed iframe of a host without headers: a sentence', async () => {
  const plain = await serve();
  await course([{ src: plain.url, sandbox: 'allow-scripts' }]);
  const words = await until(
    () =>
      run(0, () => {
        const late = document.querySelector('.starting-late');
        return late && getComputedStyle(late).visibility === 'visible' ? late.textContent : '';
      }),
    'the sentence',
  );
  assert.match(words, /has not come.*Reload.*Access-Control-Allow-Origin/);
});

test('an iframe in an isolated page', async () => {
  await course([{ src: lab.url }], ISOLATION);
  await row('isolated', lab, 0);
  assert.equal(await run(-1, () => crossOriginIsolated), true, 'the page around it');
  await course([{ src: lab.url + THREADS }], ISOLATION);
  await threads('isolated', 0);
});

/** The site under a policy, its violations counted. `policy(origin)` gives it. */
async function strict(policy) {
  const headers = { ...(await shippedHeaders()) };
  const site = await serve({ headers });
  headers['Content-Security-Policy'] = `${policy(new URL(site.url).origin)}; report-uri /violation`;
  return { site, tried: () => site.requests.filter((path) => path === '/violation').length };
}

test('the strict policy, to the letter: nothing that it forbids is tried', async () => {
  const { site, tried } = await strict(() => POLICY);
  await web.get(site.url);
  await row('csp', site, -1);
  // Every part of the page that opens: menus, tables, formulas, gradients.
  await run(-1, async () => {
    for (const button of document.querySelectorAll('button[aria-expanded="false"], summary')) {
      button.click();
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    }
  });
  await painted(-1);
  await web.get(site.url + THREADS);
  await threads('csp', -1);
  assert.equal(tried(), 0, 'violations');
  // The counter counts.
  await run(-1, () => document.body.setAttribute('style', 'color: red'));
  await until(tried, 'the report of a style attribute');
});

test('the strict policy in a sandboxed frame', async () => {
  const { site, tried } = await strict(() => POLICY);
  await course([{ src: site.url, sandbox: 'allow-scripts' }]);
  if (ENGINE === 'webkit') {
    // 'self' is nothing in a frame without an origin: not even the style sheet comes.
    assert.match(await run(0, () => document.querySelector('#starting').textContent), /Content-Security-Policy, to name its own address/);
  } else {
    await row('csp', site, 0);
    assert.equal(tried(), 0, 'violations');
  }
});

test('the policy that names its site, in a sandboxed frame', async () => {
  const { site } = await strict(policyOf);
  await course([{ src: site.url, sandbox: 'allow-scripts' }]);
  await row('csp', site, 0);
});

test('hidden at first, as on a later slide: no engine until it is shown, then the same numbers', async () => {
  // An address of its own, so that no cache answers in the place of the server.
  const fresh = await serve({ headers: await shippedHeaders() });
  const loaded = () => fresh.requests.filter((path) => path.endsWith('/engines/simd/engine_bg.wasm')).length;
  await course([{ src: fresh.url, style: 'display:none;width:100%;height:800px' }]);
  await until(() => fresh.requests.some((path) => path.endsWith('opening.safetensors')), 'the page behind the slide');
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  assert.equal(loaded(), 0, 'an engine for nobody');
  await run(-1, () => document.querySelector('iframe').style.setProperty('display', 'block'));
  await row('hidden', fresh, 0);
  assert.ok(loaded() > 0);
  await note('hidden', { variant: variant(await run(0, () => document.querySelector('[data-read="engine"]').textContent)) });
});

test('under a sub-path, alone and framed', async () => {
  const deep = await serve({ headers: 'file', under: '/course/week3/' });
  // The host's rules are for the top of its site: under a path they are given there.
  await web.get(deep.url);
  await row('subpath', deep, -1);
  await course([{ src: `${deep.url}index.html` }]);
  await row('subpath', deep, 0);
  await web.get(deep.url + THREADS);
  await threads('subpath', -1);
});
