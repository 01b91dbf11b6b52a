import { LedgerUnavailableError } from "../ledger/credit-ledger.js";
import { isLedgerError } from "../ledger/is-ledger-error.js";
import { isLocked } from "./is-locked.js";

export function toLedgerError(error: unknown): unknown {
  if (isLedgerError(error) || error instanceof LedgerUnavailableError) return error;
  if (isLocked(error)) {
    return new LedgerUnavailableError("Another process keeps the ledger's database locked.", { cause: error });
  }
  return new LedgerUnavailableError("The ledger's database failed.", { cause: error });
}
