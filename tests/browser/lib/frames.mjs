// The lab in a frame of another page, read by WebDriver alone: no DevTools, so that every engine does it.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { By } from 'selenium-webdriver';
import { driver } from './browser.mjs';

const HOOKS = await readFile(new URL('hooks.js', import.meta.url), 'utf8');

/** Waits until `check` gives something truthy, and returns that. */
export async function until(check, what, patience = 30_000) {
  const end = Date.now() + patience;
  for (let last; ; ) {
    try {
      const found = await check();
      if (found) return found;
    } catch (error) {
      last = error;
    }
    if (Date.now() > end) throw new Error(`waited in vain for ${what}`, { cause: last });
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A page that holds iframes: { src, sandbox, style } each. */
export function hostPage(frames, body = '') {
  const one = ({ src, sandbox, style = 'width:100%;height:800px' }) =>
    `<iframe title="lab" src="${src}"${sandbox === undefined ? '' : ` sandbox="${sandbox}"`} style="border:0;display:block;${style}"></iframe>`;
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>A course</title><body style="margin:0">${body}${frames.map(one).join('\n')}</body></html>`;
}

/** Does something inside the frame of that number; -1 is the page itself. */
export async function inside(number, work) {
  const web = await driver();
  await web.switchTo().defaultContent();
  if (number >= 0) {
    const frames = await web.findElements(By.css('iframe'));
    await web.switchTo().frame(frames[number]);
  }
  try {
    return await work(web);
  } finally {
    await web.switchTo().defaultContent();
  }
}

/** Runs a function in the frame of that number with arguments that JSON can write; gives what it returns. */
export function run(number, body, ...args) {
  return inside(number, (web) =>
    web.executeAsyncScript(
      `const done = arguments[arguments.length - 1];
       Promise.resolve((${body})(...[...arguments].slice(0, -1))).then(done, (e) => done({ failed: String(e?.stack ?? e) }));`,
      ...args,
    ),
  );
}

/** Waits for a picture that is not waiting for another one. */
export const painted = (number = -1, patience = 30_000) =>
  until(
    () =>
      run(number, () => {
        const there = (selector) => document.querySelector(selector) !== null;
        return there('[data-read="entropy"][data-value]') && !there('.stage.stale') && !there('[aria-busy="true"]');
      }),
    `a picture in frame ${number}`,
    patience,
  );

/** Everything a frame shows of numbers, exactly, and how it came by them. */
export async function measured(number = -1) {
  await painted(number);
  // The float32 check comes last, from an engine's file of its own.
  await until(() => run(number, () => document.querySelector('[data-read="fast_error"]:not([data-value=""])') !== null), `the float32 check in frame ${number}`);
  const found = await inside(number, async (web) => {
    // What waits for the engine is in these hooks too; only the reading of tables is used of them.
    await web.executeScript(`if (!window.__lab) { ${HOOKS} }`);
    return web.executeAsyncScript(`
      const done = arguments[0];
      (async () => {
        const reads = {};
        for (const e of document.querySelectorAll('[data-read][data-value]')) reads[e.dataset.read] = e.dataset.value;
        const tables = {};
        for (const id of ['S', 'A', 'O']) {
          const rows = await window.__lab.table(id);
          tables[id] = typeof rows === 'string' ? rows : rows.map((row) => row.map((cell) => String(cell.value)));
        }
        document.querySelector('[data-name="tables-close"]')?.click();
        return {
          reads, tables,
          engine: document.querySelector('[data-read="engine"]').textContent.trim(),
          isolated: window.crossOriginIsolated === true,
          origin: window.origin,
          addresses: performance.getEntriesByType('resource').map((e) => e.name),
        };
      })().then(done, (e) => done({ failed: String(e.stack ?? e) }));`);
  });
  assert.equal(found.failed, undefined);
  for (const id of ['S', 'A', 'O']) assert.ok(Array.isArray(found.tables[id]) && found.tables[id].length > 1, `table ${id}: ${found.tables[id]}`);
  return found;
}

/** FNV-1a, 64 bits, over the bits of a table's numbers: a native test works out the same. */
export function fingerprint(rows) {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new Uint8Array(Float64Array.from(rows.flat(), Number).buffer)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, '0');
}
