import type { Outcome } from "../events/outcome.js";
import type { Disconnect } from "../metering/outcome.js";
import type { ResolvedDrainLimits } from "../plans/drain-limits.js";
import type { AbortReason } from "./open-calls.js";

/** The part of a call that {@link Departure} needs. */
export interface DepartedCall {
  readonly abortReason: AbortReason | undefined;
  abort(reason: AbortReason): void;
}

/** Keeps reading a response after its client has left, within limits. */
export class Departure {
  readonly #limits: ResolvedDrainLimits;
  readonly #call: DepartedCall;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: Disconnect = "cancelled";
  #isOver = false;
  #hasLeft = false;
  #readOn: (() => void) | undefined;

  constructor(limits: ResolvedDrainLimits, call: DepartedCall) {
    this.#limits = limits;
    this.#call = call;
  }

  /** Whether the client has left while the call went on. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** @param readOn - called once the client has left; reads the rest of the response. */
  whenLeft(readOn: () => void): void {
    this.#readOn = readOn;
    if (this.#hasLeft) readOn();
  }

  clientGone(): void {
    // A call that was aborted before its client left does not continue.
    if (this.#hasLeft || this.#isOver || this.#call.abortReason !== undefined) return;
    this.#hasLeft = true;
    this.#timer = setTimeout(() => this.timeUp(), this.#limits.maxMs);
    this.#readOn?.();
  }

  /** The time for reading on is over, or the time of the whole call. */
  timeUp(): void {
    if (this.#hasLeft) this.#stop("drain_timed_out");
  }

  /** @param outputTokens - the output received so far. */
  progress(outputTokens: number): void {
    if (this.#hasLeft && outputTokens > this.#limits.maxTokens) this.#stop("drain_over_tokens");
  }

  #stop(end: Disconnect): void {
    if (this.#isOver) return;
    this.#end = end;
    this.#call.abort("client_gone");
  }

  /** The call has ended. @returns its outcome: `client_gone` when the client has left. */
  ended(outcome: Outcome): Outcome {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (!this.#hasLeft || outcome.reason === "shutdown") return outcome;
    if (outcome.reason === "completed") this.#end = "drained";
    else if (outcome.reason !== "client_gone") this.#end = "drain_failed";
    return { reason: "client_gone", disconnect: this.#end };
  }
}
