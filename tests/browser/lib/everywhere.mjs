// The table "where the lab runs": tests note their rows here, and `node tests/browser/everywhere.mjs` prints them.

import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const FOLDER = fileURLToPath(new URL('../../../target/everywhere', import.meta.url));

export const ENGINES = { chromium: 'Chromium', firefox: 'Firefox ESR', webkit: 'WebKitGTK' };
export const ENGINE = process.env.BROWSER || 'chromium';

/** The rows, in their order. */
export const ROWS = {
  alone: 'a page of its own',
  plain: 'a page of its own, host without headers',
  ordinary: 'ordinary iframe on another site',
  sandboxed: 'iframe with `sandbox="allow-scripts"`',
  isolated: 'iframe in an isolated page',
  csp: 'strict Content-Security-Policy',
  hidden: 'hidden at first',
  tab: 'in a tab behind another one',
  ten: 'ten on one page',
  subpath: 'under a sub-path',
  offline: 'offline, second visit',
};

/** Notes what a row found in this engine: { bits, variant, … }. Later notes add to earlier ones. */
export async function note(row, found) {
  if (!(row in ROWS)) throw new Error(`the table has no row ${row}`);
  await mkdir(FOLDER, { recursive: true });
  const file = join(FOLDER, `${ENGINE}-${row}.json`);
  const before = await readFile(file, 'utf8').then(JSON.parse, () => ({}));
  await writeFile(file, JSON.stringify({ ...before, ...found }));
}

/** { row: { engine: found } } of what has been noted. */
export async function noted() {
  const all = {};
  for (const name of await readdir(FOLDER).catch(() => [])) {
    const [, engine, row] = /^([a-z]+)-([a-z]+)\.json$/.exec(name) ?? [];
    if (row) (all[row] ??= {})[engine] = JSON.parse(await readFile(join(FOLDER, name), 'utf8'));
  }
  return all;
}

/** "several threads" or "one thread", of the words that the page says of its engine. */
export const variant = (words) => {
  if (/\d+ threads/.test(words)) return 'threads';
  if (/one thread/.test(words)) return 'one thread';
  throw new Error(`the page says “${words}” of its engine`);
};
