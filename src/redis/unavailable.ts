import { LedgerUnavailableError } from "../ledger/credit-ledger.js";

/** What callers of the ledger get of any failure of Redis. */
export function unavailable(cause: unknown): LedgerUnavailableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new LedgerUnavailableError(`Redis did not carry out an operation of the ledger: ${reason}`, { cause });
}
