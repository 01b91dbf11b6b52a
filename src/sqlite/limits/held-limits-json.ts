import type { AdmittedLimits, AdmittedWindows } from "../../ledger/account-state.js";
import type { HeldLimits } from "../../ledger/limits/held-limits.js";
import type { RateUse } from "../../ledger/rate-limit.js";
import type { Micro } from "../../metering/micro.js";

/** What a reservation's row says in JSON of what it holds beside the windows. */
export interface RowOfHeldLimits {
  readonly part?: HeldLimits | undefined;
  /** What its renewals have reported of its rates. */
  readonly uses?: readonly RateUse[] | undefined;
  /** Of one that has ended, and has none in their columns. */
  readonly windows?: AdmittedWindows | undefined;
}

export function toHeldLimitsJson(held: RowOfHeldLimits): string | null {
  return held.part === undefined && held.windows === undefined ? null : JSON.stringify(held);
}

export function parseHeldLimits(json: string): RowOfHeldLimits {
  const { part, uses, windows }: RowOfHeldLimits = JSON.parse(json);
  // JSON has no undefined.
  return { part: part && { ...part, prepaidAt: part.prepaidAt }, uses, windows };
}

/** In SQL: when it was admitted, if its account had prepaid credits then. */
export const admittedAtInJson = "json_extract(held_limits, '$.part.prepaidAt')";

export function toLimitsJson({ session, week, month }: AdmittedLimits): string {
  return JSON.stringify([session.limitMicro, week.limitMicro, month.limitMicro]);
}

export function parseLimits(json: string): AdmittedLimits {
  const [session, week, month]: [Micro | null, Micro | null, Micro | null] = JSON.parse(json);
  return { session: { limitMicro: session }, week: { limitMicro: week }, month: { limitMicro: month } };
}
