import { joinedPairs } from "./joined-pairs.js";
import { longestWord, wordState } from "./known-words.js";

const space = 0x20;
const firstCharacter = 0x20;
const characters = 0x7f - 0x20;

/** By two characters of ASCII, seven bits each: 1 unless every tokenizer joins them where they stand side by side. */
const apart = readPairs();

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
export function mostRunTokens(text: Uint8Array, start: number, end: number): number {
  const length = end - start;
  let tokens = Math.floor((2 * length + 1) / 3);
  for (let at = start + 1; at < end && tokens < length; at++) {
    tokens += apart[((text[at - 1] as number) << 7) | (text[at] as number)] as number;
  }
  return Math.min(tokens, length);
}

/** The most tokens of marks in a row. What stands before them may be a space, which they are joined with. */
export function markTokens(text: Uint8Array, start: number, end: number): number {
  return Math.min(mostRunTokens(text, start, end), text[start] === space ? end - start - 1 : end - start);
}

/** The most tokens of letters in a row that are no word by themselves. */
export function unknownTokens(text: Uint8Array, start: number, end: number): number {
  const most = mostRunTokens(text, start, end);
  if (most <= 2) return most;
  const isBehindSpace = text[start] === space;
  return Math.min(most, partTokens(text, isBehindSpace ? start + 1 : start, end, isBehindSpace, most));
}

/**
 * The same by the words within, as in `getElementById`: one token more for every place where the next word begins, as a
 * token across that place may cost both words theirs.
 */
function partTokens(text: Uint8Array, start: number, end: number, isBehindSpace: boolean, most: number): number {
  let tokens = 0;
  let from = start;
  for (let at = start + 1; at <= end && tokens < most; at++) {
    if (at < end && !beginsPart(text, at, end)) continue;
    if (from === start && at === end) return most;
    tokens += oneWordTokens(text, from, at, from === start && isBehindSpace) + (from === start ? 0 : 1);
    from = at;
  }
  return tokens;
}

/** A capital behind a small letter, or before one behind capitals. */
function beginsPart(text: Uint8Array, at: number, end: number): boolean {
  if (((text[at] as number) & 0x20) !== 0) return false;
  if (((text[at - 1] as number) & 0x20) !== 0) return true;
  return at + 1 < end && ((text[at + 1] as number) & 0x20) !== 0;
}

function oneWordTokens(text: Uint8Array, start: number, end: number, isBehindSpace: boolean): number {
  const length = end - start;
  const state = length < 2 || length > longestWord ? 0 : wordState(text, start, end);
  if (state === 2 || (state === 1 && isBehindSpace)) return 1;
  return state === 1 ? 2 : mostRunTokens(text, isBehindSpace ? start - 1 : start, end);
}
