import { compareNames } from "./compare-names.js";

/** What is alike in a period. */
export interface UsageGroup {
  /** The place of the period, from 0 on. */
  readonly period: number;
  /** What is alike, in the order of the names. */
  readonly by: readonly (string | null)[];
}

/** Earlier periods come first, and then what is alike by its names. */
export function compareGroups(one: UsageGroup, other: UsageGroup): number {
  if (one.period !== other.period) return one.period - other.period;
  for (const [place, value] of one.by.entries()) {
    const order = compareNames(value, other.by[place] ?? null);
    if (order !== 0) return order;
  }
  return 0;
}

/** The same for groups of the same period that are alike. */
export function groupKey({ period, by }: UsageGroup): string {
  return JSON.stringify([period, ...by]);
}
