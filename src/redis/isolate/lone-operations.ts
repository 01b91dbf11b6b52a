import { asItIs } from "../../ledger/calls/as-it-is.js";
import type { RunOperations } from "../batch/operation-queue.js";
import type { BatchedOperation } from "../batch/waiting-operations.js";
import type { LedgerReply } from "../ledger-reply.js";
import { unavailable } from "../unavailable.js";

/** Sends each operation at once, in a script of its own, so that no request waits for what another one has begun. */
export class LoneOperations {
  readonly #run: RunOperations;

  constructor(run: RunOperations) {
    this.#run = run;
  }

  submit(operation: BatchedOperation): Promise<LedgerReply>;
  submit<Result>(operation: BatchedOperation, read: (reply: LedgerReply) => Result): Promise<Result>;
  async submit(operation: BatchedOperation, read: (reply: LedgerReply) => unknown = asItIs): Promise<unknown> {
    const groups = [{ account: operation.account, waiting: [{ operation }] }];
    for (;;) {
      const [reply] = await this.#run(groups).catch(rejectUnavailable);
      if (reply === undefined || reply instanceof Error) throw unavailable(reply);
      if (reply.status !== "again") return read(reply);
    }
  }

  /** Each caller waits for its own operation. */
  async idle(): Promise<void> {}
}

function rejectUnavailable(cause: unknown): never {
  throw unavailable(cause);
}
