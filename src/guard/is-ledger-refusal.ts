import { isError } from "../host-code/thrown.js";

const refusals = new Set(["LedgerInputError", "LedgerConflictError", "LedgerClockError"]);

/**
 * Whether the ledger has refused the request for good. Any other failure may succeed at the next attempt. The name
 * decides, since the error may come from another copy of the package.
 */
export function isLedgerRefusal(error: unknown): boolean {
  return isError(error) && refusals.has(error.name);
}
