import { LedgerInputError, LedgerUnavailableError } from "../ledger/credit-ledger.js";
import { sqlState } from "./retry-transient.js";

/**
 * Runs a statement of the ledger.
 * @throws LedgerInputError when the database refuses a value, else LedgerUnavailableError with the `cause`.
 */
export async function runStatement<Result>(statement: () => Promise<Result>): Promise<Result> {
  try {
    return await statement();
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause);
    // Class 22: data exception.
    if (sqlState(cause)?.startsWith("22")) {
      throw new LedgerInputError(`PostgreSQL refused a value: ${message}`, { cause });
    }
    throw new LedgerUnavailableError(`PostgreSQL failed: ${message}`, { cause });
  }
}
