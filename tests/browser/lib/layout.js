// Runs in the page: what is wrong with where things stand. Gives sentences, none where all is well.

window.__layout = (() => {
  const shown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const words = (node) => node.data.replace(/\s+/g, ' ').trim().slice(0, 60);
  const name = (element) =>
    element.tagName.toLowerCase() + (element.dataset?.name ? `[${element.dataset.name}]` : element.className && typeof element.className === 'string' ? `.${element.className.trim().split(/\s+/).join('.')}` : '');
  const within = (a, b, slack = 1.5) => a.left >= b.left - slack && a.right <= b.right + slack && a.top >= b.top - slack && a.bottom <= b.bottom + slack;

  /** Text that a reader can see: not that for screen readers only, nor inside closed sheets. */
  function texts() {
    const found = [];
    const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node; (node = walk.nextNode()); ) {
      const parent = node.parentElement;
      if (!node.data.trim() || !parent || !shown(parent)) continue;
      if (parent.closest('.visually-hidden, .live, .skip, [inert], script, style, noscript, option, svg')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      // Less what a line's box has above and below its letters.
      const size = parseFloat(getComputedStyle(parent).fontSize);
      const window = opening(parent);
      const rects = [...range.getClientRects()]
        .filter((r) => r.width > 0.5 && r.height > 0.5)
        .map((r) => {
          const trim = Math.max(0, (r.height - size * 0.8) / 2);
          return { left: r.left, right: r.right, top: r.top + trim, bottom: r.bottom - trim };
        })
        .filter((r) => r.bottom > window.top + 1 && r.top < window.bottom - 1 && r.right > window.left + 1 && r.left < window.right - 1);
      if (rects.length) found.push({ node, parent, rects });
    }
    return found;
  }

  /** What the scrolling parts around an element let be seen of it now. */
  function opening(element) {
    const seen = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      const { overflowX, overflowY, position } = getComputedStyle(box);
      if ([overflowX, overflowY].some((o) => o === 'auto' || o === 'scroll')) {
        const r = box.getBoundingClientRect();
        seen.left = Math.max(seen.left, r.left);
        seen.right = Math.min(seen.right, r.right);
        seen.top = Math.max(seen.top, r.top);
        seen.bottom = Math.min(seen.bottom, r.bottom);
      }
      if (position === 'fixed') break;
    }
    return seen;
  }

  function clipped() {
    const wrong = [];
    for (const { node, parent, rects } of texts()) {
      for (let box = parent; box && box !== document.body; box = box.parentElement) {
        const style = getComputedStyle(box);
        if (style.position === 'fixed') break;
        const x = style.overflowX;
        const y = style.overflowY;
        if (x === 'auto' || x === 'scroll' || y === 'auto' || y === 'scroll') break;
        if (style.textOverflow === 'ellipsis' && x !== 'visible' && box.scrollWidth > box.clientWidth + 1) {
          wrong.push(`“${words(node)}” is cut in ${name(box)}: ${box.scrollWidth} px in ${box.clientWidth}`);
          break;
        }
        if (x === 'visible' && y === 'visible') continue;
        const bounds = box.getBoundingClientRect();
        if (!rects.every((r) => within(r, bounds))) {
          wrong.push(`“${words(node)}” is cut by ${name(box)}`);
          break;
        }
      }
    }
    for (const input of document.querySelectorAll('input[type="text"]')) {
      if (shown(input) && !input.closest('[inert]') && input.scrollWidth > input.clientWidth + 1) wrong.push(`“${input.value}” is cut in ${name(input)}`);
    }
    return [...new Set(wrong)];
  }

  function beyond() {
    const wrong = [];
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) wrong.push(`the page scrolls sideways: ${root.scrollWidth} px in ${innerWidth}`);
    for (const { node, parent, rects } of texts()) {
      if (scrolls(parent)) continue;
      const out = rects.find((r) => r.left < -0.5 || r.right > innerWidth + 0.5);
      if (out) wrong.push(`“${words(node)}” reaches from ${out.left.toFixed(0)} to ${out.right.toFixed(0)} of ${innerWidth} px`);
    }
    for (const element of document.querySelectorAll('canvas, input, button, select')) {
      if (!shown(element) || element.closest('[inert], .visually-hidden, .skip') || scrolls(element)) continue;
      const r = element.getBoundingClientRect();
      if (r.left < -0.5 || r.right > innerWidth + 0.5) wrong.push(`${name(element)} reaches from ${r.left.toFixed(0)} to ${r.right.toFixed(0)} of ${innerWidth} px`);
    }
    return [...new Set(wrong)];
  }

  /** Whether an element can be scrolled sideways into view by itself, which is fine. */
  function scrolls(element) {
    for (let box = element; box && box !== document.body; box = box.parentElement) {
      if (['auto', 'scroll'].includes(getComputedStyle(box).overflowX)) return true;
    }
    return false;
  }

  function overlapping() {
    const layer = (element) => {
      for (let box = element; box; box = box.parentElement) {
        if (['fixed', 'sticky'].includes(getComputedStyle(box).position)) return box;
      }
      return null;
    };
    const lines = texts()
      .filter(({ parent }) => !parent.closest('math'))
      .flatMap(({ node, parent, rects }) => {
        const over = layer(parent);
        return rects.map((r) => ({ ...r, node, parent, over }));
      })
      .sort((a, b) => a.top - b.top);
    const wrong = [];
    lines.forEach((a, i) => {
      for (let j = i + 1; j < lines.length && lines[j].top < a.bottom - 1.5; j += 1) {
        const b = lines[j];
        if (a.node === b.node || a.over !== b.over) continue;
        if (a.parent.closest('sub, sup') || b.parent.closest('sub, sup')) continue;
        const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (across > 2 && down > 2) wrong.push(`“${words(a.node)}” and “${words(b.node)}” lie on each other`);
      }
    });
    return [...new Set(wrong)];
  }

  /** Every text is of 12 px at least, outside formulas and indices. */
  function small() {
    const wrong = [];
    for (const { node, parent } of texts()) {
      if (parent.closest('math, sub, sup')) continue;
      const size = parseFloat(getComputedStyle(parent).fontSize);
      if (size < 11.9) wrong.push(`“${words(node)}” has ${size} px`);
    }
    return [...new Set(wrong)];
  }

  /** Canvases have a device pixel for each device pixel. */
  function blurred() {
    const wrong = [];
    for (const canvas of document.querySelectorAll('canvas')) {
      if (!shown(canvas)) continue;
      const r = canvas.getBoundingClientRect();
      for (const [side, has, css] of [['width', canvas.width, r.width], ['height', canvas.height, r.height]]) {
        if (css > 1 && Math.abs(has - css * devicePixelRatio) > 1.01) wrong.push(`a canvas in ${name(canvas.parentElement)} has ${side} ${has} for ${css.toFixed(1)} CSS px at ${devicePixelRatio}`);
      }
    }
    return [...new Set(wrong)];
  }

  /** Where the parts of the page stand, in whole pixels of the document. */
  function boxes() {
    const found = {};
    const parts = 'header.top, .bench > .inputs, .inputs .group, section.pipeline, .stage, .stage canvas, .invite, .stage-line, .bench > .inspector, .row-title, .bars, .reads, .jacobian, .gradient, .output, section.formulas, .formula, .waterfall';
    const count = {};
    for (const element of document.querySelectorAll(parts)) {
      if (!shown(element)) continue;
      const key = name(element);
      count[key] = (count[key] ?? 0) + 1;
      const r = element.getBoundingClientRect();
      // A line of words is as wide as its words.
      const width = element.matches('.stage-line, .invite') ? 0 : r.width;
      found[`${key} ${count[key]}`] = [r.left + scrollX, r.top + scrollY, width, r.height].map(Math.round).join(' ');
    }
    found.page = String(document.documentElement.scrollHeight);
    return found;
  }

  return { clipped, beyond, overlapping, small, blurred, boxes };
})();
