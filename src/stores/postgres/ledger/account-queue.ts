import { requireKnownOptions } from "../../../check/known-options.js";
import { LedgerUnavailableError } from "../../../ledger/credit-ledger.js";
import { asItIs } from "../../../ledger/promised.js";
import { afterTurn } from "../../../runtime/runtime.js";
import { type AccountOperation, byAccount, type RunBatches, runInHalves } from "./account-batches.js";
import type { LedgerOperation } from "./ledger-operation.js";
import type { OperationReply } from "./operation-reply.js";

/** As long as the gateway lets a reservation take by default. */
const slowMs = 250;

interface Waiting extends AccountOperation {
  /** What its caller gets of the answer, and what refuses it. */
  read(answer: OperationReply): unknown;
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
  submit(account: string, operation: LedgerOperation): Promise<OperationReply>;
  submit<Result>(
    account: string,
    operation: LedgerOperation,
    read: (answer: OperationReply) => Result,
  ): Promise<Result>;
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

function deliver({ read, resolve, reject }: Waiting, result: PromiseSettledResult<OperationReply> | undefined): void {
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

const mostOfOneAccount = 64;
/** Of one account. Each waits for its caller, so there are seldom more than a host has requests in flight. */
const maxWaiting = 10_000;
/** Of all accounts, with those under way. */
const maxUnanswered = 100_000;

/** An account of which operations wait or are under way. */
interface Line<Operation> {
  readonly account: string;
  readonly waiting: Operation[];
  isUnderWay: boolean;
}

/** What goes in one statement: the operations of each account in the order in which they came. */
interface Batch<Operation> {
  readonly lines: readonly Line<Operation>[];
  readonly operations: Operation[];
}

/** The operations that wait, by account. An account is in one batch at a time; those that wait longest come first. */
class Backlog<Operation extends AccountOperation> {
  readonly #bounds: Pick<BatchBounds, "operations" | "ownFrom">;
  readonly #lines = new Map<string, Line<Operation>>();
  /** Those with something waiting and nothing under way, in the order in which they became so. */
  readonly #ready = new Set<Line<Operation>>();
  #unanswered = 0;

  constructor(bounds: Pick<BatchBounds, "operations" | "ownFrom">) {
    this.#bounds = bounds;
  }

  get hasReady(): boolean {
    return this.#ready.size > 0;
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0;
  }

  /** @throws LedgerUnavailableError when too many operations are there already. */
  add(operation: Operation): void {
    const { account } = operation;
    if (this.#unanswered >= maxUnanswered) {
      throw new LedgerUnavailableError(`${maxUnanswered} operations are waiting already.`);
    }
    const line = this.#lines.get(account) ?? { account, waiting: [], isUnderWay: false };
    if (line.waiting.length >= maxWaiting) {
      throw new LedgerUnavailableError(`${maxWaiting} operations on ${account} are waiting already.`);
    }
    this.#lines.set(account, line);
    this.#unanswered++;
    line.waiting.push(operation);
    if (!line.isUnderWay) this.#ready.add(line);
  }

  /** Takes the next batch. Its accounts have no other until {@link giveBack}. */
  take(): Batch<Operation> {
    const lines = this.#nextLines();
    const { operations: most, ownFrom } = this.#bounds;
    const [first] = lines;
    const room = first && first.waiting.length >= ownFrom ? mostOfOneAccount : most;
    const operations: Operation[] = [];
    for (const line of lines) {
      operations.push(...line.waiting.splice(0, room - operations.length));
      line.isUnderWay = true;
      this.#ready.delete(line);
    }
    return { lines, operations };
  }

  /** Lets the accounts of a batch have the next one. */
  giveBack({ lines, operations }: Batch<Operation>): void {
    this.#unanswered -= operations.length;
    for (const line of lines) {
      line.isUnderWay = false;
      if (line.waiting.length > 0) this.#ready.add(line);
      else this.#lines.delete(line.account);
    }
  }

  /** One busy account, or others that have room in a statement together: those that wait for a row wait for all of them. */
  #nextLines(): Line<Operation>[] {
    const lines: Line<Operation>[] = [];
    let count = 0;
    for (const line of this.#ready) {
      const isBusy = line.waiting.length >= this.#bounds.ownFrom;
      if (isBusy && count === 0) return [line];
      if (isBusy) continue;
      lines.push(line);
      count += line.waiting.length;
      if (count >= this.#bounds.operations) break;
    }
    return lines;
  }
}

/** How operations on credits go together. */
export interface PostgresBatchOptions {
  /**
   * How many operations of several accounts go in one statement at most, 1 to 64. An account with eight operations waiting,
   * or with so many, gets a statement of its own, of up to 64. Default: 32.
   */
  operations?: number | undefined;
  /** How many statements are under way at a time, 1 to 64. Each takes a connection of the pool. Default: 2. */
  inFlight?: number | undefined;
}

/** What goes together in a statement. */
export interface BatchBounds {
  /** The most operations of several accounts. */
  readonly operations: number;
  /** The most statements under way. */
  readonly inFlight: number;
  /** From so many operations on that wait for it, an account gets a statement of its own. */
  readonly ownFrom: number;
}

const most = 64;

/** @throws RangeError when an option is not valid. */
export function batchBounds(options: PostgresBatchOptions | false = {}): BatchBounds {
  if (options === false) return { operations: most, inFlight: Number.POSITIVE_INFINITY, ownFrom: 1 };
  requireKnownOptions("batch", options, { operations: true, inFlight: true });
  const { operations = 32, inFlight = 2 } = options;
  requireCount("batch.operations", operations);
  requireCount("batch.inFlight", inFlight);
  return { operations, inFlight, ownFrom: Math.min(8, operations) };
}

function requireCount(name: string, count: number): void {
  if (!Number.isSafeInteger(count) || count < 1 || count > most) {
    throw new RangeError(`${name} must be a whole number from 1 to ${most}, not ${count}.`);
  }
}
