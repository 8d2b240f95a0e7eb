// What the machine could do at best: register-blocked tiles of mul and add out of near memory, assembled here byte by
// byte, so that nothing of ours stands between the instructions and the measurement. Computes nothing of use.

const LOCAL_GET = 0x20, LOCAL_SET = 0x21, LOCAL_TEE = 0x22, I32_CONST = 0x41, I32_ADD = 0x6a, I32_SUB = 0x6b, I32_LT_U = 0x49;
const LOOP = [0x03, 0x40], BR_IF = 0x0d, END = 0x0b, F32_LOAD = 0x2a, SIMD = 0xfd;
const I32 = 0x7f, F32 = 0x7d, V128 = 0x7b;
/** Width of the products, as of a head. */
const DEPTH = 64;
/** Steps of a loop written out. */
const UNROLL = 4;
/** The tiles: rows, and vectors of four columns. 4 × 8 and 5 × 8 fill the pipes without spilling. */
export const TILES = [[4, 2], [5, 2], [3, 3]];

const unsigned = (n) => (n < 128 ? [n] : [(n & 127) | 128, ...unsigned(n >>> 7)]);
const signed = (n) => (n >= -64 && n < 64 ? [n & 127] : [(n & 127) | 128, ...signed(n >> 7)]);
const sized = (bytes) => [...unsigned(bytes.length), ...bytes];
const list = (items) => [...unsigned(items.length), ...items.flat()];
const section = (id, items) => [id, ...sized(list(items))];
const get = (local) => [LOCAL_GET, ...unsigned(local)];
const set = (local) => [LOCAL_SET, ...unsigned(local)];
const constant = (n) => [I32_CONST, ...signed(n)];
const simd = (op, ...rest) => [SIMD, ...unsigned(op), ...rest];
const memory = (align, offset) => [align, ...unsigned(offset)];
const load = (offset) => simd(0x00, ...memory(4, offset));
const splat = (offset) => simd(0x09, ...memory(2, offset));
const store = (offset) => simd(0x0b, ...memory(4, offset));
const add = simd(0xe4);
const mul = simd(0xe6);
const zero = simd(0x0c, ...Array(16).fill(0));

/** (turns: i32) -> f32: so often DEPTH steps of a tile, from one packed panel and another into registers. */
function tile(rows, vectors) {
  const [turns, pa, pb] = [0, 1, 2];
  const x = 3;
  const b = (j) => 4 + j;
  const acc = (i, j) => 4 + vectors + i * vectors + j;
  const count = 1 + vectors + rows * vectors;
  const [A, B] = [1024, 1024 + DEPTH * rows * 4];
  const C = B + DEPTH * vectors * 16;
  const each = (n, of) => Array.from({ length: n }, (_, i) => of(i)).flat();
  const step = [
    ...each(vectors, (j) => [...get(pb), ...load(j * 16), ...set(b(j))]),
    ...each(rows, (i) => [
      ...get(pa), ...splat(i * 4), ...set(x),
      ...each(vectors, (j) => [...get(acc(i, j)), ...get(x), ...get(b(j)), ...mul, ...add, ...set(acc(i, j))]),
    ]),
    ...get(pa), ...constant(rows * 4), I32_ADD, ...set(pa),
    ...get(pb), ...constant(vectors * 16), I32_ADD, ...set(pb),
  ];
  const code = [
    ...LOOP,
    ...each(rows, (i) => each(vectors, (j) => [...zero, ...set(acc(i, j))])),
    ...constant(A), ...set(pa), ...constant(B), ...set(pb),
    ...LOOP, ...each(UNROLL, () => step), ...get(pa), ...constant(B), I32_LT_U, BR_IF, 0, END,
    ...each(rows, (i) => each(vectors, (j) => [...constant(0), ...get(acc(i, j)), ...store(C + (i * vectors + j) * 16)])),
    ...get(turns), ...constant(1), I32_SUB, LOCAL_TEE, turns, BR_IF, 0, END,
    ...constant(0), F32_LOAD, ...memory(2, C), END,
  ];
  return sized([2, 2, I32, ...unsigned(count), V128, ...code]);
}

/** The bytes of a module that exports each tile as tile0, tile1 … */
export function bytes() {
  const name = (text) => sized([...new TextEncoder().encode(text)]);
  return Uint8Array.from([
    ...[0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
    ...section(1, [[0x60, 1, I32, 1, F32]]),
    ...section(3, TILES.map(() => [0])),
    ...section(5, [[0, 1]]),
    ...section(7, TILES.map((_, i) => [...name(`tile${i}`), 0, i])),
    ...section(10, TILES.map(([rows, vectors]) => tile(rows, vectors))),
  ]);
}

/** Multiplications and additions of one turn of a tile. */
export const FLOPS = TILES.map(([rows, vectors]) => 2 * rows * 4 * vectors * DEPTH);
