// The worker beside attention.js, in one of two parts.
//
// Steward: starts the threads of a page's memory, and then only keeps them.
//   Page -> worker   { serve: threads, script, module, memory }
//   Worker -> page   { serving: true } or { failed }
//
// Long work: one call at a time, away from the page, in a memory of its own.
//   Page -> worker   { job, threads, kind, options }         kind: forward, decode or backward
//   Worker -> page   { room: [offsets], memory? }            write the inputs: straight into memory, where it is shared,
//   Page -> worker   { piece, at }  …  { go: true }          or in pieces, each answered with { taken: true }
//   Worker -> page   { done, of }  …                         steps begun
//   Worker -> page   { result, bytes } or { failed, range }  bytes: of its memory

import { load } from './attention-core.js';

let loading = null;
let work = null;

/** Called by the module during a long call. */
self.attentionProgress = (done) => self.postMessage({ done: work.before + done, of: work.steps });

const handlers = {
  async serve({ serve, script, module, memory }) {
    const glue = await import(script);
    await glue.default({ module_or_path: module, memory });
    await glue.initThreadPool(serve);
    glue.serve();
    while (glue.threads() <= serve) await new Promise((resolve) => setTimeout(resolve, 1));
    self.postMessage({ serving: true });
  },

  async job({ threads, kind, options }) {
    loading ??= load(threads);
    const core = await loading;
    const backward = kind === 'backward';
    const plan = core.plan(options, kind === 'decode');
    core.room(plan, backward);
    const steps = core.glue.steps(plan.slot, false) + (backward ? core.glue.steps(plan.slot, true) : 0);
    work = { core, plan, backward, steps, before: 0 };
    const room = [plan.q, plan.k, plan.v, ...(backward ? [plan.dOut] : [])];
    self.postMessage({ room, memory: core.steward ? core.wasm : undefined });
  },

  piece({ piece, at }) {
    work.core.heap.set(piece, at);
    self.postMessage({ taken: true });
  },

  go() {
    const { core, plan, backward } = work;
    core.glue.watch(true);
    if (core.glue.forward(plan.slot) !== 0) throw core.failure();
    core.refresh();
    let result;
    if (backward) {
      work.before = core.glue.steps(plan.slot, false);
      core.glue.watch(true);
      result = core.gradients(plan);
    } else {
      result = core.heap.slice(plan.out, plan.out + plan.call.outLength);
    }
    core.glue.watch(false);
    const arrays = backward ? Object.values(result) : [result];
    self.postMessage({ result, bytes: core.memory() }, arrays.map((array) => array.buffer));
  },
};

self.onmessage = async ({ data }) => {
  const kind = Object.keys(handlers).find((name) => name in data);
  try {
    await handlers[kind](data);
  } catch (error) {
    self.postMessage({ failed: String(error?.message ?? error), range: error instanceof RangeError });
  }
};
