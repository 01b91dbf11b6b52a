import { addTokens, noTokens, type TokenCounts } from "./token-counts.js";
import { summedUnits } from "./usage-counts.js";

/** What was used by several calls together. What is absent is none. */
export interface SummedCounts extends TokenCounts {
  /** Images that were made. */
  images?: number;
  /** Audio that was heard, in milliseconds. */
  audioMs?: number;
  /** Characters that were spoken: code points. */
  characters?: number;
  /** Searches, as reranking models count them. */
  searches?: number;
  /** Parts of `input` that stand for images and for audio. */
  inputImage?: number;
  inputAudio?: number;
  /** Parts of `cachedInput` that stand for images and for audio. */
  cachedInputImage?: number;
  cachedInputAudio?: number;
  /** Parts of `output` that stand for images and for audio. */
  outputImage?: number;
  outputAudio?: number;
}

export const noCounts: Readonly<SummedCounts> = noTokens;

export function addCounts(one: SummedCounts, other: SummedCounts): SummedCounts {
  const sum: SummedCounts = addTokens(one, other);
  for (const unit of summedUnits) {
    const count = (one[unit] ?? 0) + (other[unit] ?? 0);
    if (count !== 0) sum[unit] = count;
  }
  return sum;
}
