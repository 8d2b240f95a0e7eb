// What can be asked of attention.js: options checked, with sentences, and written as the numbers of src/exports/call.rs.

const TENSORS = 'row-major [heads, tokens, width]';

/** The places of numbers that a cache changes from call to call, as src/exports/call.rs has them. */
export const AT = { keys: 3, ropeQueries: 14, ropeKeys: 15 };

export const mebibytes = (bytes) => Math.ceil(bytes / 2 ** 20);

/** A whole number that is at least 1; larger than a module takes is its affair. */
export function size(name, value) {
  if (Number.isSafeInteger(value) && value >= 1) return value;
  throw wrong(name, 'a whole number from 1 on', value, 'Count heads, tokens or components.');
}

function number(name, value) {
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  throw wrong(name, 'a finite number', value, 'Leave it out for the usual one.');
}

function wrong(name, expected, got, hint) {
  const kind = typeof got === 'number' ? RangeError : TypeError;
  return new kind(`${name}: expected ${expected}, got ${shown(got)}. ${hint}`);
}

function shown(value) {
  if (typeof value === 'string') return `“${value}”`;
  if (typeof value === 'object' && value !== null) return `${value.constructor?.name ?? 'an object'}`;
  return String(value);
}

export function tensor(name, value, length, axes) {
  if (!(value instanceof Float32Array)) throw wrong(name, 'a Float32Array', value, `Give ${axes}, ${TENSORS}.`);
  if (value.length !== length) {
    throw new RangeError(`${name}: expected ${axes} = ${length} numbers, got ${value.length}. Give ${TENSORS}.`);
  }
}

/** A valid call: as it was asked for, to know it again, and what follows from that. */
export class Call {
  constructor(options, decode) {
    if (typeof options !== 'object' || options === null) throw wrong('options', 'an object', options, 'Give { q, k, v, h, n, d }.');
    const { h, n, d, causal, hKv, nQ, nK, dV, scale, window, softcap, alibi, rope, sink, prefix, keepFirst, keyLength, qkNorm } = options;
    this.decode = decode;
    // As asked for.
    Object.assign(this, { h, n, d, causal, hKv, nQ, nK, dV, scale, window, softcap, alibi, rope, sink, prefix, keepFirst, keyLength, qkNorm });
    this.ropeKey = ropeKey(rope);
    // As computed.
    const heads = size('h', h);
    const kvHeads = hKv === undefined ? heads : size('hKv', hKv);
    const keys = nK === undefined ? size('n', n) : size('nK', nK);
    const queries = nQ !== undefined ? size('nQ', nQ) : decode ? 1 : n === undefined ? keys : size('n', n);
    const width = size('d', d);
    const valueWidth = dV === undefined ? width : size('dV', dV);
    // The queries of a cache are its last tokens: one of them sees everything.
    const masked = causal === undefined ? decode && queries > 1 : causal;
    this.sinks = sink === undefined ? null : sinks(sink, heads);
    this.axes = { q: `h·nQ·d = ${heads}·${queries}·${width}`, k: `hKv·nK·d = ${kvHeads}·${keys}·${width}`, v: `hKv·nK·dV = ${kvHeads}·${keys}·${valueWidth}`, out: `h·nQ·dV = ${heads}·${queries}·${valueWidth}` };
    Object.assign(this, { queries, kvHeads, width, valueWidth });
    this.qLength = heads * queries * width;
    this.kLength = kvHeads * keys * width;
    this.vLength = kvHeads * keys * valueWidth;
    this.outLength = heads * queries * valueWidth;
    const turn = turned(rope, queries, keys);
    this.numbers = [
      heads,
      kvHeads,
      queries,
      keys,
      width,
      valueWidth,
      masked === 'topLeft' ? 2 : Number(Boolean(masked)),
      scale === undefined ? NaN : number('scale', scale),
      window === undefined ? 0 : size('window', window),
      softcap === undefined ? 0 : positive('softcap', softcap),
      Number(Boolean(alibi)),
      ...turn,
      prefix === undefined ? 0 : count('prefix', prefix),
      keepFirst === undefined ? 0 : count('keepFirst', keepFirst),
      keyLength === undefined ? NaN : count('keyLength', keyLength),
      qkNorm === undefined ? NaN : number('qkNorm', qkNorm),
      Number(this.sinks !== null),
    ];
  }

