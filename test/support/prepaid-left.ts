import type { PrepaidState } from "../../src/ledger/prepaid-state.js";

/**
 * What an account shows of prepaid credits that never expire, while no call holds any. `undefined`: it has none left, and
 * has overdrawn none. Calls of random costs come to that now and then.
 */
export function prepaidLeft(balanceMicro: number): PrepaidState | undefined {
  if (balanceMicro === 0) return undefined;
  const lots = balanceMicro > 0 ? [{ expiresAt: null, leftMicro: balanceMicro }] : [];
  return { balanceMicro, heldMicro: 0, lots };
}
