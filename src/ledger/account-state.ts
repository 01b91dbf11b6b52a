import type { Micro } from "../metering/micro.js";
import {
  type Blocked,
  type Bounds,
  type Lease,
  LedgerClockError,
  type WindowLimits,
  type WindowName,
  type WindowState,
  type WindowStates,
  windowNames,
} from "./credit-ledger.js";

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

/** What a hold's end changes: what it held, and what it charges in its place. */
export interface EndedHold {
  readonly held: Micro;
  readonly charge: Micro;
}

/** Requests in flight end, so what they hold is worth another look long before the window's end. */
const heldRetryMs = 5_000;

const never: WindowInstance = Object.freeze(newInstance(Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY));

/** The instances of an account of which nothing is known. */
export const noInstances: Readonly<Instances> = Object.freeze({ session: never, week: never, month: never });

export function newInstance(start: number, end: number): WindowInstance {
  return { start, end, used: 0, held: 0, bonus: 0 };
}

/**
 * What is open at `now`: the stored instances, and fresh ones, not stored anywhere, for weeks and months that have begun
 * since. Changes nothing.
 */
export function openInstances(instances: Readonly<Instances>, limits: WindowLimits, now: number): OpenInstances {
  return {
    // An ended session is passed over, not cleared: it must be there again should the clock step back.
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
  const { session, week, month } = openInstances(instances, limits, now);
  if (week && month) return { session, week, month };
  throw outOfBounds(now);
}

/** Most often, one of the two was given a test's clock and the other was not. */
export function outOfBounds(now: number): LedgerClockError {
  return new LedgerClockError(
    `The ledger's clock (${new Date(now).toISOString()}) is weeks away from the gateway's. Give the ledger the ` +
      "same `clock` as createGateway, or neither of them one. In Redis and PostgreSQL, it is the server's clock that counts.",
  );
}

function calendarInstance(stored: WindowInstance, bounds: Bounds, now: number): WindowInstance | undefined {
  if (!(now >= bounds[0] && now < bounds[3])) return undefined;
  const index = now < bounds[1] ? 0 : now < bounds[2] ? 1 : 2;
  const start = bounds[index];
  // A stored instance that began later wins: a clock that steps back, or an anchor moved back, must not refill.
  if (start > stored.start) return newInstance(start, bounds[index + 1] as number);
  // Once the anchor was moved, a later interval may begin before the stored one ends. The stored one ends when it was
  // announced to.
  return now < stored.end ? stored : newInstance(stored.end, bounds[index + 1] as number);
}

/**
 * The windows that deny a reservation, the one that is available last first.
 *
 * @param need - what must remain in every limited window; 1 admits while anything is left.
 */
export function blockedWindows(open: OpenInstances, limits: WindowLimits, need: Micro, now: number): Blocked[] {
  const blocked: Blocked[] = [];
  for (const window of windowNames) {
    const { limitMicro } = limits[window];
    if (limitMicro === null) continue;
    const { used, held, bonus, end } = open[window] ?? freshSession(limits, now);
    const credits = limitMicro + bonus;
    if (used + need > credits) blocked.push({ window, cause: "used", availableAt: end });
    else if (used + held + need > credits) {
      blocked.push({ window, cause: "held", availableAt: Math.min(now + heldRetryMs, end) });
    }
  }
  // The sort is stable: ties stay in the order of windowNames.
  return blocked.length > 1 ? blocked.sort((left, right) => right.availableAt - left.availableAt) : blocked;
}

function freshSession(limits: WindowLimits, now: number): WindowInstance {
  return newInstance(now, now + limits.session.lengthMs);
}

/** The instances to admit a reservation to: where no session is open, one that begins now. */
export function withSession(open: AdmittingInstances, limits: WindowLimits, now: number): Instances {
  const { session = freshSession(limits, now), week, month } = open;
  return { session, week, month };
}

/** Stores the instances that a reservation is admitted to; a session only where there is something to count in it. */
export function admit(instances: Instances, { session, week, month }: Instances, amount: Micro): void {
  if (amount > 0) instances.session = session;
  instances.week = week;
  instances.month = month;
}

/**
 * What a hold amounts to when a cost was seen: it is raised to a cost that exceeds it, as far as that can be counted.
 * A hold of nothing stays one: it may have been admitted to no session.
 */
export function raisedHold(open: OpenInstances, held: Micro, observed: Micro): Micro {
  return observed > held && held > 0 && canHold(open, observed - held) ? observed : held;
}

/** Whether `amount` can be held on top without leaving the safe integers. */
export function canHold(open: OpenInstances, amount: Micro): boolean {
  const held = Math.max(open.session?.held ?? 0, open.week?.held ?? 0, open.month?.held ?? 0);
  return held + amount <= Number.MAX_SAFE_INTEGER;
}

/** Adds to what is held, in the instances of the admission. Those that are no longer the newest are left alone. */
export function addHold(instances: Readonly<Instances>, { starts }: AdmittedWindows, amount: Micro): void {
  const { session, week, month } = instances;
  if (session.start === starts.session) session.held += amount;
  if (week.start === starts.week) week.held += amount;
  if (month.start === starts.month) month.held += amount;
}

/**
 * Gives back what was held, and charges `charge` in its place, in the instances of the admission. Those that are no longer
 * the newest are left alone. A negative charge gives back an earlier one.
 */
export function addCharge(instances: Instances, admission: AdmittedWindows, ended: EndedHold, now: number): void {
  const { starts, ends } = admission;
  const { session, week, month } = instances;
  instances.session = charged(session, { start: starts.session, end: ends.session }, ended, now);
  instances.week = charged(week, { start: starts.week, end: ends.week }, ended, now);
  instances.month = charged(month, { start: starts.month, end: ends.month }, ended, now);
  closeEmptySession(instances);
}

/** The newest instance of a window after the charge: the given one, or the later one that it belongs to. */
function charged(
  newest: WindowInstance,
  { start, end }: Pick<WindowInstance, "start" | "end">,
  { held, charge }: EndedHold,
  now: number,
): WindowInstance {
  let instance = newest;
  if (instance.start === start) {
    instance.held -= held;
  } else {
    // An open instance later than any that is known: a session that has closed or was never opened, or the state was
    // lost. It is taken up again, but never in the place of one that is open too, as it can be after the clock stepped.
    const isLater = instance.start < start && instance.end <= now && now < end;
    if (charge <= 0 || !isLater) return instance;
    instance = newInstance(start, end);
  }
  instance.used = Math.min(Math.max(0, instance.used + charge), Number.MAX_SAFE_INTEGER);
  return instance;
}

/** A session in which nothing is used, held or granted is as if it had never been opened. */
export function closeEmptySession(instances: Instances): void {
  const { used, held, bonus } = instances.session;
  if (used === 0 && held === 0 && bonus === 0) instances.session = never;
}

/**
 * Whether a lease is of a time before its account was forgotten. Then nothing was open any more, so that each session opened
 * since has begun later, or in the same millisecond.
 */
export function isForgottenLease({ starts }: Pick<Lease, "starts">, forgottenAt: number): boolean {
  return starts.session <= forgottenAt;
}

/** The windows as they are at `now`, though the limits' bounds may miss it. */
export function currentStates(instances: Readonly<Instances>, limits: WindowLimits, now: number): WindowStates {
  return windowStates(openInstances(instances, limits, now), limits);
}

/** The windows as a caller sees them. */
export function windowStates(open: OpenInstances, limits: WindowLimits): WindowStates {
  return {
    session: windowState(open.session, limits.session.limitMicro),
    week: windowState(open.week, limits.week.limitMicro),
    month: windowState(open.month, limits.month.limitMicro),
  };
}

function windowState(instance: WindowInstance | undefined, limitMicro: Micro | null): WindowState {
  if (!instance) return { limitMicro, usedMicro: 0, heldMicro: 0, bonusMicro: 0, startsAt: null, resetsAt: null };
  const { used: usedMicro, held: heldMicro, bonus: bonusMicro, start, end } = instance;
  return { limitMicro, usedMicro, heldMicro, bonusMicro, startsAt: start, resetsAt: end };
}
