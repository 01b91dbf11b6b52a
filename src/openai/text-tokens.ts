/**
 * How many tokens a text has at the most, from what its bytes are: every third byte begins one in prose and code, but
 * digits, capitals and punctuation that take turns have up to one token a byte. Fitted to o200k and cl100k with the texts
 * of the test; only letters without any order, such as a genome's, have more.
 */
export function textTokens(text: Uint8Array): number {
  const { length } = text;
  if (length === 0) return 0;
  const stride = strideOf(length);
  let units = 0;
  let read = 0;
  for (let start = (stride - blockBytes) / 2; start < length; start += stride) {
    const end = Math.min(start + blockBytes, length);
    units += Math.max(unitsOf(text, start, end), (end - start) * unitsPerByte);
    read += end - start;
  }
  return Math.ceil((units * length) / read / unitsPerToken);
}

/** Fits one pattern of text after another, so that none is averaged out by what surrounds it. */
const blockBytes = 64;

/** Enough to tell what a text is like, however long it is. */
const mostBlocks = 128;

/** Short texts are read whole; of longer ones four blocks, or an eighth of all if that is more, up to the most. */
function strideOf(length: number): number {
  const blocks = length / blockBytes;
  return blockBytes * Math.max(1, Math.min(8, Math.floor(blocks / 4)), Math.ceil(blocks / mostBlocks));
}

const unitsPerToken = 63;
const unitsPerByte = unitsPerToken / 3;

/** Kinds of bytes; `more`: the second and further ones of a character. */
const [space, lower, upper, digit, mark, lead2, lead3, lead4, more] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

const kinds = Uint8Array.from({ length: 256 }, (_, byte) => {
  if (byte <= 0x20) return space;
  if (byte >= 0xf0) return lead4;
  if (byte >= 0xe0) return lead3;
  if (byte >= 0xc0) return lead2;
  if (byte >= 0x80) return more;
  if (byte >= 0x61 && byte <= 0x7a) return lower;
  if (byte >= 0x41 && byte <= 0x5a) return upper;
  return byte >= 0x30 && byte <= 0x39 ? digit : mark;
});

/** Tokens that a byte adds behind another one, by the kinds of both. */
const weights = Uint8Array.from({ length: 256 }, (_, pair) =>
  Math.ceil(weightOf(pair >> 4, pair & 15) * unitsPerToken),
);

function weightOf(before: number, kind: number): number {
  switch (kind) {
    case space:
      return before === space ? 0 : 0.7;
    case digit:
      return before === digit ? 0.42 : before === space ? 1.35 : 1.25;
    case mark:
      return before === mark ? 0.7 : 0.25;
    case lead2:
      return 0.75;
    case lead3:
      return 1.2;
    case lead4:
      return 3.3;
    case lower:
      if (before === lower) return 0.04;
      return before === upper ? 1.12 : before === space ? 0.32 : 0.85;
    case upper:
      if (before === upper) return 0.1;
      return before === lower ? 1.48 : before === space ? 0.32 : 0.85;
    default:
      return 0;
  }
}

function unitsOf(text: Uint8Array, start: number, end: number): number {
  let units = 0;
  let before = space;
  for (let at = start; at < end; at++) {
    const kind = kinds[text[at] as number] as number;
    units += weights[(before << 4) | kind] as number;
    before = kind;
  }
  return units;
}
