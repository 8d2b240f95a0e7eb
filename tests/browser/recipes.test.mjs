// The recipes of docs/embedding.md: what their tools make of them, opened in the browser with this build's lab; and for
// course systems, that what they allow leaves the snippet as it is. `cargo xtask embeds` builds them. With PICTURES=1 the
// guide's pictures are taken on the way, in docs/embedding.

import assert from 'node:assert/strict';
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { driver } from './lib/browser.mjs';
import { Host, folder } from './lib/host.mjs';
import { address } from './lib/server.mjs';

const SOURCES = fileURLToPath(new URL('../embeds', import.meta.url));
const BUILT = process.env.EMBEDS ?? join(process.env.CARGO_TARGET_DIR ?? fileURLToPath(new URL('../../target', import.meta.url)), 'embeds');
const SANITISER = await readFile(new URL('lib/sanitiser.js', import.meta.url), 'utf8');
const source = (path) => readFile(join(SOURCES, path), 'utf8');

/** Opens a built recipe, with this build's lab in the place of lab.example. */
async function open(recipe, page = 'index.html') {
  const site = join(BUILT, recipe);
  await access(site).catch(() => assert.fail(`${recipe}: expected it built in target/embeds, found nothing. Run \`cargo xtask embeds\`.`));
  const lab = (await address('isolated')).replace(/\/$/, '');
  const web = await driver();
  if (process.env.PICTURES) await web.manage().window().setRect({ width: 900, height: 1000 });
  await web.get(new URL(page, await folder(site, (text) => text.replaceAll('https://lab.example', lab))).href);
  return new Host(web, lab);
}

/** The picture that every recipe shows: its numbers, and nothing but the one control. */
async function shows(host) {
  const [{ link, reads }] = await host.ready();
  for (const pair of ['src=random(7,1)', 'nq=8', 'nk=8', 'mask=causal', 'scale=0.5', 'pin=5,2']) {
    assert.ok(link.split('&').includes(pair), `${pair} in ${link}`);
  }
  assert.deepEqual(reads.row ?? [5, 2], [5, 2]);
  await host.inside(async (web) => {
    const controls = await web.executeScript(() => [...document.querySelectorAll('[data-control]')].filter((e) => e.getClientRects().length).map((e) => e.dataset.control));
    assert.deepEqual(controls, ['scale']);
  });
}

/** The guide's picture of a recipe, where PICTURES=1 asks for new ones. */
async function photograph(host, recipe) {
  if (!process.env.PICTURES) return;
  const file = fileURLToPath(new URL(`../../docs/embedding/${recipe}.png`, import.meta.url));
  await writeFile(file, await host.web.takeScreenshot(), 'base64');
}

describe('recipes that a tool builds', () => {
  for (const [recipe, page] of [['plain'], ['mkdocs'], ['jupyter-book', '_build/html/lecture.html'], ['quarto']]) {
    test(recipe, async () => {
      const host = await open(recipe, page);
      await host.run(() => lab.scrollIntoView({ block: 'center' }));
      await shows(host);
      await host.follows();
      await host.run(() => scrollTo(0, 0));
      await photograph(host, recipe);
    });
  }

  test('reveal.js: starts when its slide is shown, and stays', async () => {
    const host = await open('reveal');
    await host.run(async () => {
      await customElements.whenDefined('attention-lab');
      await until(() => Reveal.isReady(), 'reveal.js');
      await new Promise((resolve) => setTimeout(resolve, 500));
      if (lab.shadowRoot?.querySelector('iframe')) throw new Error('it started on a slide that is not shown');
      Reveal.next();
    });
    await shows(host);
    await photograph(host, 'reveal');
    // The float32 check comes after the picture.
    const before = await host.run(() => until(async () => {
      const now = await lab.get();
      return 'fast_error' in now.reads && now;
    }, 'the float32 check'));
    await host.run(async () => {
      Reveal.next();
      await new Promise((resolve) => setTimeout(resolve, 300));
      Reveal.prev();
    });
    assert.deepEqual(await host.run(() => lab.get()), before);
    await host.run(async () => {
      const { problems } = await lab.set({ scale: 2 });
      if (problems.length) throw new Error(problems.join(' '));
    });
    assert.match((await host.run(() => lab.get())).link, /scale=2(&|$)/);
  });
});

test('MyST keeps the address of its iframe directive as it is', async () => {
  const { mdast } = JSON.parse(await readFile(join(BUILT, 'myst/_build/site/content/lecture.json'), 'utf8'));
  const all = (node) => [node, ...(node.children ?? []).flatMap(all)];
  const frames = all(mdast).filter(({ type }) => type === 'iframe');
  const written = /\{iframe\} (\S+)/.exec(await source('myst/lecture.md'))[1];
  assert.deepEqual(frames.map(({ src, width }) => [src, width]), [[written, '100%']]);
});

describe('course systems that clean what is pasted', () => {
  const cleaned = async (html, rules) => {
    const web = await driver();
    await web.get('about:blank');
    return web.executeScript(`return (${SANITISER})(...arguments)`, html, JSON.parse(await source(rules)));
  };
  const clean = async (path, rules) => cleaned(await source(path), rules);

  for (const [system, page, rules] of [
    ['canvas', 'canvas/page.html', 'canvas/allowed.json'],
    ['moodle', 'moodle/page.html', 'moodle/allowed.json'],
    ['moodle, cleaned texts', 'moodle/forum.html', 'moodle/cleaned.json'],
  ]) {
    test(`${system}: the snippet passes unchanged`, async () => {
      const { before, after } = await clean(page, rules);
      assert.equal(after, before);
    });
  }

  test('the line of the lab’s own dialog passes; Canvas takes nothing from it but the hint to load it late', async () => {
    const web = await driver();
    await web.get(await address('isolated'));
    const host = new Host(web);
    await host.waitIn(() => document.querySelector('[data-read="entropy"]'));
    for (const name of ['share', 'share-embed']) {
      await host.waitIn(`() => document.querySelector('[data-name="${name}"]')`);
      await web.executeScript(`document.querySelector('[data-name="${name}"]').click()`);
    }
    const line = await host.waitIn(() => document.querySelector('[data-name="embed-code"]')?.value);
    assert.match(line, /^<iframe src="http/);
    const moodle = await cleaned(line, 'moodle/allowed.json');
    assert.equal(moodle.after, moodle.before);
    const canvas = await cleaned(line, 'canvas/allowed.json');
    assert.equal(canvas.after, canvas.before.replace(' loading="lazy"', ''));
    assert.match(canvas.after, /style="border: 0;"/, 'no frame around the frame');
  });

  test('what does not pass is known: the element in Canvas, an iframe in cleaned texts of Moodle', async () => {
    assert.doesNotMatch((await clean('plain/index.html', 'canvas/allowed.json')).after, /attention-lab|<script/);
    assert.doesNotMatch((await clean('moodle/page.html', 'moodle/cleaned.json')).after, /iframe/);
  });

  for (const system of ['canvas', 'moodle']) {
    test(`${system}: the plain iframe works without any script of ours`, async () => {
      const host = await open(system, 'page.html');
      await host.inside(async (web) => {
        const found = await host.waitIn(() => document.querySelector('[data-read][data-value]') && document.querySelector('canvas')?.width > 100);
        assert.ok(found);
        assert.equal(await web.executeScript('return document.querySelectorAll(".embedded").length'), 1);
      });
      await photograph(host, system);
    });
  }
});
