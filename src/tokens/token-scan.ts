import { codePointMask, lengthShift, nextCharacter, readCharacter } from "../wire/read-character.js";
import { characterCost } from "./character-costs.js";
import { joinedPairs } from "./joined-pairs.js";
import { wordList } from "./word-list.js";

/** The classes of bytes. A backslash is a mark, except in JSON. */
const [control, space, digit, letter, mark, other] = [0, 1, 2, 3, 4, 5];

const kinds = new Uint8Array(256).fill(other);
for (let byte = 0; byte < 0x80; byte++) {
  const character = String.fromCharCode(byte);
  if (character === " ") kinds[byte] = space;
  else if (/[0-9]/.test(character)) kinds[byte] = digit;
  else if (/[A-Za-z]/.test(character)) kinds[byte] = letter;
  else kinds[byte] = /[!-~]/.test(character) ? mark : control;
}
const backslash = 0x5c;
const letterU = 0x75;
const slash = 0x2f;
const newline = 0x0a;
const carriageReturn = 0x0d;
const jsonKinds = kinds.slice();
jsonKinds[backslash] = other;

/** Longer runs of letters or marks count where they stand, all others where they begin. */
const longestRun = 24;

/** There are tokens for 24 spaces in a row, and for any fewer. */
const tokensPerSpace = 1 / 24;

/** Goes over a text, or parts of it. */
export class TokenScan {
  readonly #text: Uint8Array;
  readonly #isJson: boolean;
  readonly #kindOf: Uint8Array;
  #at = 0;
  #end = 0;
  /** The space before is the first part of what follows. */
  #isBehindSpace = false;
  /** And no other space stands before that one. */
  #isBehindOneSpace = false;
  /** A character that may be a letter stands before. */
  #isBehindOther = false;

  constructor(text: Uint8Array, isJson: boolean) {
    this.#text = text;
    this.#isJson = isJson;
    this.#kindOf = isJson ? jsonKinds : kinds;
  }

  /** The most tokens of the characters that stand between the offsets, and of the runs that begin there. */
  tokens(start: number, end: number): number {
    this.#at = start;
    this.#end = end;
    this.#isBehindSpace = false;
    this.#isBehindOther = false;
    let tokens = start > 0 ? this.#begin(start) : 0;
    while (this.#at < end) {
      const kind = this.#kindOf[this.#text[this.#at] as number] as number;
      if (kind === letter) tokens += this.#letters();
      else if (kind === space) tokens += this.#space();
      else if (kind === mark) tokens += this.#marks();
      else if (kind === other) tokens += this.#other();
      else {
        tokens++;
        this.#isBehindSpace = false;
        this.#isBehindOther = false;
        this.#at++;
      }
    }
    return tokens;
  }

