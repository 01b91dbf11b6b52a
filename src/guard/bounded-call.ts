import type { Availability } from "./availability.js";
import { LedgerCall } from "./ledger-call.js";
import { type TimeLimit, TimeLimitError } from "./time-limit.js";

/** An operation of which nobody needs a result that comes too late. */
export interface BoundedOperation<Result> {
  readonly name: string;
  readonly limit: TimeLimit;
  /** How often it is sent at most. */
  readonly attempts: number;
  send(): Promise<Result>;
}

/** Any operation but a reservation and its end, on its way to the ledger. */
export class BoundedCall<Result> extends LedgerCall<Result> {
  readonly #operation: BoundedOperation<Result>;
  readonly #availability: Availability;
  readonly #caller: { resolve(result: Result): void; reject(error: unknown): void };

  constructor(
    operation: BoundedOperation<Result>,
    availability: Availability,
    caller: { resolve(result: Result): void; reject(error: unknown): void },
  ) {
    super(operation.limit);
    this.#operation = operation;
    this.#availability = availability;
    this.#caller = caller;
  }

  protected send(): Promise<Result> {
    return this.#operation.send();
  }

  protected mayRepeat(error: unknown, attempts: number): boolean {
    this.#availability.failed(this.#operation.name, error);
    return attempts < this.#operation.attempts;
  }

  protected succeed(result: Result): void {
    this.#availability.succeeded();
    this.#caller.resolve(result);
  }

  protected fail(error: unknown): void {
    if (error instanceof TimeLimitError) this.#availability.failed(this.#operation.name, error);
    this.#caller.reject(error);
  }
}
