import { LedgerUnavailableError } from "../../../ledger/credit-ledger.js";
import { isLedgerError } from "../../../ledger/ledger-refusal.js";
import type { SqliteConnection } from "../sqlite-connection.js";
import { isLocked } from "../sqlite-database.js";
import type { SqliteRecords } from "./sqlite-records.js";

interface Waiting {
  readonly work: () => unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** What one operation of a transaction has come to. */
type Outcome = { readonly result: unknown } | { readonly refusal: unknown };

/** As much is done without a break: after it, the process attends to its other work. */
const worksPerTransaction = 64;

/**
 * Joins the operations of one turn of the event loop in one transaction. A commit costs many times what an operation does, and
 * calls come in bursts.
 */
export class LedgerBatch {
  readonly #connection: SqliteConnection;
  readonly #records: SqliteRecords;
  #waiting: Waiting[] = [];
  /** How many operations have not ended. */
  #open = 0;
  #idle: (() => void)[] = [];

  constructor(connection: SqliteConnection, records: SqliteRecords) {
    this.#connection = connection;
    this.#records = records;
  }

  /**
   * Does an operation with others in a transaction. What it refuses fails alone; what it has written before that stays.
   *
   * @throws LedgerUnavailableError when the database fails, or stays locked for five seconds. Then nothing was written.
   */
  run<Result>(work: () => Result): Promise<Result> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.#begin());
      this.#open++;
      this.#waiting.push({ work, resolve: resolve as (result: unknown) => void, reject });
    });
  }

  /** Resolves when no operation waits. */
  async idle(): Promise<void> {
    if (this.#open > 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #begin(): void {
    const some = this.#waiting.splice(0, worksPerTransaction);
    if (this.#waiting.length > 0) setImmediate(() => this.#begin());
    void this.#commit(some);
  }

  async #commit(some: readonly Waiting[]): Promise<void> {
    let outcomes: readonly Outcome[];
    try {
      outcomes = await this.#connection.write(() => this.#records.transact(() => some.map(outcomeOf)));
    } catch (error) {
      if (some.length === 1 || isLocked(error)) return this.#end(some, ({ reject }) => reject(toLedgerError(error)));
      // One of them may have failed by itself: each again, in a transaction of its own.
      for (const one of some) await this.#commit([one]);
      return;
    }
    this.#end(some, ({ resolve, reject }, index) => {
      const outcome = outcomes[index] as Outcome;
      if ("refusal" in outcome) reject(outcome.refusal);
      else resolve(outcome.result);
    });
  }

  #end(some: readonly Waiting[], answer: (waiting: Waiting, index: number) => void): void {
    for (const [index, waiting] of some.entries()) answer(waiting, index);
    this.#open -= some.length;
    if (this.#open > 0) return;
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }
}

/** @throws what is no refusal of the ledger's: it ends the transaction. */
function outcomeOf({ work }: Waiting): Outcome {
  try {
    return { result: work() };
  } catch (error) {
    if (!isLedgerError(error)) throw error;
    return { refusal: error };
  }
}

export function toLedgerError(error: unknown): unknown {
  if (isLedgerError(error) || error instanceof LedgerUnavailableError) return error;
  if (isLocked(error)) {
    return new LedgerUnavailableError("Another process keeps the ledger's database locked.", { cause: error });
  }
  return new LedgerUnavailableError("The ledger's database failed.", { cause: error });
}
