const refusals = new Set(["LedgerInputError", "LedgerConflictError", "LedgerClockError"]);

/**
 * Whether the ledger has understood the request and refuses it, now and ever after. Any other failure may succeed next
 * time. The name decides, since the error may come from another copy of the package.
 */
export function isLedgerRefusal(error: unknown): boolean {
  return error instanceof Error && refusals.has(error.name);
}
