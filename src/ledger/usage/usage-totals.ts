import type { UsageTotal } from "./usage-sum.js";

/** What usage can be added up by beside tags. */
export const totalsDimensions: readonly string[] = ["account", "plan", "model", "target", "key", "funding"];

/** So many periods are added up at the most. */
export const mostPeriods = 10_000;

/** Which usage to add up: of one account, of some, or of all. */
export interface TotalsRequest {
  /**
   * Moments in ascending order, in epoch milliseconds, two to 10,001. Each of them and the next one are a period, which the
   * later one is not part of.
   */
  readonly periods: readonly number[];
  /** Some of `account`, `plan`, `model`, `target`, `key`, `funding`, and `tag.` with the name of a host's tag. */
  readonly by: readonly string[];
  /** Only what has one of these values, of each of these names. `null`: what has no such thing. */
  readonly where: TotalsFilter;
}

export type TotalsFilter = Readonly<Record<string, readonly (string | null)[]>>;

/** What was used in a period of what is alike in the things that it was added up by. */
export interface PeriodTotal extends UsageTotal {
  /** The place of the period, from 0 on. */
  readonly period: number;
  /** What is alike, in the order of the names. */
  readonly by: readonly (string | null)[];
}
