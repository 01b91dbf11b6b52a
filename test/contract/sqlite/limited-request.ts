import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import type { ReserveRequest } from "../../../src/ledger/credit-ledger.js";
import { account } from "./audit.js";

/** What limits the calls of an account whose plan includes nothing. */
export interface Limited {
  now: number;
  cap: number;
  requestsPerMinute: number;
}

/** A call that only prepaid credits fund. */
export function limitedRequest(
  id: string,
  amountMicro: number,
  { now, cap, requestsPerMinute: limit }: Limited,
): ReserveRequest {
  const limits = windowLimits({ credits: { session: null, week: null, month: 0 }, sessionMs: 18_000_000, now });
  const caps = [{ id: "key/day", window: "day", limitMicro: cap, bounds: capBounds("day", undefined, now) } as const];
  const rates = [
    { id: "key/requests", kind: "requests", take: 1, limit, burst: limit },
    { id: "key/concurrent", kind: "concurrent", take: 1, limit: 1_000, burst: 1_000 },
  ] as const;
  return { id, account, amountMicro, limits, leaseMs: 60_000, caps, rates };
}
