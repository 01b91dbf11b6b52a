import { atCapacity, badGateway, type GatewayError } from "../errors/gateway-error.js";
import { isRefusal } from "../errors/provider-refusal.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import type { Clock } from "../ledger/clock.js";
import { type AbortNotice, UpstreamError } from "../providers/upstream-provider.js";
import { preferRetryable, remedyOf } from "./retry-policy.js";
import type { Target } from "./target.js";
import type { TargetRoute } from "./target-route.js";
import { TargetVisit } from "./target-visit.js";

const firstBackoffMs = 200;
const longestBackoffMs = 5_000;

/** A target that may be tried again, and when, in epoch milliseconds. */
interface Resting {
  readonly target: Target;
  readonly readyAt: number;
}

/**
 * One call's way through a model's targets: in their order, and again while attempts and time are left.
 *
 * Take a visit, make the attempt, and tell of its failure; then take the next visit.
 */
export class TargetSearch {
  readonly #route: TargetRoute;
  /** Each ends the search at once: the client has left, or the call was broken off. */
  readonly #notices: readonly AbortNotice[];
  readonly #clock: Clock;
  #candidates: readonly Target[];
  #failedTargets: readonly Resting[] = [];
  /** How often each target has failed for this call. */
  #rounds: Map<Target, number> | undefined;
  #attempts = 0;
  #budgetMs: number;
  #error: GatewayError | undefined;

  constructor(route: TargetRoute, notices: readonly AbortNotice[], clock: Clock) {
    this.#route = route;
    this.#notices = notices;
    this.#clock = clock;
    this.#candidates = route.order();
    this.#budgetMs = route.retryBudgetMs;
  }

  /** Takes a place at the first target that can have the call now. */
  take(): TargetVisit | undefined {
    // The request may have ended while it was in a queue.
    if (this.#isGone()) return undefined;
    const now = this.#clock.now();
    const target = this.#candidates.find(({ monitor }) => monitor.availableAt <= now && !monitor.isFull);
    if (target === undefined) return undefined;
    this.#candidates = this.#candidates.filter((candidate) => candidate !== target);
    return new TargetVisit(target);
  }

  /**
   * Waits for a place at a target: in a queue, or until one has rested.
   * @throws GatewayError when there is none to be had, or {@link UpstreamError} `aborted`.
   */
  async wait(): Promise<TargetVisit> {
    for (;;) {
      const visit = this.take() ?? (await this.#queue());
      if (this.#isGone()) {
        visit?.leave("unknown", this.#clock);
        throw gone();
      }
      if (visit !== undefined) return visit;
      if (!this.#canWait()) await this.#rest();
    }
  }

  /**
   * An attempt has failed.
   * @throws GatewayError as the client is to see it, when no other attempt may follow.
   */
  failed(target: Target, error: GatewayError): void {
    const now = this.#clock.now();
    const askedMs = askedToRestMs(error);
    if (askedMs !== undefined && !this.#route.isPlain) target.monitor.rest(askedMs, now);
    this.#attempts++;
    const remedy = remedyOf(error);
    this.#error = remedy === "none" ? error : preferRetryable(this.#error, error);
    if (remedy === "none" || this.#attempts >= this.#route.maxAttempts || this.#isGone()) throw this.#error;
    if (remedy !== "again") return;
    this.#rounds ??= new Map();
    const round = (this.#rounds.get(target) ?? 0) + 1;
    this.#rounds.set(target, round);
    const again = { target, readyAt: readyAt(target, round, now, this.#route.random) };
    this.#failedTargets = [...this.#failedTargets, again];
  }

  /** Waits in the queue where a target is full, but well. */
  async #queue(): Promise<TargetVisit | undefined> {
    if (!this.#canWait()) return undefined;
    let visit: TargetVisit | undefined;
    const take = (): boolean => {
      visit = this.take();
      return visit !== undefined;
    };
    if (await this.#route.queue({ take, canWait: () => this.#canWait() }, this.#notices)) return visit;
    if (this.#isGone()) return undefined;
    // Another one may have rested enough meanwhile.
    const free = this.take();
    if (free !== undefined || !this.#canWait()) return free;
    throw preferRetryable(this.#error, atCapacity({ "retry-after": "1" }));
  }

  /** Waits until a target has rested. */
  async #rest(): Promise<void> {
    const now = this.#clock.now();
    const next = this.#soonest(now);
    const waitMs = next === undefined ? 0 : Math.max(0, next.readyAt - now);
    if (next === undefined || waitMs > this.#budgetMs) {
      throw this.#error ?? allUnavailable(this.#route.targets, now);
    }
    this.#budgetMs -= waitMs;
    await this.#route.pause(waitMs, this.#notices);
    if (this.#isGone()) throw gone();
    if (!this.#failedTargets.includes(next)) return;
    this.#failedTargets = this.#failedTargets.filter((failed) => failed !== next);
    this.#candidates = [...this.#candidates, next.target];
  }

  /** Which target is worth waiting for: one that rests, or that failed for this call. An open breaker is not. */
  #soonest(now: number): Resting | undefined {
    const resting = this.#candidates.map((target) => ({ target, readyAt: target.monitor.restsUntil }));
    return [...resting, ...this.#failedTargets]
      .filter(({ target }) => (target.monitor.breaker?.availableAt ?? 0) <= now)
      .sort((one, other) => one.readyAt - other.readyAt)[0];
  }

  /** Whether a target could have the call now if it were not full. */
  #canWait(): boolean {
    const now = this.#clock.now();
    return this.#candidates.some(({ monitor }) => monitor.availableAt <= now);
  }

  #isGone(): boolean {
    return this.#notices.some(({ aborted }) => aborted);
  }
}

function gone(): UpstreamError {
  return new UpstreamError("aborted", "The client left before the call was made.");
}

/** How long the upstream wants to be left alone. A refusal by the host's own provider says nothing of the upstream. */
function askedToRestMs(error: GatewayError): number | undefined {
  const { cause } = error;
  if (isRefusal(error) || !(cause instanceof UpstreamStatusError)) return undefined;
  return cause.status >= 429 ? cause.retryAfterMs : undefined;
}

/** After a back-off that doubles, half of it chance, and not before the upstream's own word. */
function readyAt({ monitor }: Target, round: number, now: number, random: () => number): number {
  const backoffMs = Math.min(firstBackoffMs * 2 ** (round - 1), longestBackoffMs) * (0.5 + random() / 2);
  const restsUntil = monitor.restsUntil > now ? monitor.restsUntil + random() * firstBackoffMs : 0;
  return Math.ceil(Math.max(now + backoffMs, restsUntil));
}

/** No target can be called at the moment, and none was. */
function allUnavailable(targets: readonly Target[], now: number): GatewayError {
  const seconds = (Math.min(...targets.map(({ monitor }) => monitor.availableAt)) - now) / 1000;
  const headers = { "retry-after": Number.isFinite(seconds) ? String(Math.max(1, Math.ceil(seconds))) : "1" };
  if (targets.some(({ monitor }) => monitor.restsUntil > now)) return atCapacity(headers);
  return badGateway("The model is not available at the moment. Try again shortly.", {
    headers,
    cause: new Error("Every target of the model has failed too often: they are left alone for a while."),
  });
}
