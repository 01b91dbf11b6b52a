import type { Micro } from "../../prices/micro.js";
import {
  type Blocked,
  type Lease,
  LedgerClockError,
  type WindowLimits,
  type WindowName,
  type WindowState,
  type WindowStates,
  windowNames,
} from "../credit-ledger.js";
import type { Bounds } from "../limits.js";

/** A span `[start, end)` of a window, and what was counted in it. */
export interface WindowInstance {
  readonly start: number;
  readonly end: number;
  used: Micro;
  held: Micro;
  bonus: Micro;
}

/** The newest instance of each window. It may have ended: it is replaced only when a newer one is needed. */
export type Instances = Record<WindowName, WindowInstance>;

/** The instances that are open at a moment. A week or month is missing only where the bounds miss that moment. */
export type OpenInstances = Readonly<Record<WindowName, WindowInstance | undefined>>;

/** The open instances where the bounds are right: only the session may be missing. */
export type AdmittingInstances = OpenInstances & Readonly<Record<"week" | "month", WindowInstance>>;

/** The window instances that a reservation was admitted to. */
export type AdmittedWindows = Pick<Lease, "starts" | "ends">;

/** What changes at the end of a hold: its amount, and the charge that replaces it. */
export interface EndedHold {
  readonly held: Micro;
  readonly charge: Micro;
}

/**
 * Requests in progress end soon, so credits that they hold may be free long before the window's end. In milliseconds.
 */
export const heldRetryMs = 5_000;

const never: WindowInstance = Object.freeze(newInstance(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY));

/** The instances of an account of which nothing is known. */
export const noInstances: Readonly<Instances> = Object.freeze({ session: never, week: never, month: never });

export function newInstance(start: number, end: number): WindowInstance {
  return { start, end, used: 0, held: 0, bonus: 0 };
}

/**
 * The instances that are open at `now`. Weeks and months that have begun since get new instances, which are not stored.
 * Changes nothing.
 */
function openInstances(instances: Readonly<Instances>, limits: WindowLimits, now: number): OpenInstances {
  return {
    // An ended session is skipped but not cleared: if the clock steps back, it is open again.
    session: now < instances.session.end ? instances.session : undefined,
    week: calendarInstance(instances.week, limits.week.bounds, now),
    month: calendarInstance(instances.month, limits.month.bounds, now),
  };
}

/** @throws LedgerClockError when the bounds miss `now`. */
export function admittingInstances(
  instances: Readonly<Instances>,
  limits: WindowLimits,
  now: number,
): AdmittingInstances {
  const open = openInstances(instances, limits, now);
  if (isAdmitting(open)) return open;
  throw outOfBounds(now);
}

function isAdmitting(open: OpenInstances): open is AdmittingInstances {
  return open.week !== undefined && open.month !== undefined;
}

/** The usual reason: the gateway has a test's clock and the ledger has not, or the reverse. */
export function outOfBounds(now: number): LedgerClockError {
  return new LedgerClockError(
    `The ledger's clock (${new Date(now).toISOString()}) is weeks away from the gateway's. Give the ledger the ` +
      "same `clock` as createGateway, or neither of them one. In Redis, PostgreSQL and MySQL, it is the server's clock that counts.",
  );
}

export function calendarInstance(stored: WindowInstance, bounds: Bounds, now: number): WindowInstance | undefined {
  if (!(now >= bounds[0] && now < bounds[3])) return undefined;
  const index = now < bounds[1] ? 0 : now < bounds[2] ? 1 : 2;
  // The stored instance keeps its announced end. Otherwise an anchor that moves, or a clock that steps back, would reset
  // the use.
  if (now < stored.end) return stored;
  // After the anchor has moved, an interval may have begun no later than the stored one. Its start would not tell it from
  // the stored one, so it begins at that one's end.
  const start = bounds[index];
  return newInstance(start > stored.start ? start : stored.end, bounds[index + 1] as number);
}

/** What prepaid credits add to what the windows have left. */
export interface PrepaidFunds {
  /** Never below 0: a debt takes nothing from the plan. */
  readonly balance: Micro;
  readonly held: Micro;
}

export const noFunds: PrepaidFunds = Object.freeze({ balance: 0, held: 0 });

/**
 * The windows that deny a reservation; the one that becomes available last is the first. What a window and the prepaid
 * credits have left is one pool.
 *
 * @param need - what must remain in the pool of every limited window; 1 admits while anything is left.
 */
