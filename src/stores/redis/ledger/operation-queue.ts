import { requireKnownOptions } from "../../../check/known-options.js";
import { LedgerUnavailableError } from "../../../ledger/credit-ledger.js";
import { TimeLimitError } from "../../../ledger/guard/time-limit.js";
import { afterTurn } from "../../../runtime/runtime.js";
import type { LedgerReply } from "./ledger-reply.js";
import {
  type AccountGroup,
  type BatchedOperation,
  type OperationGroup,
  type Waiting,
  WaitingOperations,
  type WaitingTotal,
} from "./waiting-operations.js";

/** Runs operations in one script. Resolves with one reply, or error, for each of them in their order. */
export type RunOperations = (groups: readonly OperationGroup[]) => Promise<readonly (LedgerReply | Error)[]>;

interface QueueParts extends BatchSizes {
  readonly run: RunOperations;
  /** Of all queues of the ledger. */
  readonly total: WaitingTotal;
  /** @returns whether it has given the operations of a script that did not run to other queues. */
  handOver(groups: readonly AccountGroup[], cause: unknown): boolean;
  onIdle(): void;
}

/** Of one account. Each waits for its caller, so there are seldom more than a host has requests in flight. */
const maxWaiting = 10_000;
/** Of all accounts. Each of them keeps a request open, of some 10 KB. */
const maxWaitingOfAll = 50_000;

/**
 * Sends the operations that came in one turn of the event loop together, in few scripts at a time. What comes while others
 * are under way waits for the first of them to end, or until as many wait as the last script had: the more there is to do,
 * the larger are the batches, and where there is little to do, nothing waits.
 */
export class OperationQueue {
  readonly #parts: QueueParts;
  readonly #waiting: WaitingOperations;
  #place = 0;
  #underWay = 0;
  #isScheduled = false;
  /** How many operations the last script had. */
  #lastCount = 0;

  constructor(parts: QueueParts) {
    this.#parts = parts;
    this.#waiting = new WaitingOperations(parts.total);
  }

  get isIdle(): boolean {
    return this.#underWay === 0 && this.#waiting.isEmpty;
  }

  /** @param read - what becomes of the reply, at once: a caller that waited for it would cost every operation a promise more. */
  submit<Result>(operation: BatchedOperation, read: (reply: LedgerReply) => Result): Promise<Result> {
    if (this.#waiting.countOf(operation.account) >= maxWaiting) {
      const message = `${maxWaiting} operations on ${operation.account} are waiting already.`;
      return Promise.reject(new LedgerUnavailableError(message));
    }
    if (this.#parts.total.count >= maxWaitingOfAll) {
      return Promise.reject(new LedgerUnavailableError(`${maxWaitingOfAll} operations are waiting already.`));
    }
    return new Promise((resolve: (result: unknown) => void, reject) => {
      this.#waiting.add({ operation, place: ++this.#place, read, resolve, reject });
      this.#schedule();
    }) as Promise<Result>;
  }

  /** Takes an operation over from another queue, with its caller. */
  takeOver(waiting: Waiting): void {
    this.#waiting.add({ ...waiting, place: ++this.#place });
    this.#schedule();
  }

  /** Takes out all that is not under way. */
  takeWaiting(): Waiting[] {
    return this.#waiting.takeUpTo(this.#place);
  }

  #schedule(): void {
    if (this.#isScheduled || !this.#maySend) return;
    this.#isScheduled = true;
    // To wait for the end of the turn takes a lone operation some time, which it need not spend where none came with the last.
    const isAlone = this.#lastCount === 1 && this.#underWay === 0;
    if (isAlone || this.#parts.operations === 1) queueMicrotask(() => this.#flush());
    else afterTurn(() => this.#flush());
  }

  #flush(): void {
    this.#isScheduled = false;
    while (this.#maySend) void this.#send();
  }

  get #maySend(): boolean {
    const { isEmpty, count } = this.#waiting;
    if (this.#underWay === 0) return !isEmpty;
    return this.#underWay < this.#parts.inFlight && count >= this.#lastCount && !isEmpty;
  }

  async #send(): Promise<void> {
    const groups = this.#waiting.take(this.#parts.operations);
    const lastPlace = this.#place;
    this.#lastCount = countIn(groups);
    this.#underWay++;
    try {
      this.#deliver(groups, await this.#parts.run(groups));
    } catch (error) {
      this.#fail(groups, error, lastPlace);
    }
    this.#underWay--;
    if (!this.#waiting.isEmpty) this.#schedule();
    else if (this.isIdle) this.#parts.onIdle();
  }

  #deliver(groups: readonly AccountGroup[], replies: readonly (LedgerReply | Error)[]): void {
    let next = 0;
    for (const { account, waiting } of groups) {
      let again: Waiting[] | undefined;
      for (const one of waiting) {
        const reply = replies[next++];
        if (reply === undefined || reply instanceof Error) one.reject(unavailable(reply));
        else if (reply.status === "again") again = [...(again ?? []), one];
        else answer(one, reply);
      }
      if (again) this.#waiting.putBack({ account, waiting: again });
    }
  }

  #fail(groups: readonly AccountGroup[], cause: unknown, lastPlace: number): void {
    if (this.#parts.handOver(groups, cause)) return;
    const error = unavailable(cause);
    for (const { waiting } of groups) for (const { reject } of waiting) reject(error);
    // What has waited as long for a server that does not answer shall not wait for as long again.
    if (cause instanceof TimeLimitError) for (const { reject } of this.#waiting.takeUpTo(lastPlace)) reject(error);
  }
}

function countIn(groups: readonly AccountGroup[]): number {
  let count = 0;
  for (const { waiting } of groups) count += waiting.length;
  return count;
}

function answer({ read, resolve, reject }: Waiting, reply: LedgerReply): void {
  try {
    resolve(read(reply));
  } catch (error) {
    reject(error);
  }
}

/** How operations are put together. */
export interface RedisBatchOptions {
  /**
   * How many operations go in one script at most, each on another account; up to 64. Of one account nearly twice as many
   * go, since each takes half the time. Redis serves no other client while it runs. Default: 32.
   */
  operations?: number | undefined;
  /**
   * How many scripts are under way at most; on a cluster, for each account. A further one needs as many operations as the
   * last one had. Default: 4.
   */
  inFlight?: number | undefined;
}

export type BatchSizes = Readonly<Record<"operations" | "inFlight", number>>;

const mostOperations = 64;

/**
 * @param batch - `false`: an operation a script, and any number of scripts under way.
 * @throws RangeError when one of them is not valid.
 */
export function batchSizes(batch: RedisBatchOptions | false = {}): BatchSizes {
  if (batch === false) return { operations: 1, inFlight: Number.POSITIVE_INFINITY };
  requireKnownOptions("batch", batch, { operations: true, inFlight: true });
  const { operations = 32, inFlight = 4 } = batch;
  if (!Number.isSafeInteger(operations) || operations < 1 || operations > mostOperations) {
    throw new RangeError(`batch.operations must be a whole number from 1 to ${mostOperations}, not ${operations}.`);
  }
  if (!Number.isSafeInteger(inFlight) || inFlight < 1) {
    throw new RangeError(`batch.inFlight must be a whole number of at least 1, not ${inFlight}.`);
  }
  return { operations, inFlight };
}

/** What callers of the ledger get of any failure of Redis. */
export function unavailable(cause: unknown): LedgerUnavailableError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new LedgerUnavailableError(`Redis did not carry out an operation of the ledger: ${reason}`, { cause });
}
