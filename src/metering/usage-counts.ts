import { addTokens, type TokenCounts } from "./token-counts.js";

/** Images that are alike. */
export interface ImageCount {
  /** As its model calls it, such as `high`. Absent: it is not known. */
  quality?: string | undefined;
  /** Width and height in pixels, such as `1024x1024`. Absent: it is not known. */
  size?: string | undefined;
  /** How many. */
  count: number;
}

/**
 * What was used: tokens, and what is no plain token. What is absent is none. Tokens of images and audio are parts of `input`,
 * `cachedInput` and `output`, and do not overlap. A part that is larger than its whole counts as the whole.
 */
export interface UsageCounts extends TokenCounts {
  inputImage?: number;
  inputAudio?: number;
  cachedInputImage?: number;
  cachedInputAudio?: number;
  outputImage?: number;
  outputAudio?: number;
  /** Images that were made. */
  images?: readonly ImageCount[];
  /** Audio that was heard, in milliseconds. */
  audioMs?: number;
  /** Characters that were spoken: code points. */
  characters?: number;
  /** Searches, as a reranking model counts them. */
  searches?: number;
  /** The tier that served it, such as `priority`, where it is not the usual one. Sums of usage do not have it. */
  serviceTier?: string;
}

/** What is counted beside tokens. */
export const usageUnits = ["images", "audioMs", "characters", "searches"] as const;

/** Something that is counted beside tokens. */
export type CountedUnit = (typeof usageUnits)[number];

/** Tokens that are parts of others, by what they stand for. */
export const tokenParts = [
  "inputImage",
  "inputAudio",
  "cachedInputImage",
  "cachedInputAudio",
  "outputImage",
  "outputAudio",
] as const;

/** What sums of usage have beside plain tokens. */
export const summedUnits = [...usageUnits, ...tokenParts] as const;

/** Something that sums of usage have beside plain tokens. */
export type SummedUnit = (typeof summedUnits)[number];

/** @returns how many images there are, of whatever kind; `undefined`: none are counted. */
export function imagesOf({ images }: UsageCounts): number | undefined {
  return images?.reduce((sum, { count }) => sum + count, 0);
}

/** What two attempts have used. */
export function addUsed(one: UsageCounts, other: UsageCounts): UsageCounts {
  const sum: UsageCounts = addTokens(one, other);
  for (const name of [...tokenParts, "audioMs", "characters", "searches"] as const) {
    if (one[name] !== undefined || other[name] !== undefined) sum[name] = (one[name] ?? 0) + (other[name] ?? 0);
  }
  if (one.images !== undefined || other.images !== undefined) {
    sum.images = [...(one.images ?? []), ...(other.images ?? [])];
  }
  return sum;
}
