/**
 * Exact attention on float32 arrays, forward and backward, in WebAssembly.
 *
 *     import { init, attention } from './attention.js';
 *     await init({ threads: 4 });
 *     const o = attention({ q, k, v, h: 8, n: 1024, d: 64, causal: true });
 *
 * Arrays are row-major: q is [h, nQ, d], k is [hKv, nK, d], v is [hKv, nK, dV], and the result [h, nQ, dV]. Numbers have
 * to be finite. One thread and many give the same bits. Calls return when they are done, also on a page's main thread;
 * with `onProgress` or `signal` they return a promise and run in a worker.
 *
 * A result of `attention` and `decode` is the caller's until the next such call of the same sizes and options, which
 * takes its memory back: the array is empty then. To keep it, give `out`, or take `o.slice()`.
 *
 * Threads need a page that is cross-origin isolated (`crossOriginIsolated` is true) and whose content security policy,
 * if any, allows `worker-src blob:`. Anywhere else one thread does the work. This file, the other attention-*.js beside
 * it and the folder exports/ belong together.
 *
 * What is wrong with a call is thrown as a RangeError or a TypeError that says what was expected, what came, and what to
 * do. Nothing is computed then.
 *
 * @module
 */

import { Cache } from './attention-cache.js';
import { Call } from './attention-call.js';
import { load } from './attention-core.js';
import { Long } from './attention-long.js';

/** What this is called in a table of measurements. */
export const label = 'attention.js';

/** More than helps anybody. */
const MOST_THREADS = 32;

let core = null;
let long = null;
let starting = Promise.resolve();

/**
 * What all calls share.
 *
 * @typedef {object} Options
 * @property {Float32Array} q queries [h, nQ, d]
 * @property {Float32Array} k keys [hKv, nK, d]
 * @property {Float32Array} v values [hKv, nK, dV]
 * @property {number} h heads
 * @property {number} n tokens: queries and keys, where nQ and nK do not say otherwise
 * @property {number} d width of a query and a key
 * @property {Float32Array} [out] where the result of `attention` or `decode` is to go [h, nQ, dV]; not for long calls
 * @property {boolean | 'topLeft'} [causal] whether a query sees only itself and what came before it: the last query is the
 *   last token, or with 'topLeft' the first query the first one
 * @property {number} [hKv] heads of keys and values, a divisor of h: query head i uses i·hKv/h
 * @property {number} [nQ] queries
 * @property {number} [nK] keys
 * @property {number} [dV] width of a value; d if left out
 * @property {number} [scale] factor of the dot products; 1/√d if left out
 * @property {number} [window] how many keys back a query sees, itself included; all if left out
 * @property {number} [keepFirst] so many first keys stay visible whatever the window
 * @property {number} [prefix] so many first keys are visible to all, where the mask is causal
 * @property {number} [keyLength] so many keys are tokens, the rest is padding that nobody sees
 * @property {number} [softcap] c of c·tanh(s/c) on the scaled scores
 * @property {boolean} [alibi] whether scores fall with distance, by ALiBi's slopes
 * @property {boolean | Rope} [rope] rotary positions on queries and keys
 * @property {number} [qkNorm] ε of x/√(mean(x²) + ε) over each query and key, before positions
 * @property {ArrayLike<number>} [sink] a logit for each head that takes part in the softmax and has no value
 */

/**
 * Rotary positions.
 *
 * @typedef {object} Rope
 * @property {'interleaved' | 'half'} [layout] which components turn together: neighbours, or i and i + dims/2
 * @property {number} [base] 10000 if left out
 * @property {number} [dims] how many first components turn; all if left out
 * @property {number} [qOffset] place of query 0; nK − nQ if left out
 * @property {number} [kOffset] place of key 0
 * @property {'none' | 'linear' | 'ntk'} [scaling] how longer sequences are brought into the trained range
 * @property {number} [factor] by how much
 */

/**
 * For calls that take long.
 *
 * @typedef {object} Running
 * @property {(part: number) => void} [onProgress] told now and then which part is done, from 0 to 1
 * @property {AbortSignal} [signal] stops the call, whose promise is then rejected with the signal's reason
 */

/**
 * Loads the module and starts the threads. Has to be awaited before anything else; called again, it starts anew.
 *
 * @param {object} [options]
 * @param {number} [options.threads] how many threads share a call; as many as the machine has, 8 at most, if left out
 * @returns {Promise<{ threads: number, variant: 'simd' | 'simd-threads' }>} what it came to: one thread where the page
 *   is not cross-origin isolated or the threads do not start
 */
