import { requireKnownOptions } from "../../check/known-options.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { storageCreditLedger } from "../../ledger/storage/storage-credit-ledger.js";
import type { WritableAccountStore } from "../../records/accounts/account-store.js";
import { recordAccountStore } from "../../records/accounts/record-account-store.js";
import type { WritableBudgetStore } from "../../records/budgets/budget-store.js";
import { recordBudgetStore } from "../../records/budgets/record-budget-store.js";
import type { WritableKeyStore } from "../../records/keys/key-store.js";
import { recordKeyStore } from "../../records/keys/record-key-store.js";
import type { ModelStore } from "../../records/models/model-store.js";
import { recordModelStore } from "../../records/models/record-model-store.js";
import type { WritablePlanStore } from "../../records/plans/plan-store.js";
import { recordPlanStore } from "../../records/plans/record-plan-store.js";
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

// A class, so that what is spread is the stores alone, here and in the eyes of TypeScript.
class Stores {
  /** API keys, by their hashes. */
  keys: WritableKeyStore;
  /** Plans, by their ids. */
  plans: WritablePlanStore;
  /** Credits, exact over any number of processes. */
  ledger: CreditLedger;
  readonly #database: MysqlDatabase;
  readonly #accounts: WritableAccountStore;
  readonly #budgets: WritableBudgetStore;
  readonly #modelStore: ModelStore;

  constructor({ pool, prefix, retentionMs }: MysqlStoresOptions) {
    this.#database = new MysqlDatabase({ pool, prefix }, mysqlTables);
    const records = new MysqlRecordStore(this.#database);
    this.keys = recordKeyStore("mysqlStores: keys", records);
    this.plans = recordPlanStore("mysqlStores: plans", records);
    this.ledger = storageCreditLedger(new MysqlStorage(this.#database), { retentionMs });
    this.#accounts = recordAccountStore("mysqlStores: accounts", records);
    this.#budgets = recordBudgetStore("mysqlStores: budgets", records);
    this.#modelStore = recordModelStore("mysqlStores: catalog", records);
    // `const { ledger, migrate } = mysqlStores(…)` is as good as a call of it.
    Object.defineProperty(this, "migrate", { value: this.migrate.bind(this), enumerable: false });
  }

  /**
   * Plans, anchors and suspensions by account. It is not among what is spread: a gateway whose plans stand on its keys
   * goes on without it. Give it by name: `createGateway({ ...stores, accounts: stores.accounts, … })`.
   */
  get accounts(): WritableAccountStore {
    return this.#accounts;
  }

  /** Budgets on tags, by account. Not spread, either: `createGateway({ ...stores, budgets: stores.budgets, … })`. */
  get budgets(): WritableBudgetStore {
    return this.#budgets;
  }

  /** Models that change while processes run. Not spread, either: `createGateway({ ...stores, modelStore: stores.modelStore, … })`. */
  get modelStore(): ModelStore {
    return this.#modelStore;
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
