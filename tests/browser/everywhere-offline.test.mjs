// The service worker of the shipped folder: without a network after the first visit, and from one version to the next.

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { driver } from './lib/browser.mjs';
import { ENGINE, note, variant } from './lib/everywhere.mjs';
import { hostPage, measured, painted, run, until } from './lib/frames.mjs';
import { SHIP, nextVersion, serve, shippedHeaders } from './lib/sites.mjs';

let web;

before(async () => {
  web = await driver();
});

/** Waits until the page at hand is kept whole. */
async function kept() {
  await painted();
  await until(() => run(-1, async () => (await navigator.serviceWorker.getRegistration())?.active?.state === 'activated'), 'a service worker', 40_000);
  const whole = await run(-1, async () => {
    const { active } = await navigator.serviceWorker.ready;
    const { port1, port2 } = new MessageChannel();
    return new Promise((resolve) => {
      port1.onmessage = ({ data }) => resolve(data.kept);
      active.postMessage({ attentionLab: 'keep' }, [port2]);
    });
  });
  assert.equal(whole, true, 'every file kept');
}

/** Waits until the service worker of a version is the one at work, and no other is on its way. */
const taken = async (folder) => {
  if (ENGINE === 'webkit') {
    // It may leave a new worker “activating” until a page is opened once more, and may not.
    const state = await until(
      () =>
        run(
          -1,
          async (now) => {
            const { installing, waiting, active } = await navigator.serviceWorker.getRegistration();
            return !installing && (await caches.keys()).some((name) => name.includes(now)) && (waiting ?? active).state;
          },
          folder,
        ),
      'a worker with its files',
    );
    if (state !== 'activated') {
      await web.navigate().refresh();
      await painted();
    }
  }
  return until(
    () =>
      run(
        -1,
        async (now) => {
          const { installing, waiting } = await navigator.serviceWorker.getRegistration();
          return !installing && !waiting && (await caches.keys()).some((name) => name.includes(now));
        },
        folder,
      ),
    `the service worker of ${folder}`,
  );
};

const version = () => run(-1, () => document.querySelector('script[data-wasm]').src.match(/\/(v-[0-9a-f]{12})\//)[1]);
const mark = () => run(-1, () => document.documentElement.dataset.version ?? 'first');

for (const [what, headers] of [
  ['a host that reads _headers', 'file'],
  ['a host that sends none', {}],
]) {
  test(`offline after the first visit, from ${what}: the same numbers, other examples, threads`, async () => {
    const site = await serve({ headers });
    await web.get(site.url);
    const online = await measured();
    await kept();
    const asked = (ending) => site.requests.findIndex((path) => ending.test(path));
    for (const first of [/page-[^/]*_bg\.wasm$/, /engines\/simd\/engine_bg\.wasm$/, /opening\.safetensors$/, /part-beside-[^/]*\.wasm$/]) {
      assert.ok(asked(first) >= 0 && asked(first) < asked(/sw\.js$/), `${first} comes before the service worker`);
    }
    await site.stop();
    await web.get(`${site.url}index.html`);
    const offline = await measured();
    assert.deepEqual(offline.tables, online.tables);
    assert.deepEqual(offline.reads, online.reads);
    const isolates = await run(-1, () => isSecureContext);
    assert.equal(offline.isolated, isolates, 'kept pages are isolated, whatever the host sends');
    await run(-1, () => {
      const menu = document.querySelector('[data-name="sentence"]');
      menu.value = 'copying';
      menu.dispatchEvent(new Event('change', { bubbles: true }));
    });
    await until(async () => (await painted()) && (await measured()).tables.S.length !== online.tables.S.length, 'another example, offline');
    await web.get(`${site.url}?engine=simd-threads`);
    await painted();
    const shared = await run(-1, () => crossOriginIsolated && typeof SharedArrayBuffer === 'function');
    const got = variant(await run(-1, () => document.querySelector('[data-read="engine"]').textContent));
    assert.equal(got, shared ? 'threads' : 'one thread');
    await note('offline', { bits: true, variant: got });
    await site.start();
  });
}

test('framed and sandboxed pages register nothing', async () => {
  const lab = await serve({ headers: 'file' });
  for (const frame of [{ src: lab.url }, { src: lab.url, sandbox: 'allow-scripts' }]) {
    lab.pages['/host.html'] = hostPage([frame]);
    await web.get(`${lab.url}host.html`);
    await painted(0);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    assert.ok(!lab.requests.some((path) => path.endsWith('sw.js')));
  }
});

test('a new version: the next visit has it, whole, and offline too; an open page keeps its own', async () => {
  const site = await serve({ headers: 'file' });
  await web.get(site.url);
  await kept();
  const first = await version();
  const next = await nextVersion((boot) => `${boot}\ndocument.documentElement.dataset.version = "second";\n`);
  assert.equal(next.before, first);
  // The host has the new one only, as after an upload that removes the old.
  site.folder = next.folder;
  await run(-1, () => {
    const menu = document.querySelector('[data-name="sentence"]');
    menu.value = 'copying';
    menu.dispatchEvent(new Event('change', { bubbles: true }));
  });
  await painted();
  assert.equal(await run(-1, () => [...document.querySelectorAll('[data-problem]')].find((e) => e.checkVisibility())?.textContent ?? ''), '');
  assert.equal(await mark(), 'first');

  const asked = site.requests.length;
  await web.get(site.url);
  const online = await measured();
  assert.equal(await version(), next.now, 'never a stale page while there is a network');
  assert.equal(await mark(), 'second');
  for (const path of site.requests.slice(asked)) assert.ok(!path.includes(`/${first}/`), `${path}: a file of the version before`);
  await taken(next.now);
  await kept();
  const unchanged = site.requests.filter((path) => path === `/${next.now}/engines/simd/engine_bg.wasm`);
  assert.ok(unchanged.length <= 1, `the page loads its engine, its keeper has the same one already: ${unchanged}`);

  await site.stop();
  await web.get(site.url);
  const offline = await measured();
  assert.equal(await mark(), 'second');
  assert.deepEqual(offline.tables, online.tables);
  await site.start();

  // And a third: what is kept does not grow with every version.
  const third = await nextVersion((boot) => `${boot}\ndocument.documentElement.dataset.version = "third";\n`);
  site.folder = third.folder;
  await web.get(site.url);
  await painted();
  assert.equal(await mark(), 'third');
  await taken(third.now);
  await until(() => run(-1, async (old) => !(await caches.keys()).some((name) => name.includes(old)), first), 'the first version, forgotten');
});

test('a host that is being changed: a worker whose files are not of its version does not take over', async () => {
  const site = await serve({ headers: await shippedHeaders() });
  await web.get(site.url);
  await kept();
  const first = await version();
  const next = await nextVersion((boot) => `${boot}\ndocument.documentElement.dataset.version = "second";\n`);
  // The new worker is there already, its index is not.
  const { copyFile } = await import('node:fs/promises');
  const { join } = await import('node:path');
  await copyFile(join(SHIP, 'index.html'), join(next.folder, 'index.html'));
  site.folder = next.folder;
  const refused = await run(-1, async () => {
    const registration = await navigator.serviceWorker.getRegistration();
    await registration.update().catch(() => {});
    const worker = registration.installing;
    if (!worker) return 'not installing';
    await new Promise((resolve) => worker.addEventListener('statechange', resolve, { once: true }));
    return worker.state;
  });
  assert.ok(['redundant', 'not installing'].includes(refused), refused);
  await site.stop();
  await web.get(site.url);
  await painted();
  assert.equal(await version(), first, 'the version before is still whole');
});
