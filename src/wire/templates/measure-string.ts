import { runtime } from "../../runtime/this-runtime.js";

/** A part of some bytes. */
export interface ByteSpan {
  start: number;
  end: number;
}

const quote = 0x22;
const backslash = 0x5c;

/**
 * Finds the end of a string of JSON, up to its quote.
 * @param span - gets its place.
 * @returns how many bytes longer its escapes are than the characters that they stand for; -1 for a string that needs a full
 * parser, such as one with `\u`, and for one that `JSON.stringify` would write with other escapes.
 */
export function measureString(bytes: Uint8Array, start: number, span: ByteSpan): number {
  let position = start;
  let escapes = 0;
  let ascii = true;
  for (;;) {
    const byte = bytes[position];
    if (byte === undefined || byte < 0x20) return -1;
    if (byte === quote) break;
    if (byte === backslash) {
      if (!isShortEscape(bytes[position + 1])) return -1;
      escapes++;
      position++;
    } else if (byte >= 0x80) {
      ascii = false;
    }
    position++;
  }
  if (!ascii && !runtime.isUtf8(bytes.subarray(start, position))) return -1;
  span.start = start;
  span.end = position;
  return escapes;
}

/** All escapes but `\u` and `\/`. */
function isShortEscape(byte: number | undefined): boolean {
  switch (byte) {
    case quote:
    case backslash:
    case 0x62:
    case 0x66:
    case 0x6e:
    case 0x72:
    case 0x74:
      return true;
    default:
      return false;
  }
}
