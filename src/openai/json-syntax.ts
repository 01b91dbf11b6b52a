import { Buffer } from "node:buffer";
import { skipPlainWords, type Words, wordsOf } from "./plain-words.js";

/** Why a text is refused. Only the first two concern JSON itself; the others are what the gateway does not pass on. */
export type JsonFaultReason = "syntax" | "not_object" | "too_deep" | "not_finite" | "prototype_key";

export interface JsonFault {
  reason: JsonFaultReason;
  /** Byte offset of the fault. */
  at: number;
}

const quote = 0x22;
const backslash = 0x5c;

/** What may follow, as the checker goes from token to token. */
const expectValue = 0;
const expectValueOrEnd = 1;
const expectKey = 2;
const expectKeyOrEnd = 3;
const expectColon = 4;
const expectCommaOrEnd = 5;

/** Values of so many bytes are noted as leaps. */
export const longValue = 4096;

const inObject = 1;
const inArray = 2;

/** 1 where a string runs on: every byte but controls, the quote and the backslash. */
const plainInString = new Uint8Array(256).fill(1);
plainInString.fill(0, 0, 0x20);
plainInString[quote] = 0;
plainInString[backslash] = 0;

/**
 * Checks, in one pass and without building a value, that `bytes` (valid UTF-8) is one JSON object (RFC 8259) that every
 * reader understands alike: nested at most `maxDepth` deep, with finite numbers, without a `__proto__` member.
 * The text itself can then go on byte for byte, so that 64-bit integers and unknown members survive exactly.
 *
 * @param leaps - is filled with the ends of long values, by their starts: whoever goes through the text again can leap.
 * @returns the first fault, or `undefined`.
 */
export function findJsonFault(bytes: Uint8Array, maxDepth: number, leaps?: Map<number, number>): JsonFault | undefined {
  const containers = containersFor(maxDepth);
  const starts = startsFor(maxDepth);
  const words = wordsOf(bytes);
  const length = bytes.length;
  let depth = 0;
  let expected = expectValue;
  let position = 0;

  for (;;) {
    while (position < length && isSpace(bytes[position])) position++;
    if (position >= length) {
      return depth === 0 && expected === expectCommaOrEnd ? undefined : { reason: "syntax", at: length };
    }
    const byte = bytes[position] as number;
    if (expected === expectCommaOrEnd) {
      if (depth === 0) return { reason: "syntax", at: position };
      if (byte === 0x2c) {
        expected = containers[depth] === inObject ? expectKey : expectValue;
      } else if (byte === (containers[depth] === inObject ? 0x7d : 0x5d)) {
        const start = starts[depth--] as number;
        if (position - start >= longValue) leaps?.set(start, position + 1);
      } else {
        return { reason: "syntax", at: position };
      }
      position++;
      continue;
    }
    if (expected === expectColon) {
      if (byte !== 0x3a) return { reason: "syntax", at: position };
      expected = expectValue;
      position++;
      continue;
    }
    if (expected === expectKey || expected === expectKeyOrEnd) {
      if (byte === 0x7d && expected === expectKeyOrEnd) {
        depth--;
        expected = expectCommaOrEnd;
        position++;
        continue;
      }
      if (byte !== quote) return { reason: "syntax", at: position };
      const end = stringEnd(bytes, position, words);
      if (end < 0) return { reason: "syntax", at: -end };
      if (end - position === 11 && isPrototypeKey(bytes, position + 1)) {
        return { reason: "prototype_key", at: position };
      }
      position = end;
      expected = expectColon;
      continue;
    }
    if (depth === 0 && byte !== 0x7b) return { reason: startsValue(byte) ? "not_object" : "syntax", at: position };
    switch (byte) {
      case quote: {
        const end = stringEnd(bytes, position, words);
        if (end < 0) return { reason: "syntax", at: -end };
        if (end - position >= longValue) leaps?.set(position, end);
        position = end;
        expected = expectCommaOrEnd;
        break;
      }
      case 0x7b:
      case 0x5b:
        if (depth === maxDepth) return { reason: "too_deep", at: position };
        starts[++depth] = position;
        containers[depth] = byte === 0x7b ? inObject : inArray;
        expected = byte === 0x7b ? expectKeyOrEnd : expectValueOrEnd;
        position++;
        break;
      case 0x5d:
        if (expected !== expectValueOrEnd) return { reason: "syntax", at: position };
        depth--;
        expected = expectCommaOrEnd;
        position++;
        break;
      case 0x74:
      case 0x66:
      case 0x6e: {
        const end = wordEnd(bytes, position);
        if (end < 0) return { reason: "syntax", at: position };
        position = end;
        expected = expectCommaOrEnd;
        break;
      }
      default: {
        const end = numberEnd(bytes, position);
        if (end < 0) return { reason: "syntax", at: -end };
        if (!isFiniteNumber(bytes, position, end)) return { reason: "not_finite", at: position };
        position = end;
        expected = expectCommaOrEnd;
      }
    }
  }
}

