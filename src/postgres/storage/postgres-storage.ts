import {
  type Add,
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  coreName,
  holdIdOf,
  type KeptEntry,
  type LedgerStorage,
  type Loaded,
  namedBy,
  type StoredRecord,
} from "../../ledger/storage/ledger-storage.js";
import type { PostgresPool } from "../postgres-pool.js";
import { retryTransient, sqlState } from "../retry-transient.js";
import { inSchema } from "../schema/in-schema.js";
import { commitStatement, loadStatement } from "./storage-statements.js";

/** Of a key that is there twice: what must not be there has come meanwhile. */
const duplicateKey = "23505";

interface LoadedRow {
  readonly account: string;
  readonly version: string;
  readonly core: readonly [stamp: string, text: string, counters: number[]] | null;
  readonly records: readonly (readonly [name: string, stamp: string, text: string, counters: number[]])[] | null;
  readonly holds: readonly (readonly [name: string, stamp: string, text: string])[] | null;
  readonly entries: readonly (readonly [string, string, number, string, number | null, string | null])[] | null;
  readonly nextDue: number | null;
  readonly now: number;
  readonly forgottenAt: number | null;
}

interface DoneRow {
  readonly n: number;
  readonly previous: string;
  readonly counters: number[] | null;
  readonly records: readonly (readonly [name: string, counters: number[]])[] | null;
  readonly nextDue: number | null;
}

/** Keeps the records of a ledger in PostgreSQL: one statement reads or commits for many accounts. */
export class PostgresStorage implements LedgerStorage {
  readonly #pool: PostgresPool;
  readonly #schema: string;

  constructor(pool: PostgresPool, schema: string) {
    this.#pool = pool;
    this.#schema = schema;
  }

  async load(asked: readonly AskedRecords[]): Promise<readonly Loaded[]> {
    const rows = await this.#query<LoadedRow>(loadStatement, [JSON.stringify(asked.map(toAskedRow))]);
    const byAccount = new Map(rows.map((row) => [row.account, toLoaded(row)]));
    return asked.map(({ account }) => byAccount.get(account) as Loaded);
  }

  async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    const done = await this.#commit(commits.map((commit, n) => ({ n, commit })));
    const refused = commits.flatMap((commit, n) => (done.has(n) ? [] : [{ n, asked: namedBy(commit) }]));
    const loaded = refused.length === 0 ? [] : await this.load(refused.map(({ asked }) => asked));
    const loadedOf = new Map(refused.map(({ n }, index) => [n, loaded[index] as Loaded]));
    return commits.map((commit, n) => {
      const row = done.get(n);
      return row === undefined ? { isDone: false, loaded: loadedOf.get(n) as Loaded } : toOutcome(commit, row);
    });
  }

  async due(limit: number): Promise<readonly string[]> {
    return this.#query<string>(
      /* sql */ `
      select to_jsonb(account)::text as json from (
        select distinct account from infergate.kept_hold where due <= infergate.clock_ms() limit $1
      ) as due`,
      [limit],
    );
  }

  async #commit(commits: readonly Numbered[]): Promise<Map<number, DoneRow>> {
    try {
      const rows = await this.#query<DoneRow>(commitStatement, toParameters(commits));
      return new Map(rows.map((row) => [row.n, row]));
    } catch (error) {
      if (sqlState(error) !== duplicateKey) throw error;
      if (commits.length === 1) return new Map();
      const halves = [commits.slice(0, commits.length / 2), commits.slice(commits.length / 2)];
      const [one, other] = await Promise.all(halves.map((half) => this.#commit(half)));
      return new Map([...(one ?? []), ...(other ?? [])]);
    }
  }

  async #query<Row>(sql: string, values: (string | number)[]): Promise<Row[]> {
    const { rows } = await retryTransient(() => this.#pool.query(inSchema(sql, this.#schema), values));
    return (rows as { json: string }[]).map(({ json }) => JSON.parse(json));
  }
}

interface Numbered {
  readonly n: number;
  readonly commit: Commit;
}

function isHold(name: string): boolean {
  return holdIdOf(name) !== undefined;
}

function toAskedRow({ account, names, entries, holds = false }: AskedRecords) {
  const records = names.filter((name) => !isHold(name) && name !== coreName);
  return { account, names: records, holds: names.filter(isHold), entries, allHolds: holds };
}

