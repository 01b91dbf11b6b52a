/** Shorter texts are through before a view on them is made. */
const worthwhile = 512;

/** Whether this processor begins a number with its last byte, as nearly all do, and WebAssembly everywhere. */
export const isLittleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** A text as words of four bytes, to leap over the plain stretches of its strings four at a time. */
export interface Words {
  readonly words: Int32Array;
  /** How many bytes the first word begins before the text. */
  readonly shift: number;
}

/** @returns `undefined` for short texts, and on the rare processor whose words begin with their last byte. */
export function wordsOf({ buffer, byteOffset, length }: Uint8Array): Words | undefined {
  if (length < worthwhile || !isLittleEndian) return undefined;
  const shift = byteOffset & 3;
  return { words: new Int32Array(buffer, byteOffset - shift, (length + shift) >> 2), shift };
}

/**
 * The offset of the first byte from `position` on that could end or interrupt a JSON string: a quote, a backslash or a
 * control. Or else of the text's last three bytes at most, which fill no word.
 */
export function skipPlainWords({ words, shift }: Words, position: number): number {
  let index = (position + shift) >> 2;
  if (index >= words.length) return position;
  let word = words[index] as number;
  const before = (1 << (((position + shift) & 3) << 3)) - 1;
  // What lies before the position counts as plain.
  if (before !== 0) word = (word & ~before) | (0x61616161 & before);
  for (;;) {
    const found = special(word);
    if (found !== 0) return (index << 2) - shift + ((31 - Math.clz32(found & -found)) >> 3);
    index = skipPlainBlocks(words, index + 1);
    if (index === words.length) return (index << 2) - shift;
    word = words[index] as number;
  }
}

/** Four words at a time, which takes half the time: there is one branch for all of them. */
function skipPlainBlocks(words: Int32Array, from: number): number {
  const last = words.length - 4;
  let index = from;
  for (; index <= last; index += 4) {
    const first = special(words[index] as number) | special(words[index + 1] as number);
    const second = special(words[index + 2] as number) | special(words[index + 3] as number);
    if ((first | second) !== 0) break;
  }
  return index;
}

/**
 * The top bits of the word's bytes that are a quote, a backslash or a control. Behind the first such byte there may be
 * others that are none.
 */
function special(word: number): number {
  // A byte less than n sets its top bit in (word - n…n) & ~word. Flipping a bit makes of the quote the one next to the
  // controls, and XOR makes of the backslash the only one less than 1; neither touches the top bits. The borrow can make
  // more bytes of the word look like it, but only those behind the first.
  return (((word ^ 0x02020202) - 0x21212121) | ((word ^ 0x5c5c5c5c) - 0x01010101)) & ~word & 0x80808080;
}