  /** Within a run, the rest of it counts nothing, unless it is long. */
  #begin(start: number): number {
    const text = this.#text;
    this.#at = nextCharacter(text, start, this.#isJson);
    const kind = this.#kindOf[text[start] as number] as number;
    const before = this.#kindOf[text[start - 1] as number];
    this.#isBehindOther = this.#at > start || before === other;
    this.#isBehindSpace = before === space;
    this.#isBehindOneSpace = start < 2 || this.#kindOf[text[start - 2] as number] !== space;
    if (this.#at > start || before !== kind || (kind !== letter && kind !== mark)) return 0;
    let from = start;
    while (from > 0 && start - from < longestRun && this.#kindOf[text[from - 1] as number] === kind) from--;
    const to = this.#endOfRun(Math.max(this.#end, from + longestRun + 1));
    const isLong = to - from > longestRun;
    this.#at = isLong ? Math.min(to, this.#end) : to;
    return isLong ? mostRunTokens(text, start, this.#at) : 0;
  }

  #letters(): number {
    const text = this.#text;
    const kindOf = this.#kindOf;
    const start = this.#at;
    const stop = Math.min(text.length, Math.max(this.#end, start + longestRun + 1));
    let low = 0;
    let high = 0;
    let smalls = 0;
    let to = start;
    let byte = text[to] as number;
    const isSmallFirst = byte >= 0x60;
    do {
      high = (high << 5) | (low >>> 27);
      low = (low << 5) | (byte & 0x1f);
      smalls += (byte >> 5) & 1;
      to++;
      if (to === stop) break;
      byte = text[to] as number;
    } while (kindOf[byte] === letter);
    const length = to - start;
    const isBehindSpace = this.#isBehindSpace;
    const from = isBehindSpace ? start - 1 : start;
    const isWord = !this.#isBehindOther && !this.#isOtherAt(to);
    this.#at = to;
    this.#isBehindSpace = false;
    this.#isBehindOther = false;
    if (length === 1) return 1;
    if (isWord && length <= longestWord) {
      const state = packedState(low, high, shapeOf(isSmallFirst, smalls, length));
      if (state === 2 || (state === 1 && isBehindSpace && this.#isBehindOneSpace)) return 1;
      if (state === 1) return Math.min(2, mostRunTokens(text, from, to));
    }
    if (length > longestRun) this.#at = Math.min(to, this.#end);
    return mostRunTokens(text, from, this.#at);
  }

  #marks(): number {
    const start = this.#at;
    const to = this.#endOfRun(Math.max(this.#end, start + longestRun + 1));
    const from = this.#isBehindSpace ? start - 1 : start;
    this.#isBehindSpace = false;
    this.#isBehindOther = false;
    this.#at = to - start > longestRun ? Math.min(to, this.#end) : to;
    if (to === start + 1) return 1;
    const tokens = markTokens(this.#text, from, this.#at);
    return this.#text[start] === slash && this.#isBehindLineEnd(start) ? tokens + 1 : tokens;
  }

  /** There, o200k takes slashes for a part of what ends the line, and does not join them with other marks. */
  #isBehindLineEnd(at: number): boolean {
    const text = this.#text;
    if (text[at - 1] === newline || text[at - 1] === carriageReturn) return true;
    // Too often is no harm.
    return this.#isJson && (text[at - 2] === backslash || text[at - 6] === backslash);
  }

  /** A space joins the word or the mark behind it. Of some in a row, the last one does; the others are a token. */
  #space(): number {
    const text = this.#text;
    const next = this.#at + 1;
    const kind = next < text.length ? (this.#kindOf[text[next] as number] as number) : control;
    const isFirst = this.#at === 0 || this.#kindOf[text[this.#at - 1] as number] !== space;
    this.#at = next;
    this.#isBehindOther = false;
    this.#isBehindSpace = kind !== space;
    this.#isBehindOneSpace = isFirst;
    if (kind === letter || kind === mark) return isFirst ? 0 : tokensPerSpace;
    if (kind === space) return isFirst ? 1 : tokensPerSpace;
    return kind === other && text[next] === backslash && kinds[text[next + 1] as number] === mark ? 0 : 1;
  }

  /** A character beyond ASCII, or one that is escaped. */
  #other(): number {
    const character = readCharacter(this.#text, this.#at, this.#isJson);
    const code = character & codePointMask;
    const isBehindSpace = this.#isBehindSpace;
    this.#isBehindSpace = false;
    this.#isBehindOther = code >= 0x80 || this.#text[this.#at + 1] === letterU;
    this.#at += character >>> lengthShift;
    if (code < 0x80) return 1;
    const cost = characterCost(code);
    // Behind a space, some characters of three bytes that are a token otherwise fall into two, also within those that are
    // first taken apart by Unicode's normalization.
    return isBehindSpace && (cost > 2 || (cost === 1 && code >= 0x800)) ? cost + 1 : cost;
  }

  #endOfRun(most: number): number {
    const kind = this.#kindOf[this.#text[this.#at] as number];
    const end = Math.min(most, this.#text.length);
    let to = this.#at + 1;
    while (to < end && this.#kindOf[this.#text[to] as number] === kind) to++;
    return to;
  }

  /** A character that may be a letter stands there: one beyond ASCII, or one that is written as its number. */
  #isOtherAt(at: number): boolean {
    const text = this.#text;
    if (at >= text.length || this.#kindOf[text[at] as number] !== other) return false;
    return text[at] !== backslash || text[at + 1] === letterU;
  }
}

/** Longer runs of letters are no known word. */
const longestWord = 12;

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
function packedState(low: number, high: number, shape: number): WordState {
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
function shapeOf(isSmallFirst: boolean, smalls: number, length: number): number {
  if (isSmallFirst) return smalls === length ? small : -1;
  return smalls === 0 ? capitals : smalls === length - 1 ? capitalized : -1;
}

const [zero, beforeCapitals, beforeSmalls] = [0x30, 0x40, 0x60];

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
    } else if (code !== newline) length = code - zero;
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

const spaceByte = 0x20;
const firstCharacter = 0x20;
const characters = 0x7f - 0x20;

/**
 * By two characters of ASCII, seven bits each: 1 unless every tokenizer joins them where they stand side by side. Read
 * when the first text is counted.
 */
let pairs: Uint8Array | undefined;

function readPairs(): Uint8Array {
  const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const table = new Uint8Array(1 << 14).fill(1);
  const text = joinedPairs.replaceAll("\n", "");
  for (let pair = 0; pair < characters * characters; pair++) {
    const isJoined = (digits.indexOf(text.charAt(Math.floor(pair / 6))) >> (5 - (pair % 6))) & 1;
    const one = firstCharacter + Math.floor(pair / characters);
    table[(one << 7) | (firstCharacter + (pair % characters))] = 1 - isJoined;
  }
  return table;
}

/**
 * The most tokens that letters, or marks, of ASCII in a row can be, a space before the first one among them. A tokenizer
 * goes on until it can join no neighbours, so that of two that it joins not both can be left alone: two tokens for three
 * characters are the most, and one more for every two that it may not join.
 */
function mostRunTokens(text: Uint8Array, start: number, end: number): number {
  pairs ??= readPairs();
  const apart = pairs;
  const length = end - start;
  let tokens = Math.floor((2 * length + 1) / 3);
  for (let at = start + 1; at < end && tokens < length; at++) {
    tokens += apart[((text[at - 1] as number) << 7) | (text[at] as number)] as number;
  }
  return Math.min(tokens, length);
}

/** The most tokens of marks in a row. What stands before them may be a space, which they are joined with. */
function markTokens(text: Uint8Array, start: number, end: number): number {
  return Math.min(mostRunTokens(text, start, end), text[start] === spaceByte ? end - start - 1 : end - start);
}
