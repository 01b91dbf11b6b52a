import { Buffer } from "node:buffer";

/** A token is rarely shorter than this many bytes of UTF-8, in any language; so the estimate is an upper bound. */
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
