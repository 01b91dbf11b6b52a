const backslash = 0x5c;
const letterU = 0x75;

/** What a lone half of a surrogate pair becomes. */
const replacement = 0xfffd;

/** Where the number of bytes begins in what {@link readCharacter} returns, above the code point. */
export const lengthShift = 21;
export const codePointMask = (1 << lengthShift) - 1;

/** What the letter of an escape stands for, where it is not itself. */
const escapes = new Uint8Array(128);
for (const [letter, byte] of [
  ["b", 0x08],
  ["t", 0x09],
  ["n", 0x0a],
  ["f", 0x0c],
  ["r", 0x0d],
] as const) {
  escapes[letter.charCodeAt(0)] = byte;
}

/**
 * The character at the offset of UTF-8: its code point and, above {@link lengthShift}, the bytes that it takes.
 * @param isJson - a backslash begins an escape.
 */
export function readCharacter(text: Uint8Array, at: number, isJson: boolean): number {
  const byte = text[at] as number;
  if (byte < 0x80) return isJson && byte === backslash ? readEscape(text, at) : byte | (1 << lengthShift);
  const second = (text[at + 1] as number) & 0x3f;
  if (byte < 0xe0) return ((byte & 0x1f) << 6) | second | (2 << lengthShift);
  const third = (text[at + 2] as number) & 0x3f;
  if (byte < 0xf0) return ((byte & 0x0f) << 12) | (second << 6) | third | (3 << lengthShift);
  const fourth = (text[at + 3] as number) & 0x3f;
  return ((byte & 0x07) << 18) | (second << 12) | (third << 6) | fourth | (4 << lengthShift);
}

function readEscape(text: Uint8Array, at: number): number {
  const letter = text[at + 1] as number;
  if (letter !== letterU) return (escapes[letter] || letter) | (2 << lengthShift);
  const unit = readHex(text, at + 2);
  if (unit < 0xd800 || unit > 0xdfff) return unit | (6 << lengthShift);
  const isPair = unit < 0xdc00 && text[at + 6] === backslash && text[at + 7] === letterU;
  const low = isPair ? readHex(text, at + 8) : 0;
  if (low < 0xdc00 || low > 0xdfff) return replacement | (6 << lengthShift);
  return (0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00)) | (12 << lengthShift);
}

function readHex(text: Uint8Array, at: number): number {
  let unit = 0;
  for (let offset = 0; offset < 4; offset++) {
    const digit = text[at + offset] as number;
    unit = (unit << 4) | (digit <= 0x39 ? digit - 0x30 : (digit | 0x20) - 0x57);
  }
  return unit;
}

/** Longer than any run of backslashes that a person would write. */
const farBack = 64;

/** The first offset from this one on at which a character begins. */
export function nextCharacter(text: Uint8Array, offset: number, isJson: boolean): number {
  let at = offset;
  while (at < text.length && ((text[at] as number) & 0xc0) === 0x80) at++;
  return isJson && isNearEscape(text, at) ? endOfNearEscape(text, at) : at;
}

function isNearEscape(text: Uint8Array, at: number): boolean {
  for (let back = 1; back <= 5; back++) if (text[at - back] === backslash) return true;
  return false;
}

function endOfNearEscape(text: Uint8Array, at: number): number {
  for (let back = 1; back <= 5; back++) {
    const begin = at - back;
    if (text[begin] !== backslash || !beginsEscape(text, begin)) continue;
    const end = begin + (text[begin + 1] === letterU ? 6 : 2);
    if (end > at) return end;
  }
  return at;
}

/** Backslashes before it take each other away. */
function beginsEscape(text: Uint8Array, at: number): boolean {
  let before = 0;
  while (before < farBack && text[at - 1 - before] === backslash) before++;
  return before % 2 === 0;
}
