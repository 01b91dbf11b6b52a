import type { WritableKeyStore } from "../keys/key-store.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { WritablePlanStore } from "../plans/plan-store.js";
import type { ResponseLimits } from "../responses/response-limits.js";
import type { ResponseStore } from "../responses/response-store.js";
import { responseStoreOf } from "./responses/sqlite-response-store.js";
import { SqliteConnection } from "./sqlite-connection.js";
import { ledgerOf, type SqliteCreditLedgerOptions } from "./sqlite-credit-ledger.js";
import { keyStoreOf } from "./sqlite-key-store.js";
import { planStoreOf } from "./sqlite-plan-store.js";

/** All that a gateway keeps. */
export interface SqliteStores {
  keys: WritableKeyStore;
  plans: WritablePlanStore;
  ledger: CreditLedger;
  responses: ResponseStore;
}

/** Options of {@link sqliteStores}. */
export interface SqliteStoresOptions extends SqliteCreditLedgerOptions {
  /** How much is kept of responses. */
  responses?: ResponseLimits | undefined;
}

/**
 * Keys, plans, credits and responses in one SQLite database.
 *
 * @throws RangeError when `retentionMs`, `durability` or a limit is out of range.
 * @throws Error when the tables cannot be made, or were made by a newer release.
 */
export function sqliteStores(options: SqliteStoresOptions): SqliteStores {
  const connection = new SqliteConnection(options);
  return {
    keys: keyStoreOf(connection),
    plans: planStoreOf(connection),
    ledger: ledgerOf(connection, options),
    responses: responseStoreOf(connection, options.responses, options.clock),
  };
}
