// One browser for each test file, reused by its tests and ended with it: that of $BROWSER, chromium, firefox or webkit.

import { after } from 'node:test';

const ENGINES = ['chromium', 'firefox', 'webkit'];

/** The engine that this run is in. */
export const name = process.env.BROWSER || 'chromium';
if (!ENGINES.includes(name)) throw new Error(`BROWSER is “${name}”: expected one of ${ENGINES.join(', ')}`);

const engine = await import(`./engines/${name}.mjs`);

/** A window as most tests want it. */
const PLAIN = { width: 1440, height: 900, scale: 1, dark: false, forced: false, still: false, touch: false };

/** Whether this engine, or its driver, can do something: touch, forced, density, threads, cache … */
export const can = (means) => !(means in engine.lacks);

/**
 * Options for a test that needs something which not every engine has: `test('…', needs('touch'), …)`. Where it is
 * missing the test is not run, and the run says so at its end.
 */
export function needs(...means) {
  const missing = means.filter((m) => !can(m));
  return missing.length ? { skip: missing.map((m) => `needs ${m}: ${engine.lacks[m]}`).join('; ') } : {};
}

let started;
let running;

/** The file's browser on an empty page, in a window of that kind: { web, cdp, errors }. Started when it is first asked for. */
export async function browser(view) {
  const wanted = { ...PLAIN, ...view };
  if (running && view) await running.web.get('about:blank');
  started ??= engine.start(wanted);
  running = await started;
  if (view) await running.wear(wanted);
  await running.web.manage().setTimeouts({ script: 90_000, pageLoad: 90_000, implicit: 0 });
  return running;
}

/** The browser as WebDriver has it, in whatever window it is. */
export async function driver() {
  return (await browser()).web;
}

after(async () => {
  if (started) await (await started).stop();
});
