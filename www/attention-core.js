// One instance of the WebAssembly module behind attention.js: loading it, room for calls, copies in and out.
// Used on a page by attention.js and in a worker of its own by attention-worker.js.

import { Call, mebibytes } from './attention-call.js';

/** Bytes that each variant's memory can have: what WebAssembly can address, and what src/xtask/engines.rs links. */
const LIMITS = { simd: 2 ** 32, 'simd-threads': 2 ** 29 };
/** As src/exports/session.rs has them: calls remembered, numbers compared at a time, the order of the buffers. */
const SLOTS = 8;
const STAGE = 2 ** 14;
const [Q, K, V, OUT, , D_OUT, D_Q, D_K, D_V, D_SINK, COMPARED] = Array(11).keys();
/** Numbers of a result that counts as small, and of the buffer that small results share. */
const SMALL = 512;
const SLAB = 8192;
/** Numbers of the largest result whose memory is kept for the next one. */
const LENT = 2 ** 22;
/** Milliseconds until a pool that does not start counts as none. */
const PATIENCE = 10_000;

let instances = 0;

/** A worker running attention-worker.js, from wherever this module was loaded. */
export function startWorker() {
  const script = new URL('./attention-worker.js', import.meta.url);
  if (script.origin === location.origin) return new Worker(script, { type: 'module' });
  // Another origin's script cannot be a worker's, but it can be imported by one.
  const shim = URL.createObjectURL(new Blob([`import ${JSON.stringify(script.href)};`], { type: 'text/javascript' }));
  const worker = new Worker(shim, { type: 'module' });
  worker.addEventListener('message', () => URL.revokeObjectURL(shim), { once: true });
  return worker;
}

/** Loads the variant that the page can have: threads need a page that is cross-origin isolated. */
export async function load(threads) {
  if (threads > 1 && globalThis.crossOriginIsolated) {
    try {
      return await loadShared(threads);
    } catch {
      // No pool, no shared memory of that size: one thread does it all.
    }
  }
  const glue = await bindings('simd');
  const { memory } = await glue.default();
  return new Core('simd', glue, memory, null);
}

/** The module of a variant. Each instance has one of its own, since one holds one memory. */
function bindings(variant) {
  instances += 1;
  const query = instances > 1 ? `?instance=${instances}` : '';
  return import(new URL(`../exports/${variant}/exports.js${query}`, import.meta.url).href);
}

async function loadShared(threads) {
  const variant = 'simd-threads';
  const glue = await bindings(variant);
  const url = new URL(`../exports/${variant}/exports_bg.wasm`, import.meta.url);
  const module = await WebAssembly.compile(await (await fetch(url)).arrayBuffer());
  await glue.default({ module_or_path: module });
  const memory = glue.shared_memory();
  // The pool is started by a worker: whoever starts it waits for the threads asleep, and a page must not.
  const steward = startWorker();
  try {
    await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error('the threads do not start')), PATIENCE);
      steward.onmessage = ({ data }) => {
        clearTimeout(late);
        if (data.serving) resolve();
        else reject(new Error(data.failed));
      };
      steward.onerror = (event) => reject(new Error(event.message));
      const script = new URL(`../exports/${variant}/exports.js`, import.meta.url).href;
      steward.postMessage({ serve: threads - 1, script, module, memory });
    });
  } catch (error) {
    steward.terminate();
    throw error;
  }
  return new Core(variant, glue, memory, steward);
}

/** Arrays for results, one after the other. */
export class Lender {
  #last = null;

  /**
   * An array for a result. The memory of the last one is taken back for it, where it is not too large to be kept: fresh
   * memory costs the system a fault for each page, a third of a call of 128 tokens. Whoever still has the last array
   * finds it empty then, and never another call's numbers in it.
   */
  lend(length) {
    const last = this.#last;
    // 0 bytes: it was transferred, and is another's now.
    const kept = last !== null && last.byteLength === 4 * length && last.transfer !== undefined;
    const buffer = kept ? last.transfer() : new ArrayBuffer(4 * length);
    this.#last = length <= LENT ? buffer : null;
    return new Float32Array(buffer);
  }
}

