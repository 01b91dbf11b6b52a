import type { AccountCredits, Lease, LedgerEntry, WindowStates } from "./credit-ledger.js";
import type { PrepaidState } from "./prepaid-state.js";

/** What pays for a call: the credits of the plan's windows, or prepaid credits. */
export type Funding = "plan" | "prepaid";

export function fundingOf({ prepaidAt }: Pick<Lease, "prepaidAt">): Funding {
  return prepaidAt === undefined ? "plan" : "prepaid";
}

/** What paid for an entry that charges or gives back. */
export function fundingOfEntry({ starts }: Pick<LedgerEntry, "starts">): Funding {
  const { session, week, month } = starts;
  return session === undefined && week === undefined && month === undefined ? "prepaid" : "plan";
}

const usedUp: PrepaidState = Object.freeze({ balanceMicro: 0, heldMicro: 0, lots: Object.freeze([]) });

/** The credits after the end of a lease. A call that took the last prepaid credits shows 0, not that there are none. */
export function creditsAtEnd(credits: AccountCredits, { prepaidAt }: Lease): AccountCredits {
  return prepaidAt === undefined || credits.prepaid !== undefined ? credits : { ...credits, prepaid: usedUp };
}

/** Whether no limited window of the plan has any credits, nor was granted any. */
export function paysAsYouGo({ session, week, month }: WindowStates): boolean {
  const limited = [session, week, month].filter(({ limitMicro }) => limitMicro !== null);
  return limited.length > 0 && limited.every(({ limitMicro, bonusMicro }) => limitMicro === 0 && bonusMicro <= 0);
}

/** Whether prepaid credits pay for a call of which the ledger knows nothing, as these states of the account are now. */
export function isPrepaidNow({ windows, prepaid }: AccountCredits): boolean {
  if (prepaid === undefined) return false;
  if (paysAsYouGo(windows)) return true;
  const isUsedUp = Object.values(windows).some(
    ({ limitMicro, bonusMicro, usedMicro, heldMicro }) =>
      limitMicro !== null && limitMicro + bonusMicro - usedMicro - heldMicro < 1,
  );
  return isUsedUp && prepaid.balanceMicro - prepaid.heldMicro > 0;
}
