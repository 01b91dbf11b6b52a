import type { CreditLedger } from "../credit-ledger.js";
import { settleAll } from "./settle-all.js";

type End = () => Promise<void>;

/** Subscribes to all of them. Where one cannot be subscribed to, ends the other subscriptions and rejects. */
export async function subscribeToShards(
  ledgers: readonly CreditLedger[],
  onChange: (account: string) => void,
): Promise<End> {
  const outcomes = await Promise.allSettled(ledgers.map(async (ledger) => await ledger.subscribe?.(onChange)));
  const ends = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" && outcome.value ? [outcome.value] : []));
  const end = (): Promise<void> => settleAll(ends.map(async (endOne) => await endOne()));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) return end;
  // What failed first matters, not that a subscription cannot be ended either.
  await end().catch(() => {});
  throw failed.reason;
}
