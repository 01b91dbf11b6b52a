import { toUsageTotal } from "../../ledger/usage/to-usage-total.js";
import type { UsageRequest, UsageSum } from "../../ledger/usage/usage-sum.js";
import { dayOf } from "../../ledger/usage/usage-sums.js";
import { dayMs } from "../../ledger/windows.js";
import { journalTagPrefix, reservedTags } from "../../metering/tags.js";

/** Days before and after all that a database can have kept. */
const [earliestDay, latestDay] = [-100_000_000, 100_000_000];

/** A row of {@link usageSql}: what is alike, in the order of the names, and then what it adds up to. */
export type SumRow = readonly (string | number | null)[];

export const usageSql =
  "select used::text as json from infergate.sum_usage($1, $2, $3, $4::text::jsonb, $5::text::jsonb) as used";

export function usageValues({ account, from, to, by }: UsageRequest): (string | number)[] {
  const { first, last, parts } = splitRange(from ?? earliestDay * dayMs, to ?? latestDay * dayMs);
  const names = by.map((name) => (reservedTags.includes(name) ? name : journalTagPrefix + name));
  return [account, first, last, JSON.stringify(parts), JSON.stringify(names)];
}

interface SplitRange {
  /** The whole days, from 1970 on. */
  readonly first: number;
  /** Exclusive. */
  readonly last: number;
  /** Of the days that the range divides, two at the most. */
  readonly parts: readonly (readonly [day: number, since: number, until: number])[];
}

function splitRange(from: number, to: number): SplitRange {
  const [first, last] = [Math.ceil(from / dayMs), Math.floor(to / dayMs)];
  if (from >= to) return { first: 0, last: 0, parts: [] };
  if (last < first) return { first: 0, last: 0, parts: [[last, from, to]] };
  const ends = [
    [first - 1, from, first * dayMs],
    [last, last * dayMs, to],
  ] as const;
  return { first, last, parts: ends.filter(([, since, until]) => since < until) };
}

export function toUsageSum(row: SumRow, by: readonly string[]): UsageSum {
  const values = by.map((name, index) => (name === "day" ? dayOf(Number(row[index]) * dayMs) : row[index]));
  const counts = row.slice(by.length).map(Number);
  return {
    by: Object.fromEntries(by.map((name, index) => [name, values[index] as string | null])),
    ...toUsageTotal(counts),
  };
}
