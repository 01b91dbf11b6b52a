import type { PrepaidState } from "../../src/ledger/limits.js";

/** What an account shows of prepaid credits that never expire, while no call holds any. */
export function prepaidLeft(balanceMicro: number): PrepaidState {
  const lots = balanceMicro > 0 ? [{ expiresAt: null, leftMicro: balanceMicro }] : [];
  return { balanceMicro, overdrawnMicro: Math.max(0, -balanceMicro), heldMicro: 0, lots };
}
