import { Buffer } from "node:buffer";
import type { Tokenizer } from "../../tokens/tokenizer.js";
import { messageTexts, type Outlined, type TextSpan } from "./message-texts.js";

/**
 * No vocabulary in use has a longer token, in bytes: the longest of o200k, cl100k and Llama 3 are runs of spaces or
 * dashes of this length, and those that hold a letter are far shorter.
 */
const longestToken = 128;

/**
 * A number of tokens that the messages have at the least, whatever the tokenizer: those in use let no token reach from
 * one word into the next, so that each stretch between white space with a letter or digit in it has a token of its own.
 *
 * @param enough - counting stops as soon as there are more.
 */
export function leastTokens(request: Outlined, enough: number): number {
  // A word has two bytes, the white space behind it included.
  if (request.body.length / 2 <= enough) return 0;
  return leastTokensOf(request.body, messageTexts(request), enough);
}

/** The same of any texts of a request. */
export function leastTokensOf(body: Uint8Array, texts: Iterable<TextSpan>, enough: number): number {
  let tokens = 0;
  for (const span of texts) {
    tokens += wordTokens(body, span, enough - tokens, longestToken);
    if (tokens > enough) break;
  }
  return tokens;
}

/** The number of tokens of the messages' texts, by a tokenizer; counting stops as soon as there are more than `enough`. */
export function countedTokens(request: Outlined, enough: number, tokenizer: Tokenizer): number {
  // A token has a byte at the least.
  if (request.body.length <= enough) return 0;
  return countedTokensOf(request.body, messageTexts(request), enough, tokenizer);
}

/** The same of any texts of a request. */
export function countedTokensOf(
  body: Uint8Array,
  texts: Iterable<TextSpan>,
  enough: number,
  tokenizer: Tokenizer,
): number {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  let tokens = 0;
  for (const { start, end } of texts) {
    const text = bytes.toString("utf8", start, end);
    tokens += tokenizer.count(text.includes("\\") ? JSON.parse(`"${text}"`) : text, enough - tokens);
    if (tokens > enough) break;
  }
  return tokens;
}

/**
 * The same for one text.
 * @param longest - the longest token, in bytes; unlimited for tokenizers that make one token of a word they do not know.
 */
export function wordTokens(bytes: Uint8Array, { start, end }: TextSpan, enough: number, longest: number): number {
  let tokens = 0;
  let length = 0;
  let hasWord = false;
  for (let position = start; position <= end && tokens <= enough; position++) {
    const byte = position === end ? space : (bytes[position] as number);
    if (byte === backslash) {
      position++;
      const escaped = bytes[position] as number;
      // What \u stands for is not looked at: it joins what is around it, which makes the count smaller at most.
      if (escaped === letterU) position += 4;
      if (!isSpaceEscape(escaped)) {
        length++;
        continue;
      }
    } else if (byte !== space) {
      length++;
      hasWord ||= isWordByte(byte);
      continue;
    }
    if (length > 0) tokens += Math.max(hasWord ? 1 : 0, Math.floor(length / longest));
    length = 0;
    hasWord = false;
  }
  return tokens;
}

const space = 0x20;
const backslash = 0x5c;
const letterU = 0x75;

/** The letters behind the backslashes of line feed, return, tab and form feed. */
function isSpaceEscape(letter: number): boolean {
  return letter === 0x6e || letter === 0x72 || letter === 0x74 || letter === 0x66;
}

/** An ASCII letter or digit. */
function isWordByte(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
}
