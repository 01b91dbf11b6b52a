import type { LedgerOperation } from "../ledger-operation.js";
import type { AccountBatch } from "./account-batch.js";

/** An operation and its account. */
export interface AccountOperation {
  readonly account: string;
  readonly operation: LedgerOperation;
}

/** @param sorted - in the order of {@link byAccount}. */
export function accountBatches(sorted: readonly AccountOperation[]): AccountBatch[] {
  const batches: AccountBatch[] = [];
  for (const { account, operation } of sorted) {
    const last = batches.at(-1);
    if (last?.account === account) last.operations.push(operation);
    else batches.push({ account, operations: [operation] });
  }
  return batches;
}
