/** A time zone of the IANA database. */
export class TimeZone {
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
