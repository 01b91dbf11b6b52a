import { isRefusal } from "../errors/refusal.js";
import { UpstreamStatusError } from "../errors/upstream-fault.js";
import type { Outcome } from "../events/request-observer.js";
import type { Clock } from "../ledger/calendar.js";
import type { CompiledPrice } from "../prices/compiled-price.js";
import type { OperationName } from "../prices/operation-name.js";
import type { Dialect } from "../protocols/shared/dialect.js";
import type { MemberRules } from "../protocols/shared/member-rules.js";
import type { UpstreamProvider } from "../providers/upstream-provider.js";
import { KeyMask } from "../redaction/key-mask.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import type { Breaker, BreakerState } from "./breaker.js";

/** One target of a model: everything resolved when the catalog is built. */
export interface Target {
  readonly provider: UpstreamProvider;
  /** The provider's name in the options. */
  readonly providerName: string;
  /** The upstream's name for the model. */
  readonly upstreamModel: string;
  /** Both, for the books: `openai/gpt-4o-mini`. */
  readonly name: string;
  /** The operations that the provider supports. */
  readonly operations: ReadonlySet<OperationName>;
  readonly dialect: Dialect | undefined;
  /** Texts that must not appear in error messages for clients; read when there is an error. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
  /** Takes the provider's keys out of its responses; asked for at each call. `undefined`: it has none. */
  readonly keyMask: () => KeyMask | undefined;
  readonly price: CompiledPrice;
  /** What the operator pays; `undefined`: nobody has said it. */
  readonly cost: CompiledPrice | undefined;
  /** What the price of a call with the account's own key is multiplied by; `undefined`: the plan says it. */
  readonly ownKeyPriceFactor: number | undefined;
  /** Rules for the request members that clients may not set. */
  readonly rules: MemberRules;
  /**
   * The longest time until there is something for the client, in milliseconds. `undefined`: the provider's own
   * timeouts.
   */
  readonly timeoutMs: number | undefined;
  readonly monitor: TargetMonitor;
}

/** Targets of the same priority, and the shares of calls that they get. */
export interface TargetGroup {
  readonly targets: readonly Target[];
  /** One for each target; greater than 0. */
  readonly weights: readonly number[];
}

/**
 * The order in which one call tries the targets: group by group, and within a group drawn at random by weight.
 * @param random - returns a number from 0 up to, but not including, 1.
 */
export function drawOrder(groups: readonly TargetGroup[], random: () => number): readonly Target[] {
  return groups.flatMap(({ targets, weights }) => {
    if (targets.length < 2) return targets;
    // With exponentially distributed ranks, a target comes first with a probability in proportion to its weight.
    return targets
      .map((target, index) => ({ target, rank: -Math.log(1 - random()) / (weights[index] ?? 1) }))
      .sort((one, other) => one.rank - other.rank)
      .map(({ target }) => target);
  });
}

/** A place at a target, for one attempt. It counts as one of the target's concurrent calls until it is left. */
export class TargetVisit {
  readonly target: Target;
  /** When it began, in epoch milliseconds. */
  readonly since: number;
  readonly #isApart: boolean;
  #isProbe: boolean;
  #isOver = false;

  /** @param isApart - whether the call says nothing about the target: see {@link TargetMonitor.enterApart}. */
  constructor(target: Target, now: number, isApart = false) {
    this.target = target;
    this.since = now;
    this.#isApart = isApart;
    this.#isProbe = isApart ? target.monitor.enterApart() : target.monitor.enter(now);
  }

  /** The target works again. This is known before its response has ended. */
  confirm(): void {
    if (!this.#isProbe) return;
    this.#isProbe = false;
    if (!this.#isOver) this.target.monitor.reopen();
  }

  /** Frees the place. Only the first call has an effect. */
  leave(verdict: Verdict, clock: Clock): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.target.monitor.leave(this.#isApart ? "unknown" : verdict, this.#isProbe, clock);
  }
}

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
type Verdict = "answered" | "failed" | "unknown";

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
export const longestRestMs = 60_000;

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

  /** A call with a key of somebody else's begins: neither does it test the target, nor does its end say anything of it. */
  enterApart(): false {
    this.load.active++;
    return false;
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

/** What is counted of one target's calls. It outlives changes of the catalog that keep the target. */
class TargetLoad {
  /** Calls in progress. */
  active = 0;
  answered = 0;
  failed = 0;
  /** Until when the upstream asked for a pause, in epoch milliseconds. */
  restsUntil = 0;
  /** Called when a call has left, so that a waiting one can take its place. */
  freed: (() => void) | undefined;
  /** Called when the target is well again, so that all that wait can go on. */
  reopened: (() => void) | undefined;
}

/**
 * What of a provider's no client may read. What is made of it is kept until the provider gives another object.
 * @param keyPrefix - of the gateway's own keys.
 */
// A function of its own: as a closure of a route it would keep the route before, and so all of them.
export function secretsOf(provider: UpstreamProvider, keyPrefix: string): Pick<Target, "secrets" | "keyMask"> {
  let known: UpstreamSecrets = {};
  let secrets: UpstreamSecrets = { keyPrefixes: [keyPrefix] };
  let mask: KeyMask | undefined;
  const read = (): void => {
    const now = provider.secrets?.() ?? known;
    if (now === known) return;
    known = now;
    secrets = { ...now, keyPrefixes: [...(now.keyPrefixes ?? []), keyPrefix] };
    mask = KeyMask.of(now.keys ?? []);
  };
  return {
    secrets() {
      read();
      return secrets;
    },
    keyMask() {
      try {
        read();
      } catch {
        // A provider of the host's may fail at it. That is no reason to fail its call.
      }
      return mask;
    },
  };
}
