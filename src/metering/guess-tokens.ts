/** English prose, code and JSON have more bytes of UTF-8 per token. */
const bytesPerToken = 3;

/** A rough guess at the tokens of output of which only the size is known, for limits. Nothing is charged by it. */
export function guessTokens(bytes: number): number {
  return Math.ceil(bytes / bytesPerToken);
}
