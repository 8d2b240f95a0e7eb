// The bench in a browser of its own, for scripts that measure or photograph rather than test: windows of every size,
// themes, simulated eyes, and hands that work by events in the page. Tests use the page as a reader does (see
// browser.mjs beside this file) and need none of it.

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Builder, logging } from 'selenium-webdriver';
import chrome from 'selenium-webdriver/chrome.js';

const FLAGS = [
  '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync',
  '--disable-background-networking', '--disable-component-update', '--hide-scrollbars', '--force-color-profile=srgb',
  '--enable-precise-memory-info', '--js-flags=--expose-gc', '--enable-blink-features=ForceEagerMeasureMemory',
];

/** Runs in the page: hands for the script. */
const HANDS = `(() => {
  const hands = {};
  window.__hands = hands;
  const one = (selector) => {
    const found = document.querySelector(selector);
    if (!found) throw new Error('nothing is ' + selector);
    return found;
  };
  hands.set = (name, value) => {
    const field = one('input[data-name="' + name + '"]');
    field.focus();
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, value);
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));
  };
  hands.choose = (name, value) => {
    const select = one('select[data-name="' + name + '"]');
    if (![...select.options].some((o) => o.value === value)) throw new Error(name + ' has no ' + value);
    select.value = value;
    select.dispatchEvent(new Event('change', { bubbles: true }));
  };
  hands.paste = (matrix, text) => {
    const place = one('[data-matrix="' + matrix + '"]');
    place.focus();
    place.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home', ctrlKey: true, bubbles: true }));
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/plain', text);
    place.dispatchEvent(new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true }));
    place.blur();
  };
  /** Middle of a cell of a matrix of that many rows and columns, in px of the window. */
  hands.middle = (matrix, row, col, rows, cols) => {
    const rect = one('[data-matrix="' + matrix + '"]').getBoundingClientRect();
    return [rect.x + (col + 0.5) * rect.width / cols, rect.y + (row + 0.5) * rect.height / rows];
  };
})();`;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

export class Bench {
  static async start() {
    const bench = new Bench();
    bench.profile = await mkdtemp(join(tmpdir(), 'attention-lab-script-'));
    const options = new chrome.Options().addArguments(...FLAGS, `--user-data-dir=${bench.profile}`);
    if (process.env.CHROME) options.setChromeBinaryPath(process.env.CHROME);
    const logs = new logging.Preferences();
    logs.setLevel(logging.Type.BROWSER, logging.Level.ALL);
    options.setLoggingPrefs(logs);
    bench.driver = await new Builder()
      .forBrowser('chrome')
      .setChromeOptions(options)
      .setChromeService(new chrome.ServiceBuilder(process.env.CHROMEDRIVER ?? 'chromedriver'))
      .build();
    await bench.driver.manage().setTimeouts({ script: 120_000, pageLoad: 60_000, implicit: 0 });
    const hooks = await readFile(fileURLToPath(new URL('hooks.js', import.meta.url)), 'utf8');
    await bench.cdp('Page.addScriptToEvaluateOnNewDocument', { source: `${hooks}\n${HANDS}` });
    await bench.cdp('Network.enable', {});
    return bench;
  }

