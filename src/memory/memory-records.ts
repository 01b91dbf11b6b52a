import { type GrantRequest, type WindowName, windowNames } from "../ledger/credit-ledger.js";
import type { TopUpClaims } from "../ledger/engine/claim-top-up.js";
import type {
  EndedReservation,
  LedgerRecords,
  PrepaidCalls,
  ReservationEnd,
  Reserved,
  SideEntry,
  StoredReservation,
} from "../ledger/engine/ledger-records.js";
import type { TopUpRequest } from "../ledger/prepaid-state.js";
import { type Receipt, startsOfEntry } from "../ledger/receipt.js";
import { dayMs } from "../ledger/windows.js";
import type { Account } from "./account.js";
import { AccountMap } from "./account-map.js";
import { MemoryJournal, noTags } from "./memory-journal.js";
import { ReceiptTable } from "./receipt-table.js";
import { RotatingMap } from "./rotating-map.js";

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
export class MemoryRecords implements LedgerRecords<Account>, TopUpClaims {
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
