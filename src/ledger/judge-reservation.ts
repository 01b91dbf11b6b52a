import type { Micro } from "../metering/micro.js";
import { blockedWindows, type OpenInstances } from "./account-state.js";
import type { DeniedReservation, ReserveRequest } from "./credit-ledger.js";
import { type AccountLimits, type OpenLimits, openLimits } from "./limits/account-limits.js";
import { deniedBy } from "./limits/limit-states.js";
import { canFund } from "./limits/prepaid.js";

/** What a reservation meets: what denies it, or what admits it. */
export interface Judgement {
  /** Why it is denied. `undefined`: it is admitted. */
  readonly denial: Pick<DeniedReservation, "blocked" | "blockedCaps" | "blockedRates"> | undefined;
  /** Whether prepaid credits would pay, since the windows do not. */
  readonly isPrepaid: boolean;
  /** The caps and rates that it names, in its order. */
  readonly named: OpenLimits;
}

const nothingOpen: OpenLimits = Object.freeze({ caps: [], buckets: [] });

/** Decides about a reservation by all limits of its account. Changes nothing. @throws LedgerClockError */
export function judgeReservation(
  open: OpenInstances,
  limits: AccountLimits | undefined,
  request: ReserveRequest,
  now: number,
): Judgement {
  const need = neededMicro(request);
  const blocked = blockedWindows(open, request.limits, need, now);
  const isPrepaid = blocked.length > 0 && limits !== undefined && canFund(limits.prepaid, need, now);
  const hasNames = request.caps !== undefined || request.rates !== undefined;
  const named = hasNames ? openLimits(limits, request, now) : nothingOpen;
  const others = hasNames ? deniedBy(named, request, need, now) : undefined;
  const isDenied = others !== undefined || (blocked.length > 0 && !isPrepaid);
  return { denial: isDenied ? { blocked: isPrepaid ? [] : blocked, ...others } : undefined, isPrepaid, named };
}

/** What must remain in every window and cap: something, or the whole amount where nothing may be overdrawn. */
export function neededMicro({ strict = false, amountMicro }: ReserveRequest): Micro {
  return strict ? Math.max(1, amountMicro) : 1;
}
