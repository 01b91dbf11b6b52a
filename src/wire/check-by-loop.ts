import { Buffer } from "node:buffer";
import { isFiniteNumber, longestNumber, numberEnd, shortestInfinite } from "./json-number.js";
import { deepestSkip, longValue, type SkipNotes } from "./skip-table.js";
import { sliceBytes } from "./slices.js";
import { skipPlainWords, type Words, wordsOf } from "./word-scan.js";

const quote = 0x22;
const backslash = 0x5c;

/** Most numbers are integers of fewer digits: what else a number can be is not looked for in them. */
const fewDigits = 16;

/** 1 where a string runs on: every byte but controls, the quote and the backslash. */
const plainInString = new Uint8Array(256).fill(1);
plainInString.fill(0, 0, 0x20);
plainInString[quote] = 0;
plainInString[backslash] = 0;

/**
 * Checks on from where the state is, byte by byte, to `until` or somewhat further.
 * @returns whether that is all.
 */
// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a state machine over local variables; a call for each token would cost as much as the token
export function checkByLoop(state: CheckState, until: number): boolean {
  const { bytes, skips, maxDepth } = state;
  let words: Words | undefined;
  const { kinds: containers, offsets: starts } = state.stack;
  const { length } = bytes;
  const stop = Math.min(until, length);
  let { depth, nested, expected, position, inString } = state;
  let fault: JsonFaultReason | undefined;

  for (;;) {
    while (position < stop && isSpace(bytes[position])) position++;
    if (position >= stop) {
      if (position < length) break;
      if (depth !== 0 || expected !== expectCommaOrEnd) fault = "syntax";
      break;
    }
    const byte = bytes[position] as number;
    if (expected === expectCommaOrEnd) {
      if (depth > 0 && byte === 0x2c) {
        expected = containers[depth] === inObject ? expectKey : expectValue;
      } else if (depth > 0 && byte === (containers[depth] === inObject ? 0x7d : 0x5d)) {
        const start = starts[depth--] as number;
        if (position - start >= longValue && depth < deepestSkip) skips?.set(start, position + 1);
      } else {
        fault = "syntax";
        break;
      }
      position++;
      continue;
    }
    if (expected === expectColon) {
      if (byte !== 0x3a) {
        fault = "syntax";
        break;
      }
      expected = expectValue;
      position++;
      continue;
    }
    const isKey = expected === expectKey || expected === expectKeyOrEnd;
    if (byte === quote && depth > 0) {
      const from = inString < 0 ? position + 1 : inString;
      words ??= wordsOf(bytes);
      const close = stringRun(bytes, from, words, stop);
      if (close < 0) {
        fault = "syntax";
        position = -close;
        break;
      }
      if (bytes[close] !== quote) {
        inString = close;
        break;
      }
      inString = -1;
      const end = close + 1;
      if (isKey) {
        if (end - position === 11 && isPrototypeKey(bytes, position + 1)) fault = "prototype_key";
        else if (++nested > mostNested) fault = "too_many";
        if (fault !== undefined) break;
      } else if (end - position >= longValue && depth <= deepestSkip) {
        skips?.set(position, end);
      }
      position = end;
      expected = isKey ? expectColon : expectCommaOrEnd;
      continue;
    }
    if (isKey) {
      if (byte !== 0x7d || expected !== expectKeyOrEnd) {
        fault = "syntax";
        break;
      }
      depth--;
      expected = expectCommaOrEnd;
      position++;
      continue;
    }
    if (byte === 0x7b || (byte === 0x5b && depth > 0)) {
      if (depth === maxDepth) fault = "too_deep";
      else if (++nested > mostNested) fault = "too_many";
      if (fault !== undefined) break;
      starts[++depth] = position;
      containers[depth] = byte === 0x7b ? inObject : inArray;
      expected = byte === 0x7b ? expectKeyOrEnd : expectValueOrEnd;
      position++;
      continue;
    }
    if (depth === 0) {
      fault = startsValue(byte) ? "not_object" : "syntax";
      break;
    }
    if (byte === 0x5d) {
      if (expected !== expectValueOrEnd) {
        fault = "syntax";
        break;
      }
      depth--;
      expected = expectCommaOrEnd;
      position++;
      continue;
    }
    let end = position + 1;
    if (byte > 0x30 && byte <= 0x39) while (end < position + fewDigits && isDigit(bytes[end])) end++;
    const isInteger = isDigit(byte) && (bytes[end] === 0x2c || bytes[end] === 0x5d);
    if (!isInteger) end = byte >= 0x61 ? wordEnd(bytes, position) : numberEnd(bytes, position);
    if (end < 0) {
      fault = "syntax";
      position = byte >= 0x61 ? position : -end;
      break;
    }
    if (!isInteger && end - position >= shortestInfinite && byte < 0x61) {
      if (end - position > longestNumber) fault = "long_number";
      else if (!isFiniteNumber(bytes, position, end)) fault = "not_finite";
      if (fault !== undefined) break;
    }
    position = end;
    expected = expectCommaOrEnd;
  }

  state.depth = depth;
  state.nested = nested;
  state.expected = expected;
  state.position = position;
  state.inString = inString;
  if (fault !== undefined) state.fault = { reason: fault, at: position };
  return fault !== undefined || (position >= length && inString < 0);
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
 * Reads on inside a string: to its closing quote, or to any other byte at `stop` or behind it, from which to read on.
 * @returns the negated offset of the fault, if there is one.
 */
function stringRun(bytes: Uint8Array, start: number, words: Words | undefined, stop: number): number {
  const length = bytes.length;
  let position = start;
  for (;;) {
    position = words === undefined ? skipPlainFours(bytes, position) : skipPlainWords(words, position);
    while (position < length && plainInString[bytes[position] as number] === 1) position++;
    if (position >= length) return -length;
    const byte = bytes[position];
    if (byte === quote) return position;
    if (byte !== backslash) return -position;
    // Escapes come in crowds, in which there is nothing to leap over.
    while (bytes[position] === backslash) {
      const end = escapeEnd(bytes, position);
      if (end < 0) return -position;
      position = end;
      if (position >= stop) return position < length ? position : -length;
    }
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

function wordEnd(bytes: Uint8Array, start: number): number {
  switch (bytes[start]) {
    case 0x74:
      return hasBytes(bytes, start, "true") ? start + 4 : -1;
    case 0x66:
      return hasBytes(bytes, start, "false") ? start + 5 : -1;
    case 0x6e:
      return hasBytes(bytes, start, "null") ? start + 4 : -1;
    default:
      return -1;
  }
}

/** Of a word whose first byte is known. */
function hasBytes(bytes: Uint8Array, start: number, word: string): boolean {
  for (let offset = 1; offset < word.length; offset++) {
    if (bytes[start + offset] !== word.charCodeAt(offset)) return false;
  }
  return true;
}

const prototypeKey = Buffer.from("__proto__");

function isPrototypeKey(bytes: Uint8Array, start: number): boolean {
  return prototypeKey.every((byte, offset) => bytes[start + offset] === byte);
}

/** Why a text is refused. Only the first two concern JSON itself; the others are what the gateway does not pass on. */
export type JsonFaultReason =
  | "syntax"
  | "not_object"
  | "too_deep"
  | "too_many"
  | "long_number"
  | "not_finite"
  | "prototype_key";

export interface JsonFault {
  reason: JsonFaultReason;
  /** Byte offset of the fault. */
  at: number;
}

/**
 * Members, objects and arrays in one text, together. Far beyond any request, and far below what would fill the memory of
 * one that makes values of the text, such as a server behind the gateway.
 */
export const mostNested = 500_000;

/** What may follow, as the check goes from token to token. `json-scan.wat` has the same numbers. */
const expectValue = 0;
const expectValueOrEnd = 1;
const expectKey = 2;
const expectKeyOrEnd = 3;
const expectColon = 4;
export const expectCommaOrEnd = 5;

/** What a level is. */
const inObject = 1;
const inArray = 2;

/** What is open at each level. */
interface LevelStack {
  /** What it is. */
  readonly kinds: Uint8Array;
  /** Where it began. */
  readonly offsets: Int32Array;
}

/** How far a text was checked. Either of the two ways to check can go on from it. */
export interface CheckState {
  readonly bytes: Uint8Array;
  readonly maxDepth: number;
  /** Gets the ends of long values, by their starts. */
  readonly skips: SkipNotes | undefined;
  readonly stack: LevelStack;
  depth: number;
  nested: number;
  expected: number;
  position: number;
  /** Inside a string that was not read to its end: from where to read on, or -1. */
  inString: number;
  /** The first fault, or `undefined`. */
  fault: JsonFault | undefined;
}

/** @param skips - gets the ends of long values, by their starts. A later reader of the text can leap over them. */
export function startOfCheck(bytes: Uint8Array, maxDepth: number, skips?: SkipNotes): CheckState {
  return {
    bytes,
    maxDepth,
    skips,
    stack: stackFor(maxDepth, bytes.length > sliceBytes),
    depth: 0,
    nested: 0,
    expected: expectValue,
    position: 0,
    inString: -1,
    fault: undefined,
  };
}

// One for all texts of the thread that are checked in one go, and nothing is left in it for the next: one for each would
// take longer than a short text, and every reader of JSON would have to be given one.
let shared: LevelStack = stackOf(256);

function stackFor(maxDepth: number, isSliced: boolean): LevelStack {
  if (isSliced) return stackOf(maxDepth);
  if (shared.kinds.length <= maxDepth) shared = stackOf(maxDepth);
  return shared;
}

function stackOf(maxDepth: number): LevelStack {
  return { kinds: new Uint8Array(maxDepth + 1), offsets: new Int32Array(maxDepth + 1) };
}
