import { Buffer } from "node:buffer";
import { GatewayError } from "../../errors/gateway-error.js";
import type { Tokenizer } from "../../tokens/tokenizer.js";
import { memberOf } from "../../wire/json-members.js";
import type { JsonRequest } from "./json-request.js";
import { type MessageOutline, outlineMessages, type Span } from "./message-outline.js";
import type { ModelTraits } from "./operation.js";

/** @throws GatewayError 400 when the messages certainly exceed the model's context. */
export function requireMessagesFit(
  request: Parameters<typeof leastTokens>[0],
  { enforcesContext, contextLength, tokenizer }: ModelTraits,
): void {
  if (!enforcesContext) return;
  const isTooLong =
    leastTokens(request, contextLength) > contextLength ||
    (tokenizer !== undefined && tokenizedTokens(request, contextLength, tokenizer) > contextLength);
  if (isTooLong) throw contextLengthExceeded(contextLength, "messages");
}

/** @param param - the path of what is too long. */
export function contextLengthExceeded(contextLength: number, param: string): GatewayError {
  return new GatewayError(
    `This model's maximum context length is ${contextLength} tokens, and '${param}' has more. Shorten it.`,
    { status: 400, code: "context_length_exceeded", param },
  );
}

/**
 * The longest token of any vocabulary in use, in bytes. The longest of o200k, cl100k and Llama 3 are runs of spaces or
 * dashes of this length. Tokens with a letter are far shorter.
 */
const longestToken = 128;

/**
 * A lower bound of the messages' tokens, for every tokenizer. No tokenizer in use makes a token that reaches from one
 * word into the next. So each run between white space that contains a letter or digit has a token of its own.
 *
 * @param enough - counting stops above this number.
 */
export function leastTokens(request: Outlined, enough: number): number {
  // A word has at least two bytes, including the white space after it.
  if (request.body.length / 2 <= enough) return 0;
  return leastTokensOf(request.body, messageTexts(request), enough);
}

/** The same for any texts of a request. */
export function leastTokensOf(body: Uint8Array, texts: Iterable<TextSpan>, enough: number): number {
  let tokens = 0;
  for (const span of texts) {
    tokens += wordTokens(body, span, enough - tokens, longestToken);
    if (tokens > enough) break;
  }
  return tokens;
}

/** The tokens of the messages' texts, by a tokenizer. Counting stops above `enough`. */
export function tokenizedTokens(request: Outlined, enough: number, tokenizer: Tokenizer): number {
  // A token has at least one byte.
  if (request.body.length <= enough) return 0;
  return countedTokensOf(request.body, messageTexts(request), enough, tokenizer);
}

/** The same for any texts of a request. */
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
 * The lower bound of {@link leastTokens} for one text.
 * @param longest - the longest token, in bytes. Infinite for tokenizers that make one token of an unknown word.
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
      // `\u` escapes are not resolved. They join the text around them, which can only make the count smaller.
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

/** The letters after the backslashes of line feed, return, tab and form feed. */
function isSpaceEscape(letter: number): boolean {
  return letter === 0x6e || letter === 0x72 || letter === 0x74 || letter === 0x66;
}

/** An ASCII letter or digit. */
function isWordByte(byte: number): boolean {
  const lower = byte | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || (byte >= 0x30 && byte <= 0x39);
}

/** A request whose messages were checked. */
type Outlined = Pick<JsonRequest, "body" | "members" | "skips"> & { readonly outline: MessageOutline | undefined };

/** The position of a string, without its quotes. */
type TextSpan = Span;

/** The texts of the messages, which a model certainly reads. Escapes are not resolved. */
function messageTexts(request: Outlined): Iterable<TextSpan> {
  return outlineOf(request).texts;
}

/** The outline from the check of the request. A short request has none: it is computed again. */
export function outlineOf({ body, members, skips, outline }: Outlined): MessageOutline {
  return outline ?? outlineMessages(body, memberOf(members, "messages"), skips);
}
