import type { Micro } from "../../prices/micro.js";
import type { SummedCounts } from "../../prices/usage-counts.js";

/** What was used, added up. */
export interface UsageTotal {
  /** Calls that were charged at their end. */
  requests: number;
  /** Micro-credits: 1 credit = 1,000,000. */
  chargedMicro: Micro;
  /** What the calls with a known cost have cost the operator. Absent: there are none. */
  costMicro?: Micro;
  /** The part of {@link chargedMicro} that these calls were charged. The rest has no known cost. */
  costedMicro?: Micro;
  /** Tokens, and what else is priced. */
  tokens: SummedCounts;
}

/** What an account used of what is alike in the things that its usage was summed by. */
export interface UsageSum extends UsageTotal {
  /**
   * What is alike: `day` in UTC, such as `2026-03-11`, `model`, `key`, `funding` (`plan` or `prepaid`) and tags, as they
   * were named. A call that both paid is in the sums of both, each with what it paid; its request and its tokens are in
   * those of the plan. `null`: all charges that have no such thing, since the call was not given the tag, is a hold, or
   * its process died.
   */
  by: Readonly<Record<string, string | null>>;
}

/** Which usage to sum up. */
export interface UsageRequest {
  account: string;
  /** Epoch milliseconds, inclusive. Default: the beginning of what is kept. */
  from?: number | undefined;
  /** Epoch milliseconds, exclusive. Default: the end of what is kept. */
  to?: number | undefined;
  /** Some of `day`, `model`, `key`, `funding`, and names of the host's tags. 1 to 16, each of them once. */
  by: readonly string[];
}

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

/** Which time a statement is about. */
export interface StatementRequest {
  account: string;
  /** Epoch milliseconds, inclusive. Default: the beginning of what is kept. */
  from?: number | undefined;
  /** Epoch milliseconds, exclusive. Default: now, and what is of this very millisecond with it. */
  to?: number | undefined;
}

/** Prepaid credits over a time: `opening + bought − used − expired − taken back = closing`, to the micro-credit. */
export interface PrepaidStatement {
  /** The balance at the beginning; negative where the account was in debt. */
  readonly openingMicro: Micro;
  /** Top-ups. */
  readonly boughtMicro: Micro;
  /** What they paid for calls and holds, less what they got back of that. */
  readonly usedMicro: Micro;
  /** What ended unused, at the moment at which it ended. */
  readonly expiredMicro: Micro;
  /** Deductions. */
  readonly takenBackMicro: Micro;
  /** The balance at the end. It is that of `balance` where the time reaches up to now. */
  readonly closingMicro: Micro;
}

/** What became of the plan's credits over a time. They begin anew with each window, so they have no balance. */
export interface PlanStatement {
  /** What they paid for calls and holds, less what they got back of that. */
  readonly usedMicro: Micro;
  /** What grants added to the limits of windows, less corrections. */
  readonly grantedMicro: Micro;
}

/** What became of an account's credits in a time. */
export interface AccountStatement {
  /**
   * Epoch milliseconds, inclusive: what was asked for, or later, where the journal does not go back as far. `null`: from
   * the account's beginning.
   */
  readonly from: number | null;
  /** Epoch milliseconds, exclusive: what was asked for, but not after now. */
  readonly to: number;
  readonly prepaid: PrepaidStatement;
  readonly plan: PlanStatement;
}
