import { asBuffer } from "../wire/bytes.js";
import { TokenScan } from "./token-scan.js";

/** Longer texts are sampled, in bytes. */
export const mostRead = 8192;

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
  return length <= mostRead
    ? Math.ceil(new TokenScan(text, isJson).tokens(0, length))
    : sampledTokens([text], isJson, random);
}

/** How sure the margin is: the natural logarithm of a million. */
const confidence = 14;

/** How much a block can count more than another one: its last run, behind a space, may end behind it. */
const range = blockBytes + 18;

/** The same for long texts together, each of which is longer than {@link mostRead}: no more is read of them than of one. */
export function sampledTokens(
  texts: readonly Uint8Array[],
  isJson: boolean,
  random: () => number = Math.random,
): number {
  let [text] = texts;
  if (text === undefined) return 0;
  let scan = new TokenScan(text, isJson);
  const length = texts.reduce((sum, each) => sum + each.length, 0);
  const stride = length / blocks;
  let index = 0;
  /** Where the text begins that the block is in. */
  let from = 0;
  // One random number makes all others, which is quicker. It must not be 0.
  let state = Math.floor(random() * 0xffff_fffe) + 1;
  let sum = 0;
  let squares = 0;
  for (let block = 0; block < blocks; block++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    let start = Math.floor((block + (state >>> 0) / 0x1_0000_0000) * stride) - from;
    for (let next = texts[index + 1]; next !== undefined && start >= text.length; next = texts[index + 1]) {
      start -= text.length;
      from += text.length;
      index++;
      text = next;
      scan = new TokenScan(text, isJson);
    }
    const tokens = scan.tokens(start, Math.min(start + blockBytes, text.length));
    sum += tokens;
    squares += tokens * tokens;
  }
  const mean = sum / blocks;
  const variance = Math.max(squares / blocks - mean * mean, 0);
  // Bernstein's inequality, with the variance that the sample has.
  const margin = Math.sqrt((2 * variance * confidence) / blocks) + (range * confidence) / (3 * blocks);
  return Math.ceil(((mean + margin) * length) / blockBytes);
}

/** Shorter texts are counted sooner than found, in bytes. */
const shortest = 96;

/** Longer ones are not kept, in bytes. */
const longest = 8192;

/**
 * Remembers what texts count. Most of a prompt has come before: system prompts and tools come with every call, and each
 * turn of a conversation brings all turns before it again. To look a text up costs a tenth of counting it.
 */
export class RememberedCounts {
  readonly #mostBytes: number;
  #recent = new Map<string, number>();
  #recentBytes = 0;
  #older: ReadonlyMap<string, number> = new Map();

  /** @param mostBytes - how much text is kept at the most; the texts that came last are. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** What the text counts. @param count - counts it, where that is not known. */
  count(text: Uint8Array, count: (text: Uint8Array) => number): number {
    const { length } = text;
    if (length < shortest || length > longest) return count(text);
    // A character for each byte, whatever it stands for.
    const key = asBuffer(text).toString("latin1", 0, length);
    const recent = this.#recent.get(key);
    if (recent !== undefined) return recent;
    const tokens = this.#older.get(key) ?? count(text);
    this.#add(key, tokens);
    return tokens;
  }

  /** Half of what is kept is forgotten at once, which costs nothing for each text. */
  #add(key: string, tokens: number): void {
    if (this.#recentBytes + key.length > this.#mostBytes / 2) {
      this.#older = this.#recent;
      this.#recent = new Map();
      this.#recentBytes = 0;
    }
    this.#recent.set(key, tokens);
    this.#recentBytes += key.length;
  }
}
