import { readable } from "../../runtime/host-code.js";
import { letProcessEnd } from "../../runtime/let-process-end.js";
import type { Clock } from "../calendar.js";
import type { CreditLedger, ReserveRequest, ReserveResult } from "../credit-ledger.js";
import { isLedgerRefusal } from "../ledger-refusal.js";
import type { Emit, LedgerHealth } from "./ledger-event.js";
import type { TimeLimit, TimeLimitError, Wait } from "./time-limit.js";

const firstPauseMs = 20;

/** Who waits for an operation. */
export interface LedgerCaller<Result> {
  resolve(result: Result): void;
  /** @param error - a refusal, what the last attempt failed with, or a {@link TimeLimitError}. */
  reject(error: unknown): void;
}

/**
 * An operation of a ledger, which is sent again while it fails, until its caller's time is over. It is an object, and not a
 * chain of functions that wait for each other: each of these would cost every call a promise and more.
 */
abstract class LedgerCall<Result> implements Wait {
  firstTick = 0;
  place = -1;
  /** For events. */
  protected abstract readonly name: string;
  /** How often it is sent at most. */
  protected abstract readonly most: number;
  protected readonly availability: Availability;
  readonly #limit: TimeLimit;
  readonly #caller: LedgerCaller<Result>;
  readonly #startedAt = performance.now();
  #attempts = 0;
  #isOver = false;
  /** The attempt that is on its way. */
  #sent: Promise<Result> | undefined;

  constructor(limit: TimeLimit, availability: Availability, caller: LedgerCaller<Result>) {
    this.#limit = limit;
    this.availability = availability;
    this.#caller = caller;
  }

  protected abstract send(): Promise<Result>;
  /** Gets the result of an attempt that ended too late for the caller. */
  protected late(_result: Result): void {}
  /** The caller's time is over, and an attempt is on its way. @param attempt - settles after {@link LedgerCall.late}. */
  protected left(_attempt: Promise<unknown>): void {}

  protected fail(error: unknown): void {
    this.#caller.reject(error);
  }

  start(): void {
    this.#limit.begin(this);
    this.#attempt();
  }

  expire(error: TimeLimitError): void {
    this.#isOver = true;
    this.availability.failed(this.name, error);
    this.fail(error);
    if (this.#sent !== undefined) this.left(this.#sent);
  }

  #attempt(): void {
    if (this.#isOver) return;
    this.#attempts++;
    let sent: Promise<Result>;
    try {
      // A host's own ledger may return its result without a promise.
      sent = Promise.resolve(this.send());
    } catch (error) {
      this.#failed(readable(error));
      return;
    }
    this.#sent = sent;
    sent.then(
      (result) => this.#succeeded(result),
      (error: unknown) => this.#failed(readable(error)),
    );
  }

  #succeeded(result: Result): void {
    if (this.#isOver) {
      try {
        this.late(result);
      } catch {
        // A host's own ledger may return anything. In time, it would have failed its caller.
      }
      return;
    }
    this.#end();
    try {
      this.availability.succeeded();
      this.#caller.resolve(result);
    } catch (error) {
      // A host's own ledger may return anything.
      this.fail(readable(error));
    }
  }

  #failed(error: unknown): void {
    this.#sent = undefined;
    if (this.#isOver) return;
    const isRefusal = isLedgerRefusal(error);
    if (!isRefusal) this.availability.failed(this.name, error);
    if (isRefusal || this.#attempts >= this.most || this.#isTooLate()) {
      this.#end();
      this.fail(error);
      return;
    }
    const pauseMs = firstPauseMs * 2 ** (this.#attempts - 1);
    const timer = setTimeout(() => this.#attempt(), pauseMs * (0.5 + Math.random() / 2));
    // It does not keep the process alive. The time limit of the waiting caller does.
    letProcessEnd(timer);
  }

  /** A store that blocks the event loop keeps the time limit from firing. */
  #isTooLate(): boolean {
    return performance.now() - this.#startedAt > this.#limit.ms;
  }

  #end(): void {
    this.#isOver = true;
    this.#limit.end(this);
  }
}

