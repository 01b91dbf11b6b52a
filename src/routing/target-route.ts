import type { AbortNotice, UpstreamProvider } from "../providers/upstream-provider.js";
import { drawOrder, type Target, type TargetGroup } from "./target.js";
import { type Pause, waitFor } from "./wait-for.js";

export interface TargetRouteOptions {
  groups: readonly TargetGroup[];
  /** The most calls to targets for one request. */
  maxAttempts: number;
  /** Whether that is as many as there are targets, each once: a call that may use fewer of them makes fewer. Default: no. */
  triesEachOnce?: boolean | undefined;
  /** The longest total wait of one request between its attempts, in milliseconds. */
  retryBudgetMs: number;
  /** The most requests that may wait for a target below its `maxConcurrent`, or for the end of a test call. */
  maxQueued: number;
  /** The longest time that a request may wait there, in milliseconds. */
  queueTimeoutMs: number;
  /** Whether the usage that a failed target reports is charged. */
  chargeFailedAttempts: boolean;
  /**
   * The model has one target, called once for each request. The client gets its response whatever it is. The target is
   * called even while it has asked for a pause.
   */
  isPlain: boolean;
  /** Returns a number from 0 up to, but not including, 1. Default: `Math.random`. */
  random?: (() => number) | undefined;
  /** Default: a real timer. */
  pause?: Pause | undefined;
  /** The model's line, where it had one. Default: an empty one. */
  line?: WaitingLine | undefined;
  /** The providers of the targets, each once. */
  providers?: readonly UsedProvider[] | undefined;
}

/** The targets of one model, and the queue of requests for them. */
export class TargetRoute {
  readonly targets: readonly Target[];
  readonly maxAttempts: number;
  readonly triesEachOnce: boolean;
  readonly retryBudgetMs: number;
  readonly chargeFailedAttempts: boolean;
  /** How many attempts of one request may be charged, at the most. */
  readonly mostCharged: number;
  readonly isPlain: boolean;
  readonly random: () => number;
  readonly pause: Pause;
  readonly line: WaitingLine;
  /** The providers of targets that know own keys of accounts, each once; most often none. */
  readonly knowOwnKeys: readonly UpstreamProvider[];
  readonly #groups: readonly TargetGroup[];
  readonly #isShared: boolean;
  readonly #maxQueued: number;
  readonly #queueTimeoutMs: number;
  readonly #providers: readonly UsedProvider[];

  constructor(options: TargetRouteOptions) {
    this.#groups = options.groups;
    this.targets = options.groups.flatMap(({ targets }) => targets);
    this.knowOwnKeys = [...new Set(this.targets.map(({ provider }) => provider))].filter(({ ownKey }) => ownKey);
    this.#isShared = options.groups.some(({ targets }) => targets.length > 1);
    this.maxAttempts = options.maxAttempts;
    this.triesEachOnce = options.triesEachOnce === true;
    this.retryBudgetMs = options.retryBudgetMs;
    this.chargeFailedAttempts = options.chargeFailedAttempts;
    this.mostCharged = options.chargeFailedAttempts ? options.maxAttempts : 1;
    this.isPlain = options.isPlain;
    this.#maxQueued = options.maxQueued;
    this.#queueTimeoutMs = options.queueTimeoutMs;
    this.random = options.random ?? Math.random;
    this.pause = options.pause ?? waitFor;
    const line = options.line ?? new WaitingLine();
    this.line = line;
    this.#providers = options.providers ?? [];
    const offer = () => void line.offer();
    const offerAll = () => {
      while (line.offer());
    };
    for (const { monitor } of this.targets) {
      monitor.load.freed = offer;
      monitor.load.reopened = offerAll;
    }
  }

  /** A call of the model begins: until {@link leave}, the providers of its targets stay open. */
  enter(): void {
    for (const provider of this.#providers) provider.enter();
  }

  leave(): void {
    for (const provider of this.#providers) provider.leave();
  }

  /** The targets in the order in which a new request tries them. */
  order(): readonly Target[] {
    return this.#isShared ? drawOrder(this.#groups, this.random) : this.targets;
  }

  /**
   * Waits until a place can be taken; the longest waiting request is first.
   * @returns false when the queue is full, the wait took too long, the request was aborted, or no target is left to
   * wait for.
   */
  async queue(queuing: Queuing, notices: readonly AbortNotice[]): Promise<boolean> {
    const { line } = this;
    if (line.length >= this.#maxQueued) return false;
    let waiter: Waiter | undefined;
    await this.pause(this.#queueTimeoutMs, notices, (wake) => {
      waiter = { ...queuing, wake, isServed: false };
      line.add(waiter);
    });
    if (waiter === undefined) return false;
    line.remove(waiter);
    return waiter.isServed;
  }
}

/** A provider of the catalog, and how many calls may still use it. */
export class UsedProvider {
  readonly provider: UpstreamProvider;
  /** Calls whose model has a target of this provider. */
  #calls = 0;
  #closeWhenUnused: (() => void) | undefined;

  constructor(provider: UpstreamProvider) {
    this.provider = provider;
  }

  enter(): void {
    this.#calls++;
  }

  leave(): void {
    this.#calls--;
    if (this.#calls === 0) this.#closeWhenUnused?.();
  }

  /** The catalog has the provider, maybe again. */
  keep(): void {
    this.#closeWhenUnused = undefined;
  }

  /** The catalog has the provider no longer. @param close - called when the last call has ended. */
  drop(close: () => void): void {
    if (this.#calls === 0) {
      close();
      return;
    }
    this.#closeWhenUnused = () => {
      this.#closeWhenUnused = undefined;
      close();
    };
  }
}

/** A request in the line. */
interface Queuing {
  /** Takes a place at a target, if one is free for this request. */
  readonly take: () => boolean;
  /** Whether a target is left for which waiting makes sense. */
  readonly canWait: () => boolean;
}

/** A request in the line, and how it is woken. */
interface Waiter extends Queuing {
  readonly wake: () => void;
  isServed: boolean;
}

/** The requests that wait for one of a model's targets. It outlives changes of the catalog that keep the model. */
class WaitingLine {
  readonly #waiters: Waiter[] = [];

  get length(): number {
    return this.#waiters.length;
  }

  add(waiter: Waiter): void {
    this.#waiters.push(waiter);
  }

  remove(waiter: Waiter): void {
    const place = this.#waiters.indexOf(waiter);
    if (place >= 0) this.#waiters.splice(place, 1);
  }

  /**
   * A place is free. The first waiting request that can use it takes it at once, before new requests. Requests that can
   * no longer be served leave the line.
   * @returns whether one has taken it.
   */
  offer(): boolean {
    for (const waiter of [...this.#waiters]) {
      waiter.isServed = waiter.take();
      if (!waiter.isServed && waiter.canWait()) continue;
      this.remove(waiter);
      waiter.wake();
      if (waiter.isServed) return true;
    }
    return false;
  }
}
