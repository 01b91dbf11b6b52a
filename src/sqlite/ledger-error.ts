import {
  LedgerClockError,
  LedgerConflictError,
  LedgerInputError,
  LedgerUnavailableError,
} from "../ledger/credit-ledger.js";
import { isLocked } from "./is-locked.js";

/** Whether the ledger itself refuses the request, and not the database. */
export function isLedgerError(error: unknown): boolean {
  return error instanceof LedgerInputError || error instanceof LedgerConflictError || error instanceof LedgerClockError;
}

export function toLedgerError(error: unknown): unknown {
  if (isLedgerError(error) || error instanceof LedgerUnavailableError) return error;
  if (isLocked(error)) {
    return new LedgerUnavailableError("Another process keeps the ledger's database locked.", { cause: error });
  }
  return new LedgerUnavailableError("The ledger's database failed.", { cause: error });
}
