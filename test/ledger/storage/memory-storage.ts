import type { Clock } from "../../../src/ledger/clock.js";
import { decodeReservation } from "../../../src/ledger/storage/decoded-account.js";
import {
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  coreName,
  holdIdOf,
  type KeptEntry,
  type LedgerStorage,
  type Loaded,
  mostSkewMs,
  namedBy,
  type StoredRecord,
} from "../../../src/ledger/storage/ledger-storage.js";

interface Kept extends StoredRecord {
  readonly account: string;
  readonly due: number | undefined;
}

interface DecodedAccount {
  version: string;
  /** But for the holds, whose names are all accounts'. */
  readonly records: Map<string, Kept>;
}

/** A line of the journal as the storage has numbered and dated it. */
export type JournalLine = Commit["entries"][number] & { readonly at: number };

/** What a database does, in the plainest way: it reads, compares and adds. Each call is one step. */
export class MemoryStorage implements LedgerStorage {
  readonly journal: JournalLine[] = [];
  /** What has been done, by kind. */
  readonly counts = { loads: 0, commits: 0, byVersion: 0, refused: 0 };
  readonly #clock: Clock;
  readonly #accounts = new Map<string, DecodedAccount>();
  readonly #holds = new Map<string, Kept>();
  readonly #entries = new Map<string, KeptEntry>();
  readonly #forgotten = new Map<string, number>();
  readonly keptFrom = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  async load(asked: readonly AskedRecords[]): Promise<readonly Loaded[]> {
    this.counts.loads += asked.length;
    return asked.map((one) => this.loadNow(one));
  }

  async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return commits.map((one) => this.commitNow(one));
  }

  async due(limit: number): Promise<readonly string[]> {
    const now = this.#clock.now();
    const due = [...this.#holds.values()].filter((hold) => hold.due !== undefined && hold.due <= now);
    return [...new Set(due.map(({ account }) => account))].slice(0, limit);
  }

  async lines(): Promise<readonly JournalLine[]> {
    return this.journal;
  }

  async forget(account: string): Promise<void> {
    this.#forgotten.set(account, Math.max(this.#forgotten.get(account) ?? 0, this.#clock.now()));
    this.#accounts.delete(account);
    for (const [name, hold] of this.#holds) if (hold.account === account) this.#holds.delete(name);
    for (const [key, entry] of this.#entries) if (entry.account === account) this.#entries.delete(key);
    for (let place = this.journal.length - 1; place >= 0; place--) {
      if (this.journal[place]?.account === account) this.journal.splice(place, 1);
    }
  }

  /** The account's counters, for books that must agree. */
  counters(account: string, name = coreName): readonly number[] | undefined {
    return this.#accounts.get(account)?.records.get(name)?.counters;
  }

  /** What is held by open reservations of an account. */
  held(account: string): number {
    const holds = [...this.#holds.values()].filter((hold) => hold.account === account && hold.due !== undefined);
    return holds.reduce((sum, { text }) => sum + decodeReservation("", text).held, 0);
  }

  loadNow({ account, names, entries, holds }: AskedRecords): Loaded {
    const known = this.#accounts.get(account);
    const now = this.#clock.now();
    const found = new Map<string, StoredRecord>();
    const kept = new Map<string, KeptEntry>();
    let nextDue = Number.POSITIVE_INFINITY;
    for (const [name, record] of this.#holds) {
      const isDue = record.due !== undefined && record.due <= now;
      if (record.account === account && !isDue) nextDue = Math.min(nextDue, record.due ?? nextDue);
      const isItsOwn = record.account === account && (isDue || (holds && record.due !== undefined));
      if (isItsOwn || names.includes(name)) found.set(name, record);
    }
    for (const name of [coreName, ...names]) {
      const record = known?.records.get(name);
      if (record !== undefined) found.set(name, record);
    }
    for (const key of entries) {
      const entry = this.#entries.get(key);
      if (entry !== undefined) kept.set(key, entry);
    }
    return {
      account,
      version: known?.version ?? "",
      records: found,
      entries: kept,
      nextDue,
      now,
      keptFrom: this.keptFrom,
      forgottenAt: this.#forgotten.get(account) ?? Number.NEGATIVE_INFINITY,
    };
  }

  commitNow(commit: Commit): CommitOutcome {
    const { account, requires, absentEntries, adds, puts, removes, entries, version } = commit;
    this.counts.commits++;
    if (commit.expected !== undefined) this.counts.byVersion++;
    const now = this.#clock.now();
    const known = this.#accounts.get(account) ?? { version: "", records: new Map() };
    const recordOf = (name: string) => this.#holds.get(name) ?? known.records.get(name);
    const previous = known.version;
    const isRefused =
      Math.abs(commit.now - now) > mostSkewMs ||
      (commit.expected !== undefined && commit.expected !== previous) ||
      [...requires].some(([name, stamp]) => recordOf(name)?.stamp !== stamp) ||
      absentEntries.some((key) => this.#entries.has(key)) ||
      [...adds].some(([name, list]) =>
        list.some(({ least, most, floor }, index) => {
          const counter = Math.max(known.records.get(name)?.counters[index] ?? Number.NaN, floor);
          return !(counter >= least && counter <= most);
        }),
      );
    if (isRefused) {
      this.counts.refused++;
      return { isDone: false, loaded: this.loadNow(namedBy(commit)) };
    }
    this.#accounts.set(account, known);
    known.version = version;
    const counters = new Map<string, readonly number[]>();
    for (const [name, list] of adds) {
      const record = known.records.get(name) as Kept;
      const added = record.counters.map((counter, index) => {
        const { by, floor } = list[index] ?? { by: 0, floor: Number.NEGATIVE_INFINITY };
        return Math.max(counter, floor) + by;
      });
      known.records.set(name, { ...record, counters: added });
      counters.set(name, added);
    }
    for (const [name, put] of puts) {
      const records = holdIdOf(name) === undefined ? known.records : this.#holds;
      records.set(name, { ...put, account, stamp: version });
    }
    for (const name of removes) {
      known.records.delete(name);
      this.#holds.delete(name);
    }
    for (const entry of entries) {
      this.journal.push({ ...entry, at: now });
      if (entry.key !== undefined) this.#entries.set(entry.key, entry);
    }
    const due = [...this.#holds.values()].flatMap((hold) => (hold.account === account ? (hold.due ?? []) : []));
    return { isDone: true, counters, nextDue: Math.min(Number.POSITIVE_INFINITY, ...due), previous };
  }
}
