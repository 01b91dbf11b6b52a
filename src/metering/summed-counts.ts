import { addTokens, noTokens, type TokenCounts } from "./token-counts.js";
import { usageUnits } from "./usage-counts.js";

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
}

export const noCounts: Readonly<SummedCounts> = noTokens;

export function addCounts(one: SummedCounts, other: SummedCounts): SummedCounts {
  const sum: SummedCounts = addTokens(one, other);
  for (const unit of usageUnits) {
    const count = (one[unit] ?? 0) + (other[unit] ?? 0);
    if (count !== 0) sum[unit] = count;
  }
  return sum;
}
