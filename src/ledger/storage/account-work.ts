import { type GrantRequest, type WindowName, windowNames } from "../credit-ledger.js";
import type {
  EndedReservation,
  LedgerRecords,
  NamedRecords,
  PrepaidCalls,
  ReservationEnd,
  Reserved,
  SideEntry,
  StoredReservation,
} from "../engine/ledger-records.js";
import type { TopUpRequest } from "../limits.js";
import { type HeldLimits, newAccountLimits } from "../rules/account-limits.js";
import { mayNeedLot } from "../rules/prepaid.js";
import { type Receipt, startsOfEntry } from "../rules/reservation.js";
import type { AccountCache, ChangedReservation } from "./account-cache.js";
import { DecodedAccount } from "./decoded-account.js";
import {
  bucketName,
  capName,
  endKey,
  grantKey,
  holdName,
  type KeptEntry,
  type NewEntry,
  prepaidKey,
} from "./ledger-storage.js";

/** What must be read before an operation can be decided. */
export interface Missing {
  readonly names: readonly string[];
  readonly entries: readonly string[];
  readonly holds: boolean;
}

/** Thrown inside an operation of which something is not known. It is done again from its beginning. */
export class MissingRecords extends Error {
  readonly missing: Missing;

  constructor({ names = [], entries = [], holds = false }: Partial<Missing>) {
    super("Records must be read first.");
    this.missing = { names, entries, holds };
  }
}

/** Ids that operations bring, and what makes others. */
export interface NewIds {
  readonly newIds: ReadonlySet<string>;
  readonly newId: () => string;
}

/**
 * The engine's records of one account, while some operations on it are decided. Nothing of what is known changes: what the
 * operations have changed is in here, and becomes a commit.
 */
export class AccountWork implements LedgerRecords<DecodedAccount> {
  readonly #known: AccountCache;
  /** Ids of reservations and of entries that are new in all likelihood. The commit requires it. */
  readonly #newIds: ReadonlySet<string>;
  readonly #newId: () => string;
  state: DecodedAccount | undefined;
  readonly #reservations = new Map<string, ChangedReservation>();
  /** Names of records that must be as they are known. */
  readonly required = new Set<string>();
  readonly absentEntries = new Set<string>();
  readonly entries: NewEntry[] = [];
  #caps: Set<string> | undefined;
  #buckets: Set<string> | undefined;
  isCoreTouched = false;

  constructor(known: AccountCache, state: DecodedAccount | undefined, { newIds, newId }: NewIds) {
    this.#known = known;
    this.state = state;
    this.#newIds = newIds;
    this.#newId = newId;
  }

