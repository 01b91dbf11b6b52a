import { weightRows } from "./weight-rows.js";

/** Weights are in 64ths of a token. */
export const unitsPerToken = 64;

/** What characters are told apart by: lower case and marks of ASCII are themselves, the others groups. */
export const spaceKind = 0;
export const controlKind = 1;
const digitKind = 2;
export const foreignKind = 3;
const firstLetter = 4;
const upperKind = 30;
const firstMark = 31;

/** By byte. */
export const kinds = new Uint8Array(256).fill(foreignKind);
for (let byte = 0, mark = firstMark; byte < 0x80; byte++) {
  if (byte === 0x20) kinds[byte] = spaceKind;
  else if (byte < 0x20 || byte === 0x7f) kinds[byte] = controlKind;
  else if (byte >= 0x30 && byte <= 0x39) kinds[byte] = digitKind;
  else if (byte >= 0x41 && byte <= 0x5a) kinds[byte] = upperKind;
  else if (byte >= 0x61 && byte <= 0x7a) kinds[byte] = firstLetter + byte - 0x61;
  else kinds[byte] = mark++;
}

/** Of the character before the last one, marks are all alike. */
export function coarseKind(kind: number): number {
  return Math.min(kind, firstMark);
}

/**
 * What a character of ASCII counts by its kind and those of the two before it, at
 * `coarseKind(before) << 12 | last << 6 | kind`: a token, unless `weight-rows.ts` has less.
 */
export const weights = readRows();

function readRows(): Uint8Array {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const table = new Uint8Array(32 << 12).fill(unitsPerToken);
  for (const row of weightRows.trim().split(/\s+/)) {
    const [before = 0, last = 0, ...entries] = Array.from(row, (digit) => digits.indexOf(digit));
    for (let at = 0; at < entries.length; at += 2) {
      table[(before << 12) | (last << 6) | (entries[at] ?? 0)] = entries[at + 1] ?? unitsPerToken;
    }
  }
  return table;
}
