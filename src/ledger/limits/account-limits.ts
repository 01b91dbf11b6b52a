import type { Micro } from "../../metering/micro.js";
import {
  type AdmittedWindows,
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
import type { HeldLimits } from "./held-limits.js";
import { chargePrepaid, isEmpty, newPrepaid, type Prepaid } from "./prepaid.js";
import { type Bucket, bucketAt, endTake, isIdle, takeFrom } from "./rates.js";

/** What an account has beside its windows. Most accounts have none of it. */
export interface AccountLimits {
  readonly prepaid: Prepaid;
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
  return { prepaid: newPrepaid(), caps: new Map(), buckets: new Map() };
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
  const held = Math.max(limits?.prepaid.held ?? 0, ...caps.map((cap) => cap.held));
  return held + amount <= Number.MAX_SAFE_INTEGER;
}

/** Stores the caps and buckets of an admission, and holds its part of them. */
export function holdLimits(
  limits: AccountLimits,
  { caps, buckets }: OpenLimits,
  { caps: capLimits = [], rates = [], amountMicro }: NamedLimits & Pick<ReserveRequest, "amountMicro">,
  prepaidAt: number | undefined,
): HeldLimits {
  if (prepaidAt !== undefined) limits.prepaid.held += amountMicro;
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
    caps: capLimits.map(({ id }, index) => {
      const { start, end } = caps[index] as WindowInstance;
      return { id, start, end };
    }),
    takes: rates.map(({ id, kind, take }) => ({ id, kind, taken: take })),
  };
}

/** Raises the hold of prepaid credits and caps. */
export function raiseLimits(limits: AccountLimits, { prepaidAt, caps }: HeldLimits, rise: Micro): void {
  if (prepaidAt !== undefined) limits.prepaid.held += rise;
  for (const { id, start } of caps) {
    const cap = limits.caps.get(id);
    if (cap?.start === start) cap.held += rise;
  }
}

/** Replaces the hold by the charge, in the instances of the admission. */
export function chargeLimits(limits: AccountLimits, part: HeldLimits, ended: EndedHold, now: number): void {
  const { prepaid, caps } = limits;
  if (part.prepaidAt !== undefined) {
    prepaid.held -= ended.held;
    chargePrepaid(prepaid, ended.charge, part.prepaidAt);
  }
  for (const { id, start, end } of part.caps) {
    const cap = charged(caps.get(id) ?? noInstances.week, { start, end }, ended, now);
    if (cap.used > 0 || cap.held > 0) caps.set(id, cap);
    else caps.delete(id);
  }
}

/** How a hold ends. */
export interface LeaseEnding extends EndedHold {
  readonly uses: readonly RateUse[];
}

/** Replaces a hold by its charge, in the windows or the prepaid credits, in the caps and in the buckets. */
export function endHold(
  account: Instances & { limits: AccountLimits | undefined },
  { receipt, part }: { receipt: AdmittedWindows; part: HeldLimits | undefined },
  end: LeaseEnding,
  now: number,
): void {
  if (part?.prepaidAt === undefined) addCharge(account, receipt, end, now);
  if (part === undefined || account.limits === undefined) return;
  chargeLimits(account.limits, part, end, now);
  endTakes(account.limits, part, end.uses, now);
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
  return isEmpty(prepaid) && caps.size === 0 && buckets.size === 0;
}

/** A copy that shares nothing with it. */
export function copyLimits({ prepaid, caps, buckets }: AccountLimits): AccountLimits {
  return {
    prepaid: { ...prepaid, lots: prepaid.lots.map((lot) => ({ ...lot })) },
    caps: new Map([...caps].map(([id, cap]) => [id, { ...cap }])),
    buckets: new Map([...buckets].map(([id, bucket]) => [id, { ...bucket }])),
  };
}
