import { requireKnownOptions } from "../../check/known-options.js";
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
