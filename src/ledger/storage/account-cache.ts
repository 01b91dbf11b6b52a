import type { StoredReservation } from "../engine/ledger-records.js";
import { newAccountLimits } from "../rules/account-limits.js";
import {
  DecodedAccount,
  decodeBucket,
  decodeCap,
  decodeCore,
  decodeReservation,
  type Numbered,
  requireKnownVersion,
  structureOf,
} from "./decoded-account.js";
import {
  bucketIdOf,
  type Commit,
  type CommitOutcome,
  capIdOf,
  coreName,
  holdIdOf,
  holdName,
  type KeptEntry,
  type Loaded,
  type StoredRecord,
} from "./ledger-storage.js";

/** A process forgets what it knows of an account with more records. They are read again. */
const mostRecords = 10_000;

/**
 * An account that no other process has changed for so long is committed by its version, which takes no second decision. Where
 * that is refused, another one has come, and the account is shared for as long.
 */
const aloneMs = 10_000;

/** A record, and the version of the commit that put it. */
export interface KnownRecord extends Numbered {
  readonly stamp: string;
}

/** A reservation as it is after operations. */
export interface ChangedReservation {
  readonly reservation: StoredReservation;
  /** `removed`: it has ended. */
  change: "none" | "put" | "removed";
}

/** What a commit has put. */
export interface MadeRecords {
  readonly puts: ReadonlyMap<string, Numbered>;
  readonly holds: readonly ChangedReservation[];
}

interface KnownHold {
  readonly stamp: string;
  readonly reservation: StoredReservation;
}

/**
 * What this process knows of an account: as it was loaded, and what commits have made of it since. Other processes may have
 * changed it meanwhile. A commit finds out.
 */
export class AccountCache {
  readonly id: string;
  /** `undefined`: nothing is known of it. Empty: there is no such account. */
  version: string | undefined;
  /** `undefined`: there is no such account. */
  state: DecodedAccount | undefined;
  /** When the next hold is due of which this process may not know. */
  nextDue = Number.POSITIVE_INFINITY;
  keptFrom = Number.NEGATIVE_INFINITY;
  forgottenAt = Number.NEGATIVE_INFINITY;
  areHoldsRead = false;
  /** Nothing was decided on it since it was read. */
  isFresh = false;
  /** The most that a commit has changed a counter of credits by, which tells how far others may change it. */
  scale = 1;
  /** When it was seen last that another process had changed it. */
  #sharedAt = Number.NEGATIVE_INFINITY;
  /** Of what is counted. */
  readonly #records = new Map<string, KnownRecord>();
  /** By their ids. */
  readonly #holds = new Map<string, KnownHold>();
  /** When open holds are due, by their ids. */
  readonly #due = new Map<string, number>();
  /** Names and keys that were asked for. What was not found is not there. */
  readonly #asked = new Set<string>();
  readonly #entries = new Map<string, KeptEntry>();

  constructor(id: string) {
    this.id = id;
  }

  get records(): ReadonlyMap<string, KnownRecord> {
    return this.#records;
  }

  /** The version of the commit that put a record. */
  stamp(name: string): string | undefined {
    const id = holdIdOf(name);
    return id === undefined ? this.#records.get(name)?.stamp : this.#holds.get(id)?.stamp;
  }

  /** A reservation that has not ended. The engine changes what it is given, so it is another object each time. */
  reservation(id: string): StoredReservation | undefined {
    const hold = this.#holds.get(id);
    return hold && { ...hold.reservation };
  }

  isKnown(name: string): boolean {
    return this.#asked.has(name) || this.stamp(name) !== undefined;
  }

  /** Whether in all likelihood no other process changes it. */
  isAloneAt(now: number): boolean {
    return now - this.#sharedAt >= aloneMs;
  }

