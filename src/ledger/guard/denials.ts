import type { Clock } from "../calendar.js";
import type { ReserveRequest, ReserveResult, WindowLimits } from "../credit-ledger.js";
import type { RateLimit, RateState } from "../limits.js";

type Denial = Extract<ReserveResult, { ok: false }>;

interface Remembered {
  readonly denial: Denial;
  readonly limits: WindowLimits;
  /** By the caller's clock, as is `until`. */
  readonly since: number;
  readonly until: number;
}

const mostAccounts = 10_000;

/**
 * Remembers for a moment which accounts have no credits left, so that a client that keeps sending requests costs the
 * store nothing. Credits that are merely held by calls in progress are not remembered as used: they may be free again
 * at once.
 *
 * Each id is taken to be a new one. A caller that repeats an admitted reservation while its account is denied gets a
 * denial too.
 */
export class Denials {
  readonly #clock: Clock;
  readonly #forMs: number;
  readonly #byAccount = new Map<string, Remembered>();
  /** Increases with each event that may have given an account new credits. */
  #changes = 0;

  constructor(clock: Clock, forMs: number) {
    this.#clock = clock;
    this.#forMs = forMs;
  }

  /** Read it before the reservation, and pass it to {@link Denials.add} with the result. */
  get changes(): number {
    return this.#changes;
  }

  /** The denial as the store would return it now. */
  find({ account, limits, rates, strict }: ReserveRequest): Denial | undefined {
    // The result of a strict reservation depends on the amount.
    if (strict === true) return undefined;
    const remembered = this.#byAccount.get(account);
    if (remembered === undefined) return undefined;
    const now = this.#clock.now();
    const { denial, since, until } = remembered;
    if (now >= until || now < since || !sameLimits(limits, remembered.limits)) {
      this.#byAccount.delete(account);
      return undefined;
    }
    const passedMs = now - since;
    // Another call's rates are those of another key or model.
    const { rates: known, ...rest } = denial;
    const later = { ...rest, now: denial.now + passedMs };
    if (rates === undefined) return later;
    const states = statesLater(known, rates, passedMs);
    return states && { ...later, rates: states };
  }

  /** @param changes - as it was before the reservation: the result does not show what was granted meanwhile. */
  add({ account, limits, strict }: ReserveRequest, denial: Denial, changes: number): void {
    if (this.#forMs === 0 || changes !== this.#changes || strict === true) return;
    // A cap or rate denies one key or model, not the account.
    if (denial.blocked.length === 0) return;
    // Calls in progress hold prepaid credits that would pay.
    if (denial.prepaid !== undefined && denial.prepaid.balanceMicro > 0) return;
    let lastsMs = this.#forMs;
    for (const { cause, availableAt } of denial.blocked) {
      if (cause !== "used") return;
      lastsMs = Math.min(lastsMs, availableAt - denial.now);
    }
    const since = this.#clock.now();
    // The latest goes to the end, so that the oldest is the first.
    this.#byAccount.delete(account);
    const { ok, blocked, windows, prepaid, rates, now } = denial;
    const remembered = {
      ...{ ok, blocked, windows, now },
      ...(prepaid !== undefined && { prepaid }),
      ...(rates !== undefined && { rates }),
    };
    this.#byAccount.set(account, { denial: remembered, limits, since, until: since + lastsMs });
    if (this.#byAccount.size <= mostAccounts) return;
    for (const oldest of this.#byAccount.keys()) {
      this.#byAccount.delete(oldest);
      return;
    }
  }

  /** The account's used credits have changed. */
  drop(account: string): void {
    if (this.#byAccount.size > 0) this.#byAccount.delete(account);
  }

  /** The account may have credits again. */
  forget(account: string): void {
    this.#changes++;
    this.#byAccount.delete(account);
  }
}

/** The rates of a reservation, as they are some time after the denial. `undefined`: it does not show all of them. */
function statesLater(
  known: readonly RateState[] = [],
  rates: readonly RateLimit[],
  passedMs: number,
): readonly RateState[] | undefined {
  const states = rates.flatMap(({ id, limit, burst }) => {
    const state = known.find((one) => one.id === id && one.limit === limit);
    if (state === undefined) return [];
    const fullInMs = Math.max(0, state.fullInMs - passedMs);
    const filled = state.kind === "concurrent" ? 0 : Math.floor(burst - (fullInMs * limit) / 60_000);
    return { ...state, remaining: Math.max(state.remaining, filled), fullInMs };
  });
  return states.length === rates.length ? states : undefined;
}

/** Another plan has other limits. The bounds move with time. */
function sameLimits(one: WindowLimits, other: WindowLimits): boolean {
  return (
    one === other ||
    (one.session.limitMicro === other.session.limitMicro &&
      one.week.limitMicro === other.week.limitMicro &&
      one.month.limitMicro === other.month.limitMicro)
  );
}
