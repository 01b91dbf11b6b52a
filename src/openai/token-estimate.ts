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

/** Tokens in a request's JSON, in which inline images count by the piece and not by their base64 text. */
export function estimatePromptTokens(json: Uint8Array): number {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  if (!text.includes(imageHint)) return estimateTokens(text.length);
  const images = text.toString("latin1").match(imageMark) ?? [];
  const imageBytes = images.reduce((bytes, image) => bytes + image.length, 0);
  return estimateTokens(text.length - imageBytes) + images.length * tokensPerImage;
}
