// Firefox: geckodriver lets a test run scripts as the browser itself, which sets preferences while it runs. They do
// what an emulation would, so that one browser serves a whole file.

import { Builder } from 'selenium-webdriver';
import firefox from 'selenium-webdriver/firefox.js';
import * as program from './program.mjs';

const PREFERENCES = {
  // The page's console goes to the driver's output, the browser's own does not.
  'devtools.console.stdout.content': true,
  'devtools.console.stdout.chrome': false,
  // Nothing is fetched but the page.
  'app.normandy.enabled': false,
  'browser.chrome.site_icons': false,
  'app.shield.optoutstudies.enabled': false,
  'datareporting.healthreport.uploadEnabled': false,
  'messaging-system.rsexperimentloader.enabled': false,
  'nimbus.rollouts.enabled': false,
  // Scroll bars take no room, as in the other engines.
  'widget.gtk.overlay-scrollbars.enabled': true,
  'ui.useOverlayScrollbars': 1,
};

export const lacks = {};

/** Bits of `ui.primaryPointerCapabilities`. */
const [COARSE, FINE, HOVER] = [1, 2, 4];

/** Runs in the browser, not in the page. The window leaves room for its own bars around the page. */
function dress({ width, height, scale, dark, forced, still, touch, pointer }) {
  const number = (name, value) => Services.prefs.setIntPref(name, value);
  Services.prefs.setStringPref('layout.css.devPixelsPerPx', String(scale));
  number('layout.css.prefers-color-scheme.content-override', dark ? 0 : 1);
  number('ui.systemUsesDarkTheme', dark ? 1 : 0);
  number('browser.display.document_color_use', forced ? 2 : 0);
  number('ui.prefersReducedMotion', still ? 1 : 0);
  number('ui.primaryPointerCapabilities', pointer);
  number('ui.allPointerCapabilities', pointer);
  number('dom.w3c_touch_events.enabled', touch ? 1 : 0);
  const colours = forced && dark ? ['#ffffff', '#000000', '#ffff00'] : ['#000000', '#ffffff', '#0000ee'];
  for (const suffix of ['', '.dark']) {
    ['foreground_color', 'background_color'].forEach((name, i) => Services.prefs.setStringPref(`browser.display.${name}${suffix}`, colours[i]));
    Services.prefs.setStringPref(`browser.anchor_color${suffix}`, colours[2]);
  }
  window.resizeTo(Math.max(width, 500) + 40, height + 240);
  const style = gBrowser.selectedBrowser.style;
  for (const [side, length] of Object.entries({ width, height })) {
    for (const name of [side, `min-${side}`, `max-${side}`]) style.setProperty(name, `${length}px`);
  }
}

export async function start() {
  const driver = await program.start(process.env.GECKODRIVER ?? 'geckodriver', ['--port=0', '--allow-system-access'], {
    ready: /Listening on 127\.0\.0\.1:(\d+)/,
  });
  const options = new firefox.Options().addArguments('--headless');
  if (process.env.FIREFOX) options.setBinary(process.env.FIREFOX);
  for (const [name, value] of Object.entries(PREFERENCES)) options.setPreference(name, value);
  const web = await new Builder().usingServer(`http://127.0.0.1:${driver.found[1]}`).forBrowser('firefox').setFirefoxOptions(options).build();
  let read = driver.lines.length;
  let marks = 0;

  return {
    web,

    async wear(view) {
      await web.setContext('chrome');
      try {
        await web.executeScript(dress, { ...view, pointer: view.touch ? COARSE : FINE | HOVER });
      } finally {
        await web.setContext('content');
      }
    },

    /** What the console said of errors since the last time, workers' consoles included. */
    async errors() {
      // Output comes in its order, a little later: what was said before the mark is here when the mark is.
      const mark = `mark ${(marks += 1)} of a test`;
      await web.executeScript('window.__lab?.aside(() => console.error(arguments[0]), arguments[0]) ?? console.error(arguments[0])', mark);
      const end = Date.now() + 10_000;
      while (!driver.lines.slice(read).some((line) => line.includes(mark)) && Date.now() < end) {
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      const said = driver.lines.slice(read).filter((line) => !/mark \d+ of a test/.test(line));
      read = driver.lines.length;
      // The browser's own loggers begin with a name and nothing else on the line.
      return said.filter((line) => /^console\.error: |panicked|unreachable/.test(line) && !/^console\.error: \w+: ?$/.test(line));
    },

    async stop() {
      await web.quit();
      await driver.stop();
    },
  };
}
