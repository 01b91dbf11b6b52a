import { type Clock, dayMs, mostSkewMs } from "../../../../src/ledger/calendar.js";
import {
  type AskedEntries,
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  coreName,
  type DecideLocked,
  type EntryPage,
  holdIdOf,
  type KeptEntry,
  type LedgerStorage,
  type Loaded,
  namedBy,
  type PurgedBefore,
  type StoredEntry,
  type StoredRecord,
} from "../../../../src/ledger/storage/ledger-storage.js";
import {
  type AskedSums,
  type StoredSum,
  type SumAddition,
  sumLengthsMs,
} from "../../../../src/ledger/usage/kept-sums.js";
import { Notices } from "../../../../src/stores/memory/memory-record-store.js";

interface Kept extends StoredRecord {
  readonly account: string;
  readonly due: number | undefined;
  /** When it was put. */
  readonly at: number;
}

interface KeptAccount {
  version: string;
  /** But for the holds, whose names are all accounts'. */
  readonly records: Map<string, Kept>;
}

type JournalLine = StoredEntry & Pick<Commit["entries"][number], "key">;

interface KeptSum extends SumAddition {
  readonly lengthMs: number;
  readonly begins: number;
}

/** What a database does, in the plainest way: it reads, compares and adds. Each call is one step. */
export class MemoryStorage implements LedgerStorage {
  /** What has been done, by kind. */
  readonly counts = { loads: 0, commits: 0, byVersion: 0, refused: 0, locked: 0 };
  readonly #clock: Clock;
  readonly #accounts = new Map<string, KeptAccount>();
  readonly #holds = new Map<string, Kept>();
  readonly #entries = new Map<string, KeptEntry>();
  readonly #forgotten = new Map<string, number>();
  readonly #notices = new Notices();
  #journal: JournalLine[] = [];
  #sums = new Map<string, KeptSum>();
  #sequence = 0;
  #keptFrom = Number.NEGATIVE_INFINITY;

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

  async locked(asked: AskedRecords, decide: DecideLocked): Promise<CommitOutcome | undefined> {
    this.counts.locked++;
    for (let read = asked; ; ) {
      const step = decide(this.loadNow(read), read);
      if (step === undefined) return undefined;
      if ("commit" in step) return this.commitNow(step.commit);
      read = step.ask;
    }
  }

