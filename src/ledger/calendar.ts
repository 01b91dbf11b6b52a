import type { Micro } from "../prices/micro.js";
import type { WindowLimits, WindowName } from "./credit-ledger.js";
import { type Bounds, type CapWindow, totalBounds } from "./limits.js";

/** The input of {@link windowLimits}: a plan, an account and a moment. */
interface WindowLimitsInput {
  /** The plan's credits per window in micro-credits; `null`: unlimited. */
  credits: Readonly<Record<WindowName, Micro | null>>;
  /** Length of a session in milliseconds. */
  sessionMs: number;
  /**
   * Epoch milliseconds at which the account's weeks and months begin; past or future.
   * Default: Monday 00:00 UTC for weeks, the first of the month 00:00 UTC for months.
   */
  anchor?: number | undefined;
  /** The process's now in epoch milliseconds. The ledger's own clock may differ by up to a window. */
  now: number;
}

export const dayMs = 86_400_000;
const weekMs = 7 * dayMs;
const firstMonday = Date.UTC(1970, 0, 5);
const firstMonth = Date.UTC(1970, 0, 1);

/**
 * The limits of a plan as a ledger operation takes them, with the boundaries of the weeks and months around now.
 * All calendar arithmetic is in UTC.
 */
export function windowLimits({ credits, sessionMs, anchor, now }: WindowLimitsInput): WindowLimits {
  return {
    session: { limitMicro: credits.session, lengthMs: sessionMs },
    week: { limitMicro: credits.week, bounds: weekBounds(anchor ?? firstMonday, now) },
    month: { limitMicro: credits.month, bounds: monthBounds(anchor ?? firstMonth, now) },
  };
}

/** Computes {@link windowLimits} for one anchor. It caches the boundaries until a week or a month has ended. */
export class Calendar {
  /** As {@link WindowLimitsInput}'s. */
  readonly anchor: number | undefined;
  #week: Bounds = unknownBounds;
  #month: Bounds = unknownBounds;
  #credits: WindowLimitsInput["credits"] | undefined;
  #limits: WindowLimits | undefined;

  constructor(anchor: number | undefined) {
    this.anchor = anchor;
  }

  /** @returns the same object while nothing has changed. Do not modify it. */
  limits(credits: WindowLimitsInput["credits"], sessionMs: number, now: number): WindowLimits {
    const isWeek = isCurrent(this.#week, now);
    const isMonth = isCurrent(this.#month, now);
    const known = this.#limits;
    if (isWeek && isMonth && known?.session.lengthMs === sessionMs && this.#credits === credits) return known;
    if (!isWeek) this.#week = weekBounds(this.anchor ?? firstMonday, now);
    if (!isMonth) this.#month = monthBounds(this.anchor ?? firstMonth, now);
    this.#credits = credits;
    this.#limits = {
      session: { limitMicro: credits.session, lengthMs: sessionMs },
      week: { limitMicro: credits.week, bounds: this.#week },
      month: { limitMicro: credits.month, bounds: this.#month },
    };
    return this.#limits;
  }
}

/** The bounds of a cap, by the account's anchor as its weeks and months. A day begins at the anchor's time, else at 00:00 UTC. */
export function capBounds(window: CapWindow, anchor: number | undefined, now: number): Bounds {
  switch (window) {
    case "day":
      return spanBounds(anchor ?? 0, dayMs, now);
    case "week":
      return weekBounds(anchor ?? firstMonday, now);
    case "month":
      return monthBounds(anchor ?? firstMonth, now);
    case "total":
      return totalBounds;
  }
}

const unknownBounds: Bounds = [0, 0, 0, 0];

function isCurrent(bounds: Bounds, now: number): boolean {
  return bounds[1] <= now && now < bounds[2];
}

function weekBounds(anchor: number, now: number): Bounds {
  return spanBounds(anchor, weekMs, now);
}

function spanBounds(anchor: number, lengthMs: number, now: number): Bounds {
  const start = anchor + Math.floor((now - anchor) / lengthMs) * lengthMs;
  return [start - lengthMs, start, start + lengthMs, start + 2 * lengthMs];
}

/**
 * Each month's boundary is computed from the original anchor, not from the month before. So an anchor on January 31
 * gives February 28 and then March 31.
 */
function monthBounds(anchor: number, now: number): Bounds {
  const anchorDate = new Date(anchor);
  const day = anchorDate.getUTCDate();
  const timeOfDay = anchor - Math.floor(anchor / dayMs) * dayMs;
  const nowDate = new Date(now);
  const year = nowDate.getUTCFullYear();
  const month = nowDate.getUTCMonth();

  // Every calendar month contains exactly one boundary, so the current window began in this month or in the last one.
  const current = boundaryIn(year, month, day, timeOfDay) <= now ? month : month - 1;
  return [
    boundaryIn(year, current - 1, day, timeOfDay),
    boundaryIn(year, current, day, timeOfDay),
    boundaryIn(year, current + 1, day, timeOfDay),
    boundaryIn(year, current + 2, day, timeOfDay),
  ];
}

/** `month` may lie outside 0 to 11. */
function boundaryIn(year: number, month: number, day: number, timeOfDay: number): number {
  const firstDay = Date.UTC(year, month, 1);
  if (day <= 28) return firstDay + (day - 1) * dayMs + timeOfDay;
  const days = (Date.UTC(year, month + 1, 1) - firstDay) / dayMs;
  return firstDay + (Math.min(day, days) - 1) * dayMs + timeOfDay;
}

/** Where a ledger takes its time from. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
}

/** The process's own clock. It reads `Date.now` at each call, so that faked timers take effect. */
export const systemClock: Clock = { now: () => Date.now() };

/** So far may the clocks of processes and databases be apart, in milliseconds. */
export const mostSkewMs = 1_000;

/**
 * How long entries of a journal are kept, in milliseconds. Default: 400 days, which is some 13 months.
 *
 * @throws RangeError when it is less than a day.
 */
export function checkedRetention(retentionMs = 400 * dayMs): number {
  if (Number.isSafeInteger(retentionMs) && retentionMs >= dayMs) return retentionMs;
  throw new RangeError(`retentionMs must be a whole number of at least ${dayMs}, not ${retentionMs}.`);
}
