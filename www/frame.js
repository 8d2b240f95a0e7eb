/**
 * The page's side of an embed: it tells the page around it how high it is, and answers what embed.js asks.
 *
 * Version 1. Every message is { attentionLab: 1, type, … }:
 *
 *     lab  -> host  { type: 'hello' }                          listening; to anybody
 *                   { type: 'height', height }                 CSS pixels of the content; to anybody
 *                   { type: 'ready' | 'change', link, reads }  to a host that has said hello, at its origin
 *                   { type: 'error', message }                 the same
 *                   { type: 'reply', id, ok, value | error }   the answer to the question of that id
 *     host -> lab   { type: 'hello' }
 *                   { type: 'get' | 'set' | 'open' | 'png' | 'data', id, … }
 *
 * docs/embedding.md describes each question and its answer. Only the window around this one is listened to.
 *
 * @module
 */

import { EMBED_KEYS, pairs } from './parts.js';

/** The version of the messages. */
const VERSION = 1;
/** Milliseconds that a picture may take before a `set` is answered without it. */
const PAINTING = 4000;
/** Milliseconds that the first picture may take. */
const LOADING = 25_000;
/** Milliseconds without a frame after which nothing is drawn here. */
const SLEEP = 1000;
/** Heights that may follow each other while nothing but the frame's own height has changed. */
const ECHOES = 3;

const host = window.parent;
/** What the page told before the host said hello, in order: the last `ready` or `change`, and errors. */
const early = [];
/** Where the host is, once it has said hello. */
let origin = null;
let lab = null;
let painted = false;
let reporting = false;
let turn = Promise.resolve();
/** Resolved by the next picture. */
let waiting = [];

const send = (message, transfer = []) => host.postMessage({ attentionLab: VERSION, ...message }, origin, transfer);
const shout = (message) => host.postMessage({ attentionLab: VERSION, ...message }, '*');

// These listen from the start: the first picture may come before `frame` is called.
for (const type of ['ready', 'change']) {
  document.addEventListener(`lab-${type}`, () => {
    painted = true;
    if (lab) reportHeights();
    for (const done of waiting.splice(0)) done('painted');
    tell({ type });
  });
}
document.addEventListener('lab-error', ({ detail }) => {
  for (const done of waiting.splice(0)) done('error');
  tell({ type: 'error', message: String(detail) });
});

/**
 * Starts to listen and to report.
 *
 * @param {object} module the page's module, initialised: lab_link, lab_open, lab_set, lab_data
 */
export function frame(module) {
  lab = module;
  window.addEventListener('message', hear);
  shout({ type: 'hello' });
  if (painted) reportHeights();
}

// ---- what the page tells -------------------------------------------------------------------------------------------

function tell(message) {
  if (origin !== null && lab) send(message.type === 'error' ? message : { ...message, ...state() });
  else if (message.type === 'error') early.push(message);
}

/** The session as a link, and every number that the page shows under a name. */
function state() {
  return { link: lab.lab_link(), reads: reads() };
}

function reads() {
  const found = {};
  for (const { dataset } of document.querySelectorAll('[data-read][data-value]')) {
    if (dataset.read in found || dataset.value === '') continue;
    const numbers = dataset.value.split(',').map(Number);
    if (!numbers.some(Number.isNaN)) found[dataset.read] = numbers.length > 1 ? numbers : numbers[0];
  }
  return found;
}

/**
 * Tells the height of the content whenever it changes, at most once a frame. Not before the first picture: the host keeps
 * a place free until then, and would have to move its text twice.
 */
function reportHeights() {
  if (reporting) return;
  reporting = true;
  let last = 0;
  let seen = [window.innerWidth, window.innerHeight];
  let echoes = 0;
  let due = false;
  const measure = () => {
    due = false;
    const [width, height] = [window.innerWidth, window.innerHeight];
    // Nothing is laid out in a frame that is not shown.
    if (width === 0) return;
    // Content that follows the frame's height would make it grow for ever.
    echoes = seen[0] === width && seen[1] !== height ? echoes + 1 : 0;
    seen = [width, height];
    const now = Math.ceil(document.documentElement.getBoundingClientRect().height);
    if (now === last || now === 0 || echoes > ECHOES) return;
    last = now;
    shout({ type: 'height', height: now });
  };
  const soon = () => {
    if (due) return;
    due = true;
    requestAnimationFrame(measure);
  };
  const observer = new ResizeObserver(soon);
  observer.observe(document.documentElement);
  observer.observe(document.body);
  measure();
}

// ---- what the host asks --------------------------------------------------------------------------------------------