// One array for all texts: an array for each would take longer than a short text.
let kinds = new Uint8Array(257);
let offsets = new Int32Array(257);

function containersFor(maxDepth: number): Uint8Array {
  if (kinds.length <= maxDepth) kinds = new Uint8Array(maxDepth + 1);
  return kinds;
}

function startsFor(maxDepth: number): Int32Array {
  if (offsets.length <= maxDepth) offsets = new Int32Array(maxDepth + 1);
  return offsets;
}

export function isSpace(byte: number | undefined): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function startsValue(byte: number): boolean {
  return (
    byte === quote || byte === 0x5b || byte === 0x2d || isDigit(byte) || byte === 0x74 || byte === 0x66 || byte === 0x6e
  );
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 0x30 && byte <= 0x39;
}

/**
 * Of the string whose opening quote is at `start`: the offset behind the closing one, or the negated offset of the fault.
 */
export function stringEnd(bytes: Uint8Array, start: number, words: Words | undefined): number {
  const length = bytes.length;
  let position = start + 1;
  for (;;) {
    position = words === undefined ? skipPlainFours(bytes, position) : skipPlainWords(words, position);
    while (position < length && plainInString[bytes[position] as number] === 1) position++;
    if (position >= length) return -length;
    const byte = bytes[position];
    if (byte === quote) return position + 1;
    if (byte !== backslash) return -position;
    const end = escapeEnd(bytes, position);
    if (end < 0) return -position;
    position = end;
  }
}

/** The offset of the first byte from `position` on that is not of four plain ones. */
function skipPlainFours(bytes: Uint8Array, start: number): number {
  const last = bytes.length - 4;
  let position = start;
  for (; position <= last; position += 4) {
    const first = plainInString[bytes[position] as number] as number;
    const second = plainInString[bytes[position + 1] as number] as number;
    const third = plainInString[bytes[position + 2] as number] as number;
    const fourth = plainInString[bytes[position + 3] as number] as number;
    if ((first & second & third & fourth) === 0) break;
  }
  return position;
}

function escapeEnd(bytes: Uint8Array, start: number): number {
  switch (bytes[start + 1]) {
    case quote:
    case backslash:
    case 0x2f:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return start + 2;
    case 0x75:
      for (let offset = 2; offset < 6; offset++) {
        if (!isHexDigit(bytes[start + offset])) return -1;
      }
      return start + 6;
    default:
      return -1;
  }
}

function isHexDigit(byte: number | undefined): boolean {
  return isDigit(byte) || (byte !== undefined && (byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
}

const words = ["true", "false", "null"].map((word) => Buffer.from(word));

function wordEnd(bytes: Uint8Array, start: number): number {
  for (const word of words) {
    if (word.every((byte, offset) => bytes[start + offset] === byte)) return start + word.length;
  }
  return -1;
}

/** The offset behind the number, or the negated offset of the fault. */
export function numberEnd(bytes: Uint8Array, start: number): number {
  let position = start;
  if (bytes[position] === 0x2d) position++;
  if (bytes[position] === 0x30) {
    position++;
  } else {
    if (!isDigit(bytes[position])) return -position;
    while (isDigit(bytes[position])) position++;
  }
  if (bytes[position] === 0x2e) {
    position++;
    if (!isDigit(bytes[position])) return -position;
    while (isDigit(bytes[position])) position++;
  }
  if (bytes[position] === 0x65 || bytes[position] === 0x45) {
    position++;
    if (bytes[position] === 0x2b || bytes[position] === 0x2d) position++;
    if (!isDigit(bytes[position])) return -position;
    while (isDigit(bytes[position])) position++;
  }
  return position;
}

/** The shortest number that overflows a double is `1e309`: the short ones need no conversion. */
function isFiniteNumber(bytes: Uint8Array, start: number, end: number): boolean {
  if (end - start <= 4) return true;
  return Number.isFinite(Number(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("latin1")));
}

const prototypeKey = Buffer.from("__proto__");

function isPrototypeKey(bytes: Uint8Array, start: number): boolean {
  return prototypeKey.every((byte, offset) => bytes[start + offset] === byte);
}
