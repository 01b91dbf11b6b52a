import type { Clock } from "../../../src/ledger/clock.js";
import { MysqlDatabase } from "../../../src/mysql/mysql-database.js";
import { type MysqlPool, type MysqlPromisePool, runSql } from "../../../src/mysql/mysql-pool.js";
import { clockSql, literal } from "../../../src/mysql/sql-literals.js";
import { MysqlStorage } from "../../../src/mysql/storage/mysql-storage.js";
import { storageTables } from "../../../src/mysql/storage/storage-tables.js";
import type { JournalLine } from "../../ledger/storage/memory-storage.js";
import type { StorageBooks } from "../../ledger/storage/storage-fixture.js";

/** A pool for whose statements the database's clock stands where a test puts it. */
export function shiftedPool(pool: MysqlPromisePool, clock: Clock): MysqlPool {
  return {
    async getConnection() {
      const connection = await pool.getConnection();
      return {
        query: ({ sql, ...options }) =>
          connection.query({ ...options, sql: sql.replaceAll(clockSql, String(clock.now())) }),
        release: () => connection.release(),
        destroy: () => connection.destroy(),
      };
    },
  };
}

/** A storage with what tests read of it. */
export class MysqlBooks extends MysqlStorage implements StorageBooks {
  readonly #of: MysqlDatabase;

  constructor(pool: MysqlPool) {
    const database = new MysqlDatabase({ pool }, storageTables);
    super(database);
    this.#of = database;
  }

  async lines(): Promise<readonly JournalLine[]> {
    const columns = "account, at, kind, id, amount, prepaid, starts, tags";
    const rows = await this.#run(`select ${columns} from infergate_ledger_entry order by sequence`);
    return rows.map(([account, at, kind, id, amount, prepaid, starts, tags]) => ({
      account: String(account),
      at: Number(at),
      key: undefined,
      kind: String(kind) as JournalLine["kind"],
      id: String(id),
      amountMicro: Number(amount),
      prepaidMicro: Number(prepaid),
      starts: JSON.parse(String(starts)),
      tags: tags === null ? undefined : JSON.parse(String(tags)),
      expiresAt: undefined,
      receipt: undefined,
    }));
  }

  async forget(account: string): Promise<void> {
    const id = literal(account);
    await this.#run(`delete from infergate_ledger_record where scope = ${id} or account = ${id}`);
    await this.#run(`delete from infergate_ledger_entry where account = ${id}`);
    await this.#run(
      `insert into infergate_ledger_forgotten values (${id}, ${clockSql})
      on duplicate key update at = greatest(at, values(at))`,
    );
  }

  #run(sql: string) {
    return this.#of.read((connection) => runSql(connection, sql));
  }
}
