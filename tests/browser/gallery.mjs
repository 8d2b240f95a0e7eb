// Pictures of the page for people to judge: the sizes, themes, sources and states that must look right.
//
//   BASE_URL=http://127.0.0.1:8080/ node tests/browser/gallery.mjs [NAME …] [--out FOLDER]
//
// Writes FOLDER/NAME.png (default tests/shots, which git ignores) and prints what the console said while a picture was
// taken. A NAME is the beginning of a picture's name; without any, all of them. Nothing here passes or fails.

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Bench } from './lib/script.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const args = process.argv.slice(2);
const at = args.indexOf('--out');
const out = at < 0 ? join(here, '../shots') : args.splice(at, 2)[1];
const base = process.env.BASE_URL ?? 'http://127.0.0.1:8080/';

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844, ratio: 2, mobile: true };

const SMALL = {
  Q: '1 0 0.5 -1\n1 0.05 -1 2\n1.5 -40 0.5 1',
  K: '1 0.02 0.5 -1\n0.5 38 0.4 1\n0.5 -0.05 1 1\n-1 0 2 0.5\n0 1 -1 0',
  V: '1 0 2 -1\n0.5 1 0 3\n-2 1 1 0\n0 0 1 1\n4 -1 0.5 0',
};

/** Q, K and V of the small numbers, typed. */
async function typed(b, { n_q = 3, n_k = 5, d_k = 4, d_v = 4, ...blocks } = SMALL) {
  await b.choose('source', 'typed');
  for (const [name, value] of Object.entries({ n_q, n_k, d_k, d_v, heads: 1, kv_heads: 1 })) {
    await b.set(name, value);
  }
  for (const [name, text] of Object.entries(blocks)) await b.paste(name, text);
}

async function random(b, sizes) {
  await b.choose('source', 'random');
  await b.set('heads', 1);
  for (const [name, value] of Object.entries(sizes)) await b.set(name, value);
}

async function head(b, layer, number) {
  await b.click(`[data-head="${layer}.${number}"]`);
  await b.settle(600);
}

const it = async b => {
  await b.click('[data-name="stage-A"]');
  await b.pin('A', 10, 2, 16, 16);
  await b.leave();
};

