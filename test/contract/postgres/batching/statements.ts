import type { AccountBatch } from "../../../../src/stores/postgres/ledger/account-batches.js";
import { AccountQueue, type BatchBounds } from "../../../../src/stores/postgres/ledger/account-queue.js";
import type { OperationReply } from "../../../../src/stores/postgres/ledger/operation-reply.js";

/** A statement that has reached the database; the test decides what comes of it. */
export interface Statement {
  readonly batches: readonly AccountBatch[];
  /** The numbers of its operations, in their order. */
  readonly numbers: readonly number[];
  answer(): Promise<void>;
  fail(error: Error): Promise<void>;
}

/** A queue, and the statements that it sends. An operation's answer has its number as the status. */
export class Statements {
  readonly sent: Statement[] = [];
  readonly queue: AccountQueue;

  constructor(bounds: BatchBounds) {
    this.queue = new AccountQueue(
      (batches) =>
        new Promise((resolve, reject) => {
          const numbers = batches.flatMap(({ operations }) => operations.map((operation) => Number(operation["n"])));
          const answers = numbers.map((n) => ({ status: String(n) }) as unknown as OperationReply);
          this.sent.push({
            batches,
            numbers,
            answer: () => {
              resolve(answers);
              return turn();
            },
            fail: (error) => {
              reject(error);
              return turn();
            },
          });
        }),
      bounds,
    );
  }

  /** Submits operations with the numbers `from` to `to`. */
  submit(account: string, from: number, to = from): Promise<OperationReply>[] {
    return Array.from({ length: to - from + 1 }, (_, index) =>
      this.queue.submit(account, { op: "reserve", n: from + index }),
    );
  }

  /** How many operations each account has in each statement. */
  sizes(): Record<string, number>[] {
    return this.sent.map(({ batches }) =>
      Object.fromEntries(batches.map(({ account, operations }) => [account, operations.length])),
    );
  }

  /** Answers everything that is sent from the given statement on, until nothing more is. */
  async answerAll(from = 0): Promise<void> {
    for (let index = from; index < this.sent.length; index++) await this.sent[index]?.answer();
  }
}

/** The end of the event loop's turn: what was set off has been sent, and what was answered has arrived. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
