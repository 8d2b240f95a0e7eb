// How a page looks inside somebody else's: which controls are shown, which of them are fixed, its theme, and the line
// below it. Which parts there are, and whether numbers can be edited, the application reads from the address itself.

import { EMBED_KEYS, pairs, settings } from './parts.js';
import { words } from './words.js';

const root = document.documentElement;

/** Dresses the page for its frame. Called before the application starts; `link` gives its session later. Resolved when
    the style sheet is in force: without it the page would jump. */
export async function dress(link) {
  // A start that was tried again finds the page dressed.
  if (root.dataset.embed !== undefined) return;
  const styled = sheet('embed.css');
  const wanted = settings(location.hash);
  root.dataset.embed = '';
  if (wanted.theme) root.dataset.theme = wanted.theme;
  hideControls([...wanted.controls, ...wanted.fixed]);
  if (wanted.fixed.length) fix(wanted.fixed);
  foot(wanted, link);
  reloadWhenItChanges();
  await styled;
}

/** A style sheet of this folder. Without it the view is bare, and works. */
function sheet(name) {
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = new URL(name, import.meta.url);
  const done = new Promise((resolve) => {
    link.onload = resolve;
    link.onerror = resolve;
  });
  document.head.append(link);
  return done;
}

/** A control is there if it is named, is part of one that is, or has one in it. */
function hideControls(names) {
  const sheet = new CSSStyleSheet();
  const named = names.map((name) => `[data-control="${name}"]`).join(',');
  sheet.replaceSync(
    named
      ? `[data-control]:not(:is(${named})):not(:has(${named})):not(:is(${named}) *){display:none!important}`
      : '[data-control]{display:none!important}',
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}

/** Fixed controls are seen and read, aloud too, and take no hand: also those that come later. What explains or opens
    something still does. */
function fix(names) {
  const selector = names.map((name) => `[data-control="${name}"]`).join(',');
  const hands = ':is(button:not(.gloss, .disclosure-head), input, select):enabled';
  const now = () => {
    for (const control of document.querySelectorAll(selector)) {
      control.dataset.fixed = '';
      for (const hand of control.querySelectorAll(hands)) hand.disabled = true;
    }
  };
  new MutationObserver(now).observe(document.body, { childList: true, subtree: true, attributeFilter: ['disabled'] });
  now();
}

/** The caption, and the way to the whole page with what the reader has made of the view by then. */
async function foot({ title, wrong }, link) {
  const place = document.createElement('footer');
  place.className = 'embed-foot';
  document.body.append(place);
  const say = await words('embed').catch(() => (key) => (key === 'embed-open' ? 'open in Attention Lab' : key));
  const caption = document.createElement('span');
  caption.textContent = title;
  const away = document.createElement('a');
  away.target = '_blank';
  away.rel = 'noopener';
  away.dataset.name = 'open-full';
  away.textContent = say('embed-open');
  const follow = () => {
    // Before the application runs: what the address says.
    const session = link() || pairs(location.hash).filter(([key]) => !EMBED_KEYS.includes(key)).map((p) => p.join('=')).join('&');
    away.href = `${location.href.split('#')[0]}#${session}`;
  };
  follow();
  // When it is wanted, and not at every move of the pointer.
  for (const type of ['pointerover', 'focusin', 'click', 'contextmenu']) away.addEventListener(type, follow);
  place.append(caption, away);
  if (!wrong.length) return;
  const alert = document.createElement('p');
  alert.setAttribute('role', 'alert');
  alert.dataset.problem = 'embed';
  alert.textContent = wrong.map(([key, got, known]) => say('embed-wrong', { key, got, known: known.join(', ') })).join(' ');
  place.prepend(alert);
  document.dispatchEvent(new CustomEvent('lab-error', { detail: alert.textContent }));
}

/** What a view shows is settled when it starts; a changed session it follows without starting anew. */
function reloadWhenItChanges() {
  const shown = () => JSON.stringify(pairs(location.hash).filter(([key]) => EMBED_KEYS.includes(key)));
  const now = shown();
  addEventListener('hashchange', () => {
    if (shown() !== now) location.reload();
  });
}
