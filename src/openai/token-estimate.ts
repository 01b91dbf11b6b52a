import { Buffer } from "node:buffer";
import { textTokens } from "./text-tokens.js";
import type { Tokenizer } from "./tokenizer.js";

/** Prose, code and JSON have more bytes of UTF-8 to a token. */
const bytesPerToken = 3;

/** In a shorter request, in bytes, the JSON around the texts makes up for what they may have more. */
const shortRequest = 512;

/** What an inline image counts, whatever its size: models scale it down to at most about this. */
const tokensPerImage = 1500;

/** An image stands where a message part names its URL; the same text elsewhere is text, and costs what text costs. */
const imageMark = /"url"\s*:\s*"data:image\/[a-z0-9.+-]{1,32};base64,[A-Za-z0-9+/=]*"/g;
const imageHint = Buffer.from("data:image/");

/** Tokens in a text of so many bytes, of which nothing else is known. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/** Whether the text at this offset is an inline image's. */
export function beginsWithImage(json: Uint8Array, at: number): boolean {
  for (let offset = 0; offset < imageHint.length; offset++) if (json[at + offset] !== imageHint[offset]) return false;
  return true;
}

/**
 * The same by a tokenizer: the JSON around the texts stands for what a chat template puts around them.
 * @param most - counting stops as soon as there are more.
 */
export function countPromptTokens(
  json: Uint8Array,
  mayHoldImages: boolean,
  tokenizer: Tokenizer,
  most: number,
): number {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("utf8");
  if (!mayHoldImages) return tokenizer.count(text, most);
  const images = text.match(imageMark)?.length ?? 0;
  return tokenizer.count(text.replace(imageMark, ""), most) + images * tokensPerImage;
}

/**
 * Tokens in a request's JSON, in which inline images count by the piece and not by their base64 text.
 * @param mayHoldImages - `false` where it is known that there are none, which saves the search.
 */
export function estimatePromptTokens(json: Uint8Array, mayHoldImages: boolean): number {
  if (!mayHoldImages) return json.length < shortRequest ? estimateTokens(json.length) : textTokens(json);
  let images = 0;
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength).toString("latin1");
  const others = text.replace(imageMark, () => {
    images++;
    return "";
  });
  return textTokens(Buffer.from(others, "latin1")) + images * tokensPerImage;
}