  async stop() {
    await this.driver.quit();
    await rm(this.profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  cdp(command, parameters) {
    return this.driver.sendAndGetDevToolsCommand(command, parameters);
  }

  js(script, ...args) {
    return this.driver.executeScript(script, ...args);
  }

  /** Opens the page in a window of that kind and waits for its first picture. */
  async open(base, { width, height, ratio = 1, mobile = false, dark, forced, vision, block = [], query = '' } = {}) {
    await this.cdp('Network.setBlockedURLs', { urls: block });
    await this.cdp('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: ratio, mobile });
    await this.cdp('Emulation.setTouchEmulationEnabled', { enabled: mobile, maxTouchPoints: mobile ? 5 : 1 });
    await this.cdp('Emulation.setEmulatedMedia', {
      features: [
        { name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' },
        { name: 'forced-colors', value: forced ? 'active' : 'none' },
      ],
    });
    await this.cdp('Emulation.setEmulatedVisionDeficiency', { type: vision ?? 'none' });
    await this.driver.get(base + query);
    await this.js('try { localStorage.clear() } catch {}');
    const end = Date.now() + 20_000;
    while (!(await this.js('return !!document.querySelector(\'[data-read="entropy"], .problem:not([hidden])\')'))) {
      if (Date.now() > end) break;
      await pause(50);
    }
    await this.settle(300);
  }

  /** Waits until the engine and the server owe nothing, and that long again. */
  async settle(ms = 60) {
    await this.driver.executeAsyncScript(
      'const done = arguments[0]; window.__lab.settled(5000).then(done, done);',
    );
    await pause(ms);
  }

  async click(selector) {
    await this.js(
      'const e = document.querySelector(arguments[0]); if (!e) throw new Error(`nothing is ${arguments[0]}`); e.click();',
      selector,
    );
    await this.settle();
  }

  async set(name, value) {
    await this.js('window.__hands.set(arguments[0], arguments[1])', name, String(value));
    await this.settle();
  }

  async choose(name, value) {
    await this.js('window.__hands.choose(arguments[0], arguments[1])', name, value);
    await this.settle();
  }

  async paste(matrix, text) {
    await this.js('window.__hands.paste(arguments[0], arguments[1])', matrix, text);
    await this.settle();
  }

  middle(...cell) {
    return this.js('return window.__hands.middle(...arguments)', ...cell);
  }

  async mouse(type, [x, y], extra = {}) {
    await this.cdp('Input.dispatchMouseEvent', { type, x, y, ...extra });
  }

  async hover(...cell) {
    await this.mouse('mouseMoved', await this.middle(...cell));
    await this.settle();
  }

  /** A click on a cell. */
  async press(...cell) {
    const at = await this.middle(...cell);
    const left = { button: 'left', clickCount: 1 };
    await this.mouse('mouseMoved', at);
    await this.mouse('mousePressed', at, { ...left, buttons: 1 });
    await this.mouse('mouseReleased', at, left);
    await this.settle();
  }

  pin(...cell) {
    return this.press(...cell);
  }

  /** The pointer goes away and nothing keeps the focus. */
  async leave() {
    await this.mouse('mouseMoved', [2, 2]);
    await this.js('document.activeElement?.blur()');
    await this.settle();
  }

  async drag(matrix, [r0, c0], [r1, c1], rows, cols) {
    const from = await this.middle(matrix, r0, c0, rows, cols);
    const to = await this.middle(matrix, r1, c1, rows, cols);
    const left = { button: 'left', clickCount: 1, buttons: 1 };
    await this.mouse('mouseMoved', from);
    await this.mouse('mousePressed', from, left);
    for (let i = 1; i <= 6; i++) {
      const at = from.map((a, d) => a + ((to[d] - a) * i) / 6);
      await this.mouse('mouseMoved', at, { button: 'left', buttons: 1 });
    }
    await this.mouse('mouseReleased', to, { ...left, buttons: 0 });
    await this.settle();
  }

  /** Types into a cell of an input; a text that ends in a line break is entered. */
  async edit(matrix, row, col, rows, cols, text) {
    const at = await this.middle(matrix, row, col, rows, cols);
    for (const clickCount of [1, 2]) {
      await this.mouse('mousePressed', at, { button: 'left', clickCount, buttons: 1 });
      await this.mouse('mouseReleased', at, { button: 'left', clickCount });
    }
    await this.settle();
    const enters = text.endsWith('\n');
    await this.js(
      `const field = document.querySelector('[data-name="cell-editor"]');
       if (!field) throw new Error('no editor opened');
       Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(field, arguments[0]);
       field.dispatchEvent(new InputEvent('input', { bubbles: true }));
       field.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true }));`,
      text.trim(),
    );
    if (!enters) await this.mouse('mouseMoved', [2, 2]);
    await this.settle();
  }

  scroll(selector, y) {
    return this.js('document.querySelector(arguments[0])?.scrollTo(0, arguments[1])', selector, y);
  }

  block(urls) {
    return this.cdp('Network.setBlockedURLs', { urls });
  }

  /** Makes the engine panic, as a bug in it would. */
  async panic() {
    await this.js('window.__lab.workers.at(-1).postMessage({ head: new Uint8Array([5]), arrays: [] })');
    await this.settle();
  }

  /** The window as PNG; `full` with what lies below its foot. */
  async picture(full = false) {
    const { data } = await this.cdp('Page.captureScreenshot', { format: 'png', captureBeyondViewport: full });
    if (!full) return Buffer.from(data, 'base64');
    const [width, height] = await this.js('const r = document.documentElement; return [r.scrollWidth, r.scrollHeight]');
    const clip = { x: 0, y: 0, width, height, scale: 1 };
    const all = await this.cdp('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
    return Buffer.from(all.data, 'base64');
  }

  /** What the console said since the last time. */
  async said() {
    const entries = await this.driver.manage().logs().get(logging.Type.BROWSER);
    return entries.map((entry) => `${entry.level.name} ${entry.message}`);
  }

  /** A printed number, in full. */
  async read(name) {
    const text = await this.js('return document.querySelector(`[data-read="${arguments[0]}"]`)?.dataset.value', name);
    return text === null || text === undefined ? NaN : Number(text);
  }
}
