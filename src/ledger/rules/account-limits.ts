import type { Micro } from "../../prices/micro.js";
import type { Lease, ReserveRequest } from "../credit-ledger.js";
import type { CapLimit, LeasedCap, RateKind, RateLimit, RateUse } from "../limits.js";
import { balanceOf, chargePrepaid, newPrepaid, type Prepaid } from "./prepaid.js";
import { type Bucket, bucketAt, endTake, isIdle, takeFrom } from "./rates.js";
import {
  type AdmittedLimits,
  type AdmittedWindows,
  addCharge,
  calendarInstance,
  charged,
  type EndedHold,
  type Instances,
  noInstances,
  outOfBounds,
  roomOf,
  type WindowInstance,
} from "./windows.js";

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

/** What a reservation has of a bucket. */
interface Take {
  readonly id: string;
  readonly kind: RateKind;
  readonly taken: number;
}

/** What a reservation holds beside the windows, or in place of them. */
export interface HeldLimits {
  /** When it was admitted, if its account had prepaid credits then. */
  readonly prepaidAt: number | undefined;
  /** What it held of prepaid credits at its admission. The windows hold the rest. */
  readonly prepaidMicro: Micro;
  readonly caps: readonly Pick<LeasedCap, "id" | "start" | "end">[];
  /** Empty once its lease has expired. */
  readonly takes: readonly Take[];
}

const none: readonly Take[] = [];

/** What is left of a part whose lease has expired. */
export function expiredPart(part: HeldLimits): HeldLimits {
  return { ...part, takes: none };
}

/**
 * What a hold of so much has of prepaid credits; the windows have the rest. What it was raised by since its admission is
 * prepaid where some of it was.
 */
function heldOfPrepaid(held: Micro, reserved: Micro, part: HeldLimits | undefined): Micro {
  return part === undefined || part.prepaidMicro === 0 || held === 0 ? 0 : held - (reserved - part.prepaidMicro);
}

/** What the takes of a lease come to when it expires: what its renewals had reported. */
export function usesAtExpiry({ takes }: HeldLimits, observed: readonly RateUse[]): RateUse[] {
  return takes.map(({ id, kind, taken }) => {
    const seen = observed.find((use) => use.id === id)?.actual;
    // Whether the request has reached an upstream is not known, so it counts.
    return { id, actual: seen ?? (kind === "tokens" ? 0 : taken) };
  });
}

/** What a release gives back: everything but what `uses` names. */
export function usesAtRelease({ takes }: HeldLimits, uses: readonly RateUse[] = []): RateUse[] {
  return takes.map(({ id }) => ({ id, actual: uses.find((use) => use.id === id)?.actual ?? 0 }));
}

/** What a lease has, of which the ledger knows nothing. */
export function partOfLease(lease: Lease): HeldLimits | undefined {
  const { prepaidAt, caps = [] } = lease;
  if (prepaidAt === undefined && caps.length === 0) return undefined;
  return { prepaidAt, prepaidMicro: prepaidOf(lease), caps, takes: none };
}

/** What a lease held of prepaid credits at its admission. Where the lease does not say how much, it is all of it. */
export function prepaidOf({
  amountMicro,
  prepaidAt,
  prepaidMicro,
}: Pick<Lease, "amountMicro" | "prepaidAt" | "prepaidMicro">): Micro {
  return prepaidAt === undefined ? 0 : (prepaidMicro ?? amountMicro);
}

/** What a charge is for. */
interface ChargedCall {
  readonly receipt: AdmittedWindows & { readonly amountMicro: Micro };
  /** Those of its admission. */
  readonly limits: AdmittedLimits;
  readonly part: HeldLimits | undefined;
}

/**
 * How much of a charge prepaid credits pay. The plan pays as far as every limited window has room. Of the rest, prepaid
 * credits pay all, if the call holds some or the account has some; else it overdraws the windows. What is given back goes
 * to prepaid credits first, as far as they had paid.
 *
 * @param paid - what prepaid credits have paid for the call before.
 */
function prepaidShare(
  account: Readonly<Instances> & { readonly limits?: { readonly prepaid: Prepaid | undefined } | undefined },
  { receipt, limits, part }: ChargedCall,
  { charge, paid }: { charge: Micro; paid: Micro },
  now: number,
): Micro {
  if (charge < 0) return paid === 0 ? 0 : -Math.min(-charge, paid);
  const held = part?.prepaidMicro ?? 0;
  const prepaid = account.limits?.prepaid;
  if (held === 0 && (prepaid === undefined || balanceOf(prepaid, part?.prepaidAt ?? now) <= 0)) return 0;
  const room = roomOf(account, receipt, limits, now);
  // Its windows are over. The plan, which had nothing left at the admission, does not pay for it.
  if (room === Number.POSITIVE_INFINITY && held > 0 && held === receipt.amountMicro) return charge;
  return charge - Math.min(charge, room);
}
