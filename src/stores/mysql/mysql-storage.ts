import {
  type AskedEntries,
  type AskedRecords,
  type Commit,
  type CommitOutcome,
  coreName,
  type DecideLocked,
  type EntryPage,
  type LedgerStorage,
  type Loaded,
  namedBy,
  type PurgedBefore,
  type StoredEntry,
} from "../../ledger/storage/ledger-storage.js";
import { type AskedSums, type StoredSum, type SumName, sumNames } from "../../ledger/usage/kept-sums.js";
import { commitAccounts, KeptRow, lockAccounts } from "./commit-accounts.js";
import {
  changeCount,
  clockSql,
  isDuplicate,
  literal,
  type MysqlConnection,
  type MysqlDatabase,
  mostReadingMs,
  runSql,
} from "./mysql-database.js";
import { accountDigest, type ReadAccount, readAccounts } from "./read-accounts.js";
import { expiredDue, sumCounts } from "./storage-tables.js";

const core = literal(coreName);
const ofTopUps = "('topup', 'deduction')";

/**
 * Keeps the records of a ledger in MySQL or MariaDB. A commit is a transaction of a few statements: it locks the accounts, reads
 * what is to be compared, compares it here, and writes. No process hears what another one changes.
 */
export class MysqlStorage implements LedgerStorage {
  readonly #database: MysqlDatabase;
  readonly #table: string;

  constructor(database: MysqlDatabase) {
    const { prefix } = database;
    this.#database = database;
    this.#table = `${prefix}ledger_`;
  }

  async load(asked: readonly AskedRecords[]): Promise<readonly Loaded[]> {
    const read = await this.#database.read((connection) => readAccounts(connection, this.#database.prefix, asked));
    return read.map(({ loaded }) => loaded);
  }

  async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    try {
      return await this.#database.write((connection) => commitAccounts(connection, this.#database.prefix, commits));
    } catch (error) {
      if (error instanceof KeptRow) {
        // It must not hold up the others: each goes by itself next.
        return (await this.load(commits.map(namedBy))).map((loaded) => ({ isDone: false, loaded }));
      }
      if (!isDuplicate(error) || commits.length === 1) throw error;
      // Two accounts bring the same id: one of them comes first.
      const middle = commits.length >> 1;
      return [...(await this.commit(commits.slice(0, middle))), ...(await this.commit(commits.slice(middle)))];
    }
  }

  locked(asked: AskedRecords, decide: DecideLocked): Promise<CommitOutcome | undefined> {
    const { prefix } = this.#database;
    // An account that is not there cannot be locked. Of two transactions that bring it one fails, and then finds the other's.
    return this.#database.write(async (connection) => {
      await lockAccounts(connection, prefix, [asked.account]);
      for (let read = asked; ; ) {
        const [account] = await readAccounts(connection, prefix, [read]);
        const step = decide((account as ReadAccount).loaded, read);
        if (step === undefined) return undefined;
        if ("commit" in step) return (await commitAccounts(connection, prefix, [step.commit]))[0];
        read = step.ask;
      }
    });
  }

  due(limit: number): Promise<readonly string[]> {
    return this.#ids(
      `select distinct account from ${this.#table}record
      where account is not null and due <= ${clockSql} limit ${limit}`,
    );
  }

  accounts(after: string, limit: number): Promise<readonly string[]> {
    return this.#ids(
      `select scope from ${this.#table}record force index (primary)
      where scope > ${literal(after)} and name = ${core} order by scope limit ${limit}`,
    );
  }

  entries(asked: AskedEntries): Promise<EntryPage> {
    return this.#database.read((connection) => readEntries(connection, this.#database.prefix, asked));
  }

  sums(asked: AskedSums): Promise<readonly StoredSum[]> {
    return this.#database.read((connection) => readSums(connection, this.#database.prefix, asked));
  }

  forget(account: string, limit: number): Promise<boolean> {
    const [table, id] = [this.#table, literal(account)];
    return this.#database.write(async (connection) => {
      await lockAccounts(connection, this.#database.prefix, [account]);
      await this.#note(connection, accountDigest(id), clockSql);
      const lines = await changeCount(connection, `delete from ${table}entry where account = ${id} limit ${limit}`);
      const sums = await changeCount(connection, `delete from ${table}sum where of_account = ${id} limit ${limit}`);
      if (Math.max(lines, sums) >= limit) return true;
      await runSql(connection, `delete from ${table}record where scope = ${id}`);
      await runSql(connection, `delete from ${table}record where account = ${id}`);
      return false;
    });
  }

  purge({ entries, topUps, sums, forgotten }: PurgedBefore, limit: number): Promise<boolean> {
    const table = this.#table;
    return this.#database.write(async (connection) => {
      const remove = (from: string, condition: string) =>
        changeCount(connection, `delete from ${table}${from} where ${condition} limit ${limit}`);
      const known = [
        await remove("entry", `at < ${entries} and kind not in ${ofTopUps}`),
        await remove("entry", `at < ${topUps} and kind in ${ofTopUps}`),
        await remove("record", `account is not null and due >= ${expiredDue} and due < ${expiredDue + entries}`),
      ];
      if (Math.max(...known) > 0) await this.#note(connection, "x''", String(entries));
      const others = [await remove("gone", `digest <> x'' and at < ${forgotten}`)];
      for (const { lengthMs, before } of sums) {
        others.push(await remove("sum", `length_ms = ${lengthMs} and begins < ${before}`));
      }
      return Math.max(...known, ...others) >= limit;
    });
  }

  /** Notes a moment, unless a later one is noted. Both are in SQL. */
  #note(connection: MysqlConnection, digest: string, at: string): Promise<unknown> {
    return runSql(
      connection,
      `insert into ${this.#table}gone (digest, at) values (${digest}, ${at})
      on duplicate key update at = greatest(at, values(at))`,
    );
  }

  async #ids(sql: string): Promise<readonly string[]> {
    return (await this.#database.read((connection) => runSql(connection, sql))).map(([id]) => String(id));
  }
}

