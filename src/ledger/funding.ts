import type { AccountCredits, Lease, LedgerEntry } from "./credit-ledger.js";
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
