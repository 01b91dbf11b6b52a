import { windowLimits } from "../../../src/ledger/calendar.js";
import type { ReserveRequest } from "../../../src/ledger/credit-ledger.js";
import { account } from "./audit.js";

/** Calls that the plan and prepaid credits pay. */
export interface PaidCalls {
  now: number;
  monthMicro: number;
  boughtMicro: number;
  holdMicro: number;
  costMicro: number;
  /** How many a process makes. */
  count: number;
}

const credit = 1_000_000;
const now = Date.UTC(2026, 2, 11, 9, 30);

/** The worked examples of docs/credits.md, each by two processes. */
export const workedExamples = {
  /** 64,000 tokens of output at 10 credits a million, 40 calls at once, and 1 credit. */
  uncapped: {
    calls: { now, monthMicro: 0, boughtMicro: credit, holdMicro: 640_000, costMicro: 640_000, count: 20 },
    // The second one takes what the first leaves, and more.
    admitted: 2,
    month: 0,
    prepaid: -280_000,
  },
  /** 20 streams that hold 128 credits each and really cost 3.5. */
  planFirst: {
    calls: {
      ...{ now, monthMicro: 1_000 * credit, boughtMicro: 1_000 * credit },
      ...{ holdMicro: 128 * credit, costMicro: 3.5 * credit, count: 10 },
    },
    // 2,000 credits are 15.6 times 128.
    admitted: 16,
    month: 56 * credit,
    prepaid: 1_000 * credit,
  },
  /** What the plan has left is less than what the calls come to: one of them is paid by both. */
  shared: {
    calls: { now, monthMicro: 10, boughtMicro: 100, holdMicro: 4, costMicro: 4, count: 3 },
    admitted: 6,
    month: 10,
    prepaid: 86,
  },
} as const satisfies Record<string, { calls: PaidCalls; admitted: number; month: number; prepaid: number }>;

export function paidCall(id: string, { now, monthMicro, holdMicro }: PaidCalls): ReserveRequest {
  const credits = { session: null, week: null, month: monthMicro };
  const limits = windowLimits({ credits, sessionMs: 18_000_000, now });
  return { id, account, amountMicro: holdMicro, limits, leaseMs: 60_000 };
}
