import { controlPlace, foreignPlace, places, rowBehind, spacePlace, unitsPerToken, weightOf } from "./byte-weights.js";
import { characterCost } from "./character-costs.js";
import { codePointMask, lengthShift, nextCharacter, readCharacter } from "./read-character.js";

/** Longer texts are sampled, in bytes. */
const mostRead = 8192;

const blockBytes = 16;
const blocks = 384;

/**
 * How many tokens a text has at the most, by the tokenizers that `weight-rows.ts` names. Up to 8 KiB are read whole. Of
 * longer texts 384 blocks are read, each at a random place of one of as many equal stretches, and a margin is added: the
 * result falls below what the whole text counts with a probability of about one in a million, whatever the author knows.
 *
 * @param isJson - the text is JSON, in which escapes stand for the characters that a model reads.
 * @param random - at least 0, and less than 1.
 */
export function textTokens(text: Uint8Array, isJson = false, random: () => number = Math.random): number {
  const { length } = text;
  const units = length <= mostRead ? unitsOf(text, 0, length, isJson) : sampledUnits(text, isJson, random);
  return Math.ceil(units / unitsPerToken);
}

/** The natural logarithm of a million. */
const confidence = 14;

/** How much a block can count more than another one. */
const range = 0.8 * blockBytes * unitsPerToken;

function sampledUnits(text: Uint8Array, isJson: boolean, random: () => number): number {
  const stride = text.length / blocks;
  // One random number makes all others, which is quicker. It must not be 0.
  let state = Math.floor(random() * 0xffff_fffe) + 1;
  let sum = 0;
  let squares = 0;
  for (let block = 0; block < blocks; block++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    const start = Math.floor((block + (state >>> 0) / 0x1_0000_0000) * stride);
    const units = unitsOf(text, start, Math.min(start + blockBytes, text.length), isJson);
    sum += units;
    squares += units * units;
  }
  const mean = sum / blocks;
  const variance = Math.max(squares / blocks - mean * mean, 0);
  // Bernstein's inequality, with the variance that the sample has.
  const margin = Math.sqrt((2 * variance * confidence) / blocks) + (range * confidence) / (3 * blocks);
  return ((mean + margin) * text.length) / blockBytes;
}

/** Of JSON, a backslash is no character by itself. */
const jsonPlaces = places.slice();
jsonPlaces[0x5c] = -1;

/** What the characters count that begin between the offsets, in 64ths of a token. */
function unitsOf(text: Uint8Array, start: number, end: number, isJson: boolean): number {
  const placesOfBytes = isJson ? jsonPlaces : places;
  let at = start === 0 ? 0 : nextCharacter(text, start, isJson);
  // Where there is an escape before it, what it stands for is not looked for.
  let last = at > 0 && at === start ? placeBefore(text, at) : controlPlace;
  let row = rowBehind(at > 1 && at === start ? placeBefore(text, at - 1) : controlPlace, last);
  let units = 0;
  while (at < end) {
    let place = placesOfBytes[text[at] as number] as number;
    while (place >= 0) {
      units += weightOf(row, place);
      row = rowBehind(last, place);
      last = place;
      if (++at >= end) return units;
      place = placesOfBytes[text[at] as number] as number;
    }
    const character = readCharacter(text, at, isJson);
    const code = character & codePointMask;
    at += character >>> lengthShift;
    place = code < 0x80 ? (places[code] as number) : foreignPlace;
    units += place === foreignPlace ? foreignUnits(code, last) : weightOf(row, place);
    row = rowBehind(last, place);
    last = place;
  }
  return units;
}

function placeBefore(text: Uint8Array, at: number): number {
  const place = places[text[at - 1] as number] as number;
  return place < 0 ? foreignPlace : place;
}

/** Behind a space, some characters of three bytes that are a token otherwise fall into two. */
function foreignUnits(code: number, last: number): number {
  const cost = characterCost(code);
  const isTorn = cost === 1 && last === spacePlace && code >= 0x800 && code < 0x10000;
  return (isTorn ? 2 : cost) * unitsPerToken;
}
