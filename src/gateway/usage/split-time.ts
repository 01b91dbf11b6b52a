import { nextTurn } from "../../ledger/promised.js";

const hourMs = 3_600_000;
const units = { hour: hourMs, day: 24 * hourMs };

/** By what a time is split. */
export type Every = keyof typeof units;

/** Into what a time is split, and how often at most. */
interface SplitUnit {
  readonly every: Every;
  readonly timeZone: string;
  /** Periods at the most. */
  readonly most: number;
}

/** So many periods take some milliseconds. */
const periodsPerTurn = 100;
/** A day is as long at most, and an hour is never longer than a day. */
const longestDay = 1.2;

/**
 * Splits a time at the beginning of each hour or day of a time zone. Where clocks are set, a day has 23 or 25 hours, and a
 * new hour begins. Other work has its turn meanwhile: a time zone is asked for each period, which takes its time.
 *
 * @returns the beginning, all moments between at which a period begins, and the end; `undefined` where there are too many.
 * @throws RangeError when there is no such time zone.
 */
export async function splitTime(
  { from, to }: { from: number; to: number },
  { every, timeZone, most }: SplitUnit,
): Promise<readonly number[] | undefined> {
  const zone = new TimeZone(timeZone);
  const unit = units[every];
  if ((to - from) / (longestDay * unit) > most) return undefined;
  const moments = [from];
  let at = from;
  while (at < to) {
    if (moments.length % periodsPerTurn === 0) await nextTurn();
    const local = zone.localTime(at);
    const next = at + unit - (local - Math.floor(local / unit) * unit);
    const change = zone.nextChange(at, Math.min(next, to));
    const isNewHour = every === "hour" || (change !== undefined && dayOf(zone, change) !== dayOf(zone, at));
    at = change ?? next;
    if (at < to && (change === undefined || isNewHour)) moments.push(at);
    if (moments.length > most) return undefined;
  }
  return [...moments, to];
}

/** Names the hour or day in which a period lies, as clocks show it, such as `2026-03-11` or `2026-03-11T09:00`. */
export function periodNamer({ every, timeZone }: { every: Every; timeZone: string }): (moment: number) => string {
  const unit = units[every];
  const zone = new TimeZone(timeZone);
  return (moment) => {
    const local = zone.localTime(moment);
    const begin = every === "day" ? Math.floor(local / unit) * unit : local;
    return new Date(begin).toISOString().slice(0, every === "day" ? 10 : 16);
  };
}

function dayOf(zone: TimeZone, moment: number): number {
  return Math.floor(zone.localTime(moment) / units.day);
}

/** A time zone of the IANA database. */
class TimeZone {
  readonly #format: Intl.DateTimeFormat;
  /** The moment that was looked at last. It takes microseconds, and those who go through a time ask again. */
  #known = { moment: Number.NaN, localTime: Number.NaN };

  /** @throws RangeError when there is no such time zone. */
  constructor(name: string) {
    this.#format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      calendar: "iso8601",
      hourCycle: "h23",
      ...{ year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit" },
    });
  }

  /** What clocks there show at a moment, as if it were the time of UTC. */
  localTime(moment: number): number {
    if (this.#known.moment !== moment) this.#known = { moment, localTime: this.#formatted(moment) };
    return this.#known.localTime;
  }

  /** By how much clocks there are ahead of UTC. */
  offset(moment: number): number {
    return this.localTime(moment) - moment;
  }

  /** The first moment after one, and not after another, at which clocks there are set. `undefined`: they are not. */
  nextChange(after: number, until: number): number | undefined {
    const before = this.offset(after);
    if (this.offset(until) === before) return undefined;
    let [same, changed] = [after, until];
    while (changed - same > 1) {
      const middle = Math.floor((same + changed) / 2);
      if (this.offset(middle) === before) same = middle;
      else changed = middle;
    }
    return changed;
  }

  #formatted(moment: number): number {
    const second = Math.floor(moment / 1_000) * 1_000;
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.#format.formatToParts(second)) parts[type] = Number(value);
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second: seconds = 0 } = parts;
    return Date.UTC(year, month - 1, day, hour, minute, seconds) + (moment - second);
  }
}
