import { atCapacity, badGateway, type GatewayError } from "../errors/gateway-error.js";
import { isBeyondTarget, isRefusal } from "../errors/refusal.js";
import { UpstreamStatusError } from "../errors/upstream-fault.js";
import type { Clock } from "../ledger/calendar.js";
import {
  type AbortNotice,
  isUpstreamError,
  UpstreamError,
  type UpstreamProvider,
} from "../providers/upstream-provider.js";
import { longestRestMs, type Target, TargetVisit } from "./target.js";
import type { TargetRoute } from "./target-route.js";

const firstBackoffMs = 200;
const longestBackoffMs = 5_000;

/** A target that may be tried again at a certain time, in epoch milliseconds. */
interface Resting {
  readonly target: Target;
  readonly readyAt: number;
}

/** Which of its model's targets a call may use. */
export interface TargetChoice {
  /** In the order in which they are tried. */
  readonly targets: readonly Target[];
  /** By provider: what the account has of its own there. `undefined`: the operator's keys are used. */
  readonly ownKeys: ReadonlyMap<UpstreamProvider, string> | undefined;
}

const none: readonly never[] = [];

/**
 * Chooses the targets for one call: in their order, and again while attempts and time are left.
 *
 * Take a visit and make the attempt. After a failure, call `failed`, then take the next visit.
 */
export class TargetSearch {
  readonly #route: TargetRoute;
  /** Each of these signals ends the search: the client has left, or the call was aborted. */
  readonly #notices: readonly AbortNotice[];
  readonly #clock: Clock;
  /** The model's, or those of them that the call may use. */
  readonly #targets: readonly Target[];
  /** Whether the call uses keys of its account's own: what is known of a target was learned with the operator's. */
  readonly #isApart: boolean;
  readonly #maxAttempts: number;
  #candidates: readonly Target[];
  #failedTargets: readonly Resting[] = none;
  /** How often each target has failed for this call. */
  #rounds: Map<Target, number> | undefined;
  #attempts = 0;
  #budgetMs: number;
  #error: GatewayError | undefined;

  /** @param choice - which targets the call may use, in what order; `undefined`: all of the model's. */
  constructor(route: TargetRoute, notices: readonly AbortNotice[], clock: Clock, choice?: TargetChoice) {
    this.#route = route;
    this.#targets = choice?.targets ?? route.targets;
    this.#isApart = choice?.ownKeys !== undefined;
    this.#maxAttempts = choice !== undefined && route.triesEachOnce ? choice.targets.length : route.maxAttempts;
    this.#notices = notices;
    this.#clock = clock;
    this.#candidates = choice?.targets ?? route.order();
    this.#budgetMs = route.retryBudgetMs;
  }

