import { LedgerInputError } from "../../ledger/credit-ledger.js";
import type { LedgerAnswer } from "../ledger-answer.js";
import type { AccountBatch } from "./account-batch.js";
import { type AccountOperation, accountBatches } from "./account-batches.js";

/** Runs operations in one statement, and returns one result for each. */
export type RunBatches = (batches: readonly AccountBatch[]) => Promise<readonly LedgerAnswer[]>;

/**
 * Runs a batch and returns what came of each operation. When the database refuses a value, the batch is sent again in
 * halves, down to single operations, one after the other: the refusal must not fail the neighbours.
 * @param sorted - by account.
 */
export async function runInHalves(
  run: RunBatches,
  sorted: readonly AccountOperation[],
): Promise<PromiseSettledResult<LedgerAnswer>[]> {
  try {
    const answers = await run(accountBatches(sorted));
    return answers.map((value) => ({ status: "fulfilled", value }));
  } catch (reason) {
    if (sorted.length === 1 || !(reason instanceof LedgerInputError)) {
      return sorted.map(() => ({ status: "rejected", reason }));
    }
    const middle = sorted.length >> 1;
    const first = await runInHalves(run, sorted.slice(0, middle));
    return [...first, ...(await runInHalves(run, sorted.slice(middle)))];
  }
}
