// Reads the reference data of the repository: .safetensors and .npz, as nested arrays of numbers.

import { readFile } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';

const here = (path) => new URL(`../../${path}`, import.meta.url);

export const json = async (path) => JSON.parse(await readFile(here(path), 'utf8'));

function shaped(numbers, shape) {
  if (shape.length === 0) return numbers[0];
  if (shape.length === 1) return [...numbers];
  const size = shape.slice(1).reduce((a, b) => a * b, 1);
  return Array.from({ length: shape[0] }, (_, i) => shaped(numbers.subarray(i * size, (i + 1) * size), shape.slice(1)));
}

/** Copied, so that the numbers begin where the machine wants them. */
function numbers(bytes, type) {
  const copy = new Uint8Array(bytes).buffer;
  if (type === 'F64') return new Float64Array(copy);
  if (type === 'F32') return Float64Array.from(new Float32Array(copy));
  if (type === 'F16') return Float64Array.from(new Uint16Array(copy), half);
  throw new Error(`numbers of type ${type} are not read here`);
}

function half(bits) {
  const [sign, exponent, fraction] = [bits & 0x8000 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return exponent === 0 ? sign * fraction * 2 ** -24 : sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

/** Tensors of a .safetensors file: { name: nested array }. */
export async function safetensors(path) {
  const bytes = await readFile(here(path));
  const length = Number(bytes.readBigUInt64LE(0));
  const header = JSON.parse(bytes.subarray(8, 8 + length).toString('utf8'));
  const found = {};
  for (const [name, entry] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    const [from, to] = entry.data_offsets;
    found[name] = shaped(numbers(bytes.subarray(8 + length + from, 8 + length + to), entry.dtype), entry.shape);
  }
  return found;
}

/** Arrays of an .npz file: { name: nested array }. */
export async function npz(path) {
  const bytes = await readFile(here(path));
  let end = bytes.length - 22;
  while (bytes.readUInt32LE(end) !== 0x06054b50) end -= 1;
  let at = bytes.readUInt32LE(end + 16);
  const found = {};
  for (let left = bytes.readUInt16LE(end + 10); left > 0; left -= 1) {
    const [method, packed, nameLength, extra, comment, local] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 20),
      bytes.readUInt16LE(at + 28),
      bytes.readUInt16LE(at + 30),
      bytes.readUInt16LE(at + 32),
      bytes.readUInt32LE(at + 42),
    ];
    const name = bytes.subarray(at + 46, at + 46 + nameLength).toString('utf8');
    const start = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(start, start + packed);
    found[name.replace(/\.npy$/, '')] = npy(method === 8 ? inflateRawSync(content) : content);
    at += 46 + nameLength + extra + comment;
  }
  return found;
}

function npy(bytes) {
  const wide = bytes[6] >= 2;
  const length = wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8);
  const start = (wide ? 12 : 10) + length;
  const header = bytes.subarray(wide ? 12 : 10, start).toString('latin1');
  const type = { '<f8': 'F64', '<f4': 'F32', '<f2': 'F16' }[header.match(/'descr': *'([^']+)'/)[1]];
  const shape = header.match(/'shape': *\(([^)]*)\)/)[1].split(',').filter((s) => s.trim()).map(Number);
  return shaped(numbers(bytes.subarray(start), type), shape);
}