export function blockedWindows(
  open: OpenInstances,
  limits: WindowLimits,
  { need, now }: { need: Micro; now: number },
  funds = noFunds,
): readonly Blocked[] {
  // Of three, ties stay in their order. A list that grows would take room for 17.
  let first: Blocked | undefined;
  let second: Blocked | undefined;
  let third: Blocked | undefined;
  for (const window of windowNames) {
    const { limitMicro } = limits[window];
    if (limitMicro === null) continue;
    const instance = open[window];
    // Only a session can be missing: it would begin now.
    const left = (instance === undefined ? limitMicro : roomIn(instance, limitMicro)) + funds.balance;
    const held = instance === undefined ? 0 : instance.held;
    const end = instance === undefined ? now + limits.session.lengthMs : instance.end;
    if (left - held - funds.held >= need) continue;
    const isUsed = left < need;
    const availableAt = isUsed ? end : Math.min(now + heldRetryMs, end);
    const next: Blocked = { window, cause: isUsed ? "used" : "held", availableAt };
    if (isAvailableLater(next, second)) {
      third = second;
      second = next;
      if (isAvailableLater(next, first)) {
        second = first;
        first = next;
      }
    } else third = next;
  }
  if (first === undefined) return noneBlocked;
  if (second === undefined) return [first];
  return third === undefined ? [first, second] : [first, second, third];
}

const noneBlocked: readonly Blocked[] = Object.freeze([]);

function isAvailableLater(one: Blocked, other: Blocked | undefined): boolean {
  return other === undefined || one.availableAt > other.availableAt;
}

/** What may still be charged to an instance. Holds do not count. */
export function roomIn({ used, bonus }: WindowInstance, limitMicro: Micro): Micro {
  return Math.max(0, limitMicro + bonus - used);
}

/** What the windows have left that no call holds: the least of the limited ones. Infinity: none is limited. */
export function leftInWindows(open: OpenInstances, limits: WindowLimits): number {
  let least = Number.POSITIVE_INFINITY;
  for (const window of windowNames) {
    const { limitMicro } = limits[window];
    if (limitMicro === null) continue;
    const instance = open[window];
    least = Math.min(least, instance === undefined ? limitMicro : roomIn(instance, limitMicro) - instance.held);
  }
  return least;
}

/** The limits of an admission, as its lease keeps them. */
export type AdmittedLimits = Readonly<Record<WindowName, { readonly limitMicro: Micro | null }>>;

/**
 * What the plan may still be charged for a call: the least that is left in the limited windows of its admission. Holds do
 * not count. A window that has ended limits no more. Infinity: none limits.
 */
export function roomOf(
  instances: Readonly<Instances>,
  { starts, ends }: AdmittedWindows,
  limits: AdmittedLimits,
  now: number,
): number {
  let least = Number.POSITIVE_INFINITY;
  for (const window of windowNames) {
    const { limitMicro } = limits[window];
    if (limitMicro === null || ends[window] <= now) continue;
    const newest = instances[window];
    if (newest.start === starts[window]) least = Math.min(least, roomIn(newest, limitMicro));
    // One that was not stored is as if nothing had been charged to it. A charge makes it the newest.
    else if (isLater(newest, { start: starts[window], end: ends[window] }, now)) least = Math.min(least, limitMicro);
  }
  return least;
}

function freshSession(limits: WindowLimits, now: number): WindowInstance {
  return newInstance(now, now + limits.session.lengthMs);
}

/** The instances for an admission. Where no session is open, one begins now. */
export function withSession(open: AdmittingInstances, limits: WindowLimits, now: number): Instances {
  const { session = freshSession(limits, now), week, month } = open;
  return { session, week, month };
}

/** Stores the instances of an admission. A session is stored only when something is counted in it. */
export function admit(instances: Instances, { session, week, month }: Instances, amount: Micro): void {
  if (amount > 0) instances.session = session;
  instances.week = week;
  instances.month = month;
}

/** Returns the earlier object if the windows are the same, as they usually are. Leases share it, which saves memory. */
export function sharedAdmission(
  earlier: AdmittedWindows | undefined,
  { session, week, month }: Instances,
): AdmittedWindows {
  if (
    earlier &&
    earlier.starts.session === session.start &&
    earlier.starts.week === week.start &&
    earlier.starts.month === month.start &&
    // Within an account, its start identifies a week or month. A session can open twice in a millisecond.
    earlier.ends.session === session.end
  ) {
    return earlier;
  }
  return {
    starts: Object.freeze({ session: session.start, week: week.start, month: month.start }),
    ends: Object.freeze({ session: session.end, week: week.end, month: month.end }),
  };
}

