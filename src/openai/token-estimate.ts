import { Buffer } from "node:buffer";

/** A token is rarely shorter than this many bytes of UTF-8, in any language; so the estimate is an upper bound. */
const bytesPerToken = 3;

/** What an inline image counts, whatever its size: models scale it down to at most about this. */
const tokensPerImage = 1500;

const imageMark = Buffer.from("data:image/");

/** Tokens in a text of so many bytes. */
export function estimateTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}

/** Tokens in a request's JSON, in which inline images count by the piece and not by their base64 text. */
export function estimatePromptTokens(json: Uint8Array): number {
  const text = Buffer.from(json.buffer, json.byteOffset, json.byteLength);
  let bytes = text.length;
  let images = 0;
  for (let at = text.indexOf(imageMark); at >= 0; ) {
    const end = text.indexOf(0x22, at);
    if (end < 0) break;
    bytes -= end - at;
    images++;
    at = text.indexOf(imageMark, end);
  }
  return estimateTokens(bytes) + images * tokensPerImage;
}
