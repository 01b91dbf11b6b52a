import type { Micro } from "../metering/micro.js";
import type { AccountCredits, WindowStates } from "./credit-ledger.js";

/** What paid for a call: the credits of the plan's windows, prepaid credits, or both. */
export type Funding = "plan" | "prepaid" | "split";

/** @param prepaid - what of the amount prepaid credits paid. */
export function fundingOf(amount: Micro, prepaid: Micro): Funding {
  if (prepaid === 0) return "plan";
  return prepaid === amount ? "prepaid" : "split";
}

/** Whether a limited window of the plan can never have any credits, nor was granted any: no reset fills it. */
export function neverFills({ limitMicro, bonusMicro }: WindowStates["session"]): boolean {
  return limitMicro === 0 && bonusMicro <= 0;
}

/** Whether an account lives on prepaid credits: it has had some, and its plan can never pay. */
export function livesOnPrepaid({ windows, prepaid }: Pick<AccountCredits, "windows" | "prepaid">): boolean {
  return prepaid !== undefined && Object.values(windows).some(neverFills);
}