export function init({ threads = Math.min(8, globalThis.navigator?.hardwareConcurrency ?? 1) } = {}) {
  if (!(Number.isInteger(threads) && threads >= 1 && threads <= MOST_THREADS)) {
    return Promise.reject(new RangeError(`threads: expected a whole number from 1 to ${MOST_THREADS}, got ${threads}. Leave it out for as many as the machine has.`));
  }
  const start = async () => {
    release();
    core = await load(threads);
    long = new Long(core.threads);
    return { threads: core.threads, variant: core.variant };
  };
  const started = starting.then(start, start);
  starting = started;
  return started;
}

/**
 * softmax(q·kᵀ·scale)·v of every head.
 *
 * @param {Options & Running} options
 * @returns {Float32Array | Promise<Float32Array>} [h, nQ, dV], to be kept as said above; a promise where onProgress or
 *   signal is given
 */
export function attention(options) {
  const here = ready();
  if (options.onProgress === undefined && options.signal === undefined) return here.forward(options, false);
  return later(here, 'forward', options);
}

/**
 * The gradients at q, k and v of a number whose gradient at the result is dOut. Takes up the last forward pass where it
 * was the same call on the same numbers; otherwise it is done first.
 *
 * @param {Options & Running & { dOut: Float32Array }} options dOut [h, nQ, dV]
 * @returns {{ dQ: Float32Array, dK: Float32Array, dV: Float32Array, dSink?: Float32Array } | Promise<object>} as q, k, v and
 *   sink are
 */
export function backward(options) {
  const here = ready();
  if (options.onProgress === undefined && options.signal === undefined) return here.backward(options, false);
  return later(here, 'backward', options);
}

/**
 * Attention of the last queries to a cache of n keys and values: as `attention`, with one query unless nQ says
 * otherwise, and causal among several. Copies the cache in and checks it at each call: `kvCache` keeps it there.
 *
 * @param {Options & Running} options
 * @returns {Float32Array | Promise<Float32Array>} [h, nQ, dV]
 */
export function decode(options) {
  const here = ready();
  if (options.onProgress === undefined && options.signal === undefined) return here.forward(options, true);
  return later(here, 'decode', options);
}

/**
 * A cache of keys and values that stays in the module's memory, so that a step of decoding copies and checks only what is
 * new. One for each layer:
 *
 *     const cache = kvCache({ h: 32, hKv: 8, d: 128, capacity: 4096, rope: true });
 *     cache.append({ k, v });                    // a prompt [hKv, tokens, d], and later each token
 *     const o = cache.decode({ q });             // [h, 1, dV]: attention of the last token, or of the last nQ
 *     cache.truncate(100);                       // back to the first 100 tokens
 *     cache.free();                              // its memory; caches are not collected
 *
 * Keys and values have to be finite, and are refused when they come. With `rope` or `qkNorm` keys are given as they are:
 * they are turned and normed once, when they come, key i at place kOffset + i, and queries at those of the last tokens.
 * The results have the bits of `decode` on the same tokens. `length` and `capacity` say how many tokens there are, and can
 * be. Calls return when they are done; `init` and `release` end every cache.
 *
 * @param {object} options h, hKv, d, dV, causal, scale, window, keepFirst, prefix, softcap, alibi, rope (without qOffset),
 *   qkNorm and sink as in Options, for all calls on the cache, and
 * @param {number} options.capacity how many tokens there can be, 65,536 at most
 * @returns {Cache} see attention-cache.js
 */
export function kvCache(options) {
  return new Cache(ready(), () => core, options);
}

/**
 * What a call takes, without q, k and v.
 *
 * @param {Options & { backward?: boolean }} options `backward`: of the gradients instead
 * @returns {{ scratch: number, total: number, limit: number }} bytes: working memory beside inputs and results; all of
 *   it; how much a call can have here
 *   beside the caches that there are
 */
export function plan(options) {
  return ready().cost(options, false);
}

/**
 * Bytes of WebAssembly memory held, workers included. It never shrinks; `release` gives it back.
 *
 * @returns {number}
 */
export function memory() {
  return core ? core.memory() + long.memory() : 0;
}

/** Ends threads and workers, and gives memory back. Calls that are running are rejected. `init` starts anew. */
export function release() {
  core?.release();
  long?.release();
  core = long = null;
}

function ready() {
  if (core === null) throw new Error('attention.js is not ready: await init() first.');
  return core;
}

/** A call in the worker; what is wrong with it is known here already. */
async function later(here, kind, options) {
  const { q, k, v, dOut, onProgress, signal, ...rest } = options;
  if (onProgress !== undefined && typeof onProgress !== 'function') {
    throw new TypeError(`onProgress: expected a function, got ${typeof onProgress}. Leave it out, or give one.`);
  }
  const call = new Call(rest, kind === 'decode');
  call.checkInputs(q, k, v);
  if (kind === 'backward') call.checkGradient(dOut);
  here.check(here.plan(rest, kind === 'decode'), kind === 'backward');
  const arrays = kind === 'backward' ? [q, k, v, dOut] : [q, k, v];
  return long.run(kind, rest, arrays, onProgress, signal);
}
