import { wordList } from "./word-list.js";

/** Longer runs of letters are no known word. */
export const longestWord = 12;

/** No known word; one token behind a single space, and two at the most elsewhere; one token everywhere. */
type WordState = 0 | 1 | 2;

/**
 * Open addressing: two numbers for each word. A word's letters make a number of 60 bits, five each. The lower half is the
 * first number; the second has the other bits, and above them how the word is written, and its state.
 */
const slots = 1 << 15;
const table = new Int32Array(slots * 2);
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

function add(word: string, shape: number, state: number): void {
  let low = 0;
  let high = 0;
  for (let at = 0; at < word.length; at++) {
    high = (high << 5) | (low >>> 27);
    low = (low << 5) | (word.charCodeAt(at) & 0x1f);
  }
  const second = high | (shape << shapeShift);
  let slot = slotOf(low, second);
  while (table[slot + 1] !== 0) slot = (slot + 2) & lastSlot;
  table[slot] = low;
  table[slot + 1] = second | (state << stateShift);
}

function readList(): void {
  let word = "";
  for (const [, shared, letters, states = ""] of wordList.replaceAll("\n", "").matchAll(/(\d)([a-z]*)([A-Z])/g)) {
    word = word.slice(0, Number(shared)) + letters;
    let rest = states.charCodeAt(0) - 0x40;
    for (const shape of [capitals, capitalized, small]) {
      if (rest % 3 > 0) add(word, shape, rest % 3);
      rest = Math.floor(rest / 3);
    }
  }
}

readList();
