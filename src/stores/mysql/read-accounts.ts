import { decodeReceipt } from "../../ledger/storage/decoded-account.js";
import {
  type AskedRecords,
  coreName,
  holdIdOf,
  type KeptEntry,
  type Loaded,
  type StoredRecord,
} from "../../ledger/storage/ledger-storage.js";
import { clockSql, literal, type MysqlConnection, rowsTable, runSql } from "./mysql-database.js";
import { expiredDue } from "./storage-tables.js";

/** An account as it was read, and what a commit needs besides. */
export interface ReadAccount {
  readonly loaded: Loaded;
  /** When the next hold is due, past or to come, of those that were not left out. */
  readonly otherDue: number;
}

/** Rows of different things: what the columns are is told by the first. */
type Row = readonly [
  kind: "clock" | "account" | "record" | "due" | "entry",
  account: string,
  name: string,
  version: string,
  stamp: string,
  text: string,
  list: string,
  one: number | null,
  two: number | null,
  three: number | null,
];

/**
 * Reads accounts in one statement, so that all is of one moment.
 *
 * @param leftOut - names of holds that `otherDue` does not count.
 */
export async function readAccounts(
  connection: MysqlConnection,
  prefix: string,
  asked: readonly AskedRecords[],
  leftOut: readonly string[] = [],
): Promise<ReadAccount[]> {
  const rows = (await runSql(connection, readSql(prefix, asked, leftOut))).map(toRow);
  const [clock] = rows.filter(([kind]) => kind === "clock");
  if (clock === undefined || clock[8] !== 1) {
    throw new Error("The pool's connections have autocommit off, so that they read what was. Switch it on.");
  }
  const found = new Found(rows);
  return asked.map((one) => found.account(one, clock));
}

function readSql(prefix: string, asked: readonly AskedRecords[], leftOut: readonly string[]): string {
  const accounts = (some: readonly AskedRecords[]) =>
    rowsTable(
      ["account"],
      some.map(({ account }) => [account]),
    );
  const names = asked.flatMap(({ account, names }) =>
    [coreName, ...names].map((name) => [scopeOf(account, name), name]),
  );
  const keys = asked.flatMap(({ entries }) => entries.map((key) => [key]));
  const withHolds = asked.filter(({ holds }) => holds);
  const withAll = asked.filter(({ all }) => all);
  const record = "kept.name, kept.version, kept.stamp, kept.content, kept.counters, null, null, null";
  const nextDue = (condition: string) => /* sql */ `(
    select next.due from ${prefix}ledger_record as next force index (due)
    where next.account = asked.account and next.due < ${expiredDue}${condition} order by next.due limit 1
  )`;
  const others = leftOut.length === 0 ? "" : ` and next.name not in (${leftOut.map(literal).join(",")})`;
  const parts = [
    /* sql */ `select 'clock', null, null, null, null, null, null, ${clockSql}, @@session.autocommit,
      (select at from ${prefix}ledger_gone where digest = x'')`,
    /* sql */ `
    select 'account', asked.account, null, null, null, null, null,
      ${nextDue(` and next.due > ${clockSql}`)}, ${nextDue(others)},
      (select at from ${prefix}ledger_gone as gone where gone.digest = ${accountDigest("asked.account")})
    from ${accounts(asked)} as asked`,
    /* sql */ `
    select straight_join 'record', kept.scope, ${record} from ${rowsTable(["scope", "name"], names)} as asked
    join ${prefix}ledger_record as kept force index (primary) on kept.scope = asked.scope and kept.name = asked.name`,
    /* sql */ `
    select straight_join 'due', kept.account, ${record} from ${accounts(asked)} as asked
    join ${prefix}ledger_record as kept force index (due) on kept.account = asked.account and kept.due <= ${clockSql}`,
  ];
  if (withHolds.length > 0) {
    parts.push(/* sql */ `
    select straight_join 'due', kept.account, ${record} from ${accounts(withHolds)} as asked
    join ${prefix}ledger_record as kept force index (due) on kept.account = asked.account and kept.due < ${expiredDue}`);
  }
  if (withAll.length > 0) {
    parts.push(/* sql */ `
    select straight_join 'record', kept.scope, ${record} from ${accounts(withAll)} as asked
    join ${prefix}ledger_record as kept force index (primary) on kept.scope = asked.account`);
  }
  if (keys.length > 0) {
    parts.push(/* sql */ `
    select straight_join 'entry', kept.account, kept.entry_key, null, null, kept.receipt, kept.starts,
      kept.amount, kept.expires_at, null
    from ${rowsTable(["entry_key"], keys)} as asked
    join ${prefix}ledger_entry as kept force index (entry_key) on kept.entry_key = asked.entry_key`);
  }
  return parts.join(" union all ");
}

