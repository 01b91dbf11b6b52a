import { wordList } from "./word-list.js";

/** Longer runs of letters are no known word. */
export const longestWord = 12;

/** No known word; one token behind a single space, and two at the most elsewhere; one token everywhere. */
type WordState = 0 | 1 | 2;

/**
 * Open addressing: two numbers for each word. A word's letters make a number of 60 bits, five each. The lower half is the
 * first number; the second has the other bits, and above them how the word is written, and its state.
 * Filled when the first text is counted.
 */
let words: Int32Array | undefined;
const slots = 1 << 15;
const lastSlot = slots * 2 - 1;

const shapeShift = 28;
const stateShift = 30;
const wordMask = (1 << stateShift) - 1;

/** In small letters, with a capital in front, in capitals. */
const [small, capitalized, capitals] = [0, 1, 2];

function slotOf(low: number, high: number): number {
  const mixed = Math.imul(low ^ Math.imul(high, 0x9e37_79b1), 0x85eb_ca6b);
  return ((mixed ^ (mixed >>> 15)) & (slots - 1)) << 1;
}

/**
 * What a word of 2 to 12 letters of ASCII is, which make a number of 60 bits, the low five of each.
 * @param shape - of {@link shapeOf}.
 */
export function packedState(low: number, high: number, shape: number): WordState {
  if (shape < 0) return 0;
  words ??= readList();
  const table = words;
  const second = high | (shape << shapeShift);
  for (let slot = slotOf(low, second); ; slot = (slot + 2) & lastSlot) {
    const found = table[slot + 1] as number;
    if (found === 0) return 0;
    if ((found & wordMask) === second && table[slot] === low) return (found >>> stateShift) as WordState;
  }
}

/** How a word is written whose first letter is a small one, or not, and that has so many small ones; -1 for any other way. */
export function shapeOf(isSmallFirst: boolean, smalls: number, length: number): number {
  if (isSmallFirst) return smalls === length ? small : -1;
  return smalls === 0 ? capitals : smalls === length - 1 ? capitalized : -1;
}

const [lineFeed, zero, beforeCapitals, beforeSmalls] = [0x0a, 0x30, 0x40, 0x60];

/** Goes over {@link wordList} by its characters: a regular expression takes several times as long, within the first call. */
function readList(): Int32Array {
  const table = new Int32Array(slots * 2);
  // Of the word's first letters, by how many there are.
  const lows = new Int32Array(longestWord + 1);
  const highs = new Int32Array(longestWord + 1);
  let length = 0;
  for (let at = 0; at < wordList.length; at++) {
    const code = wordList.charCodeAt(at);
    const low = lows[length] as number;
    const high = highs[length] as number;
    if (code > beforeSmalls) {
      length++;
      lows[length] = (low << 5) | (code - beforeSmalls);
      highs[length] = (high << 5) | (low >>> 27);
    } else if (code > beforeCapitals) {
      const states = code - beforeCapitals;
      add(table, low, high | (capitals << shapeShift) | ((states % 3) << stateShift));
      add(table, low, high | (capitalized << shapeShift) | ((Math.floor(states / 3) % 3) << stateShift));
      add(table, low, high | (small << shapeShift) | (Math.floor(states / 9) << stateShift));
    } else if (code !== lineFeed) length = code - zero;
  }
  return table;
}

/** @param second - of state 0: no known word. */
function add(table: Int32Array, low: number, second: number): void {
  if (second >>> stateShift === 0) return;
  let slot = slotOf(low, second & wordMask);
  while (table[slot + 1] !== 0) slot = (slot + 2) & lastSlot;
  table[slot] = low;
  table[slot + 1] = second;
}
