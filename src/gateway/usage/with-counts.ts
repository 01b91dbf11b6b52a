import type { RequestCounts } from "../../books/requests/request-log.js";
import { noUsage } from "../../ledger/usage/add-usage.js";
import { compareGroups, groupKey } from "../../ledger/usage/compare-groups.js";
import { mostTotals, tooManyTotals } from "../../ledger/usage/most-totals.js";
import type { PeriodTotal } from "../../ledger/usage/usage-totals.js";

/** What a gateway with a request log counts beside usage. */
export interface FaultCounts {
  /** Requests that the gateway answered with an error status, and called no upstream. Only with `requestLog`. */
  readonly refusals?: number;
  /** Requests for which an upstream was called, and whose client got an error, or no whole response. Only with `requestLog`. */
  readonly failures?: number;
}

/**
 * Puts refusals and failures beside what was used of the same.
 * @param isWhole - whether there is a total of nothing where nothing was used, and some were refused or failed.
 * @throws LedgerInputError when there are too many totals.
 */
export function withCounts(
  totals: readonly PeriodTotal[],
  counts: readonly RequestCounts[],
  isWhole: boolean,
): readonly (PeriodTotal & FaultCounts)[] {
  const left = new Map(counts.map((count) => [groupKey(count), count]));
  const all: (PeriodTotal & FaultCounts)[] = totals.map((total) => {
    const key = groupKey(total);
    const { refusals = 0, failures = 0 } = left.get(key) ?? {};
    left.delete(key);
    return { ...total, refusals, failures };
  });
  if (!isWhole || left.size === 0) return all;
  if (all.length + left.size > mostTotals) throw tooManyTotals();
  for (const count of left.values()) all.push({ ...noUsage, ...count });
  return all.sort(compareGroups);
}
