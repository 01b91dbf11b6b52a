import { isError } from "../runtime/host-code.js";
import { LedgerClockError, LedgerConflictError, LedgerInputError } from "./credit-ledger.js";

/** Whether the ledger itself refuses the request, and not what it stands on. */
export function isLedgerError(error: unknown): boolean {
  return error instanceof LedgerInputError || error instanceof LedgerConflictError || error instanceof LedgerClockError;
}

const refusals = new Set(["LedgerInputError", "LedgerConflictError", "LedgerClockError"]);

/**
 * Whether the ledger has refused the request for good. Any other failure may succeed at the next attempt. The name
 * decides, since the error may come from another copy of the package.
 */
export function isLedgerRefusal(error: unknown): boolean {
  return isError(error) && refusals.has(error.name);
}
