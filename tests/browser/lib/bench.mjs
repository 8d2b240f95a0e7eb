// The page as a test uses it: fields by their names, numbers by theirs, waits on conditions and never on the clock.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { By, Key, Origin } from 'selenium-webdriver';
import { Command, Name } from 'selenium-webdriver/lib/command.js';
import { browser, can, name as engine } from './browser.mjs';
import { crop } from './png.mjs';
import { serve } from './server.mjs';

const HOOKS = await readFile(new URL('hooks.js', import.meta.url), 'utf8');
const SHOTS = fileURLToPath(new URL('../../shots', import.meta.url));

/** Milliseconds until something that must happen counts as not happening. */
export const PATIENCE = 15_000;

let site;

/**
 * Opens the page anew, with nothing remembered from before, and waits for its first numbers.
 *
 * width, height   CSS pixels                      scale    device pixels for one of them
 * dark, forced    colours asked of the page       still    prefers-reduced-motion
 * touch           a finger instead of a mouse     query    such as "?engine=simd"
 * server          isolated, plain or subpath      block    addresses that do not load, with * for anything
 * before          a script that runs first        ready    what to wait for: "numbers", "page" or a selector
 *
 * Where an engine has no touch, a window of a telephone's size has a mouse; what needs the finger itself asks for it
 * by `needs('touch')`.
 */
export async function open(options = {}) {
  const {
    width = 1440,
    height = 900,
    scale = 1,
    dark = false,
    forced = false,
    still = false,
    touch = false,
    query = '',
    server = 'isolated',
    block = [],
    before = '',
    ready = 'numbers',
  } = options;
  const view = { width, height, scale, dark, forced, still, touch: touch && can('touch') };
  const running = await browser(view);
  site?.close();
  site = await serve(server, { first: `${HOOKS}\n${before}`, blocked: block });
  await running.errors();
  const bench = new Bench(running, site, view);
  await bench.web.get(`${site.address}${query}`);
  if (ready === 'numbers') {
    await bench.find('[data-read="entropy"]');
    await bench.settled();
  } else {
    await bench.find(ready === 'page' ? '.app' : ready);
  }
  return bench;
}

export class Bench {
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

