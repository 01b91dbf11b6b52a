import { dayMs } from "../../ledger/calendar.js";
import {
  type EntryTags,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type LedgerEntry,
  LedgerInputError,
  type WindowName,
  windowNames,
} from "../../ledger/credit-ledger.js";
import type {
  ClaimRecords,
  EndedReservation,
  LedgerRecords,
  PrepaidCalls,
  ReservationEnd,
  Reserved,
  SideEntry,
  StoredReservation,
} from "../../ledger/engine/ledger-records.js";
import { isAsked } from "../../ledger/journal.js";
import type { TopUpRequest } from "../../ledger/limits.js";
import { type Receipt, startsOfEntry } from "../../ledger/rules/reservation.js";
import { type Account, AccountMap } from "./account.js";
import { ReceiptTable, RotatingMap } from "./rotating-map.js";

const closedMemoryMs = 60_000;
const expiredMemoryMs = 3_600_000;
const forgottenMemoryMs = dayMs;
const grantMemoryMs = 31 * dayMs;
const inspectedPerReserve = 2;

interface Expired {
  readonly account: Account;
  readonly reservation: StoredReservation;
}

type Grant = Pick<GrantRequest, "account" | "window" | "amountMicro">;
type PrepaidChange = Pick<TopUpRequest, "account" | "amountMicro" | "expiresAt">;

/** What the memory ledger keeps. Everything in it is bounded: by the number of accounts, by time, or by its own size. */
export class MemoryRecords implements LedgerRecords<Account>, ClaimRecords {
  readonly journal: MemoryJournal;
  readonly #accounts: AccountMap;
  readonly #holds = new Map<string, StoredReservation>();
  readonly #expired = new RotatingMap<Expired>(expiredMemoryMs);
  readonly #closed = new RotatingMap<Receipt>(closedMemoryMs, (expected) => new ReceiptTable(expected));
  /** When accounts were forgotten. */
  readonly #forgotten = new RotatingMap<number>(forgottenMemoryMs);
  readonly #grants = new RotatingMap<Grant>(grantMemoryMs);
  readonly #prepaidChanges = new RotatingMap<PrepaidChange>(grantMemoryMs);
  /** The accounts that the ids of top-ups belong to, as a ledger of several has it. */
  readonly #claims = new RotatingMap<string>(grantMemoryMs);

  constructor(maxAccounts: number, historyEntries: number) {
    this.#accounts = new AccountMap(maxAccounts);
    this.journal = new MemoryJournal(historyEntries);
  }

  /** Drops accounts that are over, a few at a time. */
  dropOld(now: number): void {
    this.#accounts.inspect(inspectedPerReserve, now);
  }

  /** The accounts in which a hold has expired. */
  dueAccounts(now: number): string[] {
    return this.#accounts.due(now);
  }

  account(id: string): Account | undefined {
    return this.#accounts.get(id);
  }

  addAccount(id: string, now: number): Account {
    return this.#accounts.add(id, now);
  }

  // Accounts are changed where they are kept.
  put(): void {}
  load(): void {}
  putNamed(): void {}

  reservation(id: string): StoredReservation | EndedReservation | undefined {
    const hold = this.#holds.get(id);
    if (hold !== undefined) return hold;
    const expired = this.#expired.get(id);
    if (expired !== undefined) {
      const { receipt } = expired.reservation;
      return this.#isForgotten(expired) ? { state: "ended", receipt, paid: 0 } : expired.reservation;
    }
    const receipt = this.#closed.get(id);
    return receipt && { state: "ended", receipt, paid: receipt.prepaidMicro ?? 0 };
  }

  due(account: Account, now: number): readonly StoredReservation[] {
    return account.due(now);
  }

  hold(account: Account, reservation: StoredReservation): void {
    account.add(reservation);
    this.#holds.set(reservation.id, reservation);
  }

  renew({ id, state }: StoredReservation, now: number): void {
    const expired = state === "expired" ? this.#expired.get(id) : undefined;
    // It is kept for as long as it gives signs of life.
    if (expired !== undefined) this.#expired.set(id, expired, now);
  }

  expire(account: Account, reservations: readonly StoredReservation[], now: number): void {
    account.expire(reservations);
    for (const reservation of reservations) {
      this.#holds.delete(reservation.id);
      this.#expired.set(reservation.id, { account, reservation }, now);
    }
  }

  end(account: Account | undefined, reservation: StoredReservation, end: ReservationEnd): void {
    const { id, receipt } = reservation;
    if (reservation.state === "hold") {
      account?.remove(reservation);
      this.#holds.delete(id);
    } else this.#expired.delete(id);
    this.#close(id, receipt, end);
  }

  endUnknown({ id, receipt }: Reserved, end: ReservationEnd): void {
    this.#close(id, receipt, end);
  }

  get endsKnownFrom(): number {
    return this.#closed.forgottenUntil + 1;
  }

  get expiriesKnownFrom(): number {
    return this.#expired.forgottenUntil + 1;
  }

  forgottenAt(account: string): number {
    return this.#forgotten.get(account) ?? Number.NEGATIVE_INFINITY;
  }

  prepaidCalls(account: Account, before: number): PrepaidCalls {
    return account.prepaidCalls(before);
  }

  write(account: string, entry: SideEntry): void {
    const { kind, id, at, amountMicro, expiresAt, starts, tags = noTags } = entry;
    if (kind === "grant") {
      const window = windowNames.find((name) => starts[name] !== undefined) as WindowName;
      this.#grants.set(id, { account, window, amountMicro }, at);
    }
    if (kind === "topup" || kind === "deduction") {
      this.#prepaidChanges.set(id, { account, amountMicro, expiresAt }, at);
    }
    this.journal.write({ ...entry, account, tags });
  }

