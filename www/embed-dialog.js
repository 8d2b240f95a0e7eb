// The dialog that makes an embedded view: what is shown, which controls are free, fixed or hidden, and one line of HTML
// to copy, beside a live preview in a frame like the one it will stand in.

import { CONTROLS, PARTS, embedFragment } from './parts.js';
import { copyable, dressed, make, openDialog } from './share.js';
import { words } from './words.js';

/** Width of a column of text in most course pages. */
const WIDTHS = [380, 560, 720, 960];
const HEIGHTS = [120, 4000];
/** Milliseconds between a choice and the preview that follows it. */
const REST = 250;

const choice = {
  show: ['stage', 'weights', 'readouts'],
  controls: new Map([['scale', 'free']]),
  lock: false,
  theme: '',
  title: '',
  width: 720,
  own: '',
};

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/"/g, '&quot;').replace(/</g, '&lt;').replace(/>/g, '&gt;');

/** Opens the dialog. `page` is the application's module. */
export async function embed(page) {
  const [say] = await Promise.all([words('share'), dressed('share.css')]);
  const session = page.lab_link();
  const base = location.href.split(/[?#]/)[0].replace(/index\.html$/, '');
  const state = { height: null };

  const fragment = () =>
    embedFragment(session, {
      show: PARTS.filter((part) => choice.show.includes(part)),
      controls: CONTROLS.map((c) => c.name).filter((name) => choice.controls.get(name) === 'free'),
      fixed: CONTROLS.map((c) => c.name).filter((name) => choice.controls.get(name) === 'fixed'),
      lock: choice.lock,
      theme: choice.theme,
      title: choice.title,
    });
  const height = () => {
    const own = choice.own.trim();
    if (own === '') return state.height ?? 480;
    const number = Number(own);
    return Number.isInteger(number) && number >= HEIGHTS[0] && number <= HEIGHTS[1] ? number : null;
  };

  // ---- the line to copy ----
  const code = make('textarea', { rows: 5, 'data-name': 'embed-code' });
  const element = make('textarea', { rows: 5, 'data-name': 'embed-element' });
  const plain = copyable({ name: 'embed', label: say('embed-code-plain'), field: code, say });
  const withScript = copyable({ name: 'embed-element', label: say('embed-code-element'), field: element, say });
  const problem = make('p', { class: 'warning', role: 'alert', 'data-problem': 'embed' });
  const heightWords = make('span', { class: 'soft', 'data-read': 'embed-height' });

  // ---- the preview ----
  const frame = make('iframe', { title: say('embed-preview'), 'data-name': 'embed-preview' });
  const stage = make('div', { class: 'preview' }, frame);
  const heard = ({ source, data }) => {
    if (source !== frame.contentWindow || data?.attentionLab !== 1) return;
    if (data.type === 'height' && Number.isFinite(data.height)) {
      state.height = Math.min(HEIGHTS[1], Math.max(HEIGHTS[0], Math.ceil(data.height)));
      write();
    }
  };
  addEventListener('message', heard);

  function write() {
    const high = height();
    const nothing = choice.show.length === 0;
    problem.textContent = nothing ? say('embed-nothing') : high === null ? say('embed-height-bad', { got: choice.own }) : '';
    heightWords.textContent = say('embed-height-auto', { height: state.height ?? '…' });
    frame.style.setProperty('width', `${choice.width}px`);
    frame.style.setProperty('height', `${high ?? 480}px`);
    if (nothing || high === null) return;
    const link = `${base}#${fragment()}`;
    const title = escaped(choice.title || document.title);
    code.value = `<iframe src="${escaped(link)}" title="${title}" width="100%" height="${high}" style="border: 0;" loading="lazy"></iframe>`;
    element.value = `<script src="${escaped(new URL('embed.js', base).href)}" async></script>\n`
      + `<attention-lab src="${escaped(link)}" title="${title}" height="${high}"></attention-lab>`;
  }

  let waiting = 0;
  let shown = null;
  function changed() {
    write();
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      const next = fragment();
      if (choice.show.length === 0 || next === shown) return;
      shown = next;
      // A new frame: its history would otherwise grow with each choice.
      frame.remove();
      frame.src = `${base}#${next}`;
      stage.append(frame);
    }, REST);
  }

  // ---- the choices ----
  const boxes = PARTS.map((part) =>
    make(
      'label',
      { class: 'check' },
      make('input', {
        type: 'checkbox',
        'data-name': `embed-show-${part}`,
        checked: choice.show.includes(part),
        onchange: ({ target }) => {
          choice.show = PARTS.filter((p) => (p === part ? target.checked : choice.show.includes(p)));
          changed();
        },
      }),
      ` ${say(`part-${part}`)}`,
    ),
  );
  const controls = CONTROLS.map(({ name, in: within }) => {
    const options = ['hidden', 'free', 'fixed'].map((how) =>
      make('option', { value: how, text: say(`embed-${how}`), selected: (choice.controls.get(name) ?? 'hidden') === how }));
    return make(
      'label',
      { class: within ? 'pick within' : 'pick' },
      make('span', { text: say(`control-${name}`) }),
      make('select', {
        'data-name': `embed-control-${name}`,
        onchange: ({ target }) => {
          choice.controls.set(name, target.value);
          changed();
        },
      }, ...options),
    );
  });
  const field = (label, input, ...more) => make('label', { class: 'pick' }, make('span', { text: label }), input, ...more);
  const pick = (name, values, now, set) =>
    make('select', { 'data-name': name, onchange: ({ target }) => { set(target.value); changed(); } },
      ...values.map(([value, text]) => make('option', { value, text, selected: String(now) === String(value) })));
  const text = (name, value, set, more = {}) =>
    make('input', { type: 'text', 'data-name': name, value, oninput: ({ target }) => { set(target.value); changed(); }, ...more });
  const group = (title, ...inside) => make('fieldset', {}, make('legend', { text: title }), ...inside);

  const left = page.lab_left_out();
  const dialog = openDialog(
    say('embed-title'),
    'embed',
    say,
    make('p', { text: say('embed-what') }),
    left ? make('p', { class: 'warning', role: 'alert', 'data-problem': 'embed-link', text: left }) : null,
    make(
      'div',
      { class: 'embed-columns' },
      make(
        'div',
        { class: 'embed-choices' },
        group(say('embed-show'), ...boxes),
        group(
          say('embed-controls'),
          make('p', { class: 'soft', text: say('embed-controls-hint') }),
          ...controls,
          make('label', { class: 'check' }, make('input', {
            type: 'checkbox', 'data-name': 'embed-lock', checked: choice.lock,
            onchange: ({ target }) => { choice.lock = target.checked; changed(); },
          }), ` ${say('embed-lock')}`),
        ),
        field(say('embed-theme'), pick('embed-theme',
          [['', say('embed-theme-auto')], ['light', say('embed-theme-light')], ['dark', say('embed-theme-dark')]],
          choice.theme, (value) => { choice.theme = value; })),
        field(say('embed-caption'), text('embed-caption', choice.title, (value) => { choice.title = value; }, { maxlength: 300 })),
        field(say('embed-height'), text('embed-height', choice.own, (value) => { choice.own = value; }, { inputmode: 'numeric', placeholder: say('embed-height-own') }), heightWords),
      ),
      make(
        'div',
        { class: 'embed-result' },
        make('div', { class: 'preview-head' },
          make('h3', { text: say('embed-preview') }),
          field(say('embed-width'), pick('embed-width', WIDTHS.map((w) => [w, `${w} px`]), choice.width, (value) => { choice.width = Number(value); }))),
        stage,
        problem,
        make('h3', { text: say('embed-code-plain') }),
        make('p', { class: 'soft', text: say('embed-code-plain-help') }),
        plain.field,
        plain.line,
        make('h3', { text: say('embed-code-element') }),
        make('p', { class: 'soft', text: say('embed-code-element-help') }),
        withScript.field,
        withScript.line,
      ),
    ),
  );
  dialog.addEventListener('close', () => {
    removeEventListener('message', heard);
    clearTimeout(waiting);
  });
  changed();
}
