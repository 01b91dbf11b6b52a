import type { Micro } from "../../metering/micro.js";
import { currentStates, heldRetryMs, type Instances, noInstances, type WindowInstance } from "../account-state.js";
import { neverEnds } from "../bounds.js";
import type { BlockedCap, CapLimit, CapState, LeasedCap } from "../cap-limit.js";
import type { AccountCredits, DeniedReservation, Lease, WindowLimits } from "../credit-ledger.js";
import type { BlockedRate, RateLimit, RateState } from "../rate-limit.js";
import { type AccountLimits, type NamedLimits, type OpenLimits, openLimits } from "./account-limits.js";
import { prepaidState } from "./prepaid.js";
import { type Bucket, blockedRate, rateState } from "./rates.js";

/** An account with what it has beside its windows. */
export interface AccountView extends Readonly<Instances> {
  readonly limits: AccountLimits | undefined;
}

/** Why the caps and rates deny, if they do. @param need - what must remain in each cap. */
export function deniedBy(
  open: OpenLimits,
  { caps = [], rates = [] }: NamedLimits,
  need: Micro,
  now: number,
): Pick<DeniedReservation, "blockedCaps" | "blockedRates"> | undefined {
  const ofCaps = blockedCaps(open, caps, need, now);
  const ofRates = blockedRates(open, rates, now);
  if (ofCaps.length === 0 && ofRates.length === 0) return undefined;
  return { ...(ofCaps.length > 0 && { blockedCaps: ofCaps }), ...(ofRates.length > 0 && { blockedRates: ofRates }) };
}

/** The caps that deny, the one that is available last first. @param need - what must remain in each. */
function blockedCaps({ caps }: OpenLimits, limits: readonly CapLimit[], need: Micro, now: number): BlockedCap[] {
  const blocked: BlockedCap[] = [];
  for (const [index, { id, window, limitMicro }] of limits.entries()) {
    const { used, held, end } = caps[index] as WindowInstance;
    const resetsAt = end === neverEnds ? null : end;
    if (used + need > limitMicro) blocked.push({ id, window, cause: "used", availableAt: resetsAt });
    else if (used + held + need > limitMicro) {
      blocked.push({ id, window, cause: "held", availableAt: Math.min(now + heldRetryMs, end) });
    }
  }
  return blocked.sort(byAvailability);
}

/** The rates that deny, the one that is available last first. */
function blockedRates({ buckets }: OpenLimits, limits: readonly RateLimit[], now: number): BlockedRate[] {
  return limits.flatMap((rate, index) => blockedRate(buckets[index] as Bucket, rate, now) ?? []).sort(byAvailability);
}

function byAvailability(left: { availableAt: number | null }, right: { availableAt: number | null }): number {
  if (left.availableAt === right.availableAt) return 0;
  return (right.availableAt ?? Number.POSITIVE_INFINITY) - (left.availableAt ?? Number.POSITIVE_INFINITY);
}

/** What an account has left, with the caps and rates that the operation names. */
export function creditsOf(
  account: AccountView | undefined,
  limits: WindowLimits,
  named: NamedLimits,
  now: number,
): AccountCredits {
  const windows = currentStates(account ?? noInstances, limits, now);
  const { caps, rates } = named;
  const open = openLimits(account?.limits, named, now);
  return {
    windows,
    ...prepaidOf(account, now),
    ...(caps !== undefined && { caps: capStates(open.caps, caps) }),
    ...(rates !== undefined && { rates: rateStates(open.buckets, rates) }),
  };
}

/** What an account has left, with the caps and rates of a lease. */
export function creditsAfter(account: AccountView | undefined, lease: Lease, now: number): AccountCredits {
  const { limits, caps, rates } = lease;
  const windows = currentStates(account ?? noInstances, limits, now);
  return {
    windows,
    ...prepaidOf(account, now),
    ...(caps !== undefined && { caps: leasedCapStates(account?.limits, caps, now) }),
    ...(rates !== undefined && { rates: rateStates(openLimits(account?.limits, { rates }, now).buckets, rates) }),
  };
}

function prepaidOf(account: AccountView | undefined, now: number): Pick<AccountCredits, "prepaid"> {
  const prepaid = account?.limits?.prepaid;
  return prepaid === undefined ? {} : { prepaid: prepaidState(prepaid, now) };
}

/** The states of the caps that an operation names with their bounds. */
function capStates(open: OpenLimits["caps"], caps: readonly CapLimit[]): CapState[] {
  return caps.map((cap, index) => capState(open[index], cap));
}

/** The states of a lease's caps. It does not know which instances came after its own, so those that are over are not shown. */
function leasedCapStates(limits: AccountLimits | undefined, leased: readonly LeasedCap[], now: number): CapState[] {
  return leased.map((cap) => {
    const newest = limits?.caps.get(cap.id);
    return capState(newest !== undefined && now < newest.end ? newest : undefined, cap);
  });
}

function capState(
  instance: WindowInstance | undefined,
  { id, window, limitMicro }: Pick<CapLimit, "id" | "window" | "limitMicro">,
): CapState {
  const of = { id, window, limitMicro };
  if (instance === undefined) return { ...of, usedMicro: 0, heldMicro: 0, startsAt: null, resetsAt: null };
  const { start, end, used, held } = instance;
  return { ...of, usedMicro: used, heldMicro: held, startsAt: start, resetsAt: end === neverEnds ? null : end };
}

function rateStates(open: OpenLimits["buckets"], rates: readonly RateLimit[]): RateState[] {
  return rates.map((rate, index) => rateState(open[index] as Bucket, rate));
}
