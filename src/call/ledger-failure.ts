import { isError } from "../host-code/thrown.js";
/**
 * The warning for a failed ledger call. The thrown error may contain secrets of the host, so the warning has it as its
 * cause only. Clocks that differ are an exception: the message says so, because the host can fix it.
 */
export function ledgerFailure(what: string, cause: unknown): string {
  const isClock = isError(cause) && cause.name === "LedgerClockError";
  return `The ledger failed to ${what}; the caller gets a 503.${isClock ? ` ${cause.message}` : ""}`;
}
