import type { Outcome } from "../events/outcome.js";
import type { Disconnect } from "../metering/outcome.js";
import type { ResolvedDrainLimits } from "../plans/drain-limits.js";
import type { AbortReason } from "./open-calls.js";

/** A call, as far as its client's departure goes. */
export interface DepartedCall {
  readonly abortReason: AbortReason | undefined;
  abort(reason: AbortReason): void;
}

/** Keeps a response going after its client left, within limits. */
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

  /** The client has left, and the call goes on, or went on. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** @param readOn - reads the rest of the response when the client takes it no longer. */
  whenLeft(readOn: () => void): void {
    this.#readOn = readOn;
    if (this.#hasLeft) readOn();
  }

  clientGone(): void {
    // What was broken off before it left does not go on.
    if (this.#hasLeft || this.#isOver || this.#call.abortReason !== undefined) return;
    this.#hasLeft = true;
    this.#timer = setTimeout(() => this.timeUp(), this.#limits.maxMs);
    this.#readOn?.();
  }

  /** Its own time is up, or that of the whole call. */
  timeUp(): void {
    if (this.#hasLeft) this.#stop("drain_timed_out");
  }

  /** So much of the response has come. */
  progress(outputTokens: number): void {
    if (this.#hasLeft && outputTokens > this.#limits.maxTokens) this.#stop("drain_over_tokens");
  }

  #stop(end: Disconnect): void {
    if (this.#isOver) return;
    this.#end = end;
    this.#call.abort("client_gone");
  }

  /** The call has ended. @returns its outcome: that of a client that left, if it did. */
  ended(outcome: Outcome): Outcome {
    this.#isOver = true;
    clearTimeout(this.#timer);
    if (!this.#hasLeft || outcome.reason === "shutdown") return outcome;
    if (outcome.reason === "completed") this.#end = "drained";
    else if (outcome.reason !== "client_gone") this.#end = "drain_failed";
    return { reason: "client_gone", disconnect: this.#end };
  }
}
