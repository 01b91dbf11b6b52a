import { joinedPairs } from "./joined-pairs.js";

const space = 0x20;
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
export function mostRunTokens(text: Uint8Array, start: number, end: number): number {
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
export function markTokens(text: Uint8Array, start: number, end: number): number {
  return Math.min(mostRunTokens(text, start, end), text[start] === space ? end - start - 1 : end - start);
}