/** What a call needs to know about where its numbers lie: offsets in 4-byte numbers. */
class Plan {
  constructor(call, slot) {
    this.call = call;
    this.slot = slot;
    // Buffers move when they grow: then this is another number than the core's.
    this.generation = -1;
    this.hasBackward = false;
    this.q = this.k = this.v = this.out = this.dOut = 0;
    this.lender = new Lender();
  }
}

export class Core {
  constructor(variant, glue, memory, steward) {
    this.variant = variant;
    this.threads = glue.threads();
    this.limit = LIMITS[variant];
    this.glue = glue;
    this.wasm = memory;
    this.steward = steward;
    this.heap = new Float32Array(memory.buffer);
    this.idle = memory.buffer.byteLength;
    this.view = this.heap.subarray(0, 0);
    this.slab = null;
    this.used = SLAB;
    this.generation = 0;
    this.places = [];
    this.plans = Array(SLOTS).fill(null);
    this.oldest = 0;
    this.last = null;
  }

  /** Bytes of WebAssembly memory. The threads of a pool share it. */
  memory() {
    return this.wasm.buffer.byteLength;
  }

  /** Ends the threads. The memory goes with the last reference to this. */
  release() {
    this.steward?.terminate();
  }

  // ---- calls -------------------------------------------------------------------------------------------------------

  /** The result for these options. */
  forward(options, decode) {
    let plan = this.last;
    if (plan === null || !plan.call.is(options, decode)) plan = this.plan(options, decode);
    const { q, k, v } = options;
    plan.call.checkInputs(q, k, v);
    if (options.out !== undefined) plan.call.checkOutput(options.out);
    if (plan !== this.last) this.room(plan, false);
    const { heap } = this;
    heap.set(q, plan.q);
    heap.set(k, plan.k);
    heap.set(v, plan.v);
    if (this.glue.forward(plan.slot) !== 0) throw this.failure();
    // Memory that grew has a new buffer, and the old one is gone; shared memory keeps it.
    if (heap.length === 0) this.heap = new Float32Array(this.wasm.buffer);
    return this.result(plan.out, plan.call.outLength, plan.lender, options.out);
  }

  /** A copy of a result that lies at `from`: in `out`, where it is given, else in an array for the caller. */
  result(from, length, lender, out) {
    if (out === undefined) out = length <= SMALL ? this.shared(length) : lender.lend(length);
    // As a rule the view of the last call will do: to make one takes longer than a small copy. One of memory that grew is
    // empty, and one of shared memory stays good.
    const { view } = this;
    if (view.byteOffset !== 4 * from || view.length !== length) this.view = this.heap.subarray(from, from + length);
    out.set(this.view);
    return out;
  }

  /** An array that shares its buffer: to allocate one takes a microsecond, which is longer than a small call. */
  shared(length) {
    if (this.used + length > SLAB) {
      this.slab = new ArrayBuffer(4 * SLAB);
      this.used = 0;
    }
    const array = new Float32Array(this.slab, 4 * this.used, length);
    this.used += length;
    return array;
  }

  /** The gradients for these options, reusing the forward pass where its inputs are still the same. */
  backward(options, decode) {
    const plan = this.plan(options, decode);
    const { call, slot } = plan;
    const { q, k, v, dOut } = options;
    call.checkInputs(q, k, v);
    call.checkGradient(dOut);
    this.room(plan, true);
    let same = this.glue.holds(slot);
    if (same) {
      same = this.absorb(Q, q) & this.absorb(K, k) & this.absorb(V, v);
    } else {
      this.heap.set(q, plan.q);
      this.heap.set(k, plan.k);
      this.heap.set(v, plan.v);
    }
    if (!same && this.glue.forward(slot) !== 0) throw this.failure();
    this.refresh();
    this.heap.set(dOut, plan.dOut);
    return this.gradients(plan);
  }

  /** Takes an input in, comparing it with what is there; gives whether it was the same. */
  absorb(buffer, numbers) {
    const stage = this.glue.place(COMPARED) >>> 2;
    let same = true;
    for (let at = 0; at < numbers.length; at += STAGE) {
      const piece = numbers.subarray(at, at + STAGE);
      this.heap.set(piece, stage);
      same = this.glue.absorb(buffer, at, piece.length) && same;
    }
    return same;
  }

