/** Shorter texts are through before a view on them is made. */
const worthwhile = 2048;

/** A text as words of four bytes, to leap over the plain stretches of its strings four at a time. */
export interface Words {
  readonly words: Int32Array;
  /** How many bytes the first word begins before the text. */
  readonly shift: number;
}

/** @returns `undefined` for short texts. */
export function wordsOf({ buffer, byteOffset, length }: Uint8Array): Words | undefined {
  if (length < worthwhile) return undefined;
  const shift = byteOffset & 3;
  return { words: new Int32Array(buffer, byteOffset - shift, (length + shift) >> 2), shift };
}

/**
 * The offset behind as many words as hold no byte that could end or interrupt a JSON string: no quote, no backslash, no
 * control. It may stop early, for what only looks like one of these; never late.
 *
 * @param position - offset of a byte that begins a word: `(position + shift) % 4 === 0`.
 */
export function skipPlainWords({ words, shift }: Words, position: number): number {
  let index = (position + shift) >> 2;
  for (; index < words.length; index++) {
    const word = words[index] as number;
    // A byte less than n sets its top bit in (word - n…n) & ~word; a byte that equals one is less than 1 after XOR.
    const quotes = word ^ 0x22222222;
    const backslashes = word ^ 0x5c5c5c5c;
    const controls = (word - 0x20202020) & ~word;
    const others = ((quotes - 0x01010101) & ~quotes) | ((backslashes - 0x01010101) & ~backslashes);
    if (((controls | others) & 0x80808080) !== 0) break;
  }
  return (index << 2) - shift;
}
