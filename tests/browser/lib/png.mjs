// Pictures as browsers' drivers make them: eight bits a channel, not interlaced.

import { inflateSync } from 'node:zlib';

/** The bytes of the pixels of a part of a PNG; `part` in CSS pixels, `scale` of the picture's for one of them. */
export function crop(png, part, scale = 1) {
  const { width, height, channels, rows } = decode(png);
  const clamp = (x, most) => Math.min(most, Math.max(0, Math.round(x * scale)));
  const [left, right] = [clamp(part.x, width), clamp(part.x + part.width, width)];
  const [top, bottom] = [clamp(part.y, height), clamp(part.y + part.height, height)];
  return Buffer.concat(rows.slice(top, bottom).map((row) => row.subarray(left * channels, right * channels)));
}

/** { width, height, channels, rows }: rows of bytes. */
export function decode(png) {
  let header;
  const parts = [];
  for (let at = 8; at < png.length; ) {
    const [length, type] = [png.readUInt32BE(at), png.toString('latin1', at + 4, at + 8)];
    const data = png.subarray(at + 8, at + 8 + length);
    if (type === 'IHDR') header = data;
    if (type === 'IDAT') parts.push(data);
    at += length + 12;
  }
  const [width, height, depth, colour, interlaced] = [header.readUInt32BE(0), header.readUInt32BE(4), header[8], header[9], header[12]];
  const channels = { 0: 1, 2: 3, 4: 2, 6: 4 }[colour];
  if (depth !== 8 || !channels || interlaced) throw new Error(`a PNG of ${depth} bits, colour type ${colour}, interlaced ${interlaced} is not read here`);
  const bytes = inflateSync(Buffer.concat(parts));
  const rows = [];
  let above = Buffer.alloc(width * channels);
  for (let y = 0, at = 0; y < height; y += 1, at += 1 + width * channels) {
    const row = Buffer.from(bytes.subarray(at + 1, at + 1 + width * channels));
    unfilter(bytes[at], row, above, channels);
    rows.push(row);
    above = row;
  }
  return { width, height, channels, rows };
}

function unfilter(kind, row, above, step) {
  for (let i = 0; i < row.length; i += 1) {
    const [a, b, c] = [i < step ? 0 : row[i - step], above[i], i < step ? 0 : above[i - step]];
    row[i] += [0, a, b, (a + b) >> 1, kind === 4 ? paeth(a, b, c) : 0][kind];
  }
}

function paeth(a, b, c) {
  const p = a + b - c;
  const [pa, pb, pc] = [Math.abs(p - a), Math.abs(p - b), Math.abs(p - c)];
  return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}