  /** Takes a place at the first target that can take the call now. */
  take(): TargetVisit | undefined {
    // The request may have been aborted while it waited in the queue.
    if (this.#isGone()) return undefined;
    const now = this.#clock.now();
    for (const target of this.#candidates) {
      if (this.#availableAt(target) <= now && !target.monitor.isFull) return this.#visit(target, now);
    }
    return undefined;
  }

  #visit(target: Target, now: number): TargetVisit {
    const candidates = this.#candidates;
    this.#candidates = candidates.length === 1 ? none : candidates.filter((candidate) => candidate !== target);
    return new TargetVisit(target, now, this.#isApart);
  }

  #availableAt({ monitor }: Target): number {
    return this.#isApart ? 0 : monitor.availableAt;
  }

  /**
   * Waits for a place at a target: in the queue, or for the end of a target's pause.
   * @throws GatewayError when no target is left, or {@link UpstreamError} `aborted`.
   */
  async wait(): Promise<TargetVisit> {
    for (;;) {
      const visit = this.take() ?? (await this.#queue()) ?? (this.#canWait() ? undefined : await this.#rest());
      if (this.#isGone()) {
        visit?.leave("unknown", this.#clock);
        throw gone();
      }
      if (visit !== undefined) return visit;
    }
  }

  /**
   * Records that an attempt has failed.
   * @throws GatewayError for the client, when no other attempt may follow.
   */
  failed(target: Target, error: GatewayError): void {
    const now = this.#clock.now();
    const askedMs = askedToRestMs(error);
    if (askedMs !== undefined && !this.#route.isPlain && !this.#isApart) target.monitor.rest(askedMs, now);
    this.#attempts++;
    // Another target of the same provider would get the same key.
    if (this.#isApart && refusesKey(error)) {
      this.#candidates = this.#candidates.filter(({ provider }) => provider !== target.provider);
    }
    const remedy = remedyOf(error);
    this.#error = remedy === "none" ? error : preferRetryable(this.#error, error);
    if (remedy === "none" || this.#attempts >= this.#maxAttempts || this.#isGone()) throw this.#error;
    if (remedy !== "again") return;
    this.#rounds ??= new Map();
    const round = (this.#rounds.get(target) ?? 0) + 1;
    this.#rounds.set(target, round);
    // The rest of a target is that of the operator's key.
    const restsUntil = this.#isApart ? now + Math.min(askedMs ?? 0, longestRestMs) : target.monitor.restsUntil;
    const again = { target, readyAt: readyAt(restsUntil, round, now, this.#route.random) };
    this.#failedTargets = [...this.#failedTargets, again];
  }

  /** Waits in the queue when a healthy target is full. */
  async #queue(): Promise<TargetVisit | undefined> {
    if (!this.#canWait()) return undefined;
    const visit = await this.#standInLine(
      () => this.take(),
      () => this.#canWait(),
    );
    if (visit !== undefined || this.#isGone() || !this.#canWait()) return visit;
    throw preferRetryable(this.#error, atCapacity({ "retry-after": "1" }));
  }

  async #standInLine(find: () => TargetVisit | undefined, canWait: () => boolean): Promise<TargetVisit | undefined> {
    let visit: TargetVisit | undefined;
    const take = (): boolean => {
      visit = find();
      return visit !== undefined;
    };
    if ((await this.#route.queue({ take, canWait }, this.#notices)) || this.#isGone()) return visit;
    // The pause of another target may be over by now.
    return find();
  }

  /**
   * Waits until the pause of a target is over.
   * @returns a place, where nothing is worth waiting for and an open breaker may be tried.
   */
  async #rest(): Promise<TargetVisit | undefined> {
    if (this.#isGone()) return undefined;
    const now = this.#clock.now();
    const next = this.#soonest(now);
    const waitMs = next === undefined ? 0 : Math.max(0, next.readyAt - now);
    if (next === undefined || waitMs > this.#budgetMs) {
      const trial = this.#tryLongestOpen() ?? (await this.#waitForTrial());
      if (trial !== undefined || this.#isGone()) return trial;
      throw this.#error ?? allUnavailable(this.#targets, this.#clock.now());
    }
    this.#budgetMs -= waitMs;
    await this.#route.pause(waitMs, this.#notices);
    if (this.#isGone() || !this.#failedTargets.includes(next)) return undefined;
    this.#failedTargets = this.#failedTargets.filter((failed) => failed !== next);
    this.#candidates = [...this.#candidates, next.target];
    return undefined;
  }

  /**
   * Takes a place at the target whose breaker has waited the longest, where none of the model's targets can be called. A
   * breaker protects an upstream while others take its calls; with no other, it would only prolong the failure.
   */
  #tryLongestOpen(): TargetVisit | undefined {
    const now = this.#clock.now();
    if (this.#isGone() || !this.#isNoneAvailable(now)) return undefined;
    let longest: Target | undefined;
    let since = Number.POSITIVE_INFINITY;
    for (const target of this.#candidates) {
      const waits = target.monitor.waitsSince(now) ?? Number.POSITIVE_INFINITY;
      if (waits >= since) continue;
      longest = target;
      since = waits;
    }
    return longest === undefined ? undefined : this.#visit(longest, now);
  }

  /** Waits for the end of another call that tries an open breaker: it decides for all. */
  async #waitForTrial(): Promise<TargetVisit | undefined> {
    const isTried = () =>
      this.#canWait() ||
      (this.#isNoneAvailable(this.#clock.now()) && this.#candidates.some(({ monitor }) => monitor.breaker?.isTried));
    if (!isTried()) return undefined;
    return await this.#standInLine(() => this.take() ?? this.#tryLongestOpen(), isTried);
  }

  #isNoneAvailable(now: number): boolean {
    return this.#targets.every((target) => this.#availableAt(target) > now);
  }

  /** The target whose pause ends first. A target with an open breaker is not waited for. */
  #soonest(now: number): Resting | undefined {
    const resting = this.#candidates.map((target) => ({ target, readyAt: target.monitor.restsUntil }));
    return [...resting, ...this.#failedTargets]
      .filter(({ target }) => this.#isApart || (target.monitor.breaker?.availableAt ?? 0) <= now)
      .sort((one, other) => one.readyAt - other.readyAt)[0];
  }

  /** Whether a target could take the call now if it were not full. */
  #canWait(): boolean {
    const now = this.#clock.now();
    return this.#candidates.some((target) => this.#availableAt(target) <= now);
  }

  #isGone(): boolean {
    for (const { aborted } of this.#notices) if (aborted) return true;
    return false;
  }
}

function gone(): UpstreamError {
  return new UpstreamError("aborted", "The client left before the call was made.");
}

/** The pause that the upstream asks for. A refusal by the host's own provider says nothing about the upstream. */
function askedToRestMs(error: GatewayError): number | undefined {
  const { cause } = error;
  if (isRefusal(error) || !(cause instanceof UpstreamStatusError)) return undefined;
  return cause.status >= 429 ? cause.retryAfterMs : undefined;
}

/** Whether the upstream refused the key, and not the request. */
function refusesKey({ cause }: GatewayError): boolean {
  return cause instanceof UpstreamStatusError && cause.refusesKey !== false;
}

/**
 * When the target may be tried again: after an exponential back-off with jitter, and not before the upstream's
 * `Retry-After`.
 */
function readyAt(rests: number, round: number, now: number, random: () => number): number {
  const backoffMs = Math.min(firstBackoffMs * 2 ** (round - 1), longestBackoffMs) * (0.5 + random() / 2);
  const restsUntil = rests > now ? rests + random() * firstBackoffMs : 0;
  return Math.ceil(Math.max(now + backoffMs, restsUntil));
}

/**
 * No target can be called now, and none was called for this request. The end of an upstream's pause is known; a call that
 * tries an open breaker may end at any time.
 */
function allUnavailable(targets: readonly Target[], now: number): GatewayError {
  const seconds = Math.ceil((Math.min(...targets.map(({ monitor }) => monitor.restsUntil)) - now) / 1000);
  const headers = { "retry-after": String(Math.max(1, seconds)) };
  if (targets.some(({ monitor }) => monitor.restsUntil > now)) return atCapacity(headers);
  return badGateway("The model is not available at the moment. Try again shortly.", {
    headers,
    cause: new Error("Every target of the model has failed too often, and another call tries it at the moment."),
  });
}

/**
 * What may help after a failed attempt. `again`: the same target after a pause, or another one. `elsewhere`: another
 * target only, since this one would fail in the same way. `none`: nothing. Either the client's request is at fault, or
 * the host's own provider has refused it.
 */
type Remedy = "again" | "elsewhere" | "none";

function remedyOf(error: GatewayError): Remedy {
  const { status, cause } = error;
  if (isRefusal(error)) return "none";
  if (refusesKey(error)) return "elsewhere";
  if (isBeyondTarget(error)) return "elsewhere";
  if (cause instanceof UpstreamStatusError && status >= 429) {
    const passes = cause.status === 408 || cause.status === 429 || cause.status >= 500;
    // Whatever the status: an upstream that refuses the gateway's own account there refuses it again.
    return passes && !isFinal(error) ? "again" : "elsewhere";
  }
  if (status === 429 || status === 504) return "again";
  if (status < 500) return "none";
  return isUpstreamError(cause) ? "again" : "elsewhere";
}

/**
 * Of several failures, returns the one for the client: the last one that a retry by the client may fix, else the last
 * one.
 */
function preferRetryable(earlier: GatewayError | undefined, later: GatewayError): GatewayError {
  if (earlier === undefined) return later;
  return isFinal(later) && !isFinal(earlier) ? earlier : later;
}

function isFinal(error: GatewayError): boolean {
  return error.headers["x-should-retry"] === "false" || isBeyondTarget(error);
}
