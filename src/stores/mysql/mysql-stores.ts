import { requireKnownOptions } from "../../check/known-options.js";
import { storageCreditLedger } from "../../ledger/storage/storage-credit-ledger.js";
import { RecordAndLedgerStores, recordStores } from "../database-stores.js";
import { MysqlDatabase, type MysqlOptions } from "./mysql-database.js";
import { MysqlRecordStore, mysqlRecordTables } from "./mysql-record-store.js";
import { MysqlStorage } from "./mysql-storage.js";
import { mysqlLedgerTables } from "./storage-tables.js";

/** Options of {@link mysqlStores}. */
export interface MysqlStoresOptions extends MysqlOptions {
  /**
   * How long entries of the journal are kept, in milliseconds; at least a day. For as long, a settlement or grant is
   * recognised as a repetition. Top-ups are kept for 31 days at least. Default: 400 days, which is some 13 months.
   */
  retentionMs?: number | undefined;
}

/** Stores of a gateway, in one database: `createGateway({ ...mysqlStores({ pool }), … })`. */
export type MysqlStores = Stores;

const known: Readonly<Record<keyof MysqlStoresOptions, true>> = { pool: true, prefix: true, retentionMs: true };

/** All of version 1. */
export const mysqlTables: readonly string[] = [...mysqlLedgerTables, ...mysqlRecordTables];

const names = {
  keys: "mysqlStores: keys",
  plans: "mysqlStores: plans",
  accounts: "mysqlStores: accounts",
  budgets: "mysqlStores: budgets",
  modelStore: "mysqlStores: catalog",
};

class Stores extends RecordAndLedgerStores {
  readonly #database: MysqlDatabase;

  constructor({ pool, prefix, retentionMs }: MysqlStoresOptions) {
    const database = new MysqlDatabase({ pool, prefix }, mysqlTables);
    const records = recordStores(names, new MysqlRecordStore(database));
    super(records, storageCreditLedger(new MysqlStorage(database), { retentionMs }));
    this.#database = database;
    // `const { ledger, migrate } = mysqlStores(…)` is as good as a call of it.
    Object.defineProperty(this, "migrate", { value: this.migrate.bind(this), enumerable: false });
  }

  /**
   * Makes the tables that are not there. The stores do it by themselves before their first statement; this is for doing it
   * earlier, or by a user who may create what the everyday user may only use. Safe at any time, in any number of processes
   * at once.
   */
  migrate(): Promise<void> {
    return this.#database.migrate();
  }
}

/**
 * Keys, plans, accounts, budgets, models and credits in MariaDB 10.6 or MySQL 8, or later ones. The first operation makes the
 * tables. There are no notices: what other processes change takes effect when caches forget.
 *
 * @throws TypeError or RangeError when an option is not valid.
 */
export function mysqlStores(options: MysqlStoresOptions): MysqlStores {
  requireKnownOptions("mysqlStores", options, known);
  return new Stores(options);
}
