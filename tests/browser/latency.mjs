// From a hand to the screen: how long an edit of one cell takes until the picture that shows it is presented.
//
//   node tests/browser/latency.mjs [--edits 60]          (after `cargo xtask build`; a development build is slower)
//
// What is measured. A cell of Q is edited in the page as it is published, with real (trusted) input. The clock starts at
// the input event's own timeStamp, which the browser takes when the input reaches it, so that every wait in a queue
// counts. It stops when the browser has rendered the frame in which the canvas of the pipeline holds the engine's answer
// to this edit:
//
//   input ─ handler ─ session ─ job ─▶ worker ─▶ trace ─ scene ─ canvas painted ─ frame rendered ─▶ screen
//   event.timeStamp                    answered           last 2d call              a task right after it
//
// The trace of this edit is known because the engine owes nothing when the edit is made and answers once. That the frame
// is rendered is known from a task posted by that frame's own requestAnimationFrame: it runs when style, layout, paint
// and commit of the frame are done. The compositor then has the frame; the next refresh of the display shows it. The
// last column, "next frame", is the start of the frame after: an upper bound for any display at 60 Hz. "painted" is the
// work alone, without the wait for the display's rhythm, which is half a frame on average. "beside" is when inspector,
// waterfall and formulas, which follow the picture a frame later and are marked until then, are rendered too.
//
// Two edits: "typed" is Enter in the cell's field, "dragged" is one move of a pointer that drags the cell's value. The
// browser hands pointer moves to the page only at the start of a frame, so a dragged edit waits for that frame first.
//
// Once as on a server with isolation headers (threads), once without them (one thread).

import { By, Key, Origin } from 'selenium-webdriver';
import { Bench } from './lib/script.mjs';
import { address, close } from './lib/static.mjs';

const args = process.argv.slice(2);
const at = args.indexOf('--edits');
const EDITS = at < 0 ? 60 : Number(args[at + 1]);
const FRAME = 1000 / 60;

/** Sizes and what is asked of them: median and 95th percentile, in ms. */
const SIZES = [
  { n: 64, d: 64, median: FRAME, high: 2 * FRAME },
  { n: 512, d: 64, median: 100, high: 100 },
];

/** Runs in the page: notes the times of one edit. */
const WATCH = `(() => {
  const watch = { edits: [] };
  window.__watch = watch;
  let now = null;
  const TRACE = 2;
  for (const name of ['fillRect', 'putImageData', 'drawImage', 'fillText', 'stroke', 'clearRect']) {
    const native = CanvasRenderingContext2D.prototype[name];
    CanvasRenderingContext2D.prototype[name] = function (...args) {
      native.apply(this, args);
      if (now?.answered && !now.rendered && this.canvas.closest?.('[data-name="stage"]')) {
        now.painted = performance.now();
        if (now.waiting) return;
        const edit = now;
        edit.waiting = true;
        requestAnimationFrame(() => {
          const { port1, port2 } = new MessageChannel();
          port1.onmessage = () => { edit.rendered = performance.now(); };
          port2.postMessage(0);
          requestAnimationFrame(() => { edit.next = performance.now(); });
        });
      }
    };
  }
  const busy = '[aria-busy="true"]';
  new MutationObserver(() => {
    const edit = now;
    if (!edit?.answered || edit.follows || document.querySelector(busy)) return;
    edit.follows = true;
    requestAnimationFrame(() => {
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => { edit.beside = performance.now(); };
      port2.postMessage(0);
    });
  }).observe(document, { subtree: true, attributes: true, attributeFilter: ['aria-busy'] });
  const Native = window.Worker;
  window.Worker = class extends Native {
    constructor(...args) {
      super(...args);
      this.addEventListener('message', ({ data }) => {
        if (now && data?.head?.[0] === TRACE) now.answered ??= performance.now();
      });
    }
  };
  /** The next event of that type is an edit. */
  watch.expect = (type, accept = '') => {
    now = null;
    const take = (event) => {
      if (accept && event.key !== accept) return;
      window.removeEventListener(type, take, true);
      now = { input: event.timeStamp, handled: performance.now(), trusted: event.isTrusted };
      watch.edits.push(now);
    };
    window.addEventListener(type, take, true);
  };
  watch.done = () => Boolean(now?.next && now.beside);
})();`;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function rendered(bench, what) {
  const end = Date.now() + 10_000;
  while (!(await bench.js('return window.__watch.done()'))) {
    if (Date.now() > end) throw new Error(`${what} was not painted within 10 s`);
    await pause(5);
  }
}

