/**
 * Says what the ledger failed to do. What was thrown may hold the host's secrets, and goes with the warning as its cause
 * alone; but that two clocks differ is told on the spot, since it is mended there.
 */
export function ledgerFailure(what: string, cause: unknown): string {
  const isClock = cause instanceof Error && cause.name === "LedgerClockError";
  return `The ledger failed to ${what}; the caller gets a 503.${isClock ? ` ${cause.message}` : ""}`;
}
