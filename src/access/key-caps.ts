import { countableLimit } from "../check/limit-schemas.js";
import { type Calendar, capBounds } from "../ledger/calendar.js";
import type { CapLimit, CapWindow } from "../ledger/limits.js";
import { type Micro, toMicro } from "../prices/micro.js";
import type { KeyCredits } from "../records/keys/key-store.js";

interface Cap {
  readonly id: string;
  readonly window: CapWindow;
  readonly limitMicro: Micro;
}

interface Current {
  readonly calendar: Calendar;
  /** Epoch milliseconds. The limits hold from the first to before the second. */
  readonly from: number;
  readonly until: number;
  readonly limits: readonly CapLimit[];
}

const capWindows: readonly CapWindow[] = ["day", "week", "month", "total"];

/** What a key, or a budget on a tag, may cost. */
export class KeyCaps {
  readonly #caps: readonly Cap[];
  #current: Current | undefined;

  private constructor(caps: readonly Cap[]) {
    this.#caps = caps;
  }

  /**
   * @param counters - begins the ids of its counters.
   * @returns `undefined` where nothing is capped.
   */
  static of(counters: string, credits: KeyCredits | null | undefined): KeyCaps | undefined {
    const caps = capWindows.flatMap((window) => {
      const limit = credits?.[window] ?? undefined;
      return limit === undefined
        ? []
        : { id: `${counters}/${window}`, window, limitMicro: toMicro(countableLimit(limit)) };
    });
    return caps.length === 0 ? undefined : new KeyCaps(caps);
  }

  /** All of these as one. @returns `undefined` where nothing is capped. */
  static together(some: readonly (KeyCaps | undefined)[]): KeyCaps | undefined {
    const [first, ...others] = some.filter((caps) => caps !== undefined);
    if (first === undefined || others.length === 0) return first;
    return new KeyCaps([first, ...others].flatMap((caps) => caps.#caps));
  }

  /** @returns the same list until one of its windows has ended. Do not modify it. */
  limits(calendar: Calendar, now: number): readonly CapLimit[] {
    const known = this.#current;
    if (known?.calendar === calendar && known.from <= now && now < known.until) return known.limits;
    const limits = this.#caps.map((cap) => ({ ...cap, bounds: capBounds(cap.window, calendar.anchor, now) }));
    const from = Math.max(...limits.map(({ bounds }) => bounds[1]));
    const until = Math.min(...limits.map(({ bounds }) => bounds[2]));
    this.#current = { calendar, from, until, limits };
    return limits;
  }
}