/** Enter in the field over a cell of Q. */
async function typed(bench, n, d) {
  const place = await bench.driver.findElement(By.css('[data-matrix="Q"]'));
  for (let i = 0; i < EDITS; i += 1) {
    await bench.driver.executeScript('arguments[0].focus({ preventScroll: true })', place);
    await bench.driver.actions().sendKeys(Key.chord(Key.CONTROL, Key.HOME), Key.F2).perform();
    const field = await bench.driver.findElement(By.css('[data-name="cell-editor"]'));
    await field.sendKeys(Key.chord(Key.CONTROL, 'a'), String(((i * 7) % 19) / 10 - 0.9));
    await bench.settle(20);
    await bench.js('window.__watch.expect("keydown", "Enter")');
    // Not in step with the frames.
    await pause(Math.random() * 2 * FRAME);
    await field.sendKeys(Key.ENTER);
    await rendered(bench, `edit ${i}`);
  }
}

/** Moves of a pointer that has seized a cell of Q. */
async function dragged(bench, n, d) {
  const [x, y] = (await bench.middle('Q', 1, 1, n, d)).map(Math.round);
  const to = (dy) => bench.driver.actions({ async: true }).move({ origin: Origin.VIEWPORT, x, y: y + dy, duration: 0 });
  await to(0).press().perform();
  await to(-8).perform();
  for (let i = 0; i < EDITS; i += 1) {
    await bench.settle(20);
    await bench.js('window.__watch.expect("pointermove")');
    await pause(Math.random() * 2 * FRAME);
    await to(-12 - (i % 40)).perform();
    await rendered(bench, `move ${i}`);
  }
  await bench.driver.actions({ async: true }).release().perform();
}

const quantile = (sorted, q) => sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)];

function line(edits, name) {
  const part = (from, to) => edits.map((e) => e[to] - e[from]).sort((a, b) => a - b);
  const pair = (list) => `${quantile(list, 0.5).toFixed(1).padStart(6)} ${quantile(list, 0.95).toFixed(1).padStart(6)}`;
  const whole = part('input', 'rendered');
  const columns = [part('input', 'handled'), part('handled', 'answered'), part('answered', 'painted'), part('input', 'painted'), whole, part('input', 'next'), part('input', 'beside')];
  console.log(`${name.padEnd(34)}${columns.map(pair).join('   ')}`);
  return [quantile(whole, 0.5), quantile(whole, 0.95)];
}

let late = 0;
const bench = await Bench.start();
try {
  await bench.cdp('Page.addScriptToEvaluateOnNewDocument', { source: WATCH });
  console.log(`${EDITS} edits of one cell each, ms: median and 95th percentile\n`);
  console.log(`${''.padEnd(34)}${['queued', 'engine', 'painting', 'painted', 'rendered', 'next frame', 'beside'].map((w) => w.padEnd(13)).join('   ')}`);
  for (const kind of ['isolated', 'plain']) {
    for (const { n, d, median, high } of SIZES) {
      for (const [how, edit] of [['typed', typed], ['dragged', dragged]]) {
        await bench.open(await address(kind), { width: 1440, height: 900 });
        await bench.choose('source', 'random');
        for (const [name, value] of Object.entries({ heads: 1, n_q: n, n_k: n, d_k: d, d_v: d })) await bench.set(name, value);
        await bench.settle(300);
        await bench.js('window.__watch.edits.length = 0');
        await edit(bench, n, d);
        const edits = await bench.js('return window.__watch.edits');
        if (!edits.every((e) => e.trusted)) throw new Error('an input was not a real one');
        const words = await bench.js('return document.querySelector(\'[data-read="engine"]\').textContent.trim()');
        const [half, most] = line(edits.slice(2), `${kind}, n ${n}, d_k ${d}, ${how}`);
        const ok = half <= median && most <= high;
        if (how === 'typed') {
          late += ok ? 0 : 1;
          console.log(`${''.padEnd(4)}${ok ? 'ok' : 'LATE'}: at most ${median.toFixed(1)} and ${high.toFixed(1)} asked; ${words}`);
        }
      }
    }
  }
} finally {
  await bench.stop();
  close();
}
process.exitCode = late ? 1 : 0;
