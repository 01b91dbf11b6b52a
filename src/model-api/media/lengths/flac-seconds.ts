import type { Buffer } from "node:buffer";
import type { PiecedBytes } from "../../../wire/pieces/pieced-bytes.js";
import { SliceCount, type Steps, valueBytes } from "../../../wire/slices.js";

/** The longest header of a frame. */
const headBytes = 16;
const partBytes = 64 * 1024;

/** Samples per second, by the number of a frame's header. */
const rates = [undefined, 88_200, 176_400, 192_000, 8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 96_000];

/**
 * How long a FLAC file lasts at the most, by the frames that it has (RFC 9639, section 9.1). What it says of its length is a
 * client's word, but nobody reads a frame without a header whose checksum is right, wherever that stands.
 * @returns `undefined` where there is none.
 */
export function* flacSeconds(file: PiecedBytes): Steps<number | undefined> {
  const info = file.part(0, 21);
  if (info.length < 21) return undefined;
  const rate = info.readUIntBE(18, 3) >> 4;
  const count = new SliceCount();
  let seconds = 0;
  for (let at = 0; at < file.length; at += partBytes) {
    const part = file.part(at, at + partBytes + headBytes);
    for (let found = part.indexOf(0xff); found >= 0 && found < partBytes; found = part.indexOf(0xff, found + 1)) {
      if (((part[found + 1] ?? 0) & 0xfe) === 0xf8)
        seconds += frameSeconds(part.subarray(found, found + headBytes), rate);
      if (count.isFull(valueBytes)) yield;
    }
    if (count.isFull(part.length)) yield;
  }
  return seconds === 0 ? undefined : seconds;
}

/** @param ofFile - samples per second; 0: it does not say. @returns 0 for what is no header. */
function frameSeconds(head: Buffer, ofFile: number): number {
  const [sizeCode, rateCode] = [(head[2] ?? 0) >> 4, (head[2] ?? 0) & 15];
  if (sizeCode === 0 || rateCode === 15) return 0;
  let at = 4 + numberBytes(head[4] ?? 0);
  const take = (bytes: number): number => {
    at += bytes;
    return at <= head.length ? head.readUIntBE(at - bytes, bytes) : 0;
  };
  const size = sizeCode === 6 ? take(1) + 1 : sizeCode === 7 ? take(2) + 1 : samplesOf(sizeCode);
  const own =
    rateCode === 12 ? take(1) * 1000 : rateCode === 13 ? take(2) : rateCode === 14 ? take(2) * 10 : rates[rateCode];
  if (at >= head.length || checksum(head, at) !== head[at]) return 0;
  // Readers differ in which of the two they use.
  const known = [own, ofFile].filter((rate): rate is number => rate !== undefined && rate > 0);
  return known.length === 0 ? 0 : size / Math.min(...known);
}

function samplesOf(code: number): number {
  if (code === 1) return 192;
  return code < 6 ? 576 << (code - 2) : 256 << (code - 8);
}

/** A number is written as UTF-8 writes a character, and goes further. */
function numberBytes(first: number): number {
  return first < 0x80 ? 1 : Math.max(2, Math.clz32(~(first << 24)));
}

function checksum(bytes: Buffer, length: number): number {
  let sum = 0;
  for (let at = 0; at < length; at++) {
    sum ^= bytes[at] ?? 0;
    for (let bit = 0; bit < 8; bit++) sum = (sum & 0x80) === 0 ? sum << 1 : ((sum << 1) ^ 0x07) & 0xff;
  }
  return sum;
}
