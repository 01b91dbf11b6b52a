import type { CreditLedger } from "../credit-ledger.js";

/** Sweeps all of them at once. @throws what the first one threw that failed, when all have ended. */
export async function sweepShards(ledgers: readonly CreditLedger[]): Promise<number> {
  let ended = 0;
  for (const outcome of await Promise.allSettled(ledgers.map(async (ledger) => (await ledger.sweep?.()) ?? 0))) {
    if (outcome.status === "rejected") throw outcome.reason;
    ended += outcome.value;
  }
  return ended;
}
