import { TokenScan } from "./token-scan.js";

/** Longer texts are sampled, in bytes. */
const mostRead = 8192;

const blockBytes = 32;
const blocks = 192;

/**
 * How many tokens a text has at the most, by the tokenizers that `word-list.ts` names. Up to 8 KiB are read whole. Of
 * longer texts 192 blocks are read, each at a random place of one of as many equal stretches, and a margin is added: the
 * result falls below what the whole text counts once in some thousand times where few stretches are much dearer than all
 * others, and next to never else, whatever the author knows.
 *
 * @param isJson - the text is JSON, in which escapes stand for the characters that a model reads.
 * @param random - at least 0, and less than 1.
 */
export function textTokens(text: Uint8Array, isJson = false, random: () => number = Math.random): number {
  const { length } = text;
  return Math.ceil(
    length <= mostRead ? new TokenScan(text, isJson).tokens(0, length) : sampledTokens(text, isJson, random),
  );
}

/** How sure the margin is: the natural logarithm of a million. */
const confidence = 14;

/** How much a block can count more than another one: its last run, behind a space, may end behind it. */
const range = blockBytes + 18;

function sampledTokens(text: Uint8Array, isJson: boolean, random: () => number): number {
  const scan = new TokenScan(text, isJson);
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
    const tokens = scan.tokens(start, Math.min(start + blockBytes, text.length));
    sum += tokens;
    squares += tokens * tokens;
  }
  const mean = sum / blocks;
  const variance = Math.max(squares / blocks - mean * mean, 0);
  // Bernstein's inequality, with the variance that the sample has.
  const margin = Math.sqrt((2 * variance * confidence) / blocks) + (range * confidence) / (3 * blocks);
  return ((mean + margin) * text.length) / blockBytes;
}
