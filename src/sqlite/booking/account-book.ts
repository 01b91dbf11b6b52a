import { LRUCache } from "lru-cache";
import { runtime } from "#runtime";
import { type AccountLimits, endHold, type LeaseEnding } from "../../ledger/limits/account-limits.js";
import { type HeldLimits, usesAtExpiry } from "../../ledger/limits/held-limits.js";
import { noUses } from "../../ledger/limits/no-uses.js";
import { firstExpired, lapse, mayNeedLot } from "../../ledger/limits/prepaid.js";
import { startsOfEntry } from "../../ledger/receipt.js";
import { endedAtTag } from "../../ledger/statement/statement-books.js";
import type { Micro } from "../../metering/micro.js";
import { type AccountRow, type AccountTable, newAccount } from "../account-table.js";
import type { JournalTable } from "../journal-table.js";
import type { LimitNames, LimitTables } from "../limits/limit-tables.js";
import type { ReservationTable, Reserved, StoredReservation } from "../reservation-table.js";

/** The tables in which holds end. */
export interface AccountTables {
  readonly accounts: AccountTable;
  readonly limits: LimitTables;
  readonly reservations: ReservationTable;
  readonly journal: JournalTable;
}

/** Accounts with prepaid credits that have expired, of which a call is open that may need them. */
const mostNeeded = 10_000;

/** How holds end, and what becomes of an account by the mere time. */
export class AccountBook {
  readonly #accounts: AccountTable;
  readonly #limits: LimitTables;
  readonly #reservations: ReservationTable;
  readonly #journal: JournalTable;
  /** By account, the id of a call that may need prepaid credits that have expired, as far as this process knows. */
  readonly #neededBy = new LRUCache<string, string>({ max: mostNeeded });

  constructor({ accounts, limits, reservations, journal }: AccountTables) {
    this.#accounts = accounts;
    this.#limits = limits;
    this.#reservations = reservations;
    this.#journal = journal;
  }

  /**
   * The account, after its expired holds have ended and its expired prepaid credits have lapsed. An unknown account is
   * stored only with its first change.
   */
  find(accountId: string, now: number): AccountRow {
    const account = this.#accounts.get(accountId);
    if (!account) return newAccount(accountId);
    const isDue = account.nextExpiry !== null && account.nextExpiry <= now;
    if (isDue) this.#expireHolds(account, now);
    const hasLapsed = account.limits !== undefined && this.#lapse(account, account.limits, now);
    if (isDue || hasLapsed) this.#accounts.put(account);
    return account;
  }

  /** Ends the holds of an account that have expired. @returns how many. */
  endExpired(accountId: string, now: number): number {
    const { length } = this.#reservations.due(accountId, now);
    if (length > 0) this.find(accountId, now);
    return length;
  }

  /**
   * Replaces a hold by its charge in all that it is part of. The account's row is stored by the caller.
   *
   * @returns what prepaid credits pay of the charge.
   */
  endHold(account: AccountRow, reserved: Reserved, end: LeaseEnding, now: number): Micro {
    const { part } = reserved;
    if (part !== undefined) this.#limits.load(account, namesOf(part));
    const prepaid = endHold(account, reserved, end, now);
    const { limits } = account;
    if (limits === undefined) return prepaid;
    if (part !== undefined) this.#limits.put(account.id, limits, part);
    return prepaid;
  }

  /** Records what an expiry, or a renewal after it, has charged. */
  writeCheckpoint(
    account: AccountRow,
    { id, receipt, tags }: Pick<StoredReservation, "id" | "receipt" | "tags">,
    { amountMicro, prepaidMicro }: { amountMicro: Micro; prepaidMicro: Micro },
    now: number,
  ): void {
    const starts = startsOfEntry(receipt.starts, amountMicro, prepaidMicro);
    this.#journal.write(account, { id, kind: "checkpoint", at: now, amountMicro, prepaidMicro, starts, tags });
  }

  #expireHolds(account: AccountRow, now: number): void {
    for (const hold of this.#reservations.due(account.id, now)) {
      const { id, checkpoint } = hold;
      const prepaidMicro = this.endHold(account, hold, expiryOf(hold), now);
      if (checkpoint === 0) continue;
      if (prepaidMicro !== 0) this.#reservations.pay(id, prepaidMicro);
      this.writeCheckpoint(account, hold, { amountMicro: checkpoint, prepaidMicro }, now);
    }
    this.#reservations.expireDue(account.id, now);
    account.nextExpiry = this.#reservations.nextExpiry(account.id);
  }

  /** Drops the prepaid credits that have expired, but for those that an open call may need: it was admitted before. */
  #lapse(account: AccountRow, limits: AccountLimits, now: number): boolean {
    const { prepaid } = limits;
    const firstEnd = prepaid && firstExpired(prepaid, now);
    if (prepaid === undefined || firstEnd === undefined) return false;
    const until = this.#lapseUntil(account.id, firstEnd, now);
    if (until < firstEnd) return false;
    for (const { left, expiresAt } of lapse(prepaid, until)) {
      const entry = { id: `expiry_${runtime.randomUUID()}`, at: now, amountMicro: -left, starts: {} };
      this.#journal.write(account, { kind: "expiry", ...entry, tags: { [endedAtTag]: expiresAt } });
    }
    return true;
  }

  /**
   * Up to which end expired lots lapse: the earliest admission of an open call that found prepaid credits. Where that is
   * before the first lot's end, one call that may need it is remembered, and all are looked at again only when that one has
   * ended.
   */
  #lapseUntil(accountId: string, firstEnd: number, now: number): number {
    const known = this.#neededBy.get(accountId);
    if (known !== undefined && this.#mayNeed(accountId, known, firstEnd)) return Number.NEGATIVE_INFINITY;
    const { earliest, last } = this.#reservations.foundPrepaid(accountId, firstEnd);
    if (last === null) this.#neededBy.delete(accountId);
    else this.#neededBy.set(accountId, last);
    return Math.min(now, earliest ?? now);
  }

  #mayNeed(accountId: string, id: string, end: number): boolean {
    const reservation = this.#reservations.get(id);
    // After an account is forgotten, its id may be of another one.
    if (reservation?.state !== "hold" || reservation.receipt.account !== accountId) return false;
    return mayNeedLot(reservation.part, end);
  }
}

/** What an expiry does to a hold. */
export function expiryOf({ held, checkpoint, part, uses }: StoredReservation): LeaseEnding {
  return { held, charge: checkpoint, paid: 0, uses: part === undefined ? noUses : usesAtExpiry(part, uses) };
}

function namesOf({ caps, takes }: HeldLimits): LimitNames {
  return { caps, rates: takes };
}
