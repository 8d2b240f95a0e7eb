// What an embedded page can show and what a link says about it: the same lists for the page in the frame, the dialog
// that makes frames, and the tests.

/** Parts of the bench, in the order in which they stand on the page. */
export const PARTS = ['stage', 'waterfall', 'weights', 'readouts', 'jacobian', 'gradient', 'output', 'formula'];

/** Controls by name; those with `in` are part of another one. */
export const CONTROLS = [
  { name: 'source' },
  { name: 'sizes' },
  { name: 'scale' },
  { name: 'mask' },
  { name: 'positions' },
  { name: 'extras' },
  { name: 'soft_cap', in: 'extras' },
  { name: 'sink', in: 'extras' },
  { name: 'qk_norm', in: 'extras' },
  { name: 'options' },
  { name: 'history' },
];

/** Keys of a link that say how an embedded page looks. */
export const EMBED_KEYS = ['embed', 'show', 'controls', 'fixed', 'lock', 'theme', 'title'];

/** The pairs of a fragment, in order. */
export function pairs(fragment) {
  return fragment
    .replace(/^#/, '')
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const at = pair.indexOf('=');
      return at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
    });
}

/** `%41` → `A`; what is no escape stays. */
export function unescaped(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The settings of an embedded page from its fragment, and what of them is not known: `[key, value]`. */
export function settings(fragment) {
  const given = new Map(pairs(fragment).map(([key, value]) => [key.replace(/^amp;/, ''), unescaped(value)]));
  const wrong = [];
  const list = (key, known) => {
    const names = (given.get(key) ?? '').split(',').filter(Boolean);
    for (const name of names) if (!known.includes(name)) wrong.push([key, name, known]);
    return names.filter((name) => known.includes(name));
  };
  const names = CONTROLS.map((control) => control.name);
  const all = given.get('controls') === 'all';
  const show = list('show', PARTS);
  const theme = given.get('theme');
  if (theme !== undefined && !['light', 'dark'].includes(theme)) wrong.push(['theme', theme, ['light', 'dark']]);
  return {
    embed: given.get('embed') === '1',
    show: show.length ? show : PARTS,
    controls: all ? names.filter((n) => !CONTROLS.find((c) => c.name === n).in) : list('controls', [...names, 'none']).filter((n) => n !== 'none'),
    fixed: list('fixed', names),
    lock: given.get('lock') === '1',
    theme: ['light', 'dark'].includes(theme) ? theme : null,
    title: (given.get('title') ?? '').slice(0, 300),
    wrong,
  };
}

/** The fragment that shows `state` (a fragment of the session) with these settings. What is at its default is left out. */
export function embedFragment(state, { show, controls, fixed = [], lock, theme, title }) {
  const out = ['embed=1'];
  if (show && show.length < PARTS.length) out.push(`show=${show.join(',')}`);
  if (controls?.length) out.push(`controls=${controls.join(',')}`);
  if (fixed.length) out.push(`fixed=${fixed.join(',')}`);
  if (lock) out.push('lock=1');
  if (theme) out.push(`theme=${theme}`);
  if (title) out.push(`title=${encodeURIComponent(title).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)}`);
  const session = pairs(state).filter(([key]) => !EMBED_KEYS.includes(key));
  return [...out, ...session.map(([key, value]) => `${key}=${value}`)].join('&');
}
