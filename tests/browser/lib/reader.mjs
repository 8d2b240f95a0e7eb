// The page as a test reads it: numbers by their names, what went wrong, pictures; waits on conditions and never on the
// clock.

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { By } from 'selenium-webdriver';
import { name as engine } from './browser.mjs';
import { crop } from './png.mjs';

const SHOTS = fileURLToPath(new URL('../../shots', import.meta.url));

/** Milliseconds until something that must happen counts as not happening. */
export const PATIENCE = 45_000;

export class Page {
  constructor(running, site, view) {
    this.running = running;
    this.site = site;
    this.view = view;
  }

  /** The browser as WebDriver has it. */
  get web() {
    return this.running.web;
  }

  /** A command of Chromium's DevTools protocol; the other engines have none. */
  cdp(method, params) {
    assert.ok(this.running.cdp, 'only Chromium speaks the DevTools protocol: use what every engine has');
    return this.running.cdp(method, params);
  }

  /** Another window for the open page: width, height, scale, dark, forced, still. */
  async wear(change) {
    this.view = { ...this.view, ...change };
    await this.running.wear(this.view);
  }

  /** Addresses that do not load from now on, with * for anything. */
  block(...patterns) {
    this.site.blocked = patterns;
  }

  // ---- waiting -----------------------------------------------------------------------------------------------------

  /** Waits until everything asked of the engine and the server is answered and painted. */
  async settled() {
    const how = await this.web.executeAsyncScript(`const done = arguments[0]; __lab.settled().then(done, (e) => done(String(e)))`);
    assert.equal(how, 'settled');
  }

