import { randomUUID } from "node:crypto";
import { windowLimits } from "../../src/ledger/calendar.js";
import type { CreditLedger, WindowLimits } from "../../src/ledger/credit-ledger.js";
import type { Pair } from "./benched-store.js";

export const leaseMs = 60_000;
export const amount = 1_234_567;
export const tags = { keyId: "key_0123456789", model: "acme/large", source: "provider", input: 1_234, output: 567 };

/** Limits in all windows that nothing comes near. */
export function limitsNow(): WindowLimits {
  const limit = Number.MAX_SAFE_INTEGER;
  return windowLimits({
    credits: { session: limit, week: limit, month: limit },
    sessionMs: 5 * 3_600_000,
    now: Date.now(),
  });
}

export function ledgerPair(ledger: CreditLedger): Pair {
  const limits = limitsNow();
  return async (account) => {
    const result = await ledger.reserve({ id: randomUUID(), account, amountMicro: amount, limits, leaseMs });
    if (!result.ok) throw new Error(`${account} was denied.`);
    const { status } = await ledger.settle(result.lease, { amountMicro: amount - 1, tags });
    if (status !== "settled") throw new Error(`A settlement of ${account} was ${status}.`);
  };
}
