import type { Micro } from "../../metering/micro.js";
import {
  addCharge,
  calendarInstance,
  charged,
  type EndedHold,
  type Instances,
  noInstances,
  outOfBounds,
  type WindowInstance,
} from "../account-state.js";
import type { CapLimit } from "../cap-limit.js";
import type { ReserveRequest } from "../credit-ledger.js";
import type { RateLimit, RateUse } from "../rate-limit.js";
import { type HeldLimits, heldOfPrepaid } from "./held-limits.js";
import { chargePrepaid, newPrepaid, type Prepaid } from "./prepaid.js";
import { type ChargedCall, prepaidShare } from "./prepaid-share.js";
import { type Bucket, bucketAt, endTake, isIdle, takeFrom } from "./rates.js";

/** What an account has beside its windows. Most accounts have none of it. */
export interface AccountLimits {
  /** `undefined`: it has never had any. */
  prepaid: Prepaid | undefined;
  /** By the ids of the caps, the newest instance of each. */
  readonly caps: Map<string, WindowInstance>;
  /** By the ids of the rates. */
  readonly buckets: Map<string, Bucket>;
}

/** The caps and rates of an operation. */
export type NamedLimits = Pick<ReserveRequest, "caps" | "rates">;

/** The caps and rates that an operation names, in its order, as they are now. */
export interface OpenLimits {
  readonly caps: readonly WindowInstance[];
  readonly buckets: readonly Bucket[];
}

export function newAccountLimits(): AccountLimits {
  return { prepaid: undefined, caps: new Map(), buckets: new Map() };
}

/** Changes nothing. @throws LedgerClockError when a cap's bounds miss `now`. */
export function openLimits(
  limits: AccountLimits | undefined,
  { caps = [], rates = [] }: NamedLimits,
  now: number,
): OpenLimits {
  return {
    caps: caps.map(({ id, bounds }) => {
      const instance = calendarInstance(limits?.caps.get(id) ?? noInstances.week, bounds, now);
      if (instance === undefined) throw outOfBounds(now);
      return instance;
    }),
    buckets: rates.map((rate) => bucketAt(limits?.buckets.get(rate.id), rate, now)),
  };
}

/** Whether `amount` more can be held within the safe integers. */
export function canHoldIn(limits: AccountLimits | undefined, { caps }: OpenLimits, amount: Micro): boolean {
  const held = Math.max(limits?.prepaid?.held ?? 0, ...caps.map((cap) => cap.held));
  return held + amount <= Number.MAX_SAFE_INTEGER;
}

/** What a reservation holds of prepaid credits. */
export type PrepaidHold = Pick<HeldLimits, "prepaidAt" | "prepaidMicro">;

/** Stores the caps and buckets of an admission, and holds its part of them and of the prepaid credits. */
export function holdLimits(
  limits: AccountLimits,
  { caps, buckets }: OpenLimits,
  { caps: capLimits = [], rates = [], amountMicro }: NamedLimits & Pick<ReserveRequest, "amountMicro">,
  { prepaidAt, prepaidMicro }: PrepaidHold,
): HeldLimits {
  if (limits.prepaid !== undefined) limits.prepaid.held += prepaidMicro;
  for (const [index, cap] of caps.entries()) {
    cap.held += amountMicro;
    if (amountMicro > 0) limits.caps.set((capLimits[index] as CapLimit).id, cap);
  }
  for (const [index, bucket] of buckets.entries()) {
    const rate = rates[index] as RateLimit;
    takeFrom(bucket, rate);
    limits.buckets.set(rate.id, bucket);
  }
  return {
    prepaidAt,
    prepaidMicro,
    caps: capLimits.map(({ id }, index) => {
      const { start, end } = caps[index] as WindowInstance;
      return { id, start, end };
    }),
    takes: rates.map(({ id, kind, take }) => ({ id, kind, taken: take })),
  };
}

/** Raises the hold of caps, and of prepaid credits where it has some of them. */
export function raiseLimits({ prepaid, caps: known }: AccountLimits, part: HeldLimits, rise: Micro): void {
  if (prepaid !== undefined && part.prepaidMicro > 0) prepaid.held += rise;
  for (const { id, start } of part.caps) {
    const cap = known.get(id);
    if (cap?.start === start) cap.held += rise;
  }
}

/** Replaces the holds of caps by the charge, in the instances of the admission. */
function chargeCaps(caps: AccountLimits["caps"], part: HeldLimits, ended: EndedHold, now: number): void {
  for (const { id, start, end } of part.caps) {
    const cap = charged(caps.get(id) ?? noInstances.week, { start, end }, ended, now);
    if (cap.used > 0 || cap.held > 0) caps.set(id, cap);
    else caps.delete(id);
  }
}

/** How a hold ends. */
export interface LeaseEnding extends EndedHold {
  readonly uses: readonly RateUse[];
  /** What prepaid credits have paid for the call before. */
  readonly paid: Micro;
}

/**
 * Replaces a hold by its charge, in the windows, the prepaid credits, the caps and the buckets.
 *
 * @returns what prepaid credits pay of the charge.
 */
export function endHold(
  account: Instances & { limits: AccountLimits | undefined },
  call: ChargedCall,
  end: LeaseEnding,
  now: number,
): Micro {
  const { receipt, part } = call;
  const share = prepaidShare(account, call, end, now);
  const held = heldOfPrepaid(end.held, receipt.amountMicro, part);
  addCharge(account, receipt, { held: end.held - held, charge: end.charge - share }, now);
  if (part === undefined && share === 0) return share;
  account.limits ??= newAccountLimits();
  const { limits } = account;
  if (held > 0 || share !== 0) {
    limits.prepaid ??= newPrepaid();
    limits.prepaid.held -= held;
    chargePrepaid(limits.prepaid, share, part?.prepaidAt ?? now);
  }
  if (part !== undefined) {
    chargeCaps(limits.caps, part, end, now);
    endTakes(limits, part, end.uses, now);
  }
  return share;
}

/** Gives back what was taken of the buckets and not used. A rate that `uses` does not name keeps what was taken. */
function endTakes(limits: AccountLimits, part: HeldLimits, uses: readonly RateUse[], now: number): void {
  for (const { id, kind, taken } of part.takes) {
    const actual = uses.find((use) => use.id === id)?.actual ?? taken;
    const bucket = limits.buckets.get(id);
    // One that is as good as unknown may have been dropped.
    if (bucket !== undefined && !isIdle(bucket, now)) endTake(bucket, { kind, taken, actual }, now);
  }
}

/** Drops what is as good as unknown. @returns whether nothing is left. */
export function pruneLimits({ prepaid, caps, buckets }: AccountLimits, now: number): boolean {
  for (const [id, { held, end }] of caps) if (end <= now && held === 0) caps.delete(id);
  for (const [id, bucket] of buckets) if (isIdle(bucket, now)) buckets.delete(id);
  return prepaid === undefined && caps.size === 0 && buckets.size === 0;
}

/** A copy that shares nothing with it. */
export function copyLimits({ prepaid, caps, buckets }: AccountLimits): AccountLimits {
  return {
    prepaid: prepaid && { ...prepaid, lots: prepaid.lots.map((lot) => ({ ...lot })) },
    caps: new Map([...caps].map(([id, cap]) => [id, { ...cap }])),
    buckets: new Map([...buckets].map(([id, bucket]) => [id, { ...bucket }])),
  };
}