/** Reads lines of the journal, and the version of their account, in one statement: all is of one moment. */
async function readEntries(
  connection: MysqlConnection,
  prefix: string,
  { account, from, to, kinds, id, before, limit }: AskedEntries,
): Promise<EntryPage> {
  const conditions = [
    `at >= ${from} and at < ${to}`,
    ...(account === undefined ? [] : [`account = ${literal(account)}`]),
    ...(kinds === undefined ? [] : [`kind in (${["", ...kinds].map(literal).join(",")})`]),
    ...(id === undefined ? [] : [`id = ${literal(id)}`]),
    ...(before === undefined ? [] : [`at <= ${before.at} and (at < ${before.at} or sequence < ${before.sequence})`]),
  ];
  // The index that has few others.
  const index = id === undefined ? (account === undefined ? "at" : "primary") : "id";
  const rows = await runSql(
    connection,
    /* sql */ `
    (select version, null, null, null, null, null, null, null, null from ${prefix}ledger_record
      where scope = ${literal(account ?? "")} and name = ${literal(coreName)})
    union all
    (select null, account, at, sequence, kind, id, amount, prepaid, concat('[', starts, ',', coalesce(tags, 'null'), ']')
      from ${prefix}ledger_entry force index (${index})
      where ${conditions.join(" and ")} order by at desc, sequence desc limit ${limit})`,
    mostReadingMs,
  );
  const entries = rows.filter(([, of]) => of !== null).map(toEntry);
  const [version] = rows.find(([, of]) => of === null) ?? [""];
  return {
    entries: entries.sort((one, other) => other.at - one.at || other.sequence - one.sequence),
    version: String(version),
  };
}

function toEntry([, account, at, sequence, kind, id, amount, prepaid, json]: readonly unknown[]): StoredEntry {
  const [starts, tags]: [StoredEntry["starts"], StoredEntry["tags"] | null] = JSON.parse(String(json));
  return {
    ...{ account: String(account), at: Number(at), sequence: Number(sequence) },
    ...{ kind: String(kind) as StoredEntry["kind"], id: String(id), starts, tags: tags ?? undefined },
    ...{ amountMicro: Number(amount), prepaidMicro: Number(prepaid) },
  };
}

/** Adds up sums. */
async function readSums(
  connection: MysqlConnection,
  prefix: string,
  { lengthMs, from, to, where, by, limit }: AskedSums,
): Promise<readonly StoredSum[]> {
  const names = by.filter((name): name is SumName => name !== "begins");
  const isIn = sumNames.flatMap((name) => {
    const texts = where[name];
    if (texts === undefined) return [];
    return texts.length === 0 ? ["false"] : [`of_${name} in (${texts.map(literal).join(",")})`];
  });
  // By digests, since some servers compare no more than the beginnings of long texts.
  const groups = [...names.map((name) => `sha2(of_${name}, 256)`), ...(by.includes("begins") ? ["begins"] : [])];
  const rows = await runSql(
    connection,
    /* sql */ `
    select min(begins), ${[...names.map((name) => `min(of_${name})`), ...sumCounts.map((name) => `sum(${name})`)].join(", ")}
    from ${prefix}ledger_sum
    where ${[`length_ms = ${lengthMs} and begins >= ${from} and begins < ${to}`, ...isIn].join(" and ")}
    group by ${groups.length === 0 ? "length_ms" : groups.join(", ")} limit ${limit}`,
    mostReadingMs,
  );
  return rows.map(([begins, ...columns]) => ({
    names: Object.fromEntries(names.map((name, index) => [name, String(columns[index])])),
    ...(by.includes("begins") && { begins: Number(begins) }),
    counts: columns.slice(names.length).map(Number),
  }));
}
