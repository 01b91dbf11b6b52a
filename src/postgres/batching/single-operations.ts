import type { LedgerAnswer } from "../ledger-answer.js";
import type { LedgerOperation } from "../ledger-operation.js";
import type { RunBatches } from "./run-in-halves.js";

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
    read: (answer: LedgerAnswer) => Result,
  ): Promise<Result> {
    const [answer] = await this.#run([{ account, operations: [operation] }]);
    return read(answer as LedgerAnswer);
  }

  /** Nothing of it goes on when its callers have their results. */
  async idle(): Promise<void> {}
}
