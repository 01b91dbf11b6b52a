import { isRefusal } from "../errors/provider-refusal.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import type { Outcome } from "../events/outcome.js";
import type { Clock } from "../ledger/clock.js";
import type { Breaker, BreakerState } from "./breaker.js";

/** What is known of a target in this process, see `gateway.health()`. */
export interface TargetHealth {
  /** The provider's name in the options. */
  provider: string;
  /** The upstream's name for the model. */
  model: string;
  /**
   * `closed`: calls pass, as always where there is no circuit breaker. `open`: none passes until `availableAt`.
   * `half_open`: one call at a time is let through to see whether it works again. `resting`: the upstream has asked to be
   * left alone until `availableAt`.
   */
  state: BreakerState | "resting";
  /** Calls in progress. */
  active: number;
  /** Calls that were answered, and those that failed, since the gateway was made. The client's own mistakes are answers. */
  answered: number;
  failed: number;
  /** Failures in a row; absent without a circuit breaker. */
  consecutiveFailures?: number;
  /** The part of the last calls that failed, 0 to 1; absent without a circuit breaker. */
  failureRate?: number;
  /** When calls may pass again, in epoch milliseconds; absent when they may now. */
  availableAt?: number;
}

/** What a call to a target has shown about it. `unknown`: nothing, as when the client left. */
export type Verdict = "answered" | "failed" | "unknown";

/**
 * A request that the upstream finds fault with was answered; one that it has no capacity for was not. One that its provider
 * refuses by itself says nothing about it.
 */
export function verdictOf({ reason, error }: Pick<Outcome, "reason" | "error">): Verdict {
  if (reason === "client_gone" || reason === "shutdown") return "unknown";
  if (reason === "completed") return "answered";
  if (error !== undefined && isRefusal(error)) return "unknown";
  if (reason !== "upstream_refused" || error?.status === 429) return "failed";
  return error?.cause instanceof UpstreamStatusError ? "answered" : "unknown";
}

/** The longest that a target rests because it asked to, in milliseconds. */
const longestRestMs = 60_000;

/** Counts the calls of one target, and says whether it can take another one. */
export class TargetMonitor {
  readonly breaker: Breaker | undefined;
  /** Called when a call has left, so that one that waits can have its place. */
  freed: (() => void) | undefined;
  readonly #maxConcurrent: number;
  #active = 0;
  #answered = 0;
  #failed = 0;
  #restsUntil = 0;

  constructor(options: { breaker: Breaker | undefined; maxConcurrent: number | undefined }) {
    this.breaker = options.breaker;
    this.#maxConcurrent = options.maxConcurrent ?? Number.POSITIVE_INFINITY;
  }

  get isFull(): boolean {
    return this.#active >= this.#maxConcurrent;
  }

  /** When the upstream has asked to be called again, in epoch milliseconds. */
  get restsUntil(): number {
    return this.#restsUntil;
  }

  /** From when on it may be called, in epoch milliseconds; `Infinity` while that depends on a call in progress. */
  get availableAt(): number {
    return this.breaker === undefined ? this.#restsUntil : Math.max(this.#restsUntil, this.breaker.availableAt);
  }

  /** A call begins. @returns whether it is the one that tries an open breaker. */
  enter(): boolean {
    this.#active++;
    return this.breaker?.enter() ?? false;
  }

  /** @param isProbe - what {@link enter} said. */
  leave(verdict: Verdict, isProbe: boolean, clock: Clock): void {
    this.#active--;
    if (verdict === "answered") this.#answered++;
    if (verdict === "failed") this.#failed++;
    if (this.breaker !== undefined) tell(this.breaker, verdict, isProbe, clock.now());
    this.freed?.();
  }

  /** The upstream asks not to be called for so long. */
  rest(ms: number, now: number): void {
    this.#restsUntil = Math.max(this.#restsUntil, now + Math.min(ms, longestRestMs));
  }

  describe(now: number): Omit<TargetHealth, "provider" | "model"> {
    const { breaker } = this;
    const state = breaker?.state(now) ?? "closed";
    const { availableAt } = this;
    return {
      state: this.#restsUntil > now && state !== "open" ? "resting" : state,
      active: this.#active,
      answered: this.#answered,
      failed: this.#failed,
      ...(breaker === undefined
        ? undefined
        : { consecutiveFailures: breaker.consecutiveFailures, failureRate: breaker.failureRate(now) }),
      ...(availableAt > now && Number.isFinite(availableAt) ? { availableAt } : undefined),
    };
  }
}

function tell(breaker: Breaker, verdict: Verdict, isProbe: boolean, now: number): void {
  if (verdict === "failed") {
    breaker.failed(now, isProbe);
  } else if (verdict === "answered") {
    if (isProbe) breaker.close();
    breaker.succeeded(now);
  } else if (isProbe) {
    breaker.withdraw();
  }
}
