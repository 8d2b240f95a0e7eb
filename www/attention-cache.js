// A cache of keys and values in WebAssembly memory, for attention.js.

import { AT, Call, count, mebibytes, size, tensor } from './attention-call.js';
import { Lender } from './attention-core.js';

/** What belongs to a call, and is not asked for when a cache is made; each with what to do instead. */
const OF_CALLS = {
  n: 'A cache counts its tokens by itself.',
  nQ: 'Give it to decode.',
  nK: 'A cache counts its tokens by itself.',
  keyLength: 'Take tokens away with truncate.',
};

export class Cache {
  #core;
  #number;
  #options;
  #call;
  #capacity;
  #length = 0;
  /** How many keys the call that the module knows has. */
  #defined = -1;
  #generation = -1;
  #lender = new Lender();

  /** `current` gives the core that is in use: a cache ends with its own. */
  constructor(core, current, options) {
    for (const [name, hint] of Object.entries(OF_CALLS)) {
      if (options?.[name] !== undefined) throw new TypeError(`${name}: expected nothing, got ${options[name]}. ${hint}`);
    }
    if (options?.rope?.qOffset !== undefined) throw new TypeError(`rope.qOffset: expected nothing, got ${options.rope.qOffset}. The queries of a cache are its last tokens.`);
    // As they are now: what happens to an object later is another's affair.
    this.#options = { ...options };
    for (const name of ['rope', 'sink']) if (typeof options?.[name] === 'object' && options[name] !== null) this.#options[name] = structuredClone(options[name]);
    this.#call = this.#callOf(1);
    this.#capacity = size('capacity', options.capacity);
    this.#core = { here: core, current };
    core.describe(this.#call);
    // Too much for the module's whole numbers is too much in any case.
    const capacity = Math.min(this.#capacity, 2 ** 32 - 1);
    const [bytes, room] = [core.glue.cache_cost(capacity), core.roomLeft()];
    if (bytes > room) {
      throw new RangeError(`memory: expected at most ${mebibytes(room)} MiB, got a cache that needs ${mebibytes(bytes)} MiB. Take fewer tokens or heads, or free another cache.`);
    }
    this.#number = core.glue.cache_open(capacity);
    core.refresh();
    if (this.#number < 0) throw core.failure();
  }

  /** Tokens that are there. */
  get length() {
    return this.#length;
  }

  /** Tokens that there can be. */
  get capacity() {
    return this.#capacity;
  }

  /**
   * Takes in the next tokens. As many as there are in the arrays; one at a time, or a whole prompt.
   *
   * @param {{ k: Float32Array, v: Float32Array }} tokens k [hKv, tokens, d], v [hKv, tokens, dV]
   * @returns {number} the new length
   */
  append({ k, v } = {}) {
    const core = this.#alive();
    const { kvHeads, width, valueWidth } = this.#call;
    if (!(k instanceof Float32Array)) tensor('k', k, 0, 'hKv·tokens·d');
    const tokens = Math.floor(k.length / (kvHeads * width));
    tensor('k', k, kvHeads * tokens * width, `hKv·tokens·d = ${kvHeads}·${tokens}·${width}`);
    tensor('v', v, kvHeads * tokens * valueWidth, `hKv·tokens·dV = ${kvHeads}·${tokens}·${valueWidth}`);
    const room = this.#capacity - this.#length;
    if (tokens > room) {
      throw new RangeError(`append: expected at most ${room} more tokens, got ${tokens}. The cache has room for ${this.#capacity}: truncate it, or make a larger one.`);
    }
    this.#write(k, core.glue.cache_keys(this.#number) >>> 2, tokens * width, this.#capacity * width);
    this.#write(v, core.glue.cache_values(this.#number) >>> 2, tokens * valueWidth, this.#capacity * valueWidth);
    const failed = core.glue.cache_take_in(this.#number, tokens);
    core.refresh();
    if (failed !== 0) throw core.failure();
    this.#length += tokens;
    return this.#length;
  }

  /** Puts each head's part where its tokens go on. */
  #write(numbers, at, length, stride) {
    const { heap } = this.#core.here;
    const heads = this.#call.kvHeads;
    if (heads === 1) {
      heap.set(numbers, at);
      return;
    }
    for (let head = 0; head < heads; head += 1) {
      heap.set(numbers.subarray(head * length, (head + 1) * length), at + head * stride);
    }
  }

  /**
   * Attention of the last nQ tokens to all that are there: their keys and values are in the cache already.
   *
   * @param {{ q: Float32Array, nQ?: number, out?: Float32Array }} options q [h, nQ, d]; nQ: 1 if left out; out: where the
   *   result is to go
   * @returns {Float32Array} [h, nQ, dV], to be kept as said at the head of attention.js
   */
  decode({ q, nQ = 1, out, onProgress, signal } = {}) {
    const core = this.#alive();
    if (onProgress !== undefined || signal !== undefined) {
      throw new TypeError(`${signal === undefined ? 'onProgress' : 'signal'}: expected nothing, got one. A cache computes at once: for long work give keys and values to attention.js' own decode.`);
    }
    if (nQ !== this.#call.queries) {
      this.#call = this.#callOf(size('nQ', nQ));
      this.#defined = -1;
    }
    const call = this.#call;
    if (nQ > this.#length) {
      throw new RangeError(`nQ: expected at most the ${this.#length} tokens of the cache, got ${nQ}. Append their keys and values first.`);
    }
    tensor('q', q, call.qLength, call.axes.q);
    if (out !== undefined) call.checkOutput(out);
    if (this.#defined !== this.#length || core.generation !== this.#generation) this.#define(core);
    const { glue } = core;
    core.heap.set(q, core.places[0]);
    if (glue.cache_forward(this.#number) !== 0) throw core.failure();
    core.refresh();
    return core.result(core.places[3], call.outLength, this.#lender, out);
  }

  /** Tells the module which call comes next. */
  #define(core) {
    const { numbers } = this.#call;
    numbers[AT.keys] = this.#length;
    numbers[AT.ropeQueries] = numbers[AT.ropeKeys] + this.#length - this.#call.queries;
    core.describe(this.#call);
    core.moved(core.glue.cache_define(this.#number));
    this.#defined = this.#length;
    this.#generation = core.generation;
  }

  /** Leaves the first `length` tokens. */
  truncate(length) {
    const core = this.#alive();
    if (count('length', length) > this.#length) {
      throw new RangeError(`length: expected at most ${this.#length}, got ${length}. Nothing comes back that is not there.`);
    }
    core.glue.cache_truncate(this.#number, length);
    this.#length = length;
  }

  /** Gives its memory back. It cannot be used any more. */
  free() {
    const { here, current } = this.#core;
    if (this.#number >= 0 && current() === here) here.glue.cache_close(this.#number);
    this.#number = -1;
    this.#length = 0;
  }

  #callOf(nQ) {
    return new Call({ ...this.#options, n: undefined, nQ, nK: nQ }, true);
  }

  #alive() {
    const { here, current } = this.#core;
    if (this.#number < 0) throw new Error('the cache is gone: it was freed. Make another.');
    if (current() !== here) throw new Error('the cache is gone: init or release came after it. Make another.');
    return here;
  }
}