/** @type {Record<string, (asked: object) => Promise<{ value: unknown, transfer?: Transferable[] }>>} */
const ANSWERS = {
  get: async () => {
    await firstPicture();
    return { value: { ...state(), painted } };
  },
  set: (asked) => change('lab_set', asked.link),
  open: (asked) => change('lab_open', asked.link),
  png: async (asked) => {
    await firstPicture();
    const { picture } = await import('./frame-picture.js');
    const value = await picture(asked);
    return { value, transfer: [value.bytes] };
  },
  data: async () => {
    await firstPicture();
    const data = lab.lab_data();
    if (!data) throw new Error('There are no numbers yet: expected a picture on the screen, got none. Bring the lab onto the screen and wait for “ready”, then ask again.');
    return { value: data };
  },
};

/** Changes the session and waits for its picture, so that a `get` that follows reads the new numbers. */
async function change(call, link) {
  if (typeof link !== 'string') {
    throw new Error(`link: expected text such as “scale=1&mask=causal”, got ${kind(link)}. Send the keys and values of a link.`);
  }
  const before = lab.lab_link();
  const next = nextPicture(PAINTING);
  const problems = [...(lab[call](link.replace(/^#/, '')) ?? [])];
  for (const [key, value] of call === 'lab_set' ? pairs(link) : []) {
    if (EMBED_KEYS.includes(key)) problems.push(`${key}: expected a change of numbers or options, got “${value.slice(0, 40)}”. What is shown is settled when the lab loads: load it anew, as a changed attribute does.`);
  }
  const shown = lab.lab_link() !== before && (await next) === 'painted';
  return { value: { ...state(), problems, painted: shown } };
}

/**
 * What comes next: 'painted'; 'error' where the page says so; 'late' after `patience` ms; 'asleep' where nothing is drawn
 * in this window, as when it is scrolled far away or hidden.
 */
async function nextPicture(patience) {
  const end = performance.now() + patience;
  const next = new Promise((resolve) => waiting.push(resolve));
  // Twice: a script that is busy for long keeps frames away as well.
  for (let still = 0; still < 2 && performance.now() < end; ) {
    const frame = new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, SLEEP / 4, 'frame')));
    const silence = new Promise((resolve) => setTimeout(resolve, SLEEP, 'silence'));
    const outcome = await Promise.race([next, frame, silence]);
    if (outcome === 'painted' || outcome === 'error') return outcome;
    still = outcome === 'frame' ? 0 : still + 1;
    if (still === 2) return 'asleep';
  }
  return 'late';
}

/** Waits for the first picture, but not where none is drawn. */
async function firstPicture() {
  while (!painted) {
    const outcome = await nextPicture(LOADING);
    if (outcome === 'asleep' || outcome === 'late') return;
  }
}

function hear({ source, origin: from, data }) {
  if (source !== host || typeof data !== 'object' || data === null || !('attentionLab' in data)) return;
  // An opaque origin has no name to send to.
  const address = from === 'null' ? '*' : from;
  const refuse = (message) => {
    const answer = data.id === undefined ? { type: 'error', message } : { type: 'reply', id: data.id, ok: false, error: message };
    host.postMessage({ attentionLab: VERSION, ...answer }, address);
  };
  if (data.attentionLab !== VERSION) {
    refuse(`Messages of the lab: expected version ${VERSION}, got ${kind(data.attentionLab)}. Load embed.js from the address of this lab.`);
  } else if (data.type === 'hello') {
    origin = address;
    if (painted) send({ type: 'ready', ...state() });
    for (const message of early.splice(0)) send(message);
  } else if (!Object.hasOwn(ANSWERS, data.type)) {
    refuse(`Messages of the lab: expected the type hello, ${Object.keys(ANSWERS).join(', ')}, got ${kind(data.type)}. Correct the type.`);
  } else if (origin === null) {
    refuse(`Messages of the lab: expected hello first, got ${kind(data.type)}. Send hello and wait for ready.`);
  } else {
    // One after the other: who asks after a change is told of the changed picture.
    turn = turn.then(() => ANSWERS[data.type](data)).then(
      ({ value, transfer }) => send({ type: 'reply', id: data.id, ok: true, value }, transfer),
      (error) => send({ type: 'reply', id: data.id, ok: false, error: String(error?.message ?? error) }),
    );
  }
}

/** What came, short enough for a sentence. */
function kind(value) {
  if (typeof value === 'string') return `“${value.slice(0, 40)}”`;
  return typeof value === 'number' ? String(value) : Array.isArray(value) ? 'a list' : value === null ? 'nothing' : typeof value;
}
