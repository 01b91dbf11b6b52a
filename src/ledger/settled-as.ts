import type { Micro } from "../metering/micro.js";
import type { SettleResult, SettleStatus } from "./credit-ledger.js";

/** What became of a settlement. */
export type Settled = Pick<SettleResult, "status" | "prepaidMicro">;

/** @param prepaidMicro - what prepaid credits have paid in all. */
export function settledAs(status: SettleStatus, prepaidMicro: Micro): Settled {
  return prepaidMicro === 0 ? { status } : { status, prepaidMicro };
}
