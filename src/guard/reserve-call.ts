import type { CreditLedger, ReserveRequest, ReserveResult } from "../ledger/credit-ledger.js";
import type { Availability } from "./availability.js";
import { isLedgerRefusal } from "./is-ledger-refusal.js";
import { LedgerCall } from "./ledger-call.js";
import { type TimeLimit, TimeLimitError } from "./time-limit.js";

/** What all reservations of a ledger have in common. */
export interface ReserveParts {
  readonly ledger: CreditLedger;
  readonly limit: TimeLimit;
  readonly availability: Availability;
  /** Gets what came too late. Every request has an id of its own, so nothing else ends a hold that was made too late. */
  giveBack(request: ReserveRequest, late: ReserveResult): void;
}

/** Who waits for a reservation. */
export interface ReserveCaller {
  /** How often it is sent at most. */
  readonly attempts: number;
  resolve(result: ReserveResult): void;
  reject(error: unknown): void;
}

/** A reservation on its way to the ledger. */
export class ReserveCall extends LedgerCall<ReserveResult> {
  readonly #parts: ReserveParts;
  readonly #request: ReserveRequest;
  readonly #caller: ReserveCaller;

  constructor(parts: ReserveParts, request: ReserveRequest, caller: ReserveCaller) {
    super(parts.limit);
    this.#parts = parts;
    this.#request = request;
    this.#caller = caller;
  }

  protected send(): Promise<ReserveResult> {
    return this.#parts.ledger.reserve(this.#request);
  }

  protected mayRepeat(error: unknown, attempts: number): boolean {
    this.#parts.availability.failed("reserve", error);
    return attempts < this.#caller.attempts;
  }

  protected succeed(result: ReserveResult): void {
    this.#parts.availability.succeeded();
    this.#caller.resolve(result);
  }

  protected fail(error: unknown): void {
    const { availability } = this.#parts;
    if (error instanceof TimeLimitError) availability.failed("reserve", error);
    else if (isLedgerRefusal(error)) availability.succeeded();
    this.#caller.reject(error);
  }

  protected override late(result: ReserveResult): void {
    this.#parts.giveBack(this.#request, result);
  }
}