/** Name, window, what the hand does first. */
const PICTURES = {
  'desktop-light': [DESK],
  // docs/bench.png is this one with at most 256 colours.
  'readme': [{ ...DESK, ratio: 1.5, full: true }],
  'desktop-dark': [{ ...DESK, dark: true }],
  'desktop-2x': [{ ...DESK, ratio: 2 }],
  'desktop-scale-1': [DESK, async b => b.set('scale', 1)],
  'desktop-sink': [DESK, async b => head(b, 4, 5)],
  'desktop-hover': [DESK, async b => b.hover('S', 6, 5, 16, 16)],
  'desktop-root': [DESK, async b => b.click('[data-name="root-weights"], [data-name="root_weights"]')],
  'small-numbers': [DESK, async b => {
    await typed(b);
    await b.click('[data-name="mask"] [data-value="causal"]');
    await b.settle();
    await b.click('[data-name="causal.align"] [data-value="top_left"]');
    await b.settle();
    await b.press('M', 0, 0, 3, 5);
    await b.pin('S', 2, 1, 3, 5);
    await b.edit('K', 2, 0, 4, 5, '0.5x');
  }],
  'small-numbers-dark': [{ ...DESK, dark: true }, async b => PICTURES['small-numbers'][1](b)],
  'phone-light': [PHONE, it],
  'phone-dark': [{ ...PHONE, dark: true }, it],
  'phone-inspector': [PHONE, async b => {
    await it(b);
    await b.click('[data-name="open-inspector"]');
    await b.settle(700);
  }],
  'phone-inputs': [PHONE, async b => {
    await b.click('[data-name="open-inputs"]');
    await b.settle(700);
  }],
  'phone-Q': [PHONE, async b => b.click('[data-name="stage-Q"]')],
  'phone-V': [PHONE, async b => b.click('[data-name="stage-V"]')],
  'phone-small': [{ width: 320, height: 568, ratio: 2, mobile: true }],
  'phone-full': [{ ...PHONE, full: true }, it],
  'phone-landscape': [{ width: 844, height: 390, ratio: 2, mobile: true }],
  'tablet-900': [{ width: 900, height: 1100 }],
  'tablet-768': [{ width: 768, height: 1024 }],
  'tablet-inputs': [{ width: 768, height: 1024 }, async b => {
    await b.click('[data-name="open-inputs"], [data-name="inputs"]');
    await b.settle(700);
  }],
  'laptop-1100': [{ width: 1100, height: 800 }],
  'laptop-1280': [{ width: 1280, height: 720 }],
  'wide-1920': [{ width: 1920, height: 1080 }],
  'wide-2560': [{ width: 2560, height: 1440 }],
  'zoom-200': [{ width: 720, height: 450, ratio: 2 }],
  'zoom-200-full': [{ width: 720, height: 450, ratio: 2, full: true }],
  'forced-colours': [{ ...DESK, forced: true }],
  'forced-colours-dark': [{ ...DESK, forced: true, dark: true }],
  'forced-small': [{ ...DESK, forced: true }, async b => PICTURES['small-numbers'][1](b)],
  'vision-deuteranopia': [{ ...DESK, vision: 'deuteranopia' }],
  'vision-protanopia': [{ ...DESK, vision: 'protanopia' }],
  'vision-tritanopia': [{ ...DESK, vision: 'tritanopia' }],
  'vision-achromatopsia': [{ ...DESK, vision: 'achromatopsia' }, async b => PICTURES['small-numbers'][1](b)],
  'heads-4-2': [DESK, async b => {
    await random(b, { n_q: 8, n_k: 8, d_k: 8, d_v: 8, heads: 4, kv_heads: 2 });
    await b.pin('S', 5, 3, 8, 8);
    await b.leave();
  }],
  'mask-drawing': [DESK, async b => {
    await b.click('[data-name="mask"] [data-value="drawn"]');
    await b.drag('M', [3, 4], [8, 9], 16, 16);
  }],
  'mask-causal': [DESK, async b => b.click('[data-name="mask"] [data-value="causal"]')],
  'mask-window': [DESK, async b => b.click('[data-name="mask"] [data-value="window"]')],
  'mask-finite': [DESK, async b => {
    await typed(b);
    await b.click('[data-name="mask"] [data-value="padding"]');
    await b.click('[data-name="hidden-choice"] [data-value="1e4"]');
  }],
  'empty-row': [DESK, async b => {
    await random(b, { n_q: 6, n_k: 4, d_k: 4, d_v: 4 });
    await b.click('[data-name="mask"] [data-value="causal"]');
    await b.settle();
    await b.click('[data-name="causal.align"] [data-value="bottom_right"]');
    await b.settle();
    await b.pin('S', 0, 1, 6, 4);
    await b.leave();
  }],
  'n-32': [DESK, async b => random(b, { n_q: 32, n_k: 32, d_k: 16, d_v: 16 })],
  'n-64': [DESK, async b => random(b, { n_q: 64, n_k: 64, d_k: 64, d_v: 64 })],
  'n-64-hover': [DESK, async b => {
    await random(b, { n_q: 64, n_k: 64, d_k: 64, d_v: 64 });
    await b.settle(500);
    await b.hover('S', 40, 20, 64, 64);
  }],
  'n-512': [DESK, async b => {
    await random(b, { n_q: 512, n_k: 512, d_k: 64, d_v: 64 });
    await b.settle(1500);
  }],
  'n-512-dark': [{ ...DESK, dark: true }, async b => PICTURES['n-512'][1](b)],
  'n-1': [DESK, async b => random(b, { n_q: 1, n_k: 1, d_k: 1, d_v: 1 })],
  'n-2-by-40': [DESK, async b => random(b, { n_q: 2, n_k: 40, d_k: 3, d_v: 5 })],
  'n-40-by-3': [DESK, async b => random(b, { n_q: 40, n_k: 3, d_k: 3, d_v: 5 })],
  'd-256': [DESK, async b => random(b, { n_q: 6, n_k: 6, d_k: 256, d_v: 2 })],
  'tokens': [DESK, async b => b.choose('source', 'tokens')],
  'tokens-full': [{ ...DESK, full: true }, async b => b.choose('source', 'tokens')],
  'rope': [DESK, async b => {
    await random(b, { n_q: 8, n_k: 8, d_k: 8, d_v: 4 });
    await b.choose('positions', 'rope');
  }],
  'rope-head': [DESK, async b => b.choose('positions', 'rope')],
  'alibi': [DESK, async b => {
    await random(b, { n_q: 8, n_k: 8, d_k: 8, d_v: 4, heads: 4 });
    await b.choose('positions', 'alibi');
  }],
  'extras': [DESK, async b => {
    await b.click('[data-name="extras"]');
    await b.settle();
    for (const name of ['soft_cap-on', 'sink-on', 'qk_norm-on']) await b.click(`[data-name="${name}"]`);
    await b.scroll('.inputs', 900);
  }],
  'paragraph': [DESK, async b => {
    await b.choose('sentence', 'paragraph');
    await b.settle(2500);
  }],
  'table': [DESK, async b => b.click('[data-name="tables"]')],
  'jacobian': [DESK, async b => b.click('[data-name="jacobian-open"]')],
  'd-out': [DESK, async b => b.click('[data-name="d_out-open"]')],
  'suggested': [DESK, async b => b.click('[data-name="suggested-heads"]')],
  'error-cell': [DESK, async b => {
    await typed(b);
    await b.edit('Q', 1, 1, 3, 4, 'abc');
  }],
  'error-paste': [DESK, async b => {
    await typed(b);
    await b.paste('Q', '1 2 3\n4 5');
  }],
  'error-paste-big': [DESK, async b => {
    await typed(b);
    await b.paste('V', '1 2 3 4 5 6 7 8 9\n1 2 3 4 5 6 7 8 9');
  }],
  'error-d-k-0': [DESK, async b => {
    await random(b, { n_q: 6, n_k: 6, d_k: 4, d_v: 4 });
    await b.set('d_k', 0);
  }],
  'error-heads': [DESK, async b => {
    await random(b, { n_q: 6, n_k: 6, d_k: 4, d_v: 4, heads: 4 });
    await b.set('kv_heads', 3);
  }],
  'error-rope': [DESK, async b => {
    await random(b, { n_q: 6, n_k: 6, d_k: 5, d_v: 4 });
    await b.choose('positions', 'rope');
    await b.set('rope.dims', 5);
  }],
  'error-window': [DESK, async b => {
    await random(b, { n_q: 6, n_k: 6, d_k: 4, d_v: 4 });
    await b.click('[data-name="mask"] [data-value="window"]');
    await b.settle();
    await b.set('window.size', 0);
  }],
  'error-1e38': [DESK, async b => {
    await typed(b);
    await b.edit('Q', 0, 0, 3, 4, '1e38\n');
    await b.edit('K', 0, 0, 4, 5, '1e38\n');
    await b.pin('S', 0, 0, 3, 5);
    await b.leave();
  }],
  'error-1e200': [DESK, async b => {
    await typed(b);
    await b.edit('Q', 0, 0, 3, 4, '1e200\n');
    await b.edit('K', 0, 0, 4, 5, '1e200\n');
    await b.pin('S', 0, 0, 3, 5);
    await b.leave();
  }],
  'error-example': [{ ...DESK, block: ['*coreference*layer*', '*coreference-*'] }],
  'error-example-later': [DESK, async b => {
    await b.block(['*examples*copying*']);
    await b.choose('sentence', 'copying');
    await b.settle(1500);
  }],
  'error-worker': [{ ...DESK, query: '?engine=none' }],
  'error-panic': [DESK, async b => {
    await b.panic();
    await b.settle(1500);
  }],
};

const wanted = Object.keys(PICTURES).filter(name => !args.length || args.some(a => name.startsWith(a)));
if (!wanted.length) {
  console.error(`no picture begins with ${args.join(', ')}: expected some of\n  ${Object.keys(PICTURES).join('\n  ')}`);
  process.exit(2);
}
mkdirSync(out, { recursive: true });
const bench = await Bench.start();
try {
  for (const name of wanted) {
    const [window, steps] = PICTURES[name];
    await bench.open(base, window);
    try {
      await steps?.(bench);
    } catch (error) {
      console.log(`${name}: a step did not work: ${error.message}`);
    }
    await bench.settle(400);
    writeFileSync(join(out, `${name}.png`), await bench.picture(window.full));
    const said = await bench.said();
    console.log(name + (said.length ? `: ${said.join(' | ')}` : ''));
  }
} finally {
  await bench.stop();
}
