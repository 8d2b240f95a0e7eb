// The dialog that gives the link of the picture on the screen, and the way to the one that embeds it.

import { words } from './words.js';

const styles = new Map();

/** A style sheet of this folder, once; resolved when it is in force. */
export function dressed(name) {
  if (!styles.has(name)) {
    const link = document.createElement('link');
    link.rel = 'stylesheet';
    link.href = new URL(name, import.meta.url);
    const there = new Promise((resolve, reject) => {
      link.onload = resolve;
      link.onerror = () => {
        styles.delete(name);
        link.remove();
        reject(new Error(`expected ${name}, got nothing`));
      };
    });
    styles.set(name, there);
    document.head.append(link);
  }
  return styles.get(name);
}

/** An element: its name, what is set on it (`class`, `text`, `on…`, `data-…`, attributes), and what is in it. */
export function make(tag, set = {}, ...inside) {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(set)) {
    if (value === undefined || value === false) continue;
    if (key === 'text') element.textContent = value;
    else if (key.startsWith('on')) element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? '' : value);
  }
  element.append(...inside.filter((x) => x !== null && x !== undefined));
  return element;
}

/** Opens a dialog that closes by Esc, its button, and a press beside it, and is gone then. Focus goes back by itself. */
export function openDialog(title, name, say, ...inside) {
  const id = `${name}-title`;
  const close = make('button', {
    type: 'button', class: 'text-button', 'data-name': `${name}-close`, text: say('share-close'), onclick: () => dialog.close(),
  });
  const dialog = make(
    'dialog',
    { class: `lab-dialog ${name}`, 'aria-labelledby': id, 'data-name': `${name}-dialog` },
    make('div', { class: 'lab-dialog-head' }, make('h2', { id, text: title }), close),
    ...inside,
  );
  dialog.addEventListener('close', () => dialog.remove());
  dialog.addEventListener('pointerdown', (event) => {
    if (event.target !== dialog) return;
    const box = dialog.getBoundingClientRect();
    const out = event.clientX < box.left || event.clientX > box.right || event.clientY < box.top || event.clientY > box.bottom;
    if (out) dialog.close();
  });
  // The bench has shortcuts of its own: they are not meant here.
  dialog.addEventListener('keydown', (event) => event.stopPropagation());
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

/** A text and a button that copies it; what was not allowed is said, and the text is marked for the reader's own keys. */
export function copyable({ name, label, field, say }) {
  const said = make('span', { class: 'said', role: 'status' });
  const copy = make('button', {
    type: 'button',
    class: 'main-button',
    'data-name': `${name}-copy`,
    text: say('share-copy'),
    onclick: async () => {
      field.select();
      let copied = false;
      try {
        await navigator.clipboard.writeText(field.value);
        copied = true;
      } catch {
        try {
          copied = document.execCommand('copy');
        } catch {
          copied = false;
        }
      }
      said.textContent = say(copied ? 'share-copied' : 'share-by-hand');
    },
  });
  field.readOnly = true;
  field.spellcheck = false;
  field.setAttribute('aria-label', label);
  field.addEventListener('focus', () => field.select());
  return { field, line: make('div', { class: 'copy-line' }, copy, said) };
}

/** The address of the whole page with the present session. */
export function fullLink(page) {
  return `${location.href.split('#')[0]}#${page.lab_link()}`;
}

/** Opens the dialog. `page` is the application's module. */
export async function share(page) {
  const [say] = await Promise.all([words('share'), dressed('share.css')]);
  const link = fullLink(page);
  const field = make('input', { type: 'text', 'data-name': 'share-link', value: link });
  const { line } = copyable({ name: 'share', label: say('share-link'), field, say });
  line.append(make('span', { class: 'soft', text: say('share-letters', { n: link.length }) }));
  const missing = page.lab_left_out();
  const dialog = openDialog(
    say('share-title'),
    'share',
    say,
    missing ? null : make('p', { text: say('share-what') }),
    field,
    missing ? make('p', { class: 'warning', role: 'alert', 'data-problem': 'share', text: missing }) : null,
    line,
    make('button', {
      type: 'button',
      class: 'text-button',
      'data-name': 'share-embed',
      text: say('share-embed'),
      onclick: async () => {
        const { embed } = await import('./embed-dialog.js');
        dialog.close();
        embed(page);
      },
    }),
  );
  field.focus();
}