  /** Closes what an earlier test left open and takes its settings back: the same source and sizes, no option set. */
  async reset() {
    await this.eval(() => document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close()));
    await this.press('reset');
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
    return (await this.cells(matrix)).map((row) => row.map((cell) => cell.value));
  }

  /** The same with each cell's state and text. */
  async cells(matrix) {
    return (await this.allCells([matrix]))[matrix];
  }

  /** Several matrices at once: { Q: [[…]], … }. */
  async tables(...matrices) {
    const cells = await this.allCells(matrices);
    return Object.fromEntries(matrices.map((m) => [m, cells[m].map((row) => row.map((cell) => cell.value))]));
  }

  async allCells(matrices) {
    const found = await this.eval(async (ids) => {
      const found = {};
      for (const id of ids) {
        const rows = await window.__lab.table(id);
        // JSON has no infinity.
        found[id] = typeof rows === 'string' ? rows : rows.map((r) => r.map((c) => ({ ...c, value: String(c.value) })));
      }
      document.querySelector('[data-name="tables-close"]')?.click();
      return found;
    }, matrices);
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

  // ---- doing -------------------------------------------------------------------------------------------------------

  /** Scrolls an element into view and gives it. */
  async reach(selector) {
    const element = await this.find(selector);
    await this.eval((s) => document.querySelector(s).scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' }), selector);
    return element;
  }

  /** Clicks an element, scrolled into view. */
  async click(selector) {
    await (await this.reach(selector)).click();
    await this.settled();
  }

  /** Clicks a button by its name. */
  press(name) {
    return this.click(`[data-name="${name}"]`);
  }

  /** Types into a field by its name and enters it. */
  async set(name, text) {
    await this.type(name, text);
    await this.key(Key.ENTER);
  }

  /** Types into a field by its name, over what stands there, without entering it. */
  async type(name, text) {
    const field = await this.reach(`input[data-name="${name}"]`);
    await field.click();
    await field.sendKeys(Key.chord(Key.CONTROL, 'a'), Key.DELETE);
    await field.sendKeys(String(text));
  }

  /** What stands in a field. */
  field(name) {
    return this.eval((n) => document.querySelector(`[data-name="${n}"]`)?.value ?? null, name);
  }

  /** Chooses a word of a row of words, or an entry of a menu, by its value. */
  async choose(name, option) {
    const element = await this.reach(`[data-name="${name}"]`);
    if ((await element.getTagName()) === 'select') {
      await (await element.findElement(By.css(`option[value="${option}"]`))).click();
      await this.settled();
    } else {
      await this.click(`[data-name="${name}"] [data-value="${option}"]`);
    }
  }

  /** Which word or entry is chosen. */
  chosen(name) {
    return this.eval((n) => {
      const element = document.querySelector(`[data-name="${n}"]`);
      return element?.tagName === 'SELECT' ? element.value : (element?.querySelector('[aria-checked="true"]')?.dataset.value ?? null);
    }, name);
  }

  /** Whether a switch is on; `to` switches it. */
  async toggle(name, to) {
    const element = await this.reach(`[data-name="${name}"]`);
    const now = (await element.getAttribute('aria-checked')) === 'true';
    if (to !== undefined && now !== to) await this.press(name);
    return to ?? now;
  }

  /** Opens a heading that hides its controls, where it is closed. */
  async unfold(name) {
    const element = await this.reach(`[data-name="${name}"]`);
    if ((await element.getAttribute('aria-expanded')) !== 'true') await this.press(name);
  }

  /** Presses keys where the focus is: `Key.ENTER`, "a", chords by `Key.chord`. */
  async key(...keys) {
    const actions = this.web.actions();
    for (const key of keys) {
      if (key.endsWith(Key.NULL)) {
        const held = [...key].slice(0, -1);
        for (const k of held) actions.keyDown(k);
        for (const k of held.reverse()) actions.keyUp(k);
      } else {
        actions.sendKeys(key);
      }
    }
    await actions.perform();
    await this.settled();
  }

  /** A chord such as (Key.CONTROL, "z") where the focus is. */
  async chord(...keys) {
    const actions = this.web.actions();
    for (const key of keys) actions.keyDown(key);
    for (const key of [...keys].reverse()) actions.keyUp(key);
    await actions.perform();
    await this.settled();
  }

  // ---- the pipeline ------------------------------------------------------------------------------------------------

  /** Rows and columns of a matrix on the screen (K stands transposed): Q K V S M A O X Wq Wk Wv. */
  async size(matrix) {
    const label = await (await this.find(`[data-matrix="${matrix}"]`)).getAttribute('aria-label');
    const [, rows, cols] = label.match(/(\d+) rows, (\d+) columns/);
    return [Number(rows), Number(cols)];
  }

  /** Where a cell of a matrix on the screen is: CSS pixels of the window, scrolled into view. */
  async spot(matrix, row, col) {
    const [rows, cols] = await this.size(matrix);
    const rect = await this.eval(
      (m, y, x) => {
        const place = document.querySelector(`[data-matrix="${m}"]`);
        const at = () => {
          const r = place.getBoundingClientRect();
          return { x: r.left + x * r.width, y: r.top + y * r.height };
        };
        const seen = at();
        if (seen.y < 60 || seen.y > innerHeight - 20) window.scrollBy({ top: seen.y - innerHeight / 2, behavior: 'instant' });
        if (seen.x < 0 || seen.x > innerWidth) place.scrollIntoView({ inline: 'center', block: 'nearest', behavior: 'instant' });
        return at();
      },
      matrix,
      (row + 0.5) / rows,
      (col + 0.5) / cols,
    );
    return { x: Math.round(rect.x), y: Math.round(rect.y) };
  }

  /** Moves the pointer over a cell. */
  async hover(matrix, row, col) {
    await this.move(await this.spot(matrix, row, col));
  }

  /** Moves the pointer to a place of the window. */
  async move({ x, y }) {
    await this.web.actions({ async: true }).move({ origin: Origin.VIEWPORT, x, y, duration: 0 }).perform();
    await this.settled();
  }

  /** Moves the pointer off the picture, so that nothing is hovered. */
  async leave() {
    await this.move({ x: 2, y: 2 });
  }

  /** Clicks a cell. */
  async cell(matrix, row, col) {
    const { x, y } = await this.spot(matrix, row, col);
    await this.web.actions({ async: true }).move({ origin: Origin.VIEWPORT, x, y, duration: 0 }).press().release().perform();
    await this.settled();
  }

  /** Double-clicks a cell. */
  async double(matrix, row, col) {
    const { x, y } = await this.spot(matrix, row, col);
    await this.web.actions({ async: true }).move({ origin: Origin.VIEWPORT, x, y, duration: 0 }).press().release().press().release().perform();
    await this.settled();
  }

  /** Presses at one place, moves through the others and lets go. Places are {x, y} of the window. */
  async drag(...places) {
    const [from, ...to] = places;
    const actions = this.web.actions({ async: true }).move({ origin: Origin.VIEWPORT, ...from, duration: 0 }).press();
    for (const place of to) actions.move({ origin: Origin.VIEWPORT, ...place, duration: 20 });
    await actions.release().perform();
    await this.settled();
  }

  /** Clicks a cell of Q, K, V, X or a W and types a number into it, ended by Enter. */
  async write(matrix, row, col, text) {
    await this.cell(matrix, row, col);
    await this.key(...String(text));
    await this.key(Key.ENTER);
    await this.leave();
  }

  /** Focuses a matrix with the cursor on a cell and pastes a text. views.test.mjs has Ctrl+V itself. */
  async paste(matrix, text, [row, col] = [0, 0]) {
    await this.eval(
      (m) => {
        const place = document.querySelector(`[data-matrix="${m}"]`);
        place.focus({ preventScroll: true });
        const key = (name, ctrlKey = false) => place.dispatchEvent(new KeyboardEvent('keydown', { key: name, ctrlKey, bubbles: true, cancelable: true }));
        key('Home', true);
      },
      matrix,
    );
    if (row > 0) await this.key(...Array(row).fill(Key.ARROW_DOWN));
    if (col > 0) await this.key(...Array(col).fill(Key.ARROW_RIGHT));
    await this.eval(
      (m, t) => {
        const data = new DataTransfer();
        data.setData('text/plain', t);
        const place = document.querySelector(`[data-matrix="${m}"]`);
        const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
        // Firefox makes such events with a clipboard of their own, which is empty.
        Object.defineProperty(event, 'clipboardData', { value: data });
        place.dispatchEvent(event);
      },
      matrix,
      text,
    );
    await this.settled();
  }

  /** What the clipboard holds, by pasting it into a field of the test's own. */
  async clipboard() {
    await this.eval(() => {
      const field = document.createElement('textarea');
      field.id = 'clipboard-of-a-test';
      field.style.cssText = 'position: fixed; inset: 0 auto auto 0; z-index: 9';
      (document.querySelector('dialog[open]') ?? document.body).append(field);
      field.focus();
    });
    await this.chord(Key.CONTROL, 'v');
    return this.eval(() => {
      const field = document.querySelector('#clipboard-of-a-test');
      field.remove();
      return field.value;
    });
  }

  /** A finger goes down at one place, through the others and up again. For tests that need touch. */
  async finger(...places) {
    const [from, ...to] = places;
    const move = (at, duration) => ({ type: 'pointerMove', origin: 'viewport', x: Math.round(at.x), y: Math.round(at.y), duration });
    const actions = [move(from, 0), { type: 'pointerDown', button: 0 }, ...to.map((at) => move(at, 30)), { type: 'pointerUp', button: 0 }];
    await this.web.execute(new Command(Name.ACTIONS).setParameter('actions', [{ type: 'pointer', id: 'finger', parameters: { pointerType: 'touch' }, actions }]));
    await this.settled();
  }

  // ---- narrow screens ----------------------------------------------------------------------------------------------

  /** Opens the sheet "inputs" or "inspector" where the page has it as a sheet. */
  async sheet(which) {
    const selector = `.bench > .${which}`;
    await this.find(selector);
    if (!(await this.eval((s) => document.querySelector(s).classList.contains('sheet'), selector))) return;
    if (await this.eval((s) => document.querySelector(s).classList.contains('open'), selector)) return;
    const names = [`open-${which}`, which];
    for (const name of names) {
      if (await this.has(`[data-name="${name}"]`)) {
        await this.press(name);
        break;
      }
    }
    await this.until(
      () => this.eval((s) => document.querySelector(s).classList.contains('open') && document.querySelector(s).getAnimations().length === 0, selector),
      `the sheet of ${which}`,
    );
  }

  // ---- sources -----------------------------------------------------------------------------------------------------

  /** Random numbers at these sizes: { n_q, n_k, d_k, d_v, heads, kv_heads, seed, sigma }, others as they are. */
  async random(sizes = {}) {
    await this.choose('source', 'random');
    await this.sizes(sizes);
  }

  /** Tokens X·W at these sizes. */
  async tokens(sizes = {}) {
    await this.choose('source', 'tokens');
    await this.sizes(sizes);
  }

  async sizes(sizes) {
    for (const [name, value] of Object.entries(sizes)) {
      if (Number(await this.field(name)) !== value) await this.set(name, value);
    }
    // Two that only fit together may be refused one after the other, and then both are taken.
    for (const name of Object.keys(sizes)) assert.equal(await this.problem(name), null);
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

  /** Saves a picture of the window under tests/shots (not in the repository). */
  async screenshot(name) {
    const file = join(SHOTS, engine, `${name}.png`);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, Buffer.from(await this.web.takeScreenshot(), 'base64'));
    return file;
  }

  /** The pixels of a part of the window, { x, y, width, height } in CSS pixels of it. */
  async pixels(part) {
    return crop(Buffer.from(await this.web.takeScreenshot(), 'base64'), part, this.view.scale);
  }
}

export { Key, By };
