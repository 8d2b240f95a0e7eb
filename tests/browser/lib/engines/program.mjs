// A program that a test starts and ends: a driver, a screen.

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';

const running = new Set();

// A test file that is stopped half way leaves nothing behind.
process.on('exit', () => {
  for (const child of running) child.kill();
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1));

/**
 * Starts a program and waits for a line of its that fits `ready`; without one, until `check` gives something truthy.
 * Gives { found, lines, stop() }: `found` is what fitted, `lines` all that it says.
 */
export async function start(program, args, { env = process.env, ready, check, from = 'stdout' } = {}) {
  const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  running.add(child);
  const lines = [];
  let heard = () => {};
  for (const name of ['stdout', 'stderr']) {
    let rest = '';
    child[name].setEncoding('utf8').on('data', (text) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop();
      for (const line of parts) {
        lines.push(line);
        if (name === from) heard(line);
      }
    });
  }
  const ended = new Promise((resolve) => child.once('close', resolve));
  ended.then(() => running.delete(child));
  const failed = new Promise((_, reject) => {
    child.once('error', (error) => reject(new Error(`${program} does not start: ${error.message}`)));
    ended.then((code) => reject(new Error(`${program} ended with ${code}: ${lines.slice(-5).join('\n')}`)));
  });
  // Ending is its failure only while somebody waits for it.
  failed.catch(() => {});
  const late = AbortSignal.timeout(30_000);
  const timeout = new Promise((_, reject) => late.addEventListener('abort', () => reject(new Error(`${program} is not ready after 30 s`))));
  timeout.catch(() => {});
  const arrived = ready
    ? new Promise((resolve) => {
        heard = (line) => ready.test(line) && resolve(line.match(ready));
      })
    : until(check, late);
  const found = await Promise.race([arrived, failed, timeout]);
  heard = () => {};
  return {
    found,
    lines,
    async stop() {
      child.kill();
      const hard = setTimeout(() => child.kill('SIGKILL'), 5_000);
      await ended;
      clearTimeout(hard);
    },
  };
}

async function until(check, signal) {
  while (!signal.aborted) {
    const found = await check().catch(() => null);
    if (found) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return null;
}

/**
 * A port of this machine that nothing listens on now. Each process looks at other ones, and not at those that the
 * system gives away: what is free for two would be taken by both.
 */
export async function freePort() {
  const first = 15_000 + (process.pid % 5_000) * 3;
  for (let port = first; port < first + 3; port += 1) {
    if (await free(port)) return port;
  }
  throw new Error(`expected a free port from ${first} to ${first + 2}, found none`);
}

function free(port) {
  return new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
