// The page as a test uses it: opened in a window of some kind, its fields and cells by their names.

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { By, Key, Origin } from 'selenium-webdriver';
import { Command, Name } from 'selenium-webdriver/lib/command.js';
import { browser, can } from './browser.mjs';
import { Page, PATIENCE } from './reader.mjs';
import { serve } from './server.mjs';

const HOOKS = await readFile(new URL('hooks.js', import.meta.url), 'utf8');

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

export class Bench extends Page {
  /** Closes what an earlier test left open and takes its settings back: the same source and sizes, no option set. */
  async reset() {
    await this.eval(() => document.querySelectorAll('dialog[open]').forEach((dialog) => dialog.close()));
    await this.press('reset');
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
    if (text !== '') await field.sendKeys(String(text));
  }

  /** What stands in a field. */
  field(name) {
    return this.eval((n) => document.querySelector(`[data-name="${n}"]`)?.value ?? null, name);
  }

  /** Chooses a word of a row of words, or an entry of a menu, by its value. */
  async choose(name, option) {
    const element = await this.reach(`[data-name="${name}"]`);
    if ((await element.getTagName()) === 'select') {
      // A hand gives it the focus. WebKit's driver does not, and then the engine compares with what was chosen before.
      await this.eval((n) => {
        const select = document.querySelector(`[data-name="${n}"]`);
        select.blur();
        select.focus();
      }, name);
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
}

export { Key, By, PATIENCE };
