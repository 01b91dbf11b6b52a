import { type AdmittedWindows, noInstances } from "../ledger/account-state.js";
import type { AccountState, PrepaidCalls, StoredReservation } from "../ledger/engine/ledger-records.js";
import { type AccountLimits, pruneLimits } from "../ledger/limits/account-limits.js";
import { mayNeedLot } from "../ledger/limits/prepaid.js";

const never = Number.POSITIVE_INFINITY;

const noneDue: readonly StoredReservation[] = [];
/** Nothing is added to it: an account's first hold makes a list of its own. */
const noHolds: StoredReservation[] = [];

/** An account of the memory ledger: its state, and the open reservations. */
export class Account implements AccountState {
  readonly id: string;
  session = noInstances.session;
  week = noInstances.week;
  month = noInstances.month;
  limits: AccountLimits | undefined;
  admission: AdmittedWindows | undefined;
  /** The account was forgotten. The same id later means another account. */
  isForgotten = false;
  #holds: StoredReservation[] = noHolds;
  /** No hold expires earlier than this. It may lie before the earliest expiry, since that hold may be gone. */
  #earliestExpiry = never;

  constructor(id: string) {
    this.id = id;
  }

  get holds(): readonly StoredReservation[] {
    return this.#holds;
  }

  /** Whether no window is open and nothing is held. Then the account can be dropped. */
  isOver(now: number): boolean {
    const { session, week, month } = this;
    const isOver = this.#holds.length === 0 && session.end <= now && week.end <= now && month.end <= now;
    return this.limits === undefined ? isOver : pruneLimits(this.limits, now) && isOver;
  }

  add(hold: StoredReservation): void {
    hold.index = this.#holds.length;
    // An empty list that grows takes room for 17.
    if (hold.index === 0) this.#holds = [hold];
    else this.#holds.push(hold);
    if (hold.expiresAt < this.#earliestExpiry) this.#earliestExpiry = hold.expiresAt;
  }

  remove(hold: StoredReservation): void {
    const last = this.#holds.pop();
    if (last === undefined || last === hold) return;
    this.#holds[hold.index] = last;
    last.index = hold.index;
  }

  /** The holds that have expired. */
  due(now: number): readonly StoredReservation[] {
    return now < this.#earliestExpiry ? noneDue : this.#holds.filter(({ expiresAt }) => expiresAt <= now);
  }

  /** Removes the holds that have expired. */
  expire(expired: readonly StoredReservation[]): void {
    for (const hold of expired) this.remove(hold);
    this.#earliestExpiry = this.#holds.reduce((earliest, { expiresAt }) => Math.min(earliest, expiresAt), never);
  }

  /** The open calls that found prepaid credits at their admission. */
  prepaidCalls(before: number): PrepaidCalls {
    let earliest: number | undefined;
    let last: string | undefined;
    for (const { id, part } of this.holds) {
      if (part?.prepaidAt !== undefined) earliest = Math.min(earliest ?? never, part.prepaidAt);
      if (mayNeedLot(part, before) && (last === undefined || id > last)) last = id;
    }
    return { earliest, last };
  }
}
