// What a screen reader has to say, in reading order: roles, names, values and texts of the opening view, of its controls
// opened, and of the table, against texts that a person can read. SPOKEN=write writes them anew: read what changed.

import assert from 'node:assert/strict';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { test } from 'node:test';
import { open } from './lib/bench.mjs';

const AXE = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FOLDER = new URL('spoken/', import.meta.url);

/** Lines of what is said, indented as parts of the page lie in one another. Names as axe-core computes them. */
async function spoken(bench) {
  if (!(await bench.eval(() => 'axe' in window))) await bench.web.executeScript(AXE);
  return bench.eval(() => {
    const { axe } = window;
    axe.setup(document);
    const { aria, dom, text } = axe.commons;
    const WHOLE = ['button', 'link', 'slider', 'textbox', 'combobox', 'radio', 'switch', 'checkbox', 'img', 'application', 'heading', 'math'];
    const AROUND = ['banner', 'main', 'navigation', 'complementary', 'contentinfo', 'region', 'radiogroup', 'group', 'dialog', 'form', 'table', 'list', 'status', 'alert', 'toolbar'];
    const lines = [];
    let words = '';
    const say = (depth, line) => line.trim() && lines.push(`${'  '.repeat(depth)}${line.replace(/\s+/g, ' ').trim()}`);
    const flush = (depth) => {
      say(depth, words);
      words = '';
    };
    const state = (e, role) => {
      const said = [];
      if (role === 'combobox' && e.selectedOptions) said.push(`= ${e.selectedOptions[0]?.textContent}`);
      else if (role === 'slider') said.push(`= ${e.getAttribute('aria-valuetext') ?? e.value}`);
      else if (role === 'textbox') said.push(`= ${e.value}`);
      for (const name of ['checked', 'expanded', 'current', 'disabled', 'pressed', 'invalid', 'live']) {
        const value = e.getAttribute(`aria-${name}`);
        if (value && value !== 'false') said.push(value === 'true' ? name : `${name} ${value}`);
      }
      return said.length ? ` (${said.join(', ')})` : '';
    };
    const visit = (node, depth) => {
      if (node.nodeType === Node.TEXT_NODE) {
        words += node.data;
        return;
      }
      if (node.nodeType !== Node.ELEMENT_NODE || ['SCRIPT', 'STYLE', 'NOSCRIPT', 'CAPTION'].includes(node.tagName) || !dom.isVisibleToScreenReaders(node)) return;
      const role = node.tagName.toLowerCase() === 'math' ? 'math' : aria.getRole(node, { noPresentational: true });
      if (WHOLE.includes(role)) {
        flush(depth);
        const name = role === 'math' ? node.textContent : text.accessibleText(node);
        say(depth, `${role}: ${name}${state(node, role)}`);
        return;
      }
      let inner = depth;
      const block = getComputedStyle(node).display !== 'inline';
      if (AROUND.includes(role)) {
        flush(depth);
        // Tables and lists have a name only where one is given, not by what is in them.
        const name = ['table', 'list'].includes(role) ? (node.getAttribute('aria-label') ?? node.caption?.textContent ?? '') : text.accessibleText(node);
        say(depth, `${role}: ${name}${state(node, role)}`.replace(/: *$/, ''));
        inner += 1;
      } else if (block) flush(depth);
      for (const child of node.childNodes) visit(child, inner);
      if (block || AROUND.includes(role)) flush(inner);
    };
    // An open dialog is all there is.
    visit(document.querySelector('dialog:modal') ?? document.body, 0);
    axe.teardown();
    return lines;
  });
}

async function same(bench, name) {
  // The float32 check comes after the picture.
  await bench.find('[data-read="fast_error"]:not([data-value=""])');
  const said = `${(await spoken(bench)).join('\n')}\n`;
  const file = new URL(`${name}.txt`, FOLDER);
  if (process.env.SPOKEN === 'write') {
    await mkdir(FOLDER, { recursive: true });
    await writeFile(file, said);
  }
  assert.deepEqual(said.split('\n'), (await readFile(file, 'utf8')).split('\n'), `what is said in ${name}`);
}

test('the opening view, read out', async () => {
  const bench = await open({ still: true });
  await same(bench, 'opening');
});

test('controls of a small example, and a refused number', async () => {
  const bench = await open({ still: true, query: '?engine=simd' });
  await bench.random({ n_q: 3, n_k: 3, d_k: 2, d_v: 2, heads: 1 });
  await bench.choose('mask', 'window');
  await bench.choose('positions', 'rope');
  await bench.set('window.size', '0');
  assert.ok(await bench.problem('window.size'));
  await same(bench, 'controls');
});

test('the dialog with numbers as a table', async () => {
  const bench = await open({ still: true });
  await bench.random({ n_q: 3, n_k: 3, d_k: 2, d_v: 2, heads: 1 });
  await bench.press('tables');
  await bench.choose('table-matrix', 'A');
  await same(bench, 'table');
});
