import { isRefusal } from "../errors/provider-refusal.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import type { Outcome } from "../events/outcome.js";
import type { Clock } from "../ledger/clock.js";
import type { Breaker, BreakerState } from "./breaker.js";
import { TargetLoad } from "./target-load.js";

/** What this process knows about a target, see `gateway.health()`. */
export interface TargetHealth {
  /** The provider's name in the options. */
  provider: string;
  /** The upstream's name for the model. */
  model: string;
  /**
   * `closed`: calls pass, as always without a circuit breaker. `open`: no call passes until `availableAt`, unless every
   * target of the model is open: then one test call at a time passes. `half_open`: one test call at a time may pass.
   * `resting`: the upstream asked for a pause until `availableAt`.
   */
  state: BreakerState | "resting";
  /** Calls in progress. */
  active: number;
  /**
   * Calls that succeeded, and calls that failed, since the gateway was made. A call that fails by the client's own
   * mistake counts as answered.
   */
  answered: number;
  failed: number;
  /** Failures in a row; absent without a circuit breaker. */
  consecutiveFailures?: number;
  /** The part of the latest calls that failed, 0 to 1; absent without a circuit breaker. */
  failureRate?: number;
  /** When calls may pass again, in epoch milliseconds; absent when they may now. */
  availableAt?: number;
}

/** What a call has shown about its target. `unknown`: nothing, for example because the client left. */
export type Verdict = "answered" | "failed" | "unknown";

/**
 * A request that the upstream finds invalid counts as answered. A request for which the upstream has no capacity counts
 * as failed. A request that the provider itself refuses shows nothing about the upstream.
 */
export function verdictOf({ reason, error }: Pick<Outcome, "reason" | "error">): Verdict {
  if (reason === "client_gone" || reason === "shutdown") return "unknown";
  if (reason === "completed") return "answered";
  if (error !== undefined && isRefusal(error)) return "unknown";
  if (reason !== "upstream_refused" || error?.status === 429) return "failed";
  return error?.cause instanceof UpstreamStatusError ? "answered" : "unknown";
}

/** The longest pause that an upstream may ask for, in milliseconds. */
const longestRestMs = 60_000;

/** Knows whether one target can take another call. Its counts outlive it: see {@link TargetLoad}. */
export class TargetMonitor {
  readonly breaker: Breaker | undefined;
  readonly load: TargetLoad;
  readonly #maxConcurrent: number;

  /** @param options - `load`: default: that of a target that was never called. */
  constructor(options: {
    breaker: Breaker | undefined;
    maxConcurrent: number | undefined;
    load?: TargetLoad | undefined;
  }) {
    this.breaker = options.breaker;
    this.#maxConcurrent = options.maxConcurrent ?? Number.POSITIVE_INFINITY;
    this.load = options.load ?? new TargetLoad();
  }

  get isFull(): boolean {
    return this.load.active >= this.#maxConcurrent;
  }

  /** Until when the upstream asked for a pause, in epoch milliseconds. */
  get restsUntil(): number {
    return this.load.restsUntil;
  }

  /**
   * The time from which the target may be called, in epoch milliseconds. `Infinity` while that depends on a call in
   * progress.
   */
  get availableAt(): number {
    const { restsUntil } = this.load;
    return this.breaker === undefined ? restsUntil : Math.max(restsUntil, this.breaker.availableAt);
  }

  /**
   * Since when the target's breaker waits, in epoch milliseconds, where a test call could be made before its time. Else
   * `undefined`.
   */
  waitsSince(now: number): number | undefined {
    return this.load.restsUntil > now || this.isFull ? undefined : this.breaker?.waitsSince;
  }

  /** A call begins. @returns whether it is a test call of the breaker. */
  enter(now: number): boolean {
    this.load.active++;
    return this.breaker?.enter(now) ?? false;
  }

  /** The test call shows that the target works again. */
  reopen(): void {
    this.breaker?.close();
    this.load.reopened?.();
  }

  /** @param isProbe - what {@link enter} returned. */
  leave(verdict: Verdict, isProbe: boolean, clock: Clock): void {
    const { load } = this;
    load.active--;
    if (verdict === "answered") load.answered++;
    if (verdict === "failed") load.failed++;
    if (this.breaker !== undefined) tell(this.breaker, verdict, isProbe, clock.now());
    if (isProbe && verdict === "answered") load.reopened?.();
    else load.freed?.();
  }

  /** The upstream asked for a pause. */
  rest(ms: number, now: number): void {
    this.load.restsUntil = Math.max(this.load.restsUntil, now + Math.min(ms, longestRestMs));
  }

  describe(now: number): Omit<TargetHealth, "provider" | "model"> {
    const { breaker, load } = this;
    const state = breaker?.state(now) ?? "closed";
    const { availableAt } = this;
    return {
      state: load.restsUntil > now && state !== "open" ? "resting" : state,
      active: load.active,
      answered: load.answered,
      failed: load.failed,
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
