import { returnedAtOnce } from "../runtime/host-code.js";

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

/**
 * A tokenizer of the host's, whose mistakes harm no call: what it throws, and what is no number, is no count. The prompt is
 * then bounded as without a tokenizer.
 * @param failed - gets what is wrong. Must not throw.
 * @returns a tokenizer that counts `NaN` then.
 */
export function hostTokenizer(tokenizer: Tokenizer, failed: (cause: unknown) => void): Tokenizer {
  return {
    count(text, most) {
      try {
        const counted: unknown = returnedAtOnce("count of a tokenizer", tokenizer.count(text, most), failed);
        if (typeof counted === "number" && counted >= 0) return counted;
        if (counted !== undefined) failed(new TypeError("count of a tokenizer must return a number of at least 0."));
      } catch (cause) {
        failed(cause);
      }
      return Number.NaN;
    },
  };
}

/** The most tokens that media in messages count for a model. */
export interface TokenBounds {
  /**
   * Tokens of one image. Default: 48,169, an image of the largest size for gpt-4o-mini, which counts the most of all:
   * 2,833 and 5,667 for each of 8 tiles.
   */
  image?: number | undefined;
  /** Tokens of a second of audio, of which 30 count at the least. Default: 32, as Gemini counts. */
  audioPerSecond?: number | undefined;
  /** Tokens of one file. Default: the model's context length, since neither bytes nor ids show the number of pages. */
  file?: number | undefined;
}

/** With the defaults filled in. */
export interface ResolvedTokenBounds {
  readonly image: number;
  readonly audioPerSecond: number;
  readonly file: number;
}

/** What nothing is known of counts the model's whole context: no prompt can have more. */
export const unknownTokens = Number.POSITIVE_INFINITY;

export function resolveTokenBounds(bounds: TokenBounds = {}): ResolvedTokenBounds {
  const { image = 48_169, audioPerSecond = 32, file = unknownTokens } = bounds;
  return { image, audioPerSecond, file };
}

export const defaultTokenBounds = resolveTokenBounds();
