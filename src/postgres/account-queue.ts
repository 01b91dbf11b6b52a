import { LedgerInputError, LedgerUnavailableError } from "../ledger/credit-ledger.js";
import type { LedgerAnswer } from "./ledger-answer.js";
import type { LedgerOperation } from "./ledger-operation.js";

const maxBatch = 64;
/** Of one account. Each waits for its caller, so there are seldom more than a host has requests in flight. */
const maxWaiting = 10_000;

interface Waiting {
  readonly operation: LedgerOperation;
  resolve(answer: LedgerAnswer): void;
  reject(error: unknown): void;
}

/** What the schema's function `operate` takes for one account. */
export interface AccountBatch {
  readonly account: string;
  readonly operations: LedgerOperation[];
}

/** Runs operations on an account in one statement, and returns one result for each. */
export type RunBatch = (batch: AccountBatch) => Promise<readonly LedgerAnswer[]>;

/**
 * Sends the operations on an account one statement at a time; what arrives meanwhile goes together in the next. Statements
 * that wait for the same row would only line up in the database, each on a connection that other accounts need.
 */
export class AccountQueue {
  readonly #run: RunBatch;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(run: RunBatch) {
    this.#run = run;
  }

  submit(account: string, operation: LedgerOperation): Promise<LedgerAnswer> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(account);
      if (waiting === undefined) {
        this.#waiting.set(account, []);
        void this.#drain(account, [{ operation, resolve, reject }]);
      } else if (waiting.length >= maxWaiting) {
        reject(new LedgerUnavailableError(`${maxWaiting} operations on ${account} are waiting already.`));
      } else {
        waiting.push({ operation, resolve, reject });
      }
    });
  }

  async #drain(account: string, first: Waiting[]): Promise<void> {
    for (let batch = first; batch.length > 0; batch = this.#waiting.get(account)?.splice(0, maxBatch) ?? []) {
      await this.#send(account, batch);
    }
    this.#waiting.delete(account);
  }

  async #send(account: string, batch: readonly Waiting[]): Promise<void> {
    try {
      const answers = await this.#run({ account, operations: batch.map(({ operation }) => operation) });
      for (const [index, { resolve }] of batch.entries()) resolve(answers[index] as LedgerAnswer);
    } catch (error) {
      if (batch.length === 1 || !(error instanceof LedgerInputError)) {
        for (const { reject } of batch) reject(error);
        return;
      }
      // The database refused a value of one of them: it must not fail its neighbours.
      for (const waiting of batch) await this.#send(account, [waiting]);
    }
  }
}