  /** Waits until `check` gives something truthy, and returns that. `what` is what it waits for, in words. */
  async until(check, what, patience = PATIENCE) {
    const end = Date.now() + patience;
    for (let last; ; ) {
      try {
        const found = await check();
        if (found) return found;
      } catch (error) {
        last = error;
      }
      if (Date.now() > end) throw new Error(`waited in vain for ${what}`, { cause: last });
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  // ---- finding -----------------------------------------------------------------------------------------------------

  /** The first element of a selector, waited for. */
  find(selector) {
    return this.until(async () => (await this.web.findElements(By.css(selector)))[0], selector);
  }

  /** Whether there is an element that is shown. */
  async has(selector) {
    return this.eval((s) => [...document.querySelectorAll(s)].some((e) => e.checkVisibility?.() ?? true), selector);
  }

  /** Runs a function in the page with arguments that can be written as JSON; gives what it returns. */
  eval(body, ...args) {
    return this.web.executeAsyncScript(
      `const done = arguments[arguments.length - 1];
       Promise.resolve((${body})(...[...arguments].slice(0, -1))).then(done, (e) => done({ failed: String(e?.stack ?? e) }));`,
      ...args,
    );
  }

  // ---- reading -----------------------------------------------------------------------------------------------------

  /** The number of a read-out: its exact value, not its print. NaN fails. */
  async read(name) {
    const text = await this.eval((n) => document.querySelector(`[data-read="${n}"][data-value]`)?.dataset.value ?? null, name);
    assert.notEqual(text, null, `there is no number [data-read="${name}"] on the page`);
    const number = Number(text);
    assert.ok(!Number.isNaN(number), `[data-read="${name}"] says ${text}`);
    return number;
  }

  /** Several numbers at once: { entropy: 1.2, … }; null for those that are not there. */
  async reads(...names) {
    const texts = await this.eval((all) => all.map((n) => document.querySelector(`[data-read="${n}"][data-value]`)?.dataset.value ?? null), names);
    return Object.fromEntries(
      names.map((name, i) => {
        const number = texts[i] === null ? null : Number(texts[i]);
        assert.ok(!Number.isNaN(number), `[data-read="${name}"] says ${texts[i]}`);
        return [name, number];
      }),
    );
  }

  /** The numbers of a read-out that is a list. */
  async list(name) {
    const text = await this.eval((n) => document.querySelector(`[data-read="${n}"][data-value]`)?.dataset.value ?? null, name);
    assert.notEqual(text, null, `there is no list [data-read="${name}"] on the page`);
    return text === '' ? [] : text.split(',').map(Number);
  }

  /** The words of a read-out. */
  async text(name) {
    const words = await this.eval((n) => document.querySelector(`[data-read="${n}"]`)?.textContent ?? null, name);
    assert.notEqual(words, null, `there is no [data-read="${name}"] on the page`);
    return words.replace(/\s+/g, ' ').trim();
  }

  /** Query and key the inspector looks at. */
  async row() {
    return this.list('row');
  }

  /** Rows of exact numbers from "Numbers as a table": Q, K, Q_used, K_used, V, S, M, A, O or J. */
  async table(matrix) {
    return (await this.tables(matrix))[matrix];
  }

  /** The same with each cell's state and text. */
  async cells(matrix) {
    return (await this.allCells([matrix]))[matrix];
  }

  /** Several matrices at once: { Q: [[…]], … }. */
  async tables(...matrices) {
    const cells = await this.allCells(matrices, true);
    return Object.fromEntries(matrices.map((m) => [m, cells[m].map((row) => row.map((cell) => cell.value))]));
  }

  async allCells(matrices, plain = false) {
    const found = await this.eval(async (ids, only) => {
      const found = {};
      for (const id of ids) {
        const rows = await window.__lab.table(id, only);
        // JSON has no infinity.
        found[id] = typeof rows === 'string' ? rows : rows.map((r) => r.map((c) => ({ ...c, value: String(c.value) })));
      }
      document.querySelector('[data-name="tables-close"]')?.click();
      return found;
    }, matrices, plain);
    for (const matrix of matrices) {
      const rows = found[matrix];
      assert.ok(Array.isArray(rows), `table ${matrix}: ${JSON.stringify(found.failed ?? rows)}`);
      for (const cell of rows.flat()) {
        cell.value = Number(cell.value);
        assert.ok(!Number.isNaN(cell.value), `table ${matrix} holds NaN`);
      }
    }
    return found;
  }

  /** The sentence at a control, or null. */
  problem(field) {
    return this.eval((f) => {
      const element = [...document.querySelectorAll(`[data-problem="${f}"]`)].find((e) => !e.hidden && e.checkVisibility());
      return element ? element.textContent.replace(/\s+/g, ' ').trim() : null;
    }, field);
  }

  /** What screen readers were told last. */
  said() {
    return this.eval(() => document.querySelector('[data-name="live"]').textContent);
  }

  // ---- what went wrong ---------------------------------------------------------------------------------------------

  /** Errors of the console and of the page since it was opened. `allowed`: patterns of those a test provokes. */
  async consoleErrors(...allowed) {
    const lines = await this.running.errors();
    lines.push(...(await this.eval(() => window.__lab.errors.splice(0))));
    return lines.filter((line) => !allowed.some((pattern) => pattern.test(line)));
  }

  /** Fails where the console has an error, or where a word of the screen is no number. */
  async sound(...allowed) {
    assert.deepEqual(await this.consoleErrors(...allowed), []);
    assert.deepEqual(await this.nonsense(), []);
  }

  /** Texts and values on the screen that hold NaN, undefined or a name of a Rust type. */
  nonsense() {
    return this.eval(() => {
      const bad = /\bNaN\b|\bundefined\b|\bnull\b|\b(?:Some|None|Ok|Err)\(|\{ ?\$/;
      const found = [];
      const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
      for (let node; (node = walk.nextNode()); ) {
        const parent = node.parentElement;
        if (!parent || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'TEMPLATE'].includes(parent.tagName)) continue;
        if (bad.test(node.data)) found.push(node.data.trim().slice(0, 200));
      }
      for (const element of document.querySelectorAll('*')) {
        for (const name of ['data-value', 'data-score', 'data-weight', 'aria-label', 'aria-valuetext', 'title', 'value']) {
          const value = name === 'value' ? element.value : element.getAttribute(name);
          if (typeof value === 'string' && bad.test(value)) found.push(`${name}="${value.slice(0, 200)}"`);
        }
        const style = element.getAttribute('style');
        if (style && /NaN|undefined/.test(style)) found.push(`style="${style.slice(0, 200)}"`);
      }
      return found;
    });
  }

  /** The window as PNG, in base 64. */
  picture() {
    return this.running.picture?.() ?? this.web.takeScreenshot();
  }

  /** Saves a picture of the window under tests/shots (not in the repository). */
  async screenshot(name) {
    const file = join(SHOTS, engine, `${name}.png`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(await this.picture(), 'base64'));
    return file;
  }

  /** The pixels of a part of the window, { x, y, width, height } in CSS pixels of it. */
  async pixels(part) {
    // A driver's picture may be that of the frame before.
    await this.eval(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => resolve()))));
    return crop(Buffer.from(await this.picture(), 'base64'), part, this.view.scale);
  }
}
