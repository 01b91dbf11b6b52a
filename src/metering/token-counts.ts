/** Tokens by kind, as they are priced. */
export interface TokenCounts {
  /** The whole prompt. */
  input: number;
  /** The part of `input` that came from the upstream's cache. */
  cachedInput: number;
  /** The part of `input` that the upstream put into its cache. It does not overlap with `cachedInput`. Absent: none. */
  cacheWrite?: number;
  /** The part of `cacheWrite` that the upstream keeps for an hour. Absent: none. Sums of usage do not have it. */
  cacheWrite1h?: number;
  /** The whole response. */
  output: number;
  /** Part of `output` that was reasoning. */
  reasoning: number;
}

/** The most that is counted at once. What reports more is mistaken. */
export const largestCount = 1e9;

/** Reads a count of tokens. @returns `undefined` when it is none. */
export function readTokenCount(value: unknown): number | undefined {
  return typeof value === "number" && value >= 0 && value <= largestCount ? Math.ceil(value) : undefined;
}

/** Shared by all that count none. */
export const noTokens: Readonly<TokenCounts> = Object.freeze({ input: 0, cachedInput: 0, output: 0, reasoning: 0 });

export function addTokens(one: TokenCounts, other: TokenCounts): TokenCounts {
  const cacheWrite = (one.cacheWrite ?? 0) + (other.cacheWrite ?? 0);
  const cacheWrite1h = (one.cacheWrite1h ?? 0) + (other.cacheWrite1h ?? 0);
  return {
    input: one.input + other.input,
    cachedInput: one.cachedInput + other.cachedInput,
    ...(cacheWrite === 0 ? undefined : { cacheWrite }),
    ...(cacheWrite1h === 0 ? undefined : { cacheWrite1h }),
    output: one.output + other.output,
    reasoning: one.reasoning + other.reasoning,
  };
}
