// attention.js at the longest sequence: 65,536 tokens, causal, in both variants. It finishes with progress, its rows are
// right, its memory is that of inputs and result, and it can be stopped on the way.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { needs } from './lib/browser.mjs';
import { openModule } from './lib/module.mjs';

/** Half a minute on one quiet core; a machine that does something else as well takes its time. */
const PATIENCE = 600_000;

for (const [threads, variant, ...means] of [
  [1, 'simd'],
  [2, 'simd-threads', 'threads'],
]) {
  test(`65,536 tokens, ${variant}`, { timeout: PATIENCE, ...needs(...means) }, async () => {
    const page = await openModule();
    await page.web.manage().setTimeouts({ script: PATIENCE });
    const told = await page.run(async (t) => {
      const { variant: loaded } = await lib.init({ threads: t });
      const [n, d] = [65_536, 64];
      let x = 7;
      const random = () => Float32Array.from({ length: n * d }, () => (x = (x * 16_807) % 2_147_483_647) / 2 ** 30 - 1);
      const [q, k, v] = [random(), random(), random()];
      const call = { q, k, v, h: 1, n, d, causal: true };

      // Stopped at its first word: the promise is settled before anything else can happen in the page.
      const controller = new AbortController();
      let stopped = null;
      await new Promise((resolve) => {
        lib
          .attention({
            ...call,
            signal: controller.signal,
            onProgress: async (part) => {
              if (stopped !== null) return;
              stopped = { part, how: 'running' };
              controller.abort();
              for (let turn = 0; turn < 3; turn += 1) await null;
              resolve();
            },
          })
          .then(() => (stopped.how = 'finished'), (error) => (stopped.how = error.name));
      });

      const parts = [];
      const o = await lib.attention({ ...call, onProgress: (part) => parts.push(part) });
      let worst = 0;
      for (let sample = 0; sample < 64; sample += 1) {
        // The first and the last row, and some between.
        const i = sample === 0 ? 0 : sample === 1 ? n - 1 : (sample * 40_503) % n;
        const scores = new Float64Array(i + 1);
        let top = -Infinity;
        for (let j = 0; j <= i; j += 1) {
          let sum = 0;
          for (let c = 0; c < d; c += 1) sum += q[i * d + c] * k[j * d + c];
          scores[j] = sum / 8;
          top = Math.max(top, scores[j]);
        }
        const row = new Float64Array(d);
        let total = 0;
        for (let j = 0; j <= i; j += 1) {
          const weight = Math.exp(scores[j] - top);
          total += weight;
          for (let c = 0; c < d; c += 1) row[c] += weight * v[j * d + c];
        }
        for (let c = 0; c < d; c += 1) worst = Math.max(worst, Math.abs(row[c] / total - o[i * d + c]));
      }
      return {
        loaded,
        stopped,
        worst,
        words: parts.length,
        rising: parts.every((part, i) => part > 0 && part <= 1 && (i === 0 || part >= parts[i - 1])),
        last: parts.at(-1),
        jump: Math.max(...parts.map((part, i) => part - (parts[i - 1] ?? 0))),
        memory: lib.memory(),
        plan: lib.plan(call),
        arrays: 4 * 4 * n * d,
      };
    }, threads);
    assert.equal(told.loaded, variant);
    assert.equal(told.stopped.how, 'AbortError');
    assert.ok(told.stopped.part > 0 && told.stopped.part < 0.5, `stopped on the way: ${told.stopped.part}`);
    // Values are below 1.
    assert.ok(told.worst < 2e-6, `off by ${told.worst}`);
    assert.ok(told.words > 100 && told.rising && told.last === 1, `${told.words} words of progress`);
    assert.ok(told.jump < 0.1, `progress jumps by ${told.jump}`);
    const MIB = 2 ** 20;
    assert.ok(told.plan.total >= told.arrays && told.plan.total <= 1.25 * told.arrays, `the call takes ${told.plan.total / MIB} MiB`);
    // The page's own module and the worker's, before they hold anything, are the constant.
    assert.ok(told.memory <= 1.25 * told.arrays + 16 * MIB, `${told.memory / MIB} MiB are held for ${told.arrays / MIB} MiB of arrays`);
  });
}
