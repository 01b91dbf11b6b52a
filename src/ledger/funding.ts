import type { Micro } from "../metering/micro.js";
import type { AccountCredits, LedgerEntry, WindowStates } from "./credit-ledger.js";

/** What paid for a call: the credits of the plan's windows, prepaid credits, or both. */
export type Funding = "plan" | "prepaid" | "split";

/** @param prepaid - what of the amount prepaid credits paid. */
export function fundingOf(amount: Micro, prepaid: Micro): Funding {
  if (prepaid === 0) return "plan";
  return prepaid === amount ? "prepaid" : "split";
}

/** What prepaid credits paid of an entry. Where it does not say so, it is all of an entry that names no window. */
export function prepaidOfEntry(entry: Pick<LedgerEntry, "kind" | "amountMicro" | "prepaidMicro" | "starts">): Micro {
  const { kind, amountMicro, prepaidMicro, starts } = entry;
  if (prepaidMicro !== undefined) return prepaidMicro;
  const isOfCall = kind === "charge" || kind === "checkpoint" || kind === "release";
  const { session, week, month } = starts;
  return isOfCall && session === undefined && week === undefined && month === undefined ? amountMicro : 0;
}

/** Whether a limited window of the plan can never have any credits, nor was granted any: no reset fills it. */
export function neverFills({ limitMicro, bonusMicro }: WindowStates["session"]): boolean {
  return limitMicro === 0 && bonusMicro <= 0;
}

/** Whether an account lives on prepaid credits: it has had some, and its plan can never pay. */
export function livesOnPrepaid({ windows, prepaid }: Pick<AccountCredits, "windows" | "prepaid">): boolean {
  return prepaid !== undefined && Object.values(windows).some(neverFills);
}
