import { weightRows } from "./weight-rows.js";

/** Weights are in 64ths of a token. */
export const unitsPerToken = 64;

/** What characters are told apart by: lower case and marks of ASCII are themselves, the others groups. */
const spaceKind = 0;
const controlKind = 1;
const digitKind = 2;
const foreignKind = 3;
const firstLetter = 4;
const upperKind = 30;
const firstMark = 31;

/**
 * Where a character stands in the table: its kind, for its own column, at bit 0 and, for the rows behind it, at bits 6
 * and 12. Of the character before the last one, at bit 12, marks are all alike.
 */
function placeOf(kind: number): number {
  return (Math.min(kind, firstMark) << 12) | (kind << 6) | kind;
}

const columnMask = 0x3f;
const lastMask = 0x3f << 6;
const beforeMask = 0x1f << 12;

export const spacePlace = placeOf(spaceKind);
export const controlPlace = placeOf(controlKind);
/** Of all characters beyond ASCII. */
export const foreignPlace = placeOf(foreignKind);

/** By byte; -1 for those of characters beyond ASCII. */
export const places = new Int32Array(256).fill(-1);
for (let byte = 0, mark = firstMark; byte < 0x80; byte++) {
  if (byte === 0x20) places[byte] = spacePlace;
  else if (byte < 0x20 || byte === 0x7f) places[byte] = controlPlace;
  else if (byte >= 0x30 && byte <= 0x39) places[byte] = placeOf(digitKind);
  else if (byte >= 0x41 && byte <= 0x5a) places[byte] = placeOf(upperKind);
  else if (byte >= 0x61 && byte <= 0x7a) places[byte] = placeOf(firstLetter + byte - 0x61);
  else places[byte] = placeOf(mark++);
}

/** The row of what comes behind two characters. */
export function rowBehind(before: number, last: number): number {
  return (before & beforeMask) | (last & lastMask);
}

/** What a character of ASCII counts in a row. */
export function weightOf(row: number, place: number): number {
  return weights[row | (place & columnMask)] as number;
}

/** A token, unless `weight-rows.ts` has less. */
const weights = readRows();

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
