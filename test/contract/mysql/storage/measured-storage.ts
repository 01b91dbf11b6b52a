import { literal, MysqlDatabase, type MysqlPool, runSql } from "../../../../src/stores/mysql/mysql-database.js";
import { MysqlStorage } from "../../../../src/stores/mysql/mysql-storage.js";
import { mysqlLedgerTables } from "../../../../src/stores/mysql/storage-tables.js";
import type { CaredStorage, Sizes } from "../../../support/ledger/storage/describe-storage-care.js";

/** A storage with what tests see of it. */
export class MeasuredStorage extends MysqlStorage implements CaredStorage {
  readonly #of: MysqlDatabase;

  constructor(pool: MysqlPool, prefix: string) {
    const database = new MysqlDatabase({ pool, prefix }, mysqlLedgerTables);
    super(database);
    this.#of = database;
  }

  async sizes(account: string): Promise<Sizes> {
    const id = literal(account);
    const day = 86_400_000;
    const count = (from: string, condition: string) =>
      `(select count(*) from ${this.#of.prefix}ledger_${from} where ${condition})`;
    const counts = [
      count("entry", `account = ${id}`),
      count("record", `account = ${id}`),
      count("record", `scope = ${id}`),
      count("sum", `of_account = ${id} and length_ms = ${day}`),
      count("sum", `of_account = ${id} and length_ms < ${day}`),
    ];
    const [row = []] = await this.#of.read((connection) => runSql(connection, `select ${counts.join(",")}`));
    const [entries = 0, holds = 0, records = 0, days = 0, quarters = 0] = row.map(Number);
    return { entries, holds, records, days, quarters };
  }

  async counters(account: string, name: string): Promise<readonly number[] | undefined> {
    const [loaded] = await this.load([{ account, names: [name], entries: [] }]);
    return loaded?.records.get(name)?.counters;
  }
}
