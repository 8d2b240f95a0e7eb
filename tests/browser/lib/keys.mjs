// The keyboard's walk through the page: where the focus is, whether it can be seen, and what it could be on.

import { Key } from './bench.mjs';

/** Puts the focus before everything, as after loading, and the page at its top. */
export function fromTheTop(bench) {
  return bench.eval(() => {
    // Tab goes on from where the focus was last: that is to be the beginning.
    const start = document.createElement('span');
    start.tabIndex = -1;
    document.body.prepend(start);
    start.focus();
    start.remove();
    scrollTo(0, 0);
    // A matrix, a name, the name of the row of words, or the words.
    window.__label = (e) => e.dataset.matrix ?? e.dataset.name ?? e.closest('[role="radiogroup"]')?.dataset.name ?? (e.className || e.textContent.trim().slice(0, 40));
    window.__id = (e) => {
      e.dataset.walk ??= String((window.__walk = (window.__walk ?? 0) + 1));
      return e.dataset.walk;
    };
  });
}

/** The keyboard comes back to the page, where Tab has left it for the browser's own controls. */
export async function backInPage(bench) {
  await bench.web.switchTo().window(await bench.web.getWindowHandle());
}

/** Puts the focus on an element of the page. */
export async function putFocus(bench, selector) {
  await backInPage(bench);
  await bench.eval((s) => document.querySelector(s).focus({ focusVisible: true }), selector);
}

/** Presses Tab, or Shift and Tab. */
export async function tab(bench, back = false) {
  const keys = bench.web.actions();
  if (back) keys.keyDown(Key.SHIFT);
  keys.sendKeys(Key.TAB);
  if (back) keys.keyUp(Key.SHIFT);
  await keys.perform();
}

/** What has the focus: { id, label, visible, ring, scrolls }; null where nothing has. */
export async function focus(bench) {
  const now = await bench.eval(() => {
    const e = document.activeElement;
    // In the browser's own controls, behind the last one of the page's, no element has it.
    if (!e || e === document.body || e === document.documentElement || !document.hasFocus()) return null;
    const style = getComputedStyle(e);
    const r = e.getBoundingClientRect();
    const visible = r.bottom > 0 && r.top < innerHeight && r.right > 0 && r.left < innerWidth;
    const ring = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 1;
    const around = { x: r.left - 12, y: r.top - 12, width: r.width + 24, height: r.height + 24 };
    // Some engines stop at what scrolls, too.
    const scrolls = !e.hasAttribute('tabindex') && e.scrollHeight > e.clientHeight && /auto|scroll/.test(style.overflowY);
    return { id: window.__id(e), label: window.__label(e), visible, ring, scrolls, around };
  });
  if (now) now.ring ||= await showsFocus(bench, now.around);
  return now;
}

/** Whether the focused element looks different without the focus: parts of native controls have no style to ask for. */
async function showsFocus(bench, around) {
  const focused = await bench.pixels(around);
  await bench.eval(() => {
    window.__focused = document.activeElement;
    window.__focused.blur();
  });
  const without = await bench.pixels(around);
  await bench.eval(() => window.__focused.focus({ focusVisible: true }));
  return !focused.equals(without);
}

/** Presses Tab until the focus has gone round or left the page; gives what had it, in order; `from` had it before. */
export async function walk(bench, { back = false, from = null } = {}) {
  const seen = [];
  for (let step = 0; step < 250; step += 1) {
    await tab(bench, back);
    const now = await focus(bench);
    if (now === null || now.id === from?.id || seen.some((s) => s.id === now.id)) break;
    seen.push(now);
  }
  return seen;
}

/** Everything that a keyboard must be able to reach, of what is shown now, in the document's order. */
export function reachable(bench) {
  return bench.eval(() =>
    [...document.querySelectorAll('a[href], button, input, select, textarea, [tabindex]')]
      .filter((e) => e.checkVisibility({ visibilityProperty: true }) && !e.closest('[inert]') && !e.disabled && e.tabIndex >= 0)
      .map((e) => ({ id: window.__id(e), label: window.__label(e) })),
  );
}
