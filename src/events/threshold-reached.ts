import type { CapWindow } from "../ledger/cap-limit.js";
import type { WindowName } from "../ledger/credit-ledger.js";
import type { Micro } from "../metering/micro.js";

/** What `onThreshold` gets when the use of an account, a key or a budget has reached a share of its limit, or its prepaid credits are low. */
export interface ThresholdReached {
  account: string;
  /** The key whose cap it is. Absent: a budget's, or the account's own credits. */
  keyId?: string;
  /** The budget whose cap it is, with the value of its tag. Absent: a key's, or the account's own credits. */
  budget?: { readonly tag: string; readonly value: string };
  /** A window of the account, a cap of the key or the budget, or `prepaid`: the prepaid credits are low, or used up. */
  window: WindowName | CapWindow | "prepaid";
  /**
   * The threshold, of {@link GatewayOptions.thresholds}. For `prepaid` 100 where they are used up, and `null` where the
   * balance has fallen to one of `thresholds.prepaid`: the lowest of them that is not below `balanceMicro`.
   */
  percent: number | null;
  /** What is used of the window by now. For `prepaid`: what is overdrawn, by less than one call. */
  usedMicro: Micro;
  /** The limit, with what was granted. 0 for `prepaid`. */
  limitMicro: Micro;
  /** When the window ends, in epoch milliseconds. `null`: never. */
  resetsAt: number | null;
  /** The balance of the prepaid credits, negative where they are overdrawn. For `prepaid` only. */
  balanceMicro?: Micro;
}

/** Gets the thresholds that are reached. */
export type OnThreshold = (event: ThresholdReached) => void;