  /** Whether nothing was decided on it since it was read, and these were read with it. */
  isJustRead({ names, entries }: { names: readonly string[]; entries: readonly string[] }): boolean {
    return this.isFresh && [...names, ...entries].every((name) => this.#asked.has(name));
  }

  isEntryKnown(key: string): boolean {
    return this.#asked.has(key);
  }

  entry(key: string): KeptEntry | undefined {
    return this.#entries.get(key);
  }

  /** The ids of the account's open holds. */
  holds(): string[] {
    return [...this.#due.keys()];
  }

  dueHolds(now: number): string[] {
    return [...this.#due].filter(([, due]) => due <= now).map(([id]) => id);
  }

  /** Takes what was read. @param asked - the names and keys that were asked for. */
  take(loaded: Loaded, asked: Iterable<string>, areHoldsRead = false): void {
    if (loaded.version !== this.version) {
      if (this.version !== undefined) this.#sharedAt = loaded.now;
      this.#dropCounters();
      // What was found absent, and all holds, were those of another version.
      this.#asked.clear();
      this.areHoldsRead = false;
    }
    this.version = loaded.version;
    this.isFresh = true;
    this.nextDue = loaded.nextDue;
    this.keptFrom = loaded.keptFrom;
    this.forgottenAt = loaded.forgottenAt;
    this.areHoldsRead ||= areHoldsRead;
    for (const name of asked) {
      this.#asked.add(name);
      if (!loaded.records.has(name)) this.#remove(name);
    }
    // All that is due was read, so that what is not there has ended.
    for (const name of this.dueHolds(loaded.now).map(holdName)) if (!loaded.records.has(name)) this.#remove(name);
    for (const [name, record] of loaded.records) this.#read(name, record);
    for (const [key, entry] of loaded.entries) this.#entries.set(key, entry);
    if (!loaded.records.has(coreName)) this.#remove(coreName);
    this.state = accountIn(this.id, this.#records);
  }

  /** Takes what a commit has made of it. */
  apply(
    commit: Commit,
    { puts, holds }: MadeRecords,
    { counters, nextDue, previous }: Extract<CommitOutcome, { isDone: true }>,
  ): void {
    // Others were in between. What it has added to is told, and nothing else.
    if (previous !== this.version) {
      this.#sharedAt = commit.now;
      this.#dropCounters((name) => counters.has(name));
    }
    this.version = commit.version;
    for (const [name, adds] of commit.adds) {
      // What a bucket counts are no credits.
      if (bucketIdOf(name) !== undefined) continue;
      for (const { by } of adds) this.scale = Math.max(this.scale, Math.abs(by));
    }
    this.nextDue = nextDue;
    for (const [name, now] of counters) {
      const record = this.#records.get(name);
      if (record !== undefined) this.#records.set(name, { ...record, counters: now });
    }
    for (const [name, { structure, counters: all }] of puts) {
      this.#records.set(name, { stamp: commit.version, structure, counters: all });
    }
    for (const { reservation, change } of holds) {
      if (change === "put") this.#putHold(reservation, commit.version);
    }
    for (const name of commit.removes) this.#remove(name);
    this.state = accountIn(this.id, this.#records);
    if (this.state === undefined || this.#records.size + this.#holds.size > mostRecords) this.forgetAll();
  }

  /** What was asked for one decision is asked again for the next. */
  forgetAsked(): void {
    this.#asked.clear();
    this.#entries.clear();
    this.areHoldsRead = false;
    this.isFresh = false;
  }

  forgetAll(): void {
    this.version = undefined;
    this.state = undefined;
    this.#records.clear();
    this.#holds.clear();
    this.#due.clear();
  }

  /** Drops what others may have changed. Holds are compared one by one when they are needed. */
  #dropCounters(isKept: (name: string) => boolean = () => false): void {
    for (const name of this.#records.keys()) if (!isKept(name)) this.#records.delete(name);
  }

  #read(name: string, { stamp, text, counters }: StoredRecord): void {
    const id = holdIdOf(name);
    if (id === undefined) {
      const known = this.#records.get(name);
      const structure = known?.stamp === stamp ? known.structure : structureOf(text);
      this.#records.set(name, { stamp, structure, counters });
    } else if (this.#holds.get(id)?.stamp !== stamp) this.#putHold(decodeReservation(id, text), stamp);
  }

  /** An id may be of another account's hold. */
  #putHold(reservation: StoredReservation, stamp: string): void {
    const { id, state, receipt, expiresAt } = reservation;
    this.#holds.set(id, { stamp, reservation });
    if (state === "hold" && receipt.account === this.id) this.#due.set(id, expiresAt);
    else this.#due.delete(id);
  }

  #remove(name: string): void {
    const id = holdIdOf(name);
    if (id === undefined) this.#records.delete(name);
    else {
      this.#holds.delete(id);
      this.#due.delete(id);
    }
  }
}

/** The account that was read. `undefined`: there is none. */
export function loadedAccount(loaded: Loaded): DecodedAccount | undefined {
  const known = new AccountCache(loaded.account);
  known.take(loaded, []);
  return known.state;
}

/** The account that stands in records. `undefined`: it has none. */
export function accountIn(id: string, records: ReadonlyMap<string, Numbered>): DecodedAccount | undefined {
  const core = records.get(coreName);
  if (core === undefined) return undefined;
  requireKnownVersion(core.structure);
  const account = new DecodedAccount(id);
  decodeCore(account, core);
  for (const [name, record] of records) {
    const [cap, bucket] = [capIdOf(name), bucketIdOf(name)];
    if (cap === undefined && bucket === undefined) continue;
    account.limits ??= newAccountLimits();
    if (cap !== undefined) account.limits.caps.set(cap, decodeCap(record));
    if (bucket !== undefined) account.limits.buckets.set(bucket, decodeBucket(record));
  }
  return account;
}
