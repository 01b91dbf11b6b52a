import type { Outcome } from "../events/request-observer.js";
import type { Disconnect } from "../prices/charge.js";
import type { ResolvedDrainLimits } from "../records/plans/plan-store.js";
import type { AbortReason } from "./open-calls.js";

/**
 * How long a response is read on for its usage, in milliseconds, once all of it has come. Servers send the usage at once;
 * one that does not is no reason to keep a connection.
 */
export const usageWaitMs = 5000;

/** The part of a call that {@link Departure} needs. */
export interface DepartedCall {
  readonly abortReason: AbortReason | undefined;
  /** See `Progress`. */
  readonly awaitsUsage: boolean;
  /** See `Progress`. Absent: it is not. */
  readonly isCounted?: boolean;
  abort(reason: AbortReason): void;
}

/** Keeps reading a response after its client has left: within limits, and then for its usage if that is all that is missing. */
export class Departure {
  readonly #limits: ResolvedDrainLimits | "cancel";
  readonly #call: DepartedCall;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: Disconnect = "cancelled";
  #isOver = false;
  #hasLeft = false;
  /** The limit that was reached before the usage came; `undefined`: none. */
  #reached: Disconnect | undefined;
  #readOn: (() => void) | undefined;

  /** @param limits - `cancel`: only for the usage. */
  constructor(limits: ResolvedDrainLimits | "cancel", call: DepartedCall) {
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
    if (this.#limits === "cancel") this.#reach("cancelled");
    else this.#timer = setTimeout(() => this.#reach("drain_timed_out"), this.#limits.maxMs);
    this.#readOn?.();
  }

  /** The time of the whole call is over. */
  timeUp(): void {
    if (this.#hasLeft) this.#stop("drain_timed_out");
  }

  /** @param outputTokens - the output received so far, counted as it is charged. */
  progress(outputTokens: number): void {
    if (!this.#hasLeft) return;
    if (this.#reached !== undefined) this.#reach(this.#reached);
    else if (this.#limits !== "cancel" && outputTokens > this.#limits.maxTokens) this.#reach("drain_over_tokens");
  }

  /** All of the response has come, with its usage. What the gateway would do with it for its client is of no use now. */
  cameWhole(): void {
    if (this.#reached !== undefined) this.#stop(this.#reached);
  }

  /** Stops, but for the usage. */
  #reach(limit: Disconnect): void {
    const isUseless = this.#reached === undefined && this.#call.isCounted === true;
    if (!this.#call.awaitsUsage || isUseless) {
      this.#stop(limit);
      return;
    }
    if (this.#reached !== undefined) return;
    this.#reached = limit;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#stop(limit), usageWaitMs);
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
