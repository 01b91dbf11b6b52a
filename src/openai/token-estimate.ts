import { Buffer } from "node:buffer";
import type { Tokenizer } from "./tokenizer.js";

/**
 * Prose, code and JSON have more bytes of UTF-8 to a token, so that the estimate is an upper bound for them; base64, hex
 * and long numbers have down to 1.4, see the test.
 */
const bytesPerToken = 3;

/** What an inline image counts, whatever its size: models scale it down to at most about this. */
const tokensPerImage = 1500;

/** An image stands where a message part names its URL; the same text elsewhere is text, and costs what text costs. */
const imageMark = /"url"\s*:\s*"data:image\/[a-z0-9.+-]{1,32};base64,[A-Za-z0-9+/=]*"/g;
const imageHint = Buffer.from("data:image/");

/** Tokens in a text of so many bytes. */
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
  if (!mayHoldImages) return estimateTokens(json.length);
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  const images = text.toString("latin1").match(imageMark) ?? [];
  const imageBytes = images.reduce((bytes, image) => bytes + image.length, 0);
  return estimateTokens(text.length - imageBytes) + images.length * tokensPerImage;
}
