import { LedgerConflictError } from "../credit-ledger.js";
import type { LedgerRecords } from "./ledger-records.js";

/** Whose the ids of top-ups and deductions are, in a ledger of several. */
export interface TopUpClaims extends Pick<LedgerRecords, "prepaidChange"> {
  /** Whether another account has claimed the id. `undefined`: none has. */
  isClaimedByOther(id: string, account: string): boolean | undefined;
  claim(id: string, account: string, now: number): void;
}

/** @throws LedgerConflictError where the id of a top-up or deduction is another account's. */
export function claimTopUp(claims: TopUpClaims, id: string, account: string, now: number): void {
  const earlier = claims.prepaidChange(id);
  const isOther = claims.isClaimedByOther(id, account) ?? (earlier !== undefined && earlier.account !== account);
  if (isOther) throw new LedgerConflictError(`${id} was used before with another account.`);
  claims.claim(id, account, now);
}
