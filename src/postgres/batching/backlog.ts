import { LedgerUnavailableError } from "../../ledger/credit-ledger.js";
import type { AccountOperation } from "./account-batches.js";
import type { BatchBounds } from "./batch-options.js";

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
export interface Batch<Operation> {
  readonly lines: readonly Line<Operation>[];
  readonly operations: Operation[];
}

/** The operations that wait, by account. An account is in one batch at a time; those that wait longest come first. */
export class Backlog<Operation extends AccountOperation> {
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