/** An operation of which nobody needs a result that comes too late. */
interface BoundedOperation<Result> {
  readonly name: string;
  readonly limit: TimeLimit;
  /** How often it is sent at most. */
  readonly attempts: number;
  send(): Promise<Result>;
}

/** Any operation but a reservation and its end, on its way to the ledger. */
export class BoundedCall<Result> extends LedgerCall<Result> {
  readonly #operation: BoundedOperation<Result>;

  constructor(operation: BoundedOperation<Result>, availability: Availability, caller: LedgerCaller<Result>) {
    super(operation.limit, availability, caller);
    this.#operation = operation;
  }

  protected get name(): string {
    return this.#operation.name;
  }

  protected get most(): number {
    return this.#operation.attempts;
  }

  protected send(): Promise<Result> {
    return this.#operation.send();
  }
}

/** What all reservations of a ledger have in common. */
export interface ReserveParts {
  readonly ledger: CreditLedger;
  readonly limit: TimeLimit;
  readonly availability: Availability;
  /** Gets what came too late. Every request has an id of its own, so nothing else ends a hold that was made too late. */
  giveBack(request: ReserveRequest, late: ReserveResult): void;
  /** Nobody waits for it any more, and it may still come. */
  left(attempt: Promise<unknown>): void;
}

/** A reservation on its way to the ledger. */
export class ReserveCall extends LedgerCall<ReserveResult> {
  readonly #parts: ReserveParts;
  readonly #request: ReserveRequest;
  protected readonly most: number;

  constructor(parts: ReserveParts, request: ReserveRequest, most: number, caller: LedgerCaller<ReserveResult>) {
    super(parts.limit, parts.availability, caller);
    this.#parts = parts;
    this.#request = request;
    this.most = most;
  }

  protected get name(): string {
    return "reserve";
  }

  protected send(): Promise<ReserveResult> {
    return this.#parts.ledger.reserve(this.#request);
  }

  protected override fail(error: unknown): void {
    if (isLedgerRefusal(error)) this.availability.succeeded();
    super.fail(error);
  }

  protected override late(result: ReserveResult): void {
    this.#parts.giveBack(this.#request, result);
  }

  protected override left(attempt: Promise<unknown>): void {
    this.#parts.left(attempt);
  }
}

/** Whether the ledger's store responds, as far as its latest responses show. */
export class Availability {
  readonly #clock: Clock;
  readonly #emit: Emit;
  readonly #onAnswer: () => void;
  readonly #onReturn: (downSince: number) => void;
  #downSince: number | undefined;
  #outages = 0;
  #lastOutage: LedgerHealth["lastOutage"];

  constructor(options: {
    clock: Clock;
    emit: Emit;
    /** The store has responded. */
    onAnswer: () => void;
    /** The store responds again. It may be another server, which lacks what the first one acknowledged last. */
    onReturn: (downSince: number) => void;
  }) {
    this.#clock = options.clock;
    this.#emit = options.emit;
    this.#onAnswer = options.onAnswer;
    this.#onReturn = options.onReturn;
  }

  get isDown(): boolean {
    return this.#downSince !== undefined;
  }

  /** What is known of its outages. */
  get history(): Pick<LedgerHealth, "downSince" | "outages" | "lastOutage"> {
    return {
      outages: this.#outages,
      ...(this.#downSince !== undefined && { downSince: this.#downSince }),
      ...(this.#lastOutage !== undefined && { lastOutage: this.#lastOutage }),
    };
  }

  failed(operation: string, cause: unknown): void {
    if (this.#downSince !== undefined) return;
    this.#downSince = this.#clock.now();
    this.#outages++;
    this.#emit({ type: "unavailable", operation, cause });
  }

  succeeded(): void {
    this.#onAnswer();
    const downSince = this.#downSince;
    if (downSince === undefined) return;
    this.#downSince = undefined;
    const to = Math.max(downSince, this.#clock.now());
    this.#lastOutage = { from: downSince, to };
    this.#emit({ type: "available", outageMs: to - downSince });
    this.#onReturn(downSince);
  }
}