function toLoaded(row: LoadedRow): Loaded {
  const records = new Map<string, StoredRecord>();
  if (row.core !== null) records.set(coreName, { stamp: row.core[0], text: row.core[1], counters: row.core[2] });
  for (const [name, stamp, text, counters] of row.records ?? []) records.set(name, { stamp, text, counters });
  for (const [name, stamp, text] of row.holds ?? []) records.set(name, { stamp, text, counters: [] });
  const entries = new Map<string, KeptEntry>();
  for (const [key, account, amountMicro, starts, expiresAt, receipt] of row.entries ?? []) {
    entries.set(key, {
      account,
      amountMicro,
      starts: JSON.parse(starts),
      expiresAt: expiresAt ?? undefined,
      receipt: receipt === null ? undefined : JSON.parse(receipt),
    });
  }
  return {
    ...{ account: row.account, version: row.version, now: row.now, records, entries },
    nextDue: row.nextDue ?? Number.POSITIVE_INFINITY,
    keptFrom: Number.NEGATIVE_INFINITY,
    forgottenAt: row.forgottenAt ?? Number.NEGATIVE_INFINITY,
  };
}

function toOutcome({ puts }: Commit, row: DoneRow): CommitOutcome {
  const counters = new Map<string, readonly number[]>(row.records ?? []);
  if (row.counters !== null) counters.set(coreName, row.counters);
  const due = [...puts.values()].flatMap((put) => put.due ?? []);
  const nextDue = Math.min(row.nextDue ?? Number.POSITIVE_INFINITY, ...due);
  return { isDone: true, previous: row.previous, counters, nextDue };
}

function toParameters(commits: readonly Numbered[]): string[] {
  const rows = {
    accounts: commits.map(({ n, commit }) => accountRow(n, commit)),
    records: commits.flatMap(({ n, commit }) => recordRows(n, commit)),
    holds: commits.flatMap(({ n, commit }) => holdRows(n, commit)),
    entries: commits.flatMap(({ n, commit }) => entryRows(n, commit)),
    absent: commits.flatMap(({ n, commit }) => commit.absentEntries.map((key) => ({ n, key }))),
  };
  return Object.values(rows).map((list) => JSON.stringify(list));
}

function accountRow(n: number, { account, version, expected, requires, adds, puts, now }: Commit) {
  const stamp = requires.get(coreName) ?? null;
  const core = puts.get(coreName);
  return {
    n,
    account,
    version,
    expected: expected ?? null,
    stamp,
    now,
    core: core?.text ?? null,
    counters: core?.counters ?? null,
    ...toAdds(adds.get(coreName)),
  };
}

function recordRows(n: number, { account, requires, adds, puts, removes }: Commit) {
  const names = new Set(
    [...requires.keys(), ...puts.keys(), ...removes].filter((name) => !isHold(name) && name !== coreName),
  );
  return [...names].map((name) => ({
    ...{ n, account, name, stamp: requires.get(name) ?? null, removed: removes.includes(name) },
    ...{ content: puts.get(name)?.text ?? null, counters: puts.get(name)?.counters ?? null },
    ...toAdds(adds.get(name)),
  }));
}

function holdRows(n: number, { account, requires, puts, removes }: Commit) {
  const names = [...requires.keys()].filter(isHold);
  return names.map((name) => ({
    ...{ n, account, name, stamp: requires.get(name) ?? null, removed: removes.includes(name) },
    ...{ content: puts.get(name)?.text ?? null, due: puts.get(name)?.due ?? null },
  }));
}

function entryRows(n: number, { entries }: Commit) {
  return entries.map(
    ({ account, key, kind, id, amountMicro, prepaidMicro, starts, tags, expiresAt, receipt }, place) => ({
      ...{ n, place, account, key: key ?? null, kind, id, amount: amountMicro, prepaid: prepaidMicro },
      ...{ starts: JSON.stringify(starts), tags: tags === undefined ? null : JSON.stringify(tags) },
      ...{ expires_at: expiresAt ?? null, receipt: receipt === undefined ? null : JSON.stringify(receipt) },
    }),
  );
}

/** In JSON, what is not bounded is null. */
function toAdds(adds: readonly Add[] | undefined) {
  if (adds === undefined) return { by: null, least: null, most: null, floors: null };
  return {
    by: adds.map(({ by }) => by),
    least: adds.map(({ least }) => (Number.isFinite(least) ? least : null)),
    most: adds.map(({ most }) => (Number.isFinite(most) ? most : null)),
    floors: adds.map(({ floor }) => (Number.isFinite(floor) ? floor : null)),
  };
}
