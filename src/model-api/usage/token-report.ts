import type { UsageCounts } from "../../metering/usage-counts.js";
import type { Counted } from "./usage-names.js";

/** The counts of a report, as they stand there. Absent: it has no such count. */
export type SaidCounts = { [Name in Counted]?: number } & {
  /** The part of what was written to the cache that is kept for an hour. */
  writtenForHour?: number;
  /** What the completion is not below, where the report does not say all of it. */
  leastCompletion?: number;
};

/** What an upstream has reported, in the gateway's words. */
export interface TokenReport {
  /** What it does not say is 0. */
  readonly tokens: UsageCounts;
  /** Whether it counts the prompt. No prompt is without tokens: zero is no count. */
  readonly hasInput: boolean;
  /** Whether it counts the output, as nothing or as more. */
  readonly hasOutput: boolean;
}
