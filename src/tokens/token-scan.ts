import { codePointMask, lengthShift, nextCharacter, readCharacter } from "../wire/read-character.js";
import { characterCost } from "./character-costs.js";
import { longestWord, packedState, shapeOf } from "./known-words.js";
import { markTokens, mostRunTokens } from "./run-tokens.js";

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
const lineFeed = 0x0a;
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
    if (text[at - 1] === lineFeed || text[at - 1] === carriageReturn) return true;
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
