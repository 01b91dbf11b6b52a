import type { Micro } from "../../prices/micro.js";
import type { EntryTags } from "../credit-ledger.js";
import {
  copyLimits,
  endHold,
  expiredPart,
  type HeldLimits,
  type LeaseEnding,
  type NamedLimits,
  usesAtExpiry,
} from "../rules/account-limits.js";
import { firstExpired, lapse, mayNeedLot, type Prepaid } from "../rules/prepaid.js";
import { noUses } from "../rules/rates.js";
import { type AccountView, noStarts, type Receipt, startsOfEntry } from "../rules/reservation.js";
import { endedAtTag } from "../rules/statement.js";
import type { AccountState, LedgerRecords, NamedRecords, StoredReservation } from "./ledger-records.js";

/** Of so many accounts a call is remembered that may need expired credits. Then all are looked at again. */
const mostNeeded = 10_000;

/** What becomes of an account by the mere time, and how a hold ends. */
export class AccountKeeper<Account extends AccountState> {
  readonly #records: LedgerRecords<Account>;
  /** By account, the id of an open call that may need prepaid credits that have expired, as far as this process knows. */
  readonly #neededBy: Map<string, string>;

  constructor(records: LedgerRecords<Account>, neededBy = new Map<string, string>()) {
    this.#records = records;
    this.#neededBy = neededBy;
  }

  /** The account, after its expired holds have ended and its expired prepaid credits have lapsed. */
  find(accountId: string, now: number): Account | undefined {
    const account = this.#records.account(accountId);
    if (account === undefined) return undefined;
    const due = this.#records.due(account, now);
    if (due.length > 0) this.#expire(account, due, now);
    const prepaid = account.limits?.prepaid;
    if (prepaid !== undefined) this.#lapse(account, prepaid, now);
    return account;
  }

  /** The account as it will be after the end of its expired holds. Changes nothing. */
  afterExpiry(accountId: string, named: NamedLimits, now: number): AccountView | undefined {
    const account = this.#records.account(accountId);
    if (account === undefined) return undefined;
    this.#records.load(account, named);
    const due = this.#records.due(account, now);
    if (due.length === 0) return account;
    for (const { part } of due) if (part !== undefined) this.#records.load(account, namesOf(part));
    const { session, week, month, limits } = account;
    const copy = {
      ...{ session: { ...session }, week: { ...week }, month: { ...month } },
      limits: limits && copyLimits(limits),
    };
    for (const hold of inOrder(due)) endHold(copy, hold, expiryOf(hold), now);
    return copy;
  }

  /**
   * Replaces a hold by its charge in all that it is part of.
   *
   * @returns what prepaid credits pay of the charge.
   */
  endHold(
    account: Account,
    call: Pick<StoredReservation, "receipt" | "limits" | "part">,
    end: LeaseEnding,
    now: number,
  ): Micro {
    const { part } = call;
    if (part !== undefined) this.#records.load(account, namesOf(part));
    const prepaid = endHold(account, call, end, now);
    if (part !== undefined) this.#records.putNamed(account, part);
    this.#records.put(account);
    return prepaid;
  }

  /** Records what an expiry, or a renewal after it, has charged. */
  writeCheckpoint(
    { id, receipt, tags }: { id: string; receipt: Receipt; tags: EntryTags | undefined },
    { amountMicro, prepaidMicro }: { amountMicro: Micro; prepaidMicro: Micro },
    now: number,
  ): void {
    if (amountMicro === 0) return;
    const starts = startsOfEntry(receipt.starts, amountMicro, prepaidMicro);
    const amounts = prepaidMicro === 0 ? { amountMicro } : { amountMicro, prepaidMicro };
    this.#records.write(receipt.account, { kind: "checkpoint", id, at: now, ...amounts, starts, tags });
  }

  #expire(account: Account, due: readonly StoredReservation[], now: number): void {
    const holds = inOrder(due);
    for (const hold of holds) {
      hold.paid = this.endHold(account, hold, expiryOf(hold), now);
      hold.state = "expired";
      hold.part &&= expiredPart(hold.part);
    }
    this.#records.expire(account, holds, now);
    for (const hold of holds) {
      this.writeCheckpoint(hold, { amountMicro: hold.checkpoint, prepaidMicro: hold.paid }, now);
    }
  }

  /** Drops the prepaid credits that have expired, but for those that an open call may need: it was admitted before. */
  #lapse(account: Account, prepaid: Prepaid, now: number): void {
    const firstEnd = firstExpired(prepaid, now);
    if (firstEnd === undefined) return;
    const until = this.#lapseUntil(account, firstEnd, now);
    if (until < firstEnd) return;
    for (const { left, expiresAt } of lapse(prepaid, until)) {
      const entry = { id: `expiry_${this.#records.newId()}`, at: now, amountMicro: -left, starts: noStarts };
      this.#records.write(account.id, { kind: "expiry", ...entry, tags: { [endedAtTag]: expiresAt } });
    }
    this.#records.put(account);
  }

  /**
   * Up to which end expired lots lapse: up to the earliest admission of an open call that found prepaid credits. Where that
   * is before the end of the first lot, nothing lapses. Then one call that may need that lot is remembered, and the others are
   * looked at only when that one has ended. It is the last one by its id: ids say nothing of which call ends first, so a
   * thousand calls are looked at some seven times until all have ended, and not a thousand times.
   *
   * @param firstEnd - of the lot that expires first.
   */
  #lapseUntil(account: Account, firstEnd: number, now: number): number {
    const known = this.#neededBy.get(account.id);
    if (known !== undefined && this.#mayNeed(account.id, known, firstEnd)) return Number.NEGATIVE_INFINITY;
    const { earliest, last } = this.#records.prepaidCalls(account, firstEnd);
    this.#neededBy.delete(account.id);
    if (this.#neededBy.size >= mostNeeded) this.#neededBy.clear();
    if (last !== undefined) this.#neededBy.set(account.id, last);
    return Math.min(now, earliest ?? now);
  }

  #mayNeed(accountId: string, id: string, end: number): boolean {
    const reservation = this.#records.reservation(id);
    // After an account is forgotten, its id may be of another one.
    if (reservation?.state !== "hold" || reservation.receipt.account !== accountId) return false;
    return mayNeedLot(reservation.part, end);
  }
}

/** In the order of expiry. The order matters when one of them closes a session in which another one is charged. */
function inOrder(due: readonly StoredReservation[]): readonly StoredReservation[] {
  return due.toSorted((left, right) => left.expiresAt - right.expiresAt || (left.id < right.id ? -1 : 1));
}

/** What an expiry does to a hold. */
function expiryOf({ held, checkpoint, part, uses }: StoredReservation): LeaseEnding {
  return { held, charge: checkpoint, paid: 0, uses: part === undefined ? noUses : usesAtExpiry(part, uses) };
}

function namesOf({ caps, takes }: HeldLimits): NamedRecords {
  return { caps, rates: takes };
}
