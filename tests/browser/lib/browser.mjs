// One Chromium for each test file, reused by its tests and ended with it.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
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

let browser;

/** The file's browser, started when it is first asked for. */
export function driver() {
  browser ??= start();
  return browser.then((b) => b.driver);
}

async function start() {
  const profile = await mkdtemp(join(tmpdir(), 'attention-lab-browser-'));
  const options = new chrome.Options().addArguments(...FLAGS, `--user-data-dir=${profile}`);
  if (process.env.CHROME) options.setChromeBinaryPath(process.env.CHROME);
  const logs = new logging.Preferences();
  logs.setLevel(logging.Type.BROWSER, logging.Level.ALL);
  options.setLoggingPrefs(logs);
  // Prompts are the page's affair: a test that meets one fails with its text.
  const service = new chrome.ServiceBuilder(process.env.CHROMEDRIVER ?? 'chromedriver');
  const started = await new Builder()
    .forBrowser('chrome')
    .setChromeOptions(options)
    .setChromeService(service)
    .build();
  await started.manage().setTimeouts({ script: 30_000, pageLoad: 60_000, implicit: 0 });
  return { driver: started, profile };
}

after(async () => {
  if (!browser) return;
  const { driver: started, profile } = await browser;
  await started.quit();
  // Helpers of the browser may still be writing as they end.
  await rm(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});
