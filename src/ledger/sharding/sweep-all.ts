import type { CreditLedger } from "../credit-ledger.js";

/** Sweeps all of them. @throws what the first one threw that failed, when all have ended. */
export async function sweepAll(ledgers: readonly CreditLedger[]): Promise<number> {
  let total = 0;
  for (const outcome of await Promise.allSettled(ledgers.map(async (ledger) => (await ledger.sweep?.()) ?? 0))) {
    if (outcome.status === "rejected") throw outcome.reason;
    total += outcome.value;
  }
  return total;
}
