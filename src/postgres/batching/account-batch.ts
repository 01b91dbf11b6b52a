import type { LedgerOperation } from "../ledger-operation.js";

/** What the schema's function `operate` takes for one account. */
export interface AccountBatch {
  readonly account: string;
  readonly operations: LedgerOperation[];
}
