const refusals = new Set(["LedgerInputError", "LedgerConflictError", "LedgerClockError"]);

/**
 * Whether the ledger has understood the request and refuses it, now and ever after. Everything else may be another thing
 * next time. Told by the name: the error may come from another copy of the package.
 */
export function isLedgerRefusal(error: unknown): boolean {
  return error instanceof Error && refusals.has(error.name);
}
