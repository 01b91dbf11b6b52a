import { dayMs } from "../../ledger/calendar.js";
import { LedgerUnavailableError } from "../../ledger/credit-ledger.js";
import type { AccountState, PrepaidCalls, StoredReservation } from "../../ledger/engine/ledger-records.js";
import { type AccountLimits, pruneLimits } from "../../ledger/rules/account-limits.js";
import { mayNeedLot } from "../../ledger/rules/prepaid.js";
import { type AdmittedWindows, noInstances } from "../../ledger/rules/windows.js";

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

/**
 * How long an account that is over is kept. Should the clock have run ahead, setting it right must not refill the
 * account.
 */
const keepMs = dayMs;
const inspectedWhenFull = 1_000;

/**
 * The accounts of a memory ledger, bounded in number. A cursor goes round and drops accounts in which nothing is open,
 * a few at a time. It never drops an account in which something is open.
 */
export class AccountMap {
  readonly #limit: number;
  readonly #accounts = new Map<string, Account>();
  #cursor = this.#accounts.values();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#accounts.size;
  }

  get(account: string): Account | undefined {
    return this.#accounts.get(account);
  }

  /** @throws LedgerUnavailableError when there is no room. */
  add(accountId: string, now: number): Account {
    if (this.#accounts.size >= this.#limit) {
      this.inspect(inspectedWhenFull, now);
      if (this.#accounts.size >= this.#limit) {
        throw new LedgerUnavailableError(`The memory ledger is full: ${this.#limit} accounts have open windows.`);
      }
    }
    const account = new Account(accountId);
    this.#accounts.set(accountId, account);
    return account;
  }

  delete(account: string): void {
    this.#accounts.delete(account);
  }

  /** The accounts in which a hold has expired. */
  due(now: number): string[] {
    return [...this.#accounts.values()].filter((account) => account.due(now).length > 0).map(({ id }) => id);
  }

  /** Looks at the next `count` accounts and drops those that are over. */
  inspect(count: number, now: number): void {
    for (let left = Math.min(count, this.#accounts.size); left > 0; left--) {
      let next = this.#cursor.next();
      if (next.done) {
        this.#cursor = this.#accounts.values();
        next = this.#cursor.next();
      }
      if (next.value?.isOver(now - keepMs)) this.#accounts.delete(next.value.id);
    }
  }
}