/** Bytes are UTF-8, and numbers may be texts. */
function toRow(columns: readonly unknown[]): Row {
  const row = columns.map((value, index) => {
    if (index < 7) return value === null ? "" : String(value);
    return value === null ? null : Number(value);
  });
  return row as unknown as Row;
}

/** What was read of all accounts. */
class Found {
  readonly #accounts = new Map<string, Row>();
  readonly #records = new Map<string, Map<string, StoredRecord>>();
  readonly #versions = new Map<string, string>();
  readonly #holds = new Map<string, StoredRecord>();
  readonly #entries = new Map<string, KeptEntry>();

  constructor(rows: readonly Row[]) {
    for (const row of rows) {
      const [kind, account, name] = row;
      if (kind === "account") this.#accounts.set(account, row);
      if (kind === "record" || kind === "due") this.#addRecord(row);
      if (kind === "entry") this.#entries.set(name, toEntry(row));
    }
  }

  account({ account, names, entries: keys }: AskedRecords, [, , , , , , , now, , keptFrom]: Row): ReadAccount {
    const records = new Map(this.#records.get(account));
    for (const name of names) {
      const hold = this.#holds.get(name);
      if (hold !== undefined) records.set(name, hold);
    }
    const [, , , , , , , nextDue, otherDue, forgottenAt] = this.#accounts.get(account) as Row;
    const loaded: Loaded = {
      account,
      version: this.#versions.get(account) ?? "",
      records,
      entries: new Map(
        keys.flatMap((key) => {
          const entry = this.#entries.get(key);
          return entry === undefined ? [] : [[key, entry]];
        }),
      ),
      nextDue: nextDue ?? Number.POSITIVE_INFINITY,
      now: now as number,
      keptFrom: keptFrom ?? Number.NEGATIVE_INFINITY,
      forgottenAt: forgottenAt ?? Number.NEGATIVE_INFINITY,
    };
    return { loaded, otherDue: otherDue ?? Number.POSITIVE_INFINITY };
  }

  #addRecord([kind, account, name, version, stamp, text, counters]: Row): void {
    const record = { stamp, text, counters: JSON.parse(counters) };
    if (name === coreName) this.#versions.set(account, version);
    // A hold that was asked for by its name may be another account's.
    if (kind === "record" && holdIdOf(name) !== undefined) this.#holds.set(name, record);
    else this.#records.set(account, (this.#records.get(account) ?? new Map<string, StoredRecord>()).set(name, record));
  }
}

/** What is noted of a forgotten account in place of its name. @param account - in SQL. */
export function accountDigest(account: string): string {
  return `unhex(sha2(${account}, 256))`;
}

/** The names of holds are all accounts'. */
export function scopeOf(account: string, name: string): string {
  return holdIdOf(name) === undefined ? account : "";
}

function toEntry([, account, , , , receipt, starts, amount, expiresAt]: Row): KeptEntry {
  return {
    account,
    amountMicro: amount as number,
    starts: JSON.parse(starts),
    expiresAt: expiresAt ?? undefined,
    receipt: receipt === "" ? undefined : decodeReceipt(account, receipt),
  };
}
