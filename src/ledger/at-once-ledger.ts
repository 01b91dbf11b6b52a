import type { CreditLedger, Lease, ReserveRequest, ReserveResult, Settlement, SettleResult } from "./credit-ledger.js";

/** A ledger that may be able to answer on the spot, which saves a call the promises. */
export interface AtOnceLedger extends CreditLedger {
  /** What `reserve` does; `undefined` where it takes a promise, and nothing has been done. Throws what `reserve` rejects with. */
  reserveAtOnce(request: ReserveRequest): ReserveResult | undefined;
  /** What `settle` and, without a settlement, `release` do; `undefined` as above. */
  endAtOnce(lease: Lease, settlement: Settlement | undefined): SettleResult | undefined;
}
