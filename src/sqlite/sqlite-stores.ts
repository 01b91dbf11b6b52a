import type { WritableKeyStore } from "../keys/key-store.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { WritablePlanStore } from "../plans/plan-store.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { ledgerOf, type SqliteCreditLedgerOptions } from "./sqlite-credit-ledger.js";
import { keyStoreOf } from "./sqlite-key-store.js";
import { planStoreOf } from "./sqlite-plan-store.js";

/** All that a gateway keeps. */
export interface SqliteStores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
}

/**
 * Keys, plans and credits in one SQLite database.
 *
 * @throws RangeError when `retentionMs` or `durability` is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteStores(options: SqliteCreditLedgerOptions): SqliteStores {
  const connection = new SqliteConnection(options);
  return { keys: keyStoreOf(connection), plans: planStoreOf(connection), ledger: ledgerOf(connection, options) };
}