  gradients({ slot, call }) {
    if (this.glue.backward(slot) !== 0) throw this.failure();
    this.refresh();
    const copy = (buffer, length) => {
      const at = this.glue.place(buffer) >>> 2;
      return this.heap.slice(at, at + length);
    };
    const gradients = { dQ: copy(D_Q, call.qLength), dK: copy(D_K, call.kLength), dV: copy(D_V, call.vLength) };
    if (call.sinks) gradients.dSink = copy(D_SINK, call.sinks.length);
    return gradients;
  }

  /** What a call would take: { scratch, total, limit } in bytes. */
  cost(options, decode) {
    const plan = this.plan(options, decode);
    const backward = Boolean(options.backward);
    return { scratch: this.glue.scratch(plan.slot, backward), total: this.glue.total(plan.slot, backward), limit: this.roomLeft() };
  }

  // ---- room --------------------------------------------------------------------------------------------------------

  /** Makes room for a plan's call, or says why there is none. */
  room(plan, backward) {
    if (plan.generation !== this.generation || (backward && !plan.hasBackward)) {
      this.check(plan, backward);
      this.moved(this.glue.prepare(plan.slot, backward));
      plan.generation = this.generation;
      plan.hasBackward ||= backward;
      [plan.q, plan.k, plan.v, plan.out, plan.dOut] = this.places;
    }
    this.last = plan;
  }

  /** Bytes that calls and further caches can have. */
  roomLeft() {
    return this.limit - this.idle - this.glue.cache_bytes();
  }

  /** Refuses a call that does not fit, with the number. */
  check(plan, backward) {
    const total = this.glue.total(plan.slot, backward);
    const limit = this.roomLeft();
    if (total <= limit) return;
    const most = LIMITS.simd - this.limit + limit;
    const advice = this.threads > 1 && total <= most ? 'Take fewer tokens or heads, or init({ threads: 1 }), whose memory is larger.' : 'Take fewer tokens or heads.';
    throw new RangeError(`memory: expected at most ${mebibytes(limit)} MiB, got a call that needs ${mebibytes(total)} MiB. ${advice}`);
  }

  /** The plan of a call, known or new. */
  plan(options, decode) {
    const known = this.plans.find((plan) => plan?.call.is(options, decode));
    if (known) return known;
    const call = new Call(options, decode);
    const slot = this.oldest;
    this.describe(call);
    if (this.last?.slot === slot) this.last = null;
    this.plans[slot] = null;
    if (this.glue.define(slot) !== 0) throw this.failure();
    const plan = new Plan(call, slot);
    this.plans[slot] = plan;
    this.oldest = (slot + 1) % SLOTS;
    return plan;
  }

  /** Writes a call where the module reads its description. */
  describe(call) {
    new Float64Array(this.wasm.buffer, this.glue.numbers(), call.numbers.length).set(call.numbers);
    if (call.sinks) new Float64Array(this.wasm.buffer, this.glue.sinks(), call.sinks.length).set(call.sinks);
  }

  /** Finds the buffers anew where they moved, also where there was no room for what they were to hold. */
  moved(failed) {
    this.refresh();
    const generation = this.glue.generation();
    if (generation !== this.generation) this.locate(generation);
    if (failed !== 0) throw this.failure();
  }

  locate(generation) {
    this.generation = generation;
    this.places = [Q, K, V, OUT, D_OUT].map((buffer) => this.glue.place(buffer) >>> 2);
    // A plan that has room has to find it anew.
    this.last = null;
  }

  refresh() {
    if (this.heap.buffer !== this.wasm.buffer) this.heap = new Float32Array(this.wasm.buffer);
  }

  /** The error that the module describes. */
  failure() {
    const from = this.glue.message();
    const bytes = new Uint8Array(this.wasm.buffer, from, this.glue.message_length());
    // A copy: a decoder takes no shared memory.
    return new RangeError(new TextDecoder().decode(bytes.slice()));
  }
}