  async due(limit: number): Promise<readonly string[]> {
    const now = this.#clock.now();
    const due = [...this.#holds.values()].filter((hold) => hold.due !== undefined && hold.due <= now);
    return [...new Set(due.map(({ account }) => account))].slice(0, limit);
  }

  async entries({ account, from, to, kinds, id, before, limit }: AskedEntries): Promise<EntryPage> {
    const isAsked = (entry: StoredEntry) =>
      (account === undefined || entry.account === account) &&
      entry.at >= from &&
      entry.at < to &&
      (kinds?.includes(entry.kind) ?? true) &&
      (id === undefined || entry.id === id) &&
      (before === undefined || isEarlier(entry, before));
    const entries = this.#journal.filter(isAsked).sort((one, other) => (isEarlier(one, other) ? 1 : -1));
    const version = account === undefined ? "" : (this.#accounts.get(account)?.version ?? "");
    return { entries: entries.slice(0, limit), version };
  }

  async sums({ lengthMs, from, to, where, by, limit }: AskedSums): Promise<readonly StoredSum[]> {
    const found = new Map<string, { names: Record<string, string>; begins?: number; counts: number[] }>();
    for (const sum of this.#sums.values()) {
      if (sum.lengthMs !== lengthMs || sum.begins < from || sum.begins >= to) continue;
      if (Object.entries(where).some(([name, texts]) => !texts.includes(sum.names[name as "model"]))) continue;
      const names = Object.fromEntries(by.flatMap((name) => (name === "begins" ? [] : [[name, sum.names[name]]])));
      const begins = by.includes("begins") ? sum.begins : undefined;
      const place = JSON.stringify([names, begins]);
      const known = found.get(place);
      if (known === undefined)
        found.set(place, { names, ...(begins !== undefined && { begins }), counts: [...sum.counts] });
      else for (const [index, count] of sum.counts.entries()) known.counts[index] = (known.counts[index] ?? 0) + count;
    }
    return [...found.values()].slice(0, limit);
  }

  async accounts(after: string, limit: number): Promise<readonly string[]> {
    return [...this.#accounts.keys()]
      .filter((id) => id > after)
      .sort()
      .slice(0, limit);
  }

  async forget(account: string, limit: number): Promise<boolean> {
    this.#forgotten.set(account, Math.max(this.#forgotten.get(account) ?? 0, this.#clock.now()));
    const lines = this.#journal.filter((line) => line.account === account);
    const sums = [...this.#sums].filter(([, { names }]) => names.account === account);
    this.#drop(lines.slice(0, limit));
    for (const [place] of sums.slice(0, limit)) this.#sums.delete(place);
    if (lines.length > limit || sums.length > limit) return true;
    this.#accounts.delete(account);
    for (const [name, hold] of this.#holds) if (hold.account === account) this.#holds.delete(name);
    return false;
  }

  async purge({ entries, topUps, sums, forgotten }: PurgedBefore, limit: number): Promise<boolean> {
    const isTopUp = ({ kind }: StoredEntry) => kind === "topup" || kind === "deduction";
    const lines = this.#journal.filter((line) => line.at < (isTopUp(line) ? topUps : entries)).slice(0, limit);
    const holds = [...this.#holds].filter(([, { due, at }]) => due === undefined && at < entries).slice(0, limit);
    const old = [...this.#sums].filter(([, sum]) =>
      sums.some(({ lengthMs, before }) => sum.lengthMs === lengthMs && sum.begins < before),
    );
    if (lines.length + holds.length > 0) this.#keptFrom = Math.max(this.#keptFrom, entries);
    this.#drop(lines);
    for (const [name] of holds) this.#holds.delete(name);
    for (const [place] of old.slice(0, limit)) this.#sums.delete(place);
    for (const [account, at] of this.#forgotten) if (at < forgotten) this.#forgotten.delete(account);
    return Math.max(lines.length, holds.length, old.length) >= limit;
  }

  async announce(accounts: readonly string[]): Promise<void> {
    for (const account of accounts) this.#notices.tell(account);
  }

  subscribe(onChange: (account: string) => void): () => Promise<void> {
    return this.#notices.subscribe(onChange);
  }

  /** How much there is of an account, and of all. */
  sizes(account: string) {
    const of = (all: Iterable<{ readonly account: string }>) =>
      [...all].filter((one) => one.account === account).length;
    const sums = [...this.#sums.values()].map(({ names, lengthMs }) => ({ account: names.account, lengthMs }));
    return {
      entries: of(this.#journal),
      holds: of(this.#holds.values()),
      records: this.#accounts.get(account)?.records.size ?? 0,
      days: of(sums.filter(({ lengthMs }) => lengthMs === dayMs)),
      quarters: of(sums.filter(({ lengthMs }) => lengthMs !== dayMs)),
    };
  }

  /** The account's counters, for books that must agree. */
  counters(account: string, name = coreName): readonly number[] | undefined {
    return this.#accounts.get(account)?.records.get(name)?.counters;
  }

  loadNow({ account, names, entries, holds, all }: AskedRecords): Loaded {
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
    for (const name of all === true ? (known?.records.keys() ?? []) : [coreName, ...names]) {
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
      keptFrom: this.#keptFrom,
      forgottenAt: this.#forgotten.get(account) ?? Number.NEGATIVE_INFINITY,
    };
  }

  commitNow(commit: Commit): CommitOutcome {
    const { account, requires, absentEntries, adds, puts, removes, entries, sums, version } = commit;
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
      records.set(name, { ...put, account, stamp: version, at: now });
    }
    for (const name of removes) {
      known.records.delete(name);
      this.#holds.delete(name);
    }
    for (const entry of entries) {
      this.#journal.push({ ...entry, at: now, sequence: ++this.#sequence });
      if (entry.key !== undefined) this.#entries.set(entry.key, entry);
    }
    for (const sum of sums) for (const lengthMs of sumLengthsMs) this.#add(sum, lengthMs, now);
    const due = [...this.#holds.values()].flatMap((hold) => (hold.account === account ? (hold.due ?? []) : []));
    return { isDone: true, counters, nextDue: Math.min(Number.POSITIVE_INFINITY, ...due), previous };
  }

  #add({ digest, names, counts }: SumAddition, lengthMs: number, now: number): void {
    const begins = Math.floor(now / lengthMs) * lengthMs;
    const place = JSON.stringify([lengthMs, begins, digest]);
    const known = this.#sums.get(place)?.counts;
    const added = counts.map((count, index) => count + (known?.[index] ?? 0));
    this.#sums.set(place, { digest, names, lengthMs, begins, counts: added });
  }

  #drop(lines: readonly JournalLine[]): void {
    const dropped = new Set(lines);
    this.#journal = this.#journal.filter((line) => !dropped.has(line));
    for (const { key } of lines) if (key !== undefined) this.#entries.delete(key);
  }
}

function isEarlier(one: { at: number; sequence: number }, other: { at: number; sequence: number }): boolean {
  return one.at < other.at || (one.at === other.at && one.sequence < other.sequence);
}