  newId(): string {
    return String(this.journal.written);
  }

  grant(id: string): Grant | undefined {
    return this.#grants.get(id);
  }

  prepaidChange(id: string): PrepaidChange | undefined {
    return this.#prepaidChanges.get(id);
  }

  isClaimedByOther(id: string, account: string): boolean | undefined {
    const holder = this.#claims.get(id);
    return holder === undefined ? undefined : holder !== account;
  }

  claim(id: string, account: string, now: number): void {
    this.#claims.set(id, account, now);
  }

  forget(accountId: string, now: number): void {
    this.journal.forget(accountId);
    this.#forgotten.set(accountId, Math.max(this.forgottenAt(accountId), now), now);
    const account = this.#accounts.get(accountId);
    if (!account) return;
    account.isForgotten = true;
    for (const { id } of account.holds) this.#holds.delete(id);
    this.#accounts.delete(accountId);
  }

  #close(id: string, receipt: Receipt, { kind, at, amount, prepaid, paid, tags = noTags }: ReservationEnd): void {
    // The id is not in `#closed` yet: a closed id is not reserved again, and only an id that is in no table is
    // recovered.
    this.#closed.add(id, paid === 0 ? receipt : { ...receipt, prepaidMicro: paid }, at);
    const { account } = receipt;
    const starts = startsOfEntry(receipt.starts, amount, prepaid);
    // Written out: copies of objects take more than all else of a settlement.
    if (prepaid === 0) this.journal.write({ kind, id, tags, account, at, amountMicro: amount, starts });
    else this.journal.write({ kind, id, tags, account, at, amountMicro: amount, starts, prepaidMicro: prepaid });
  }

  /** Whether its account was forgotten after it. */
  #isForgotten({ account, reservation }: Expired): boolean {
    if (account.isForgotten) return true;
    // The account may have been unused, and dropped, before that.
    const { account: accountId, starts } = reservation.receipt;
    return account !== this.#accounts.get(accountId) && starts.session < this.forgottenAt(accountId);
  }
}

/** An entry as the ledger writes it, with the caller's objects. Its sequence number follows from its place. */
interface WrittenEntry extends Omit<LedgerEntry, "sequence"> {
  readonly account: string;
}

const noTags: EntryTags = Object.freeze({});

const defaultPageLength = 100;

/** The newest entries of all accounts, limited in number: a new entry replaces the oldest. */
class MemoryJournal {
  readonly #capacity: number;
  readonly #entries: (WrittenEntry | undefined)[] = [];
  #written = 0;
  #slot = 0;
  /** What {@link keptFrom} was when an account was forgotten last. */
  #keptFromBefore: number | undefined;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** How many entries were ever written. */
  get written(): number {
    return this.#written;
  }

  /** Whatever was written at this moment or later is still here. `undefined`: so is all that was ever written. */
  get keptFrom(): number | undefined {
    if (this.#written <= this.#capacity) return undefined;
    // Those of forgotten accounts are gone.
    for (let place = 0; place < this.#capacity; place++) {
      const oldest = this.#entries[(this.#slot + place) % this.#capacity];
      // The one before it may be of the same millisecond.
      if (oldest !== undefined) return oldest.at + 1;
    }
    return this.#keptFromBefore;
  }

  /** Every settlement calls it, so it copies nothing. `read` copies. */
  write(entry: WrittenEntry): void {
    if (this.#capacity === 0) return;
    this.#entries[this.#slot] = entry;
    this.#written++;
    this.#slot = this.#slot + 1 === this.#capacity ? 0 : this.#slot + 1;
  }

  /** @throws LedgerInputError when the cursor does not come from this journal. */
  read(request: HistoryRequest): HistoryPage {
    const { account, from, to, cursor, limit = defaultPageLength } = request;
    const entries: LedgerEntry[] = [];
    const oldest = Math.max(0, this.#written - this.#capacity);
    for (let place = this.#readFrom(cursor); place >= oldest; place--) {
      const written = this.#entries[place % this.#capacity];
      if (written?.account !== account) continue;
      if (from !== undefined && written.at < from) continue;
      if (to !== undefined && written.at >= to) continue;
      if (!isAsked(written, request)) continue;
      const { id, kind, at, amountMicro, prepaidMicro, starts, tags } = written;
      if (entries.length === limit) return { entries, cursor: entries.at(-1)?.sequence };
      const amounts = prepaidMicro === undefined ? { amountMicro } : { amountMicro, prepaidMicro };
      entries.push({ sequence: String(place), id, kind, at, ...amounts, starts: { ...starts }, tags: { ...tags } });
    }
    return { entries };
  }

  /** All that is kept, of all accounts. */
  *all(): Generator<WrittenEntry, void, void> {
    for (const entry of this.#entries) if (entry !== undefined) yield entry;
  }

  forget(account: string): void {
    this.#keptFromBefore = this.keptFrom;
    for (const [slot, entry] of this.#entries.entries()) {
      if (entry?.account === account) this.#entries[slot] = undefined;
    }
  }

  #readFrom(cursor: string | undefined): number {
    if (cursor === undefined) return this.#written - 1;
    const place = Number(cursor);
    if (!/^\d+$/.test(cursor) || place >= this.#written) throw new LedgerInputError("cursor is of no page of history.");
    return place - 1;
  }
}
