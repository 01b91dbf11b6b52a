import { LedgerClockError, LedgerConflictError, LedgerInputError } from "./credit-ledger.js";

/** Whether the ledger itself refuses the request, and not what it stands on. */
export function isLedgerError(error: unknown): boolean {
  return error instanceof LedgerInputError || error instanceof LedgerConflictError || error instanceof LedgerClockError;
}
