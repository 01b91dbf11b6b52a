import { asItIs } from "../../ledger/calls/as-it-is.js";
import { afterTurn } from "../../runtime/after-turn.js";
import type { LedgerAnswer } from "../ledger-answer.js";
import type { LedgerOperation } from "../ledger-operation.js";
import type { AccountOperation } from "./account-batches.js";
import { Backlog, type Batch } from "./backlog.js";
import type { BatchBounds } from "./batch-options.js";
import { byAccount } from "./by-account.js";
import { type RunBatches, runInHalves } from "./run-in-halves.js";

/** As long as the gateway lets a reservation take by default. */
const slowMs = 250;

interface Waiting extends AccountOperation {
  /** What its caller gets of the answer, and what refuses it. */
  read(answer: LedgerAnswer): unknown;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/**
 * Sends the operations on all accounts, several in a statement, and a few statements at a time. What comes in one turn of
 * the event loop goes together at its end, and what comes while all statements are under way goes as soon as one has ended.
 * An account is in one statement at a time: two would only wait for each other in the database.
 */
export class AccountQueue {
  readonly #run: RunBatches;
  readonly #mostInFlight: number;
  readonly #backlog: Backlog<Waiting>;
  readonly #onIdle: (() => void)[] = [];
  #inFlight = 0;
  #isScheduled = false;

  constructor(run: RunBatches, bounds: BatchBounds) {
    this.#run = run;
    this.#mostInFlight = bounds.inFlight;
    this.#backlog = new Backlog(bounds);
  }

  /**
   * @param read - what becomes of the answer, at once: a caller that waited for it would cost every operation a promise more.
   * @throws LedgerUnavailableError when too many operations wait.
   */
  submit(account: string, operation: LedgerOperation): Promise<LedgerAnswer>;
  submit<Result>(account: string, operation: LedgerOperation, read: (answer: LedgerAnswer) => Result): Promise<Result>;
  submit(account: string, operation: LedgerOperation, read: Waiting["read"] = asItIs): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#backlog.add({ account, operation, read, resolve, reject });
      if (this.#isScheduled || this.#inFlight >= this.#mostInFlight) return;
      this.#isScheduled = true;
      afterTurn(() => {
        this.#isScheduled = false;
        this.#flush();
      });
    });
  }

  /** Resolves when all operations were answered. */
  async idle(): Promise<void> {
    if (!this.#backlog.isEmpty) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  #flush(): void {
    while (this.#backlog.hasReady && this.#inFlight < this.#mostInFlight) void this.#send(this.#backlog.take());
  }

  async #send(batch: Batch<Waiting>): Promise<void> {
    const operations = batch.operations.sort(byAccount);
    const leave = this.#enter();
    const results = await runInHalves(this.#run, operations);
    this.#backlog.giveBack(batch);
    // Before the callers: what they do takes time, and the database would wait for it.
    leave();
    for (let index = 0; index < operations.length; index++) deliver(operations[index] as Waiting, results[index]);
    if (this.#backlog.isEmpty) for (const resolve of this.#onIdle.splice(0)) resolve();
  }

  /**
   * Counts a statement as under way, until the function that is returned is called. One that takes long counts no more:
   * a row that somebody else has locked must not hold up all other accounts.
   */
  #enter(): () => void {
    this.#inFlight++;
    let isCounted = true;
    const end = () => {
      if (isCounted) this.#inFlight--;
      isCounted = false;
      this.#flush();
    };
    const timer = setTimeout(end, slowMs);
    return () => {
      clearTimeout(timer);
      end();
    };
  }
}

function deliver({ read, resolve, reject }: Waiting, result: PromiseSettledResult<LedgerAnswer> | undefined): void {
  if (result?.status !== "fulfilled") {
    reject(result?.reason);
    return;
  }
  try {
    resolve(read(result.value));
  } catch (error) {
    reject(error);
  }
}
