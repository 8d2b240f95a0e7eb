// The first interaction is paid with the files that `cargo xtask sizes` counts, and with no other; and what is said when
// the code that came with them meets a fault.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { driver } from './lib/browser.mjs';
import { hostPage, painted, run, until } from './lib/frames.mjs';
import { serve, shippedHeaders } from './lib/sites.mjs';

const TABLE = await readFile(new URL('../../src/xtask/sizes.rs', import.meta.url), 'utf8');
const VIEW = '#v=1&lab=bench&src=example(coreference,3)&head=1&embed=1&show=stage,readouts&controls=none';

/** The patterns of a table in sizes.rs. */
function patterns(name) {
  const [, body] = new RegExp(`const ${name}: \\[Part; \\d+\\] = \\[([^]*?)\\];`).exec(TABLE) ?? assert.fail(`sizes.rs has no ${name}`);
  return [...body.matchAll(/"\??([^"]*\.[a-z]+)"/g)].map(([, pattern]) => pattern);
}

const fits = (file, pattern) => new RegExp(`^${pattern.replaceAll('.', '\\.').replace('*', '.*')}$`).test(file);

const anyFits = (file, table) => table.some((pattern) => fits(file, pattern));

/** What was asked for before the first file that waits for the picture, as names in dist/. */
function first(site, waiting) {
  const late = waiting.flatMap(patterns);
  const all = site.requests.map((path) => path.replace(/^\/(v-[0-9a-f]+\/)?/, '') || 'index.html');
  const files = all.slice(0, all.findIndex((file) => anyFits(file, late)));
  // Not the lab's: icons that browsers look for. And fonts are drawn with when they come.
  return [...new Set(files)].filter((file) => !/favicon|apple-touch|\.woff2$/.test(file));
}

function agree(files, tables) {
  const expected = tables.flatMap(patterns);
  assert.deepEqual(files.filter((file) => !anyFits(file, expected)), [], 'asked for, and not counted');
  assert.deepEqual(expected.filter((pattern) => !files.some((file) => fits(file, pattern))), [], 'counted, and not asked for');
}

test('a page of its own asks for what is counted', async () => {
  const site = await serve();
  await (await driver()).get(site.url);
  await painted();
  agree(first(site, ['BESIDE']), ['FIRST', 'WHOLE']);
});

test('a view in somebody else’s page asks for what is counted', async () => {
  const site = await serve({ headers: await shippedHeaders() });
  const host = await serve({ pages: { '/course.html': hostPage([{ src: `${site.url}${VIEW}` }]) } });
  await (await driver()).get(`${host.foreign}course.html`);
  await painted(0);
  agree(first(site, ['BESIDE', 'SHARED']), ['FIRST', 'FRAMED']);
});

test('a fault in the page’s code: a sentence with what to do, and loading again works', async () => {
  const site = await serve();
  const web = await driver();
  await web.get(`${site.url}#v=1&lab=bench&src=random(7)&scale=0.5`);
  await painted();
  // What a closure of the page is told to do, at an address where there is none.
  // By a script of the page: what WebDriver's own scripts meet is not told to the page in every browser.
  await run(-1, () => {
    const script = document.createElement('script');
    script.type = 'module';
    script.textContent = `
      const page = await import(document.querySelector('script[data-js]').dataset.js);
      const wasm = await page.default();
      setTimeout(() => wasm.__wbindgen_free(0xfffffff0, 16, 4), 0);`;
    document.head.append(script);
  });
  const words = await until(() => run(-1, () => document.querySelector('#stopped[role="alert"]')?.textContent), 'the sentence');
  assert.match(words, /The lab stopped: expected its code to go on, got “.+”\. Load it again; what its address says is kept\./);
  assert.equal(await run(-1, () => document.querySelectorAll('#stopped').length), 1);
  await run(-1, () => document.querySelector('[data-name="load-again"]').click());
  await until(() => run(-1, () => document.querySelector('#stopped') === null), 'the page, loaded again');
  await painted();
  assert.match(await run(-1, () => location.hash), /scale=0\.5/);
});
