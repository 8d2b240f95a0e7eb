// What an embed shows, as a PNG: the canvases of a part where they stand, on the theme's paper, below a line of words.

/** Pixels that every browser can still put into one canvas. */
const MOST_PIXELS = 16_000_000;
const MOST_SIDE = 8192;
/** Where the parts stand that are drawn; the others are text. */
const PARTS = {
  stage: '.stage', waterfall: '.waterfall', weights: '.bars', jacobian: '.jacobian', gradient: '.gradient', output: '.output',
};
const MARGIN = 12;
const LINE = 28;

/**
 * Draws the picture.
 *
 * @param {object} wanted
 * @param {string} [wanted.part] one part by its name, as in `show`; all that is shown if left out
 * @param {string} [wanted.title] the words above it; the page's title if left out, no line if empty
 * @param {number} [wanted.density] device pixels for one of CSS; the screen's if left out
 * @returns {Promise<{ bytes: ArrayBuffer, type: string, width: number, height: number }>}
 */
export async function picture({ part, title = document.title, density = window.devicePixelRatio || 1 } = {}) {
  if (!(typeof density === 'number' && density >= 0.5 && density <= 8)) {
    throw new Error(`density: expected a number from 0.5 to 8, got ${String(density)}. Leave it out for the screen's.`);
  }
  const words = String(title).slice(0, 200);
  const head = words ? LINE : 0;
  const { wide, high } = extent(canvases(part), head);
  const fits = Math.min(density, MOST_SIDE / wide, MOST_SIDE / high, Math.sqrt(MOST_PIXELS / (wide * high)));
  return drawnAt(fits, () => sheetOf(canvases(part), words, head, fits));
}

/** The box around the pieces, and the size of the sheet in CSS pixels. */
function extent(pieces, head) {
  const left = Math.min(...pieces.map(({ rect }) => rect.left));
  const top = Math.min(...pieces.map(({ rect }) => rect.top));
  const right = Math.max(...pieces.map(({ rect }) => rect.right));
  const bottom = Math.max(...pieces.map(({ rect }) => rect.bottom));
  return { left, top, wide: right - left + 2 * MARGIN, high: bottom - top + 2 * MARGIN + head };
}

/** Does something while the page draws for a screen of that density: cells and letters are drawn, not enlarged. */
async function drawnAt(density, then) {
  const own = Object.getOwnPropertyDescriptor(window, 'devicePixelRatio');
  if (own?.configurable === false || density === window.devicePixelRatio) return then();
  const redrawn = async () => {
    window.dispatchEvent(new Event('resize'));
    for (let frames = 0; frames < 3; frames += 1) {
      // A page that nobody sees has no frames.
      await new Promise((resolve) => {
        requestAnimationFrame(resolve);
        setTimeout(resolve, 200);
      });
    }
  };
  const sizes = () => String(canvases().map(({ canvas }) => canvas.width));
  const before = sizes();
  try {
    // WebKit may still know the screen's own density the first time.
    for (let tries = 0; tries < 3 && sizes() === before; tries += 1) {
      Object.defineProperty(window, 'devicePixelRatio', { configurable: true, get: () => density });
      await redrawn();
    }
    return await then();
  } finally {
    if (own) Object.defineProperty(window, 'devicePixelRatio', own);
    else delete window.devicePixelRatio;
    await redrawn();
  }
}

/** The pieces on one sheet, below the words. */
async function sheetOf(pieces, words, head, fits) {
  const { left, top, wide, high } = extent(pieces, head);
  const sheet = document.createElement('canvas');
  sheet.width = Math.floor(wide * fits);
  sheet.height = Math.floor(high * fits);
  const ink = sheet.getContext('2d');
  if (!ink) throw new Error('The browser gave no canvas to draw the picture on. Close other pages and try again.');
  const style = getComputedStyle(document.documentElement);
  const token = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  ink.fillStyle = token('--paper', 'Canvas');
  ink.fillRect(0, 0, sheet.width, sheet.height);
  ink.scale(fits, fits);
  if (words) {
    ink.fillStyle = token('--ink', 'CanvasText');
    ink.font = `600 14px ${token('--ui', 'sans-serif')}`;
    ink.textBaseline = 'middle';
    ink.fillText(words, MARGIN, MARGIN + (head - 8) / 2, wide - 2 * MARGIN);
  }
  for (const { canvas, rect } of pieces) {
    ink.drawImage(canvas, MARGIN + rect.left - left, MARGIN + head + rect.top - top, rect.width, rect.height);
  }
  const blob = await new Promise((resolve) => sheet.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('The browser could not write the picture as PNG. Ask for a smaller density.');
  return { bytes: await blob.arrayBuffer(), type: 'image/png', width: sheet.width, height: sheet.height };
}

/** The canvases on the screen, of the part if one is named, with the places where they are. */
function canvases(part) {
  const names = Object.keys(PARTS);
  if (part !== undefined && !Object.hasOwn(PARTS, part)) {
    throw new Error(`part: expected one of ${names.join(', ')}, got “${String(part).slice(0, 40)}”. Leave it out for all that is shown.`);
  }
  const places = part === undefined ? Object.values(PARTS).join(',') : PARTS[part];
  const pieces = [...document.querySelectorAll(`:is(${places}) canvas`)]
    .filter((canvas) => canvas.width > 0 && canvas.height > 0 && (canvas.checkVisibility?.({ visibilityProperty: true }) ?? true))
    .map((canvas) => ({ canvas, rect: canvas.getBoundingClientRect() }))
    .filter(({ rect }) => rect.width > 0 && rect.height > 0);
  if (!pieces.length) throw new Error('There is no picture: expected a part that is drawn and on the screen, got none. Show it first, then ask again.');
  return pieces;
}