  /** Whether these options ask for this call. Compares as they stand and makes nothing: it is asked every time. */
  is(options, decode) {
    return (
      options.h === this.h &&
      options.n === this.n &&
      options.d === this.d &&
      options.causal === this.causal &&
      decode === this.decode &&
      options.hKv === this.hKv &&
      options.nQ === this.nQ &&
      options.nK === this.nK &&
      options.dV === this.dV &&
      options.scale === this.scale &&
      options.window === this.window &&
      options.softcap === this.softcap &&
      options.alibi === this.alibi &&
      options.rope === this.rope &&
      options.sink === this.sink &&
      options.prefix === this.prefix &&
      options.keepFirst === this.keepFirst &&
      options.keyLength === this.keyLength &&
      options.qkNorm === this.qkNorm &&
      (this.sinks === null || this.sinks.every((x, i) => x === this.sink[i])) &&
      (typeof this.rope !== 'object' || ropeKey(this.rope) === this.ropeKey)
    );
  }

  checkInputs(q, k, v) {
    if (q instanceof Float32Array && k instanceof Float32Array && v instanceof Float32Array && q.length === this.qLength && k.length === this.kLength && v.length === this.vLength) return;
    tensor('q', q, this.qLength, this.axes.q);
    tensor('k', k, this.kLength, this.axes.k);
    tensor('v', v, this.vLength, this.axes.v);
  }

  checkOutput(out) {
    tensor('out', out, this.outLength, this.axes.out);
  }

  checkGradient(dOut) {
    tensor('dOut', dOut, this.outLength, this.axes.out);
  }
}

/** One finite number for each head, as they are now. */
function sinks(sink, heads) {
  if (typeof sink !== 'object' || sink === null || sink.length !== heads) {
    throw new TypeError(`sink: expected a list of h = ${heads} numbers, got ${shown(sink?.length === undefined ? sink : sink.length)}. Give one for each head.`);
  }
  return Array.from(sink, (x) => number('sink', x));
}

export function count(name, value) {
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw wrong(name, 'a whole number from 0 on', value, 'Leave it out for none.');
}

function positive(name, value) {
  if (number(name, value) > 0) return value;
  throw wrong(name, 'a number above 0', value, 'Leave it out for none.');
}

const SCALINGS = ['none', 'linear', 'ntk'];

/** Rotary positions as numbers: layout, base, components, places of query 0 and key 0, scaling and its factor. */
function turned(rope, queries, keys) {
  if (rope === undefined || rope === false || rope === null) return [0, 10_000, 0, 0, 0, 0, 1];
  const { layout = 'interleaved', base = 10_000, dims, qOffset, kOffset = 0, scaling = 'none', factor = 1 } = rope === true ? {} : rope;
  if (layout !== 'interleaved' && layout !== 'half') throw wrong('rope.layout', '“interleaved” or “half”', layout, 'Choose one of these.');
  if (!SCALINGS.includes(scaling)) throw wrong('rope.scaling', '“none”, “linear” or “ntk”', scaling, 'Choose one of these.');
  return [
    layout === 'half' ? 2 : 1,
    number('rope.base', base),
    dims === undefined ? 0 : size('rope.dims', dims),
    // With a cache the queries are the last tokens.
    number('rope.qOffset', qOffset ?? Math.max(0, keys - queries)),
    number('rope.kOffset', kOffset),
    SCALINGS.indexOf(scaling),
    number('rope.factor', factor),
  ];
}

/** What a rope object says, in one word: objects are compared by what they say. */
const ropeKey = (rope) =>
  typeof rope === 'object' && rope !== null
    ? [rope.layout, rope.base, rope.dims, rope.qOffset, rope.kOffset, rope.scaling, rope.factor].join()
    : '';
