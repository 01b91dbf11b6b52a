import type { Micro } from "../prices/micro.js";
import type { AccountCredits, ReserveResult, WindowLimits, WindowState, WindowStates } from "./credit-ledger.js";
import { calendarInstance, type Instances, type WindowInstance, windowState } from "./rules/windows.js";

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

const unknown: WindowState = Object.freeze({
  limitMicro: null,
  usedMicro: 0,
  heldMicro: 0,
  bonusMicro: 0,
  startsAt: null,
  resetsAt: null,
});

/** The windows of an account whose ledger is away. Its credits are not known, so no limit is shown. */
export const unknownStates: WindowStates = Object.freeze({ session: unknown, week: unknown, month: unknown });

/** What remains of a window, counting settled charges only, as in the headers. Never below 0; `null`: unlimited. */
export function remaining({ limitMicro, bonusMicro, usedMicro }: WindowState): Micro | null {
  return limitMicro === null ? null : Math.max(0, limitMicro + bonusMicro - usedMicro);
}

/** What paid for a call: the credits of the plan's windows, prepaid credits, or both. */
export type Funding = "plan" | "prepaid" | "split";

/** @param prepaid - what of the amount prepaid credits paid. */
export function fundingOf(amount: Micro, prepaid: Micro): Funding {
  if (prepaid === 0) return "plan";
  return prepaid === amount ? "prepaid" : "split";
}

/** Whether a limited window of the plan can never have any credits, nor was granted any: no reset fills it. */
export function neverFills({ limitMicro, bonusMicro }: WindowStates["session"]): boolean {
  return limitMicro === 0 && bonusMicro <= 0;
}

/** Whether an account lives on prepaid credits: it has had some, and its plan can never pay. */
export function livesOnPrepaid({ windows, prepaid }: Pick<AccountCredits, "windows" | "prepaid">): boolean {
  return prepaid !== undefined && Object.values(windows).some(neverFills);
}
