import type { AbortNotice } from "../providers/upstream-provider.js";
import { drawOrder, type Target, type TargetGroup } from "./target.js";
import { type Pause, waitFor } from "./wait-for.js";

export interface TargetRouteOptions {
  groups: readonly TargetGroup[];
  /** The most calls to targets for one request. */
  maxAttempts: number;
  /** The longest total wait of one request between its attempts, in milliseconds. */
  retryBudgetMs: number;
  /** The most requests that may wait for a target below its `maxConcurrent`. */
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
}

/** A request in the queue. */
export interface Queuing {
  /** Takes a place at a target, if one is free for this request. */
  readonly take: () => boolean;
  /** Whether a target is left for which waiting makes sense. */
  readonly canWait: () => boolean;
}

interface Waiter extends Queuing {
  readonly wake: () => void;
  isServed: boolean;
}

/** The targets of one model, and the queue of requests for them. */
export class TargetRoute {
  readonly targets: readonly Target[];
  readonly maxAttempts: number;
  readonly retryBudgetMs: number;
  readonly chargeFailedAttempts: boolean;
  readonly isPlain: boolean;
  readonly random: () => number;
  readonly pause: Pause;
  readonly #groups: readonly TargetGroup[];
  readonly #isShared: boolean;
  readonly #maxQueued: number;
  readonly #queueTimeoutMs: number;
  readonly #waiters: Waiter[] = [];

  constructor(options: TargetRouteOptions) {
    this.#groups = options.groups;
    this.targets = options.groups.flatMap(({ targets }) => targets);
    this.#isShared = options.groups.some(({ targets }) => targets.length > 1);
    this.maxAttempts = options.maxAttempts;
    this.retryBudgetMs = options.retryBudgetMs;
    this.chargeFailedAttempts = options.chargeFailedAttempts;
    this.isPlain = options.isPlain;
    this.#maxQueued = options.maxQueued;
    this.#queueTimeoutMs = options.queueTimeoutMs;
    this.random = options.random ?? Math.random;
    this.pause = options.pause ?? waitFor;
    for (const { monitor } of this.targets) monitor.freed = () => this.#offer();
  }

  /** How many requests wait for a target. */
  get queued(): number {
    return this.#waiters.length;
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
    if (this.#waiters.length >= this.#maxQueued) return false;
    let waiter: Waiter | undefined;
    await this.pause(this.#queueTimeoutMs, notices, (wake) => {
      waiter = { ...queuing, wake, isServed: false };
      this.#waiters.push(waiter);
    });
    const place = waiter === undefined ? -1 : this.#waiters.indexOf(waiter);
    if (place >= 0) this.#waiters.splice(place, 1);
    return waiter?.isServed ?? false;
  }

  /**
   * A place is free. The first waiting request that can use it takes it at once, before new requests. Requests that can
   * no longer be served leave the queue.
   */
  #offer(): void {
    if (this.#waiters.length === 0) return;
    for (const waiter of [...this.#waiters]) {
      waiter.isServed = waiter.take();
      if (!waiter.isServed && waiter.canWait()) continue;
      this.#waiters.splice(this.#waiters.indexOf(waiter), 1);
      waiter.wake();
      if (waiter.isServed) return;
    }
  }
}
