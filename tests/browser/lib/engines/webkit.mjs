// WebKitGTK's MiniBrowser on a screen that is nowhere. There is no emulation: density, dark colours and reduced motion
// are settings of the desktop that it reads as it starts, so that another set of them is another browser.

import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Builder } from 'selenium-webdriver';
import * as program from './program.mjs';

export const lacks = {
  touch: 'WebDriver makes mouse events of touches',
  forced: 'WebKitGTK has no forced colours',
  density: 'GTK takes whole numbers of device pixels, and only as the browser starts',
  threads: 'WebKitGTK has no SharedArrayBuffer',
  cache: 'its driver gives it no cache on disk, and what is fetched does not stay in memory',
};

/**
 * The pointer stands in the middle of the screen for good, and without a window manager the window below it has the
 * focus: the window's corner is put there. WebDriver's own pointer is another one.
 */
const SCREEN = { width: 5800, height: 4400 };
const CORNER = { x: SCREEN.width / 2, y: SCREEN.height / 2 };

/** Without the bar of the browser a window may be as narrow as a telephone. */
const NO_BAR = `toolbar, toolbar *, entry { min-width: 0; min-height: 0; margin: 0; padding: 0; border: 0; font-size: 1px; -gtk-icon-transform: scale(0); }\n`;

async function browserPath() {
  if (process.env.MINIBROWSER) return process.env.MINIBROWSER;
  for (const lib of ['/usr/lib', ...(await readdir('/usr/lib', { withFileTypes: true })).filter((e) => e.isDirectory() && e.name.includes('-linux-')).map((e) => `/usr/lib/${e.name}`), '/usr/libexec']) {
    const found = (await readdir(lib).catch(() => [])).filter((name) => /^webkit2?gtk-/.test(name)).sort();
    for (const name of found) {
      if ((await readdir(join(lib, name)).catch(() => [])).includes('MiniBrowser')) return join(lib, name, 'MiniBrowser');
    }
  }
  throw new Error('there is no MiniBrowser of WebKitGTK here: install webkit2gtk-driver, or name it in MINIBROWSER');
}

async function open({ scale, dark, still }) {
  const home = await mkdtemp(join(tmpdir(), 'attention-lab-webkit-'));
  const settings = join(home, 'config', 'gtk-3.0');
  await mkdir(settings, { recursive: true });
  await writeFile(join(settings, 'gtk.css'), NO_BAR);
  await writeFile(join(settings, 'settings.ini'), `[Settings]\ngtk-enable-animations=${still ? 0 : 1}\n`);
  // The screen ends by itself when its browser does.
  const screen = await program.start('Xvfb', ['-displayfd', '1', '-screen', '0', `${SCREEN.width}x${SCREEN.height}x24`, '-nolisten', 'tcp', '-terminate'], { ready: /^(\d+)$/ });
  const env = {
    ...process.env,
    DISPLAY: `:${screen.found[1]}`,
    GDK_BACKEND: 'x11',
    GDK_SCALE: String(Math.max(1, Math.round(scale))),
    GTK_THEME: dark ? 'Adwaita:dark' : 'Adwaita',
    XDG_CONFIG_HOME: join(home, 'config'),
    XDG_DATA_HOME: join(home, 'data'),
    XDG_CACHE_HOME: join(home, 'cache'),
    NO_AT_BRIDGE: '1',
    // Pictures go from process to process through shared memory: without a graphics card the other way takes twice as long.
    WEBKIT_DISABLE_DMABUF_RENDERER: '1',
  };
  const port = await program.freePort();
  const at = `http://127.0.0.1:${port}`;
  const driver = await program.start(process.env.WEBKITDRIVER ?? 'WebKitWebDriver', [`--port=${port}`], {
    env,
    check: async () => (await fetch(`${at}/status`)).ok,
  });
  const web = await new Builder()
    .usingServer(at)
    .withCapabilities({ browserName: 'MiniBrowser', 'webkitgtk:browserOptions': { binary: await browserPath(), args: ['--automation', '--full-screen'] } })
    .build();
  return {
    web,
    async stop() {
      await web.quit();
      await driver.stop();
      await screen.stop();
      await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
    },
  };
}

export async function start(view) {
  const key = ({ scale, dark, still }) => [Math.max(1, Math.round(scale)), dark, still].join();
  let now = await open(view);
  let worn = key(view);

  return {
    get web() {
      return now.web;
    },

    async wear(next) {
      if (key(next) !== worn) {
        await now.stop();
        now = await open(next);
        worn = key(next);
      }
      const { width, height } = next;
      await now.web.manage().window().setRect({ ...CORNER, width, height });
      const end = Date.now() + 10_000;
      for (let got; ; ) {
        got = await now.web.executeScript('return [innerWidth, innerHeight]');
        if (got[0] === width && got[1] === height) break;
        if (Date.now() > end) throw new Error(`the window is ${got.join(' × ')} instead of ${width} × ${height}`);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    },

    /** The window as PNG. The driver waits for another frame, so that something must change until it has one. */
    async picture() {
      await now.web.executeScript(() => {
        const dot = document.createElement('i');
        dot.style.cssText = 'position: fixed; left: 0; top: 0; width: 1px; height: 1px; opacity: 0.01; pointer-events: none';
        document.documentElement.append(dot);
        let turn = 0;
        const timer = setInterval(() => {
          dot.style.background = (turn += 1) % 2 ? '#777' : '#787878';
        }, 20);
        window.__still = () => {
          clearInterval(timer);
          dot.remove();
        };
      });
      try {
        return await now.web.takeScreenshot();
      } finally {
        await now.web.executeScript('window.__still()');
      }
    },

    /** The driver has no log: what there is of one, hooks.js keeps. */
    async errors() {
      return [];
    },

    stop: () => now.stop(),
  };
}
