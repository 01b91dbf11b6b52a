import { LedgerInputError, type RenewRequest } from "../../../ledger/credit-ledger.js";
import { type LedgerOperation, renewOperation } from "./ledger-operation.js";
import type { OperationReply } from "./operation-reply.js";

/** An operation and its account. */
export interface AccountOperation {
  readonly account: string;
  readonly operation: LedgerOperation;
}

/** @param sorted - in the order of {@link byAccount}. */
function accountBatches(sorted: readonly AccountOperation[]): AccountBatch[] {
  const batches: AccountBatch[] = [];
  for (const { account, operation } of sorted) {
    const last = batches.at(-1);
    if (last?.account === account) last.operations.push(operation);
    else batches.push({ account, operations: [operation] });
  }
  return batches;
}

/** What the schema's function `operate` takes for one account. */
export interface AccountBatch {
  readonly account: string;
  readonly operations: LedgerOperation[];
}

/**
 * Sorts operations into the one order in which statements lock accounts: no two statements then wait for each other in a
 * circle, whichever processes send them. It compares UTF-16 code units, so that no locale and no setting changes it.
 */
export function byAccount(left: { readonly account: string }, right: { readonly account: string }): number {
  return left.account < right.account ? -1 : left.account > right.account ? 1 : 0;
}

const maxBatch = 64;

/** Renewals that go in one statement. */
interface RenewalBatch {
  readonly accounts: AccountBatch[];
  /** Where each renewal stood among the requests, in the order of the statement's results. */
  readonly places: number[];
}

/** Groups renewals by account, the accounts in the order in which all statements lock them. */
export function renewalBatches(requests: readonly RenewRequest[]): RenewalBatch[] {
  const renewals = requests.map((request, place) => ({
    place,
    account: request.lease?.account,
    operation: renewOperation(request),
  }));
  renewals.sort(byAccount);

  const batches: RenewalBatch[] = [];
  for (let from = 0; from < renewals.length; from += maxBatch) {
    const batch = renewals.slice(from, from + maxBatch);
    batches.push({ accounts: accountBatches(batch), places: batch.map(({ place }) => place) });
  }
  return batches;
}

/** Runs operations in one statement, and returns one result for each. */
export type RunBatches = (batches: readonly AccountBatch[]) => Promise<readonly OperationReply[]>;

/**
 * Runs a batch and returns what came of each operation. When the database refuses a value, the batch is sent again in
 * halves, down to single operations, one after the other: the refusal must not fail the neighbours.
 * @param sorted - by account.
 */
export async function runInHalves(
  run: RunBatches,
  sorted: readonly AccountOperation[],
): Promise<PromiseSettledResult<OperationReply>[]> {
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

/**
 * Sends each operation in a statement of its own, at once. It stands in the place of the {@link AccountQueue} where no request
 * may wait for what another one has begun.
 */
export class SingleOperations {
  readonly #run: RunBatches;

  constructor(run: RunBatches) {
    this.#run = run;
  }

  async submit<Result>(
    account: string,
    operation: LedgerOperation,
    read: (answer: OperationReply) => Result,
  ): Promise<Result> {
    const [answer] = await this.#run([{ account, operations: [operation] }]);
    return read(answer as OperationReply);
  }

  /** Nothing of it goes on when its callers have their results. */
  async idle(): Promise<void> {}
}
