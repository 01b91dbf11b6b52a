import { asItIs } from "../../../ledger/promised.js";
import type { LedgerReply } from "./ledger-reply.js";
import { type BatchSizes, OperationQueue, type RunOperations, unavailable } from "./operation-queue.js";
import type { AccountGroup, BatchedOperation, WaitingTotal } from "./waiting-operations.js";

/**
 * The queues of a ledger: one for all accounts, or on a cluster one for each. A script there takes keys of one slot only,
 * and a node that hangs must not hold up the accounts of the others.
 */
export class OperationLanes {
  readonly #run: RunOperations;
  readonly #sizes: BatchSizes;
  readonly #shared: OperationQueue;
  readonly #total: WaitingTotal = { count: 0 };
  readonly #own = new Map<string, OperationQueue>();
  #isShared: boolean;
  #callWhenIdle: (() => void)[] = [];

  constructor(run: RunOperations, sizes: BatchSizes, isCluster: boolean) {
    this.#run = run;
    this.#sizes = sizes;
    this.#isShared = !isCluster;
    this.#shared = new OperationQueue({
      ...sizes,
      run,
      total: this.#total,
      handOver: (groups, cause) => this.#separate(groups, cause),
      onIdle: () => this.#checkIdle(),
    });
  }

  submit(operation: BatchedOperation): Promise<LedgerReply>;
  submit<Result>(operation: BatchedOperation, read: (reply: LedgerReply) => Result): Promise<Result>;
  submit(operation: BatchedOperation, read: (reply: LedgerReply) => unknown = asItIs): Promise<unknown> {
    return (this.#isShared ? this.#shared : this.#ownOf(operation.account)).submit(operation, read);
  }

  /** Resolves when nothing waits or is under way. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#callWhenIdle.push(resolve);
      this.#checkIdle();
    });
  }

  /** Goes over to a queue for each account, for good, when Redis refused keys of several slots. */
  #separate(groups: readonly AccountGroup[], cause: unknown): boolean {
    const isRefused = groups.length > 1 && cause instanceof Error && cause.message.includes("CROSSSLOT");
    if (!isRefused) return false;
    this.#isShared = false;
    for (const one of [...groups.flatMap(({ waiting }) => waiting), ...this.#shared.takeWaiting()]) {
      this.#ownOf(one.operation.account).takeOver(one);
    }
    return true;
  }

  #ownOf(account: string): OperationQueue {
    const known = this.#own.get(account);
    if (known) return known;
    const queue = new OperationQueue({
      ...this.#sizes,
      run: this.#run,
      total: this.#total,
      handOver: () => false,
      onIdle: () => {
        this.#own.delete(account);
        this.#checkIdle();
      },
    });
    this.#own.set(account, queue);
    return queue;
  }

  #checkIdle(): void {
    if (!this.#shared.isIdle || this.#own.size > 0) return;
    for (const resolve of this.#callWhenIdle.splice(0)) resolve();
  }
}

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

/** Notices of accounts, each sent at once. None waits for another one, which might have been cut off with its request. */
export class LoneAnnouncements {
  readonly #notify: (accounts: readonly string[]) => Promise<unknown>;

  constructor(notify: (accounts: readonly string[]) => Promise<unknown>) {
    this.#notify = notify;
  }

  add(account: string): void {
    // The change itself is done. Without a notice, others find out when their caches forget.
    this.#notify([account]).catch(() => {});
  }

  /** A request does not wait for the notices of others. */
  async idle(): Promise<void> {}
}