  /** The reservations that the operations have made, changed or ended. */
  get changedReservations(): readonly ChangedReservation[] {
    return [...this.#reservations.values()].filter(({ change }) => change !== "none");
  }

  /** Ids of the caps that have changed. */
  get caps(): ReadonlySet<string> {
    return this.#caps ?? noIds;
  }

  /** Ids of the rates whose buckets have changed. */
  get buckets(): ReadonlySet<string> {
    return this.#buckets ?? noIds;
  }

  get changesNothing(): boolean {
    const isNamed = this.caps.size > 0 || this.buckets.size > 0;
    return !this.isCoreTouched && !isNamed && this.entries.length === 0 && this.changedReservations.length === 0;
  }

  account(): DecodedAccount | undefined {
    return this.state;
  }

  addAccount(id: string): DecodedAccount {
    this.state ??= new DecodedAccount(id);
    return this.state;
  }

  put(): void {
    this.isCoreTouched = true;
  }

  load(account: DecodedAccount, { caps = [], rates = [] }: NamedRecords): void {
    if (caps.length === 0 && rates.length === 0) return;
    const names = [...caps.map(({ id }) => capName(id)), ...rates.map(({ id }) => bucketName(id))];
    const missing = names.filter((name) => !this.#known.isKnown(name));
    if (missing.length > 0) throw new MissingRecords({ names: missing });
    account.limits ??= newAccountLimits();
  }

  putNamed(_: DecodedAccount, { caps, takes }: HeldLimits): void {
    if (caps.length > 0) this.#caps = withIds(this.#caps, caps);
    if (takes.length > 0) this.#buckets = withIds(this.#buckets, takes);
  }

  reservation(id: string): StoredReservation | EndedReservation | undefined {
    const changed = this.#reservations.get(id);
    if (changed !== undefined) {
      return changed.change === "removed" ? this.#ended(id) : changed.reservation;
    }
    const name = holdName(id);
    const key = endKey(id);
    const reservation = this.#known.reservation(id);
    if (reservation !== undefined) {
      this.#reservations.set(id, { reservation, change: "none" });
      this.required.add(name);
      return reservation;
    }
    const isRead = this.#known.isKnown(name) && this.#known.isEntryKnown(key);
    if (!isRead && !this.#newIds.has(id)) throw new MissingRecords({ names: [name], entries: [key] });
    const ended = this.#ended(id);
    if (ended === undefined) {
      this.required.add(name);
      this.absentEntries.add(key);
    }
    return ended;
  }

  due(_: DecodedAccount, now: number): readonly StoredReservation[] {
    // Other processes' may be among them.
    if (now >= this.#known.nextDue) throw new MissingRecords({});
    const due = this.#known.dueHolds(now).map((id) => this.reservation(id));
    return due.filter((one): one is StoredReservation => one?.state === "hold" && one.expiresAt <= now);
  }

  hold(_: DecodedAccount, reservation: StoredReservation): void {
    this.#reservations.set(reservation.id, { reservation, change: "put" });
  }

  renew(reservation: StoredReservation): void {
    this.#reservations.set(reservation.id, { reservation, change: "put" });
  }

  expire(_: DecodedAccount, reservations: readonly StoredReservation[]): void {
    for (const reservation of reservations) this.renew(reservation);
  }

  end(_: DecodedAccount | undefined, reservation: StoredReservation, end: ReservationEnd): void {
    this.#reservations.set(reservation.id, { reservation, change: "removed" });
    this.#writeEnd(reservation.id, reservation.receipt, end);
  }

  endUnknown({ id, receipt }: Reserved, end: ReservationEnd): void {
    this.#writeEnd(id, receipt, end);
  }

  get endsKnownFrom(): number {
    return this.#known.keptFrom;
  }

  get expiriesKnownFrom(): number {
    return this.#known.keptFrom;
  }

  forgottenAt(): number {
    return this.#known.forgottenAt;
  }

  prepaidCalls(_: DecodedAccount, before: number): PrepaidCalls {
    if (!this.#known.areHoldsRead) throw new MissingRecords({ holds: true });
    let earliest: number | undefined;
    let last: string | undefined;
    for (const reservationId of this.#known.holds()) {
      const reservation = this.reservation(reservationId);
      if (reservation?.state !== "hold") continue;
      const { id, part } = reservation;
      const at = part?.prepaidAt;
      if (at !== undefined) earliest = Math.min(earliest ?? at, at);
      if (mayNeedLot(part, before) && (last === undefined || id > last)) last = id;
    }
    return { earliest, last };
  }

  write(account: string, entry: SideEntry): void {
    const { kind, id, amountMicro, prepaidMicro = 0, starts, tags, expiresAt } = entry;
    this.addAccount(account);
    const key = kind === "grant" ? grantKey(id) : isPrepaidChange(kind) ? prepaidKey(id) : undefined;
    this.entries.push({
      account,
      key,
      kind,
      id,
      amountMicro,
      prepaidMicro,
      starts,
      tags,
      expiresAt,
      receipt: undefined,
    });
  }

  newId(): string {
    return this.#newId();
  }

  grant(id: string): Pick<GrantRequest, "account" | "window" | "amountMicro"> | undefined {
    const entry = this.#entry(grantKey(id), id);
    if (entry === undefined) return undefined;
    const window = windowNames.find((name) => entry.starts[name] !== undefined) as WindowName;
    return { account: entry.account, window, amountMicro: entry.amountMicro };
  }

  prepaidChange(id: string): Pick<TopUpRequest, "account" | "amountMicro" | "expiresAt"> | undefined {
    const entry = this.#entry(prepaidKey(id), id);
    return entry && { account: entry.account, amountMicro: entry.amountMicro, expiresAt: entry.expiresAt };
  }

  #entry(key: string, id: string): KeptEntry | undefined {
    const written = this.entries.find((entry) => entry.key === key);
    if (written !== undefined) return written;
    if (!this.#known.isEntryKnown(key) && !this.#newIds.has(id)) throw new MissingRecords({ entries: [key] });
    const entry = this.#known.entry(key);
    if (entry === undefined) this.absentEntries.add(key);
    return entry;
  }

  #ended(id: string): EndedReservation | undefined {
    const receipt =
      this.entries.find(({ key }) => key === endKey(id))?.receipt ?? this.#known.entry(endKey(id))?.receipt;
    return receipt && { state: "ended", receipt, paid: receipt.prepaidMicro ?? 0 };
  }

  #writeEnd(id: string, receipt: Receipt, { kind, amount, prepaid, paid, tags }: ReservationEnd): void {
    const { account, amountMicro, expiresAt, starts, ends } = receipt;
    this.addAccount(account);
    this.entries.push({
      ...{ account, key: endKey(id), kind, id, amountMicro: amount, prepaidMicro: prepaid, tags, expiresAt: undefined },
      starts: startsOfEntry(starts, amount, prepaid),
      receipt: { account, amountMicro, expiresAt, starts, ends, ...(paid !== 0 && { prepaidMicro: paid }) },
    });
  }
}

const noIds: ReadonlySet<string> = new Set();

function withIds(ids = new Set<string>(), named: readonly { readonly id: string }[]): Set<string> {
  for (const { id } of named) ids.add(id);
  return ids;
}

function isPrepaidChange(kind: SideEntry["kind"]): boolean {
  return kind === "topup" || kind === "deduction";
}
