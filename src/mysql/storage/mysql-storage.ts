import { Joined } from "../../ledger/storage/joined.js";
import {
  type Add,
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  coreName,
  holdIdOf,
  type LedgerStorage,
  type Loaded,
  mostSkewMs,
  namedBy,
  type Put,
} from "../../ledger/storage/ledger-storage.js";
import { isOfStatement, type MysqlDatabase } from "../mysql-database.js";
import { type MysqlConnection, runSql } from "../mysql-pool.js";
import { clockSql, rowsTable, type SqlValue, valueLists } from "../sql-literals.js";
import { type ReadAccount, readAccounts, scopeOf } from "./read-accounts.js";
import { neverDue } from "./storage-tables.js";

const recordColumns = "scope, name, version, stamp, content, counters, account, due";
const entryColumns = "account, at, entry_key, kind, id, amount, prepaid, starts, tags, expires_at, receipt";

/**
 * Keeps the records of a ledger in MySQL or MariaDB. A commit is a transaction of a few statements: it locks the accounts, reads
 * what is to be compared, compares it here, and writes.
 */
export class MysqlStorage implements LedgerStorage {
  readonly #database: MysqlDatabase;
  readonly #loads: Joined<AskedRecords, ReadAccount>;
  readonly #commits: Joined<Commit, CommitOutcome>;

  constructor(database: MysqlDatabase) {
    this.#database = database;
    const read = (asked: readonly AskedRecords[]) =>
      database.read((connection) => readAccounts(connection, database.prefix, asked));
    this.#loads = new Joined(read, isOfStatement);
    this.#commits = new Joined((commits) => this.#commit(commits), isOfStatement);
  }

  async load(asked: readonly AskedRecords[]): Promise<readonly Loaded[]> {
    return (await this.#loads.run(asked)).map(({ loaded }) => loaded);
  }

  commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    return this.#commits.run(commits);
  }

  async due(limit: number): Promise<readonly string[]> {
    const sql = `select distinct account from ${this.#database.prefix}ledger_record where account is not null and due <= ${clockSql} limit ${limit}`;
    return (await this.#database.read((connection) => runSql(connection, sql))).map(([account]) => String(account));
  }

  /** Of an account one after the other, since each stands on what the one before has made. */
  async #commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    const outcomes = new Map<Commit, CommitOutcome>();
    let rest = commits;
    while (rest.length > 0) {
      const first = new Map(rest.toReversed().map((commit) => [commit.account, commit]));
      const some = [...first.values()];
      const done = await this.#database.write((connection) => commitOn(connection, this.#database.prefix, some));
      for (const [index, commit] of some.entries()) outcomes.set(commit, done[index] as CommitOutcome);
      rest = rest.filter((commit) => !outcomes.has(commit));
    }
    return commits.map((commit) => outcomes.get(commit) as CommitOutcome);
  }
}

/** Commits in a transaction. */
async function commitOn(
  connection: MysqlConnection,
  prefix: string,
  commits: readonly Commit[],
): Promise<CommitOutcome[]> {
  // In the order of their ids, so that no two transactions wait for each other.
  const ids = [...new Set(commits.map(({ account }) => account))].sort();
  await runSql(
    connection,
    /* sql */ `
    select straight_join kept.scope from ${rowsTable(
      ["account"],
      ids.map((id) => [id]),
    )} as asked
    join ${prefix}ledger_record as kept force index (primary) on kept.scope = asked.account and kept.name = x'636f7265'
    for update`,
  );
  const changedHolds = commits.flatMap(({ puts, removes }) => [...puts.keys(), ...removes].filter(isHold));
  // In a statement after that: what it reads is not older than what was locked, and nor is its clock.
  const accounts = await readAccounts(connection, prefix, commits.map(toAsked), changedHolds);
  const decided = commits.map((commit, index) => ({ commit, ...(accounts[index] as ReadAccount) }));
  const done = decided.filter(({ commit, loaded }) => !isRefused(commit, loaded));
  await write(connection, prefix, done);
  const written = new Set(done);
  return decided.map((one) => (written.has(one) ? toOutcome(one) : { isDone: false, loaded: one.loaded }));
}

/** A commit with its account as it was locked. */
interface Decided extends ReadAccount {
  readonly commit: Commit;
}

/** All that it names. */
function toAsked(commit: Commit): AskedRecords {
  const { account, names, entries } = namedBy(commit);
  return { account, names: [...new Set([...names, ...commit.adds.keys(), ...commit.puts.keys()])], entries };
}

