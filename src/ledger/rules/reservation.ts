import type { Micro } from "../../prices/micro.js";
import {
  type AccountCredits,
  type DeniedReservation,
  type Lease,
  LedgerConflictError,
  type ReserveRequest,
  type SettleResult,
  type SettleStatus,
  type WindowLimits,
} from "../credit-ledger.js";
import {
  type BlockedCap,
  type BlockedRate,
  type CapLimit,
  type CapState,
  type LeasedCap,
  neverEnds,
  type RateLimit,
  type RateState,
} from "../limits.js";
import {
  type AccountLimits,
  type HeldLimits,
  type NamedLimits,
  type OpenLimits,
  openLimits,
  type PrepaidHold,
} from "./account-limits.js";
import { fundsOf, prepaidState } from "./prepaid.js";
import { type Bucket, blockedRate, rateState } from "./rates.js";
import {
  type AdmittedWindows,
  blockedWindows,
  currentStates,
  heldRetryMs,
  type Instances,
  leftInWindows,
  noInstances,
  type OpenInstances,
  type WindowInstance,
} from "./windows.js";

/** What a reservation meets: what denies it, or what admits it. */
interface Judgement {
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

/** An account with what it has beside its windows. */
export interface AccountView extends Readonly<Instances> {
  readonly limits: AccountLimits | undefined;
}

/** Why the caps and rates deny, if they do. @param need - what must remain in each cap. */
function deniedBy(
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

/** What a store keeps of a reservation until shortly after its end, to recognise repetitions. */
export interface Receipt extends AdmittedWindows {
  readonly account: string;
  readonly amountMicro: Micro;
  readonly expiresAt: number;
  /** What prepaid credits have paid of its cost. Absent: nothing. */
  readonly prepaidMicro?: Micro | undefined;
}

/** Of an entry that names no window. */
export const noStarts: Lease["starts"] = Object.freeze({}) as Lease["starts"];

/** The windows that an entry of the journal names: those in which its amount counts. */
export function startsOfEntry(starts: Lease["starts"], amount: Micro, prepaid: Micro): Lease["starts"] {
  return prepaid !== 0 && prepaid === amount ? noStarts : starts;
}

/** The lease of a reservation. @param part - what it holds beside the windows; `undefined`: nothing, or it is not known any more. */
export function toLease(
  { id, limits, caps, rates }: Pick<ReserveRequest, "id" | "limits" | "caps" | "rates">,
  receipt: Receipt,
  part?: HeldLimits,
): Lease {
  const { account, amountMicro, expiresAt, starts, ends } = receipt;
  const lease = { id, account, amountMicro, expiresAt, starts, ends, limits };
  if (part === undefined) return lease;
  return {
    ...lease,
    ...(part.prepaidAt !== undefined && { prepaidAt: part.prepaidAt, prepaidMicro: part.prepaidMicro }),
    ...(caps !== undefined && { caps: leasedCaps(caps, part.caps) }),
    ...(rates !== undefined && { rates }),
  };
}

/** The caps of a lease where nothing is known of their instances. @throws LedgerClockError when the bounds miss `now`. */
export function freshCaps(caps: readonly CapLimit[], now: number): LeasedCap[] {
  const open = openLimits(undefined, { caps }, now).caps;
  return caps.map(({ id, window, limitMicro }, index) => {
    const { start, end } = open[index] as WindowInstance;
    return { id, window, limitMicro, start, end };
  });
}

function leasedCaps(caps: readonly CapLimit[], held: HeldLimits["caps"]): LeasedCap[] {
  return caps.flatMap(({ id, window, limitMicro }) => {
    const part = held.find((cap) => cap.id === id);
    return part === undefined ? [] : [{ id, window, limitMicro, start: part.start, end: part.end }];
  });
}

/**
 * Tells a reservation from all others of a ledger. Its id alone does not: a ledger may let two accounts use the same one.
 * NUL is in no account's id.
 */
export function leaseKey({ account, id }: Pick<Lease, "account" | "id">): string {
  return `${account}\0${id}`;
}

interface Identity {
  readonly account: string;
  readonly amountMicro: Micro;
}

/** @throws LedgerConflictError when the id is known for another account or amount. */
export function requireSame(id: string, known: Identity, given: Identity): void {
  if (known.account === given.account && known.amountMicro === given.amountMicro) return;
  throw new LedgerConflictError(
    `${id} was used before with another ${known.account === given.account ? "amount" : "account"}.`,
  );
}

/** What became of a settlement. */
export type Settled = Pick<SettleResult, "status" | "prepaidMicro">;

/** @param prepaidMicro - what prepaid credits have paid in all. */
export function settledAs(status: SettleStatus, prepaidMicro: Micro): Settled {
  return prepaidMicro === 0 ? { status } : { status, prepaidMicro };
}
