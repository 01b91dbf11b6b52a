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
