import { mostSkewMs } from "../../ledger/calendar.js";
import { encodeReceipt } from "../../ledger/storage/decoded-account.js";
import {
  type Add,
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  coreName,
  isHold,
  type Loaded,
  namedBy,
  type Put,
} from "../../ledger/storage/ledger-storage.js";
import { type SumAddition, sumLengthsMs, sumNames } from "../../ledger/usage/kept-sums.js";
import {
  isLockTimeOut,
  literal,
  type MysqlConnection,
  rowsTable,
  runSql,
  type SqlValue,
  valueLists,
} from "./mysql-database.js";
import { type ReadAccount, readAccounts, scopeOf } from "./read-accounts.js";
import { expiredDue, sumCounts } from "./storage-tables.js";

const recordColumns = "scope, name, version, stamp, content, counters, account, due".split(", ");
const entryColumns = "account, at, entry_key, kind, id, amount, prepaid, starts, tags, expires_at, receipt".split(", ");
const sumColumns = ["length_ms", "begins", "digest", ...sumNames.map((name) => `of_${name}`), ...sumCounts];

/** Somebody keeps the row of one of several accounts. */
export class KeptRow extends Error {}

/**
 * Locks accounts, as far as there are any, in the order of their ids: no two transactions wait for each other. MariaDB waits for a
 * second, or four for a single one: less than a connection is waited for, so that it leaves no transaction behind. MySQL takes
 * that for a comment.
 *
 * @throws KeptRow where the server does not wait any longer for one of several.
 */
export async function lockAccounts(connection: MysqlConnection, prefix: string, ids: readonly string[]): Promise<void> {
  const asked = rowsTable(
    ["account"],
    [...ids].sort().map((id) => [id]),
  );
  const locked = runSql(
    connection,
    /* sql */ `
    select straight_join kept.scope from ${asked} as asked
    join ${prefix}ledger_record as kept force index (primary)
      on kept.scope = asked.account and kept.name = ${literal(coreName)}
    for update /*M! wait ${ids.length === 1 ? 4 : 1} */`,
  );
  await locked.catch((error) => {
    throw ids.length > 1 && isLockTimeOut(error) ? new KeptRow() : error;
  });
}

/** Commits changes of different accounts, inside a transaction. */
export async function commitAccounts(
  connection: MysqlConnection,
  prefix: string,
  commits: readonly Commit[],
): Promise<CommitOutcome[]> {
  await lockAccounts(
    connection,
    prefix,
    commits.map(({ account }) => account),
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
  const removed = done.flatMap(({ commit: { account, removes } }) =>
    removes.map((name) => [scopeOf(account, name), name]),
  );
  const entries = done.flatMap(({ commit, loaded }) => commit.entries.map((entry) => entryRow(entry, loaded.now)));
  const sums = done.flatMap(({ commit, loaded }) => commit.sums.flatMap((sum) => sumRows(sum, loaded.now)));

  const insert = async (table: string, columns: readonly string[], rows: readonly SqlValue[][], onKnown = "") => {
    for (const list of valueLists(rows)) {
      await runSql(
        connection,
        `insert into ${prefix}ledger_${table} (${columns.join(", ")}) values ${list} ${onKnown}`,
      );
    }
  };
  // Fails where another has brought the same.
  await insert("record", recordColumns, added);
  const renewed = recordColumns.slice(2).map((name) => `${name} = values(${name})`);
  await insert("record", recordColumns, changed, `on duplicate key update ${renewed.join(", ")}`);
  if (removed.length > 0) {
    await runSql(
      connection,
      /* sql */ `
      delete kept from ${rowsTable(["scope", "name"], removed)} as gone
      straight_join ${prefix}ledger_record as kept force index (primary) on kept.scope = gone.scope and kept.name = gone.name`,
    );
  }
  await insert("entry", entryColumns, entries);
  const more = sumCounts.map((name) => `${name} = ${name} + values(${name})`);
  await insert("sum", sumColumns, sums, `on duplicate key update ${more.join(", ")}`);
}

/** The rows of the records that a commit puts or adds to, by their names. The version of an account stands beside its core. */
function rowsOf({ account, version, puts, adds }: Commit, { records, now }: Loaded): Map<string, SqlValue[]> {
  const rows = new Map<string, SqlValue[]>();
  const core = records.get(coreName);
  const put = (name: string, stamp: string, { text, counters, due }: Put) => {
    const ofCore = name === coreName ? version : null;
    const ofHold = isHold(name) ? [account, due ?? expiredDue + now] : [null, null];
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
  const [ofStarts, ofTags] = [inJson(starts), inJson(tags)];
  const ofReceipt = receipt && encodeReceipt(receipt);
  return [account, now, key, kind, id, amountMicro, prepaidMicro, ofStarts, ofTags, expiresAt, ofReceipt];
}

function sumRows({ digest, names, counts }: SumAddition, now: number): SqlValue[][] {
  const ofNames = sumNames.map((name) => names[name]);
  return sumLengthsMs.map((length) => [length, Math.floor(now / length) * length, digest, ...ofNames, ...counts]);
}

function toOutcome({ commit, loaded, otherDue }: Decided): CommitOutcome {
  const counters = new Map<string, readonly number[]>();
  for (const [name, adds] of commit.adds) counters.set(name, addedTo(loaded.records.get(name)?.counters ?? [], adds));
  const due = [...commit.puts.values()].flatMap((put) => put.due ?? []);
  return { isDone: true, counters, nextDue: Math.min(otherDue, ...due), previous: loaded.version };
}
