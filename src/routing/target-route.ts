import type { AbortNotice } from "../providers/upstream-provider.js";
import { drawOrder, type Target, type TargetGroup } from "./target.js";
import { type Pause, waitFor } from "./wait-for.js";

export interface TargetRouteOptions {
  groups: readonly TargetGroup[];
  /** The most calls to targets for one request. */
  maxAttempts: number;
  /** The longest that one request may wait between its attempts, all waits together, in milliseconds. */
  retryBudgetMs: number;
  /** The most requests that wait for a target with room. */
  maxQueued: number;
  /** How long one may wait there, in milliseconds. */
  queueTimeoutMs: number;
  /** Whether what a failed target reports as used is charged. */
  chargeFailedAttempts: boolean;
  /**
   * There is one target, called once for each request: whatever it answers is the client's, and a target that asks to be
   * left alone is called all the same.
   */
  isPlain: boolean;
  /** From 0 up to, but not including, 1. Default: `Math.random`. */
  random?: (() => number) | undefined;
  /** Default: a real timer. */
  pause?: Pause | undefined;
}

/** What a request does in a queue. */
export interface Queuing {
  /** Takes a place at a target, if one will do. */
  readonly take: () => boolean;
  /** Whether there is still a target that a place is worth waiting for. */
  readonly canWait: () => boolean;
}

interface Waiter extends Queuing {
  readonly wake: () => void;
  isServed: boolean;
}

/** Where the calls of one model can go, and how one gets from one place to the next. */
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

  /** How many requests wait for a target with room. */
  get queued(): number {
    return this.#waiters.length;
  }

  /** The targets in the order in which a new request tries them. */
  order(): readonly Target[] {
    return this.#isShared ? drawOrder(this.#groups, this.random) : this.targets;
  }

  /**
   * Waits until a place could be taken, first come, first served.
   * @returns false when the queue is full, it took too long, a notice came, or there is nothing to wait for any more.
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

  /** A place has become free: whoever can use it takes it at once, before newcomers; whoever waits in vain is sent away. */
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