function isRefused(commit: Commit, { version, records, entries, now }: Loaded): boolean {
  return (
    Math.abs(commit.now - now) > mostSkewMs ||
    (commit.expected !== undefined && commit.expected !== version) ||
    [...commit.requires].some(([name, stamp]) => records.get(name)?.stamp !== stamp) ||
    commit.absentEntries.some((key) => entries.has(key)) ||
    [...commit.adds].some(([name, adds]) => !isWithin(adds, records.get(name)?.counters))
  );
}

function isWithin(adds: readonly Add[], counters: readonly number[] = []): boolean {
  return adds.every(({ least, most, floor }, index) => {
    const counter = Math.max(counters[index] ?? Number.NaN, floor);
    return counter >= least && counter <= most;
  });
}

async function write(connection: MysqlConnection, prefix: string, done: readonly Decided[]): Promise<void> {
  const added: SqlValue[][] = [];
  const changed: SqlValue[][] = [];
  for (const { commit, loaded } of done) {
    for (const [name, row] of rowsOf(commit, loaded)) (loaded.records.has(name) ? changed : added).push(row);
  }
  const entries = done.flatMap(({ commit, loaded }) => commit.entries.map((entry) => entryRow(entry, loaded.now)));
  const removed = done.flatMap(({ commit: { account, removes } }) =>
    removes.map((name) => [scopeOf(account, name), name]),
  );
  const columns = recordColumns.split(", ").slice(2);
  const onChanged = `on duplicate key update ${columns.map((name) => `${name} = values(${name})`).join(", ")}`;

  for (const list of valueLists(added)) {
    // Fails where another has brought the same.
    await runSql(connection, `insert into ${prefix}ledger_record (${recordColumns}) values ${list}`);
  }
  for (const list of valueLists(changed)) {
    await runSql(connection, `insert into ${prefix}ledger_record (${recordColumns}) values ${list} ${onChanged}`);
  }
  if (removed.length > 0) {
    await runSql(
      connection,
      /* sql */ `
      delete kept from ${rowsTable(["scope", "name"], removed)} as gone
      straight_join ${prefix}ledger_record as kept force index (primary) on kept.scope = gone.scope and kept.name = gone.name`,
    );
  }
  for (const list of valueLists(entries)) {
    await runSql(connection, `insert into ${prefix}ledger_entry (${entryColumns}) values ${list}`);
  }
}

/** The rows of the records that a commit puts or adds to, by their names. The version of an account stands beside its core. */
function rowsOf({ account, version, puts, adds }: Commit, { records }: Loaded): Map<string, SqlValue[]> {
  const rows = new Map<string, SqlValue[]>();
  const core = records.get(coreName);
  const put = (name: string, stamp: string, { text, counters, due }: Put) => {
    const ofCore = name === coreName ? version : null;
    const ofHold = isHold(name) ? [account, due ?? neverDue] : [null, null];
    const list = JSON.stringify(counters);
    rows.set(name, [scopeOf(account, name), name, ofCore, stamp, text, list, ...ofHold]);
  };
  // Each commit gives the account a version.
  if (core !== undefined) put(coreName, core.stamp, { ...core, due: undefined });
  for (const [name, list] of adds) {
    const record = records.get(name);
    if (record === undefined) continue;
    put(name, record.stamp, { text: record.text, counters: addedTo(record.counters, list), due: undefined });
  }
  for (const [name, one] of puts) put(name, version, one);
  return rows;
}

function addedTo(counters: readonly number[], adds: readonly Add[]): number[] {
  return counters.map((counter, index) => {
    const add = adds[index];
    return add === undefined ? counter : Math.max(counter, add.floor) + add.by;
  });
}

function entryRow(entry: Commit["entries"][number], now: number): SqlValue[] {
  const { account, key, kind, id, amountMicro, prepaidMicro, starts, tags, expiresAt, receipt } = entry;
  const inJson = (value: unknown) => (value === undefined ? null : JSON.stringify(value));
  const [ofStarts, ofTags, ofReceipt] = [inJson(starts), inJson(tags), inJson(receipt)];
  return [account, now, key, kind, id, amountMicro, prepaidMicro, ofStarts, ofTags, expiresAt, ofReceipt];
}

function toOutcome({ commit, loaded, otherDue }: Decided): CommitOutcome {
  const counters = new Map<string, readonly number[]>();
  for (const [name, adds] of commit.adds) counters.set(name, addedTo(loaded.records.get(name)?.counters ?? [], adds));
  const due = [...commit.puts.values()].flatMap((put) => put.due ?? []);
  return { isDone: true, counters, nextDue: Math.min(otherDue, ...due), previous: loaded.version };
}

function isHold(name: string): boolean {
  return holdIdOf(name) !== undefined;
}
