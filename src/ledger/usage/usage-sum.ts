import type { Micro } from "../../metering/micro.js";
import type { SummedCounts } from "../../metering/summed-counts.js";

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
