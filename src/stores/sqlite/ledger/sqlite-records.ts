import type {
  ClaimRecords,
  EndedReservation,
  LedgerRecords,
  NamedRecords,
  PrepaidCalls,
  ReservationEnd,
  Reserved,
  SideEntry,
  StoredReservation,
} from "../../../ledger/engine/ledger-records.js";
import { type HeldLimits, newAccountLimits } from "../../../ledger/rules/account-limits.js";
import { runtime } from "../../../runtime/this-runtime.js";
import { type AccountRow, type AccountTable, newAccount } from "./account-table.js";
import type { ForgottenAccounts, TopUpClaims } from "./forgotten-accounts.js";
import type { JournalTable } from "./journal-table.js";
import type { LimitTables } from "./limit-tables.js";
import type { ReservationTable } from "./reservation-table.js";
import type { Retention } from "./retention.js";

/** The tables that the engine's records are kept in. */
export interface RecordTables {
  readonly accounts: AccountTable;
  readonly limits: LimitTables;
  readonly reservations: ReservationTable;
  readonly journal: JournalTable;
  readonly retention: Retention;
  readonly forgotten: ForgottenAccounts;
  readonly claims: TopUpClaims;
}

/**
 * The engine's records in a database, within one transaction. Accounts are read once, and written when all operations of the
 * transaction are done; everything else is written at once.
 */
export class SqliteRecords implements LedgerRecords<AccountRow>, ClaimRecords {
  readonly #tables: RecordTables;
  readonly #accounts = new Map<string, AccountRow>();
  readonly #changed = new Set<AccountRow>();

  constructor(tables: RecordTables) {
    this.#tables = tables;
  }

  /** Does work in a transaction that has begun. */
  transact<Result>(work: () => Result): Result {
    this.#drop();
    const result = work();
    this.flush();
    return result;
  }

  /** Does work that writes nothing of what it finds. */
  look<Result>(work: () => Result): Result {
    this.#drop();
    const result = work();
    this.#drop();
    return result;
  }

  /** Writes the accounts that have changed, for statements that look at their table. They are read again after it. */
  flush(): void {
    for (const account of this.#changed) this.#tables.accounts.put(account);
    this.#drop();
  }

  #drop(): void {
    this.#accounts.clear();
    this.#changed.clear();
  }

  account(id: string): AccountRow | undefined {
    const known = this.#accounts.get(id);
    if (known !== undefined) return known;
    const account = this.#tables.accounts.get(id);
    if (account !== undefined) this.#accounts.set(id, account);
    return account;
  }

  addAccount(id: string): AccountRow {
    const account = newAccount(id);
    this.#accounts.set(id, account);
    return account;
  }

  put(account: AccountRow): void {
    this.#changed.add(account);
  }

  load(account: AccountRow, named: NamedRecords): void {
    if (named.caps === undefined && named.rates === undefined) return;
    account.limits ??= newAccountLimits();
    this.#tables.limits.load(account.id, account.limits, named);
  }

  putNamed({ id, limits }: AccountRow, part: HeldLimits): void {
    if (limits !== undefined) this.#tables.limits.put(id, limits, part);
  }

  reservation(id: string): StoredReservation | EndedReservation | undefined {
    return this.#tables.reservations.get(id);
  }

  due(account: AccountRow, now: number): readonly StoredReservation[] {
    if (account.nextExpiry === null || account.nextExpiry > now) return [];
    const due = this.#tables.reservations.due(account.id, now);
    // The one that was to expire first is gone.
    if (due.length === 0) this.#findNextExpiry(account);
    return due;
  }

  hold(account: AccountRow, reservation: StoredReservation): void {
    const { expiresAt } = reservation;
    account.nextExpiry = Math.min(account.nextExpiry ?? expiresAt, expiresAt);
    this.#tables.reservations.hold(reservation);
  }

  renew(reservation: StoredReservation, now: number): void {
    if (reservation.state === "hold") this.#tables.reservations.renew(reservation);
    // It is kept for as long as it gives signs of life.
    else this.#tables.reservations.renewExpired(reservation, now);
  }

  expire(account: AccountRow, reservations: readonly StoredReservation[], now: number): void {
    for (const reservation of reservations) this.#tables.reservations.expire(reservation, now);
    this.#findNextExpiry(account);
  }

  end(account: AccountRow | undefined, reservation: StoredReservation, end: ReservationEnd): void {
    const sequence = this.#nextSequence(account ?? this.#found(reservation.receipt.account));
    this.#tables.reservations.end(reservation, end, sequence);
  }

  endUnknown(reserved: Reserved, end: ReservationEnd): void {
    this.#tables.reservations.insertEnded(reserved, end, this.#nextSequence(this.#found(reserved.receipt.account)));
  }

  get endsKnownFrom(): number {
    return this.#tables.retention.forgottenUntil;
  }

  get expiriesKnownFrom(): number {
    return this.#tables.retention.forgottenUntil;
  }

  forgottenAt(account: string): number {
    return this.#tables.forgotten.at(account);
  }

  prepaidCalls(account: AccountRow, before: number): PrepaidCalls {
    return this.#tables.reservations.prepaidCalls(account.id, before);
  }

  write(account: string, entry: SideEntry): void {
    const sequence = this.#nextSequence(this.#found(account));
    this.#tables.journal.write(account, sequence, entry);
  }

  newId(): string {
    return runtime.randomUUID();
  }

  grant(id: string) {
    return this.#tables.journal.grant(id);
  }

  prepaidChange(id: string) {
    return this.#tables.journal.prepaidChange(id);
  }

  isClaimedByOther(id: string, account: string): boolean | undefined {
    return this.#tables.claims.isOfOther(id, account);
  }

  claim(id: string, account: string, now: number): void {
    this.#tables.claims.put(id, account, now);
  }

  /** The account of an entry: it numbers them. */
  #found(id: string): AccountRow {
    return this.account(id) ?? this.addAccount(id);
  }

  #nextSequence(account: AccountRow): number {
    this.#changed.add(account);
    return ++account.sequence;
  }

  #findNextExpiry(account: AccountRow): void {
    account.nextExpiry = this.#tables.reservations.nextExpiry(account.id);
    this.#changed.add(account);
  }
}
