import type { Micro } from "../../metering/micro.js";
import { calendarInstance, type Instances, type WindowInstance, windowState } from "../account-state.js";
import type { ReserveResult, WindowLimits, WindowState, WindowStates } from "../credit-ledger.js";

/**
 * The windows of an account as they are when they are read: nothing is made of those that nobody reads. For calls within
 * this process; what leaves it gets {@link statesNow}.
 */
export class LiveStates implements WindowStates {
  readonly #instances: Readonly<Instances>;
  readonly #limits: WindowLimits;
  readonly #now: number;

  /** @param now - which instances are open is told by it, also later. */
  constructor(instances: Readonly<Instances>, limits: WindowLimits, now: number) {
    this.#instances = instances;
    this.#limits = limits;
    this.#now = now;
  }

  get session(): WindowState {
    return windowState(this.#openSession, this.#limits.session.limitMicro);
  }

  get week(): WindowState {
    return windowState(this.#openIn("week"), this.#limits.week.limitMicro);
  }

  get month(): WindowState {
    return windowState(this.#openIn("month"), this.#limits.month.limitMicro);
  }

  /** The least of what `measure` makes of the limited windows, of which no states are made. Infinity: none is limited. */
  least(measure: (left: Micro, held: Micro) => number): number {
    const { session, week, month } = this.#limits;
    return Math.min(
      measured(this.#openSession, session.limitMicro, measure),
      measured(this.#openIn("week"), week.limitMicro, measure),
      measured(this.#openIn("month"), month.limitMicro, measure),
    );
  }

  get #openSession(): WindowInstance | undefined {
    const { session } = this.#instances;
    return this.#now < session.end ? session : undefined;
  }

  #openIn(window: "week" | "month"): WindowInstance | undefined {
    return calendarInstance(this.#instances[window], this.#limits[window].bounds, this.#now);
  }
}

function measured(
  instance: WindowInstance | undefined,
  limitMicro: Micro | null,
  measure: (left: Micro, held: Micro) => number,
): number {
  if (limitMicro === null) return Number.POSITIVE_INFINITY;
  return instance === undefined
    ? measure(limitMicro, 0)
    : measure(limitMicro + instance.bonus - instance.used, instance.held);
}

/** The same as plain data, which stays as it is. */
export function statesNow({ session, week, month }: WindowStates): WindowStates {
  return { session, week, month };
}

/** A result as plain data, of which the host may do anything with the lease. */
export function reservedNow(result: ReserveResult): ReserveResult {
  return result.ok ? withStatesNow({ ...result, lease: { ...result.lease } }) : result;
}

/** A result as plain data. */
export function withStatesNow<Result extends { windows: WindowStates }>(result: Result): Result {
  return { ...result, windows: statesNow(result.windows) };
}