/**
 * The size of a hold after a renewal reported a cost. A larger cost raises the hold, within the safe integers. A hold
 * of 0 stays 0: it may have been admitted without a session.
 */
export function raisedHold(open: OpenInstances, held: Micro, observed: Micro): Micro {
  return observed > held && held > 0 && canHold(open, observed - held) ? observed : held;
}

/** Whether `amount` more can be held within the safe integers. */
export function canHold(open: OpenInstances, amount: Micro): boolean {
  const held = Math.max(open.session?.held ?? 0, open.week?.held ?? 0, open.month?.held ?? 0);
  return held + amount <= Number.MAX_SAFE_INTEGER;
}

/** Adds to the hold, in the instances of the admission. Older instances are not changed. */
export function addHold(instances: Readonly<Instances>, { starts }: AdmittedWindows, amount: Micro): void {
  const { session, week, month } = instances;
  if (session.start === starts.session) session.held += amount;
  if (week.start === starts.week) week.held += amount;
  if (month.start === starts.month) month.held += amount;
}

/**
 * Replaces the hold by the charge, in the instances of the admission. Older instances are not changed. A negative
 * charge undoes an earlier one.
 */
export function addCharge(instances: Instances, admission: AdmittedWindows, ended: EndedHold, now: number): void {
  const { starts, ends } = admission;
  const { session, week, month } = instances;
  instances.session = charged(session, { start: starts.session, end: ends.session }, ended, now);
  instances.week = charged(week, { start: starts.week, end: ends.week }, ended, now);
  instances.month = charged(month, { start: starts.month, end: ends.month }, ended, now);
  closeEmptySession(instances);
}

/** The newest instance of a window after the charge: the given one, or a later one that the charge belongs to. */
export function charged(
  newest: WindowInstance,
  { start, end }: Pick<WindowInstance, "start" | "end">,
  { held, charge }: EndedHold,
  now: number,
): WindowInstance {
  let instance = newest;
  if (instance.start === start) {
    instance.held -= held;
  } else {
    if (charge <= 0 || !isLater(instance, { start, end }, now)) return instance;
    instance = newInstance(start, end);
  }
  instance.used = Math.min(Math.max(0, instance.used + charge), Number.MAX_SAFE_INTEGER);
  return instance;
}

/**
 * Whether an open instance is later than the newest known one: its session was closed or never stored, or the state was
 * lost. It is stored again, unless the known one is open, too, as it can be after the clock stepped back.
 */
function isLater(newest: WindowInstance, { start, end }: Pick<WindowInstance, "start" | "end">, now: number): boolean {
  return newest.start < start && newest.end <= now && now < end;
}

/** Removes a session in which nothing is used, held or granted, as if it had never been opened. */
export function closeEmptySession(instances: Instances): void {
  const { used, held, bonus } = instances.session;
  if (used === 0 && held === 0 && bonus === 0) instances.session = never;
}

/**
 * Whether a lease is older than the moment at which its account was forgotten. No session was open then, so later
 * sessions began at that moment or after it.
 */
export function isForgottenLease({ starts }: Pick<Lease, "starts">, forgottenAt: number): boolean {
  return starts.session <= forgottenAt;
}

/** The windows at `now`, even where the limits' bounds miss it. */
export function currentStates(instances: Readonly<Instances>, limits: WindowLimits, now: number): WindowStates {
  const { session, week, month } = instances;
  return {
    session: windowState(now < session.end ? session : undefined, limits.session.limitMicro),
    week: windowState(calendarInstance(week, limits.week.bounds, now), limits.week.limitMicro),
    month: windowState(calendarInstance(month, limits.month.bounds, now), limits.month.limitMicro),
  };
}

/** The windows as callers get them. */
export function windowStates(open: OpenInstances, limits: WindowLimits): WindowStates {
  return {
    session: windowState(open.session, limits.session.limitMicro),
    week: windowState(open.week, limits.week.limitMicro),
    month: windowState(open.month, limits.month.limitMicro),
  };
}

export function windowState(instance: WindowInstance | undefined, limitMicro: Micro | null): WindowState {
  if (!instance) return { limitMicro, usedMicro: 0, heldMicro: 0, bonusMicro: 0, startsAt: null, resetsAt: null };
  const { used: usedMicro, held: heldMicro, bonus: bonusMicro, start, end } = instance;
  return { limitMicro, usedMicro, heldMicro, bonusMicro, startsAt: start, resetsAt: end };
}
