import type { Micro } from "../metering/micro.js";
import { blockedWindows, leftInWindows, type OpenInstances } from "./account-state.js";
import type { DeniedReservation, ReserveRequest } from "./credit-ledger.js";
import { type AccountLimits, type OpenLimits, openLimits, type PrepaidHold } from "./limits/account-limits.js";
import { deniedBy } from "./limits/limit-states.js";
import { fundsOf } from "./limits/prepaid.js";

/** What a reservation meets: what denies it, or what admits it. */
export interface Judgement {
  /** Why it is denied. `undefined`: it is admitted. */
  readonly denial: Pick<DeniedReservation, "blocked" | "blockedCaps" | "blockedRates"> | undefined;
  /** What it holds of prepaid credits: what the plan has not left. `undefined`: the account has none. */
  readonly prepaid: PrepaidHold | undefined;
  /** The caps and rates that it names, in its order. */
  readonly named: OpenLimits;
}

const nothingOpen: OpenLimits = Object.freeze({ caps: [], buckets: [] });
/** Of an account without prepaid credits. */
export const noPrepaidHold: PrepaidHold = Object.freeze({ prepaidAt: undefined, prepaidMicro: 0 });

/** Decides about a reservation by all limits of its account. Changes nothing. @throws LedgerClockError */
export function judgeReservation(
  open: OpenInstances,
  limits: AccountLimits | undefined,
  request: ReserveRequest,
  now: number,
): Judgement {
  const need = neededMicro(request);
  const funds = fundsOf(limits?.prepaid, now);
  const blocked = blockedWindows(open, request.limits, { need, now }, funds);
  const hasNames = request.caps !== undefined || request.rates !== undefined;
  const named = hasNames ? openLimits(limits, request, now) : nothingOpen;
  const others = hasNames ? deniedBy(named, request, need, now) : undefined;
  if (others !== undefined || blocked.length > 0) return { denial: { blocked, ...others }, prepaid: undefined, named };
  if (funds.balance === 0) return { denial: undefined, prepaid: undefined, named };
  const left = Math.max(0, leftInWindows(open, request.limits));
  const prepaidMicro = request.amountMicro - Math.min(request.amountMicro, left);
  return { denial: undefined, prepaid: { prepaidAt: now, prepaidMicro }, named };
}

/** What must remain in every window and cap: something, or the whole amount where nothing may be overdrawn. */
export function neededMicro({ strict = false, amountMicro }: ReserveRequest): Micro {
  return strict ? Math.max(1, amountMicro) : 1;
}
