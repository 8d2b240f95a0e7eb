// Chromium: everything is emulated over its DevTools protocol, so that one browser serves a whole file.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Builder, logging } from 'selenium-webdriver';
import chrome from 'selenium-webdriver/chrome.js';

const FLAGS = [
  '--headless=new',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--disable-background-timer-throttling',
  '--disable-renderer-backgrounding',
  '--hide-scrollbars',
  '--force-color-profile=srgb',
];

/** What this engine cannot be asked to do, and why. */
export const lacks = {};

export async function start() {
  const profile = await mkdtemp(join(tmpdir(), 'attention-lab-chromium-'));
  const options = new chrome.Options().addArguments(...FLAGS, `--user-data-dir=${profile}`);
  if (process.env.CHROME) options.setChromeBinaryPath(process.env.CHROME);
  const logs = new logging.Preferences();
  logs.setLevel(logging.Type.BROWSER, logging.Level.ALL);
  options.setLoggingPrefs(logs);
  // Prompts are the page's affair: a test that meets one fails with its text.
  const service = new chrome.ServiceBuilder(process.env.CHROMEDRIVER ?? 'chromedriver');
  const web = await new Builder().forBrowser('chrome').setChromeOptions(options).setChromeService(service).build();
  const cdp = (method, params = {}) => web.sendAndGetDevToolsCommand(method, params);

  return {
    web,
    cdp,

    /** A window of that size, density and kind of pointer, and what the reader's system asks for. */
    async wear({ width, height, scale, dark, forced, still, touch }) {
      await cdp('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: scale, mobile: touch });
      await cdp('Emulation.setTouchEmulationEnabled', { enabled: touch });
      const media = (name, value) => ({ name, value });
      await cdp('Emulation.setEmulatedMedia', {
        features: [
          media('prefers-color-scheme', dark ? 'dark' : 'light'),
          media('forced-colors', forced ? 'active' : 'none'),
          media('prefers-reduced-motion', still ? 'reduce' : 'no-preference'),
        ],
      });
    },

    /** What the console said of errors since the last time. */
    async errors() {
      const entries = await web.manage().logs().get('browser');
      return entries.filter((e) => e.level.name === 'SEVERE' || /panicked|unreachable/.test(e.message)).map((e) => e.message);
    },

    async stop() {
      await web.quit();
      // Helpers of the browser may still be writing as they end.
      await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}
