import { UnsupportedError } from "../../check/unsupported-error.js";

/**
 * Of a ledger that keeps no journal.
 * @param by - the public method.
 * @param lack - what the ledger does not do.
 */
export function ledgerLacks(by: string, lack: string): UnsupportedError {
  return new UnsupportedError(
    `${by}: the gateway's ledger ${lack}. Use the one of sqliteStores, redisStores or postgresStores, or memoryCreditLedger ` +
      "with historyEntries above 0.",
  );
}
