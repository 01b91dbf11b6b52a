/** Counts tokens as a model does. */
export interface Tokenizer {
  /**
   * A count that is not exact must fall short, by at most 2 tokens for every 1,024 characters.
   *
   * @param most - counting may stop as soon as there are more than so many; what is returned is then more than that.
   */
  count(text: string, most: number): number;
}

/** The most tokens that a tokenizer may not have counted. */
export function mostMissed(text: string): number {
  return 2 * Math.floor(text.length / 1024);
}

/**
 * The most tokens of a text, by a tokenizer: what it counts and what it may have missed, in whole tokens.
 *
 * @returns `undefined` for more than `most` tokens, of which nobody waits for the count, and for what is no count.
 */
export function mostTokens(text: string, tokenizer: Tokenizer, most: number): number | undefined {
  const tokens = Math.ceil(tokenizer.count(text, most) + mostMissed(text));
  return tokens <= most ? tokens : undefined;
}
